"""How errors are known again, and what is told of their solution."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from unspool import open_session
from unspool.figures.outline import outline_session
from unspool.figures.solved_errors import AskedError, SolvedError, error_words, like_error, solved_errors

ASKED = AskedError.of("KeyError: 'quay' in berth_table")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/home/ana/x.py:12: KeyError: 'quay'", "C:\\Users\\bo\\y.py:900: KeyError: 'quay'"),
        ("segfault at 0x7ffe12ab in libquay", "segfault at 0x55aa in libquay"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is missing", "commit deadbeef1 is missing"),
        ("\x1b[31mKeyError\x1b[0m: quay", "keyerror: QUAY"),
    ],
)
def test_numbers_paths_and_addresses_make_no_difference(one: str, other: str) -> None:
    assert error_words(one) == error_words(other)
    assert like_error(AskedError.of(one), other).share == 1.0


def test_words_that_all_errors_have_tell_nothing_unless_there_are_no_others() -> None:
    assert error_words("Traceback (most recent call last): File x line 3: KeyError: quay") == {"keyerror", "quay"}
    assert error_words("Exit code 1, failed") == {"exit", "code", "failed"}
    assert error_words("12 0x44 /a/b") == frozenset()
    assert like_error(AskedError.of("12"), "anything").share == 0.0


def test_a_huge_answer_is_looked_at_from_both_ends() -> None:
    found = like_error(ASKED, "x " * 5_000_000 + "\nKeyError: 'quay' in berth_table")
    assert found == (1.0, "KeyError: 'quay' in berth_table")


def test_words_far_from_each_other_are_no_such_error() -> None:
    scattered = "quay\n" + "fine\n" * 20 + "KeyError\n" + "fine\n" * 20 + "berth_table"
    assert like_error(ASKED, scattered).share < 0.5
    assert like_error(AskedError.of("KeyError\nquay\nberth_table"), "KeyError\n\nquay in\nberth_table").share == 1.0


class Story:
    """A log whose calls go well or fail."""

    def __init__(self) -> None:
        self.log = LogBuilder(session_id="story")

    def ran(self, command: str, said: str = "", error: bool = False) -> None:
        use = self.log.use("Bash", command=command)
        self.log.assistant(use).result(use, said or "ok", error=error)

    def edited(self, path: str) -> None:
        use = self.log.use("Edit", file_path=path, old_string="a", new_string="b")
        self.log.assistant(use).result(use, "done")

    def found(self, folder: Path) -> list[SolvedError]:
        return solved_errors(open_session(self.log.write(folder)), ASKED)


ERROR = "Exit code 1\nKeyError: 'quay' in berth_table, /srv/a.py line 7"


def test_what_was_done_until_the_same_command_went_well(tmp_path: Path) -> None:
    story = Story()
    story.log.prompt("Fix the berths")
    story.ran("python berths.py --all", ERROR, error=True)
    story.log.assistant(story.log.text("The table lacks a quay."))
    story.ran("cat berths.csv")
    story.ran("python berths.py --all", ERROR, error=True)
    story.edited("/srv/berths.csv")
    story.ran("python berths.py --all -v")
    story.edited("/srv/later.py")
    (found,) = story.found(tmp_path)
    assert (found.turn, found.block, found.solved, found.asked) == (1, 1, True, "Fix the berths")
    assert [(step.kind, step.failed) for step in found.steps] == [
        ("said", False), ("ran", False), ("ran", True), ("changed", False), ("worked", False),
    ]  # fmt: skip
    assert found.steps[-1].text == "python berths.py --all -v"


def test_another_command_that_went_well_solves_nothing(tmp_path: Path) -> None:
    story = Story()
    story.log.prompt("Fix the berths")
    story.ran("python berths.py", ERROR, error=True)
    story.ran("git status")
    story.log.prompt("Never mind")
    (found,) = story.found(tmp_path)
    assert not found.solved
    assert [step.kind for step in found.steps] == ["ran", "asked"]


def test_an_error_of_a_subagent_is_found(tmp_path: Path) -> None:
    story = Story()
    use = story.log.agent_use("general-purpose", "Look", "Look at it")

    def build(child: LogBuilder) -> None:
        bad, good = (child.use("Bash", command="make berths") for _ in range(2))
        child.assistant(bad).result(bad, ERROR, error=True).assistant(good).result(good, "ok")
        child.assistant(child.text("Done."))

    story.log.prompt("Look").assistant(use).subagent(use, "general-purpose", "Look", build)
    (found,) = story.found(tmp_path)
    assert found.solved
    assert found.subagent


def test_what_failed_otherwise_is_left_out(tmp_path: Path) -> None:
    story = Story()
    story.log.prompt("Fix")
    story.ran("python berths.py", "ZeroDivisionError", error=True)
    story.ran("python berths.py", "All is well: KeyError quay berth_table")
    assert story.found(tmp_path) == []


def test_an_outline_counts_by_prompt(tmp_path: Path) -> None:
    story = Story()
    story.log.prompt("First")
    story.ran("false", "no", error=True)
    story.log.assistant(story.log.text("It failed."))
    story.log.command("/compact", "soon")
    story.log.prompt("Second")
    story.edited("/srv/x.py")
    first, *_, second = outline_session(open_session(story.log.write(tmp_path)))
    assert (first.asked, first.calls, first.failed, first.files, first.outcome) == ("First", 1, 1, (), "It failed.")
    assert (second.asked, second.calls, second.files, second.outcome) == ("Second", 1, ("/srv/x.py",), "")
