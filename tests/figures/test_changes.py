"""Commits, pushes and files that a session changed, as its calls tell."""

from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import session
from unspool.figures import Figures, figures
from unspool.figures.changes import find_commits
from unspool.model import Place, Result, ToolCall
from unspool.prices import PriceTable


def ran(command: str, printed: str, **detail: Any) -> LogBuilder:
    return LogBuilder().prompt("go").ran(command, printed, **detail)


def counted(log: LogBuilder) -> Figures:
    return figures(session(log), PriceTable.load())


COMMITS = [
    ("[main 1a2b3c4] Add tides\n 1 file changed, 2 insertions(+)", ("1a2b3c4", "main", "Add tides", False)),
    ("[feature/v1.2-x 1a2b3c4d] Fix: a [b] c\n", ("1a2b3c4d", "feature/v1.2-x", "Fix: a [b] c", False)),
    ("[main (root-commit) 1a2b3c4] First\n", ("1a2b3c4", "main", "First", True)),
    ("[detached HEAD 1a2b3c4] On no branch\n", ("1a2b3c4", "detached HEAD", "On no branch", False)),
]


@pytest.mark.parametrize(("printed", "commit"), COMMITS)
def test_a_commit_is_read_from_what_git_printed(printed: str, commit: tuple[str, str, str, bool]) -> None:
    (found,) = counted(ran("git commit -m x", printed)).commits
    assert (found.hash, found.branch, found.message, found.root) == commit


def test_several_commits_of_one_command_are_all_read() -> None:
    printed = "[main 1111111] one\n 1 file changed\n[main 2222222] two\n 1 file changed"
    assert [one.hash for one in counted(ran("git commit -m one && git commit -m two", printed)).commits] == [
        "1111111",
        "2222222",
    ]


def test_a_commit_that_only_the_structured_result_names_is_read() -> None:
    (found,) = counted(
        ran("git commit -qm x", "", gitOperation={"commit": {"sha": "abc1234", "kind": "committed", "branch": "dev"}})
    ).commits
    assert (found.hash, found.branch) == ("abc1234", "dev")


@pytest.mark.parametrize("printed", ["[INFO 1234567] server started", "see [main abcdefg] x", "[1/2] building"])
def test_other_brackets_are_no_commits(printed: str) -> None:
    assert counted(ran("make", printed)).commits == ()


def test_a_commit_quoted_by_another_tool_is_none() -> None:
    log = LogBuilder().prompt("go").read("/log.txt", "[main 1a2b3c4] Add tides\n 1 file changed")
    assert counted(log).commits == ()


PUSH = (
    "remote: \nremote: Create a pull request for 'fix/a.b' on GitHub by visiting:\n"
    "remote:      https://github.com/dev/harbour/pull/new/fix/a.b\nremote: \n"
    "To github.com:dev/harbour.git\n * [new branch]      fix/a.b -> fix/a.b\n"
)


def test_a_push_names_its_branch_and_repository() -> None:
    found = counted(ran("git push -u origin fix/a.b", PUSH))
    assert [(push.kind, push.branch, push.repository) for push in found.pushes] == [("push", "fix/a.b", "dev/harbour")]
    assert found.repository == "dev/harbour"


def test_a_push_of_new_commits_is_read() -> None:
    printed = "To https://gitlab.com/group/sub/app.git\n   1a2b3c4..5d6e7f8  main -> main\n"
    (push,) = counted(ran("git push", printed)).pushes
    assert (push.branch, push.repository) == ("main", "group/sub/app")


def test_a_forced_push_is_read() -> None:
    printed = "To github.com:dev/harbour.git\n + 1a2b3c4...5d6e7f8 main -> main (forced update)\n"
    (push,) = counted(ran("git push -f", printed)).pushes
    assert push.branch == "main"


def test_a_pull_request_is_read_from_its_address() -> None:
    (push,) = counted(ran("gh pr create --fill", "https://github.com/dev/harbour/pull/42\n")).pushes
    assert (push.kind, push.number, push.repository) == ("pull-request", 42, "dev/harbour")


def test_a_recorded_pull_request_and_its_printed_address_are_one() -> None:
    url = "https://github.com/dev/harbour/pull/42"
    log = ran("gh pr create --fill", f"{url}\n").side("pr-link", prNumber=42, prUrl=url, prRepository="dev/harbour")
    assert [(push.kind, push.number) for push in counted(log).pushes] == [("pull-request", 42)]


def test_looking_at_a_pull_request_makes_none() -> None:
    assert counted(ran("gh pr view 42", "https://github.com/dev/harbour/pull/42\n")).pushes == ()


@pytest.mark.parametrize("odd", [{"commit": 7}, {"commit": {"sha": 7}}, [], "x", {"pr": {"number": "9" * 5000}}])
def test_odd_records_do_no_harm(odd: Any) -> None:
    assert counted(ran("git commit", "", gitOperation=odd)).commits == ()


def test_a_commit_that_an_earlier_answer_tells_is_found_once() -> None:
    """A command that was asked for more has several answers; each may tell of a commit, and may say so again."""
    place = Place(1, 0, 1)
    answers = [
        Result(place, "c", f"[main {name}] message of {name}\n 1 file changed") for name in ("aaaaaaa", "bbbbbbb")
    ]
    last = Result(place, "c", "[main bbbbbbb] message of bbbbbbb\n 1 file changed")
    call = ToolCall(place, "c", "Bash", {"command": "git commit"}, "ok", "shell", last, tuple(answers))
    assert [commit.hash for commit in find_commits([call])] == ["aaaaaaa", "bbbbbbb"]
