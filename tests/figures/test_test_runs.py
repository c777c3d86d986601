"""Commands that run tests are known, and how they ended is told by what they printed and by their exit."""

import pytest

from tests.waiting import ending
from unspool.figures.test_runs import RunOfTests, find_test_runs
from unspool.model import Place, Result, ToolCall


def ran(command: str, printed: str = "", *, error: bool = False) -> list[RunOfTests]:
    place = Place(1, 0, 1)
    result = Result(place, "c", printed, error)
    call = ToolCall(place, "c", "Bash", {"command": command}, "error" if error else "ok", "shell", result)
    return list(find_test_runs([call]))


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q", "cd /srv && python -m pytest tests", "uv run pytest", "npm test", "npm run test:unit",
        "npx vitest run",
        "go test ./...", "CI=1 cargo test", "make -j4 check", "./gradlew test", "scripts/test tests/x", "yarn test",
        "mise run test:ci", "bundle exec rspec", "(cd web; pnpm test)", "python3.12 -m unittest",
    ],
)  # fmt: skip
def test_runners_are_known(command: str) -> None:
    assert len(ran(command)) == 1


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn pytest .", "cat pytest.ini", "pip install pytest", "echo go test", "git log --grep 'npm test'",
        "gh pr create --body-file - <<EOF\ngo test ./...\nEOF",
        "ls tests", "pytest-watch --help", "vim test.py", "which jest", "make build",
    ],
)  # fmt: skip
def test_what_only_names_a_runner_runs_nothing(command: str) -> None:
    assert ran(command) == []


@pytest.mark.parametrize(
    ("printed", "error", "passed", "said"),
    [
        ("== 41 passed in 2.31s ==", False, True, "41 passed"),
        ("== 1 failed, 40 passed in 2.31s ==", True, False, "40 passed, 1 failed"),
        ("== 2 failed, 40 passed in 9s ==", False, False, "40 passed, 2 failed"),
        ("test result: ok. 12 passed; 0 failed; 0 ignored", False, True, "12 passed"),
        ("test result: FAILED. 11 passed; 1 failed", True, False, "11 passed, 1 failed"),
        ("Tests:       1 failed, 3 passed, 4 total", True, False, "3 passed, 1 failed"),
        ("ok  \tgithub.com/x/a\t0.1s\nok  \tgithub.com/x/b\t0.2s", False, True, "2 packages passed"),
        ("--- FAIL: TestX\nFAIL\tgithub.com/x/a\t0.1s", True, False, "1 package failed"),
        ("Ran 7 tests in 0.1s\n\nOK", False, True, "7 passed"),
        ("  12 passing (40ms)\n  2 failing", True, False, "12 passed, 2 failed"),
        ("", False, True, ""),
        ("Segmentation fault", True, False, ""),
    ],
)  # fmt: skip
def test_how_it_ended(printed: str, error: bool, passed: bool, said: str) -> None:
    (run,) = ran("pytest", printed, error=error)
    assert (run.passed, run.said) == (passed, said)


def test_an_exit_that_a_pipe_hides_tells_nothing() -> None:
    assert [run.passed for run in ran("pytest | tail -5", "…")] == [None]
    assert [run.passed for run in ran("pytest || true", "…")] == [None]
    assert [run.passed for run in ran("pytest | tail -5", "3 passed in 1s")] == [True]


@pytest.mark.parametrize("piece", [";", ";a/", ";a=a", "&", "(", "run ", "a=b ", "make ", "| tail "])
def test_commands_made_to_be_slow_come_to_their_end(piece: str) -> None:
    with ending():
        for _ in range(300):
            ran(piece * (4_000 // len(piece)), "1 passed ")
