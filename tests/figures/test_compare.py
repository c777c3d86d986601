"""Two conversations compared: what they share is told once, and each is counted from where they part."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import session as session_of
from tests.site.pages import prices, session, turn
from unspool.figures import figures
from unspool.figures.compare import Comparison, Conversation, compare_conversations
from unspool.model import Session

LAMP = "/home/dev/lamp/lamp.py"


def compared(one: Session, other: Session) -> Comparison:
    return compare_conversations(Conversation(one, one.turns), Conversation(other, other.turns), prices())


def attempt(name: str, cwd: str, light: str) -> LogBuilder:
    log = LogBuilder(session_id=name, seed=name, cwd=cwd)
    log.prompt("Build a lamp").assistant(log.text("With what?"))
    log.prompt(f"With {light}").wrote(f"{cwd}/lamp.py", f"light = '{light}'\nlit = True\n")
    use = log.use("Bash", command="pytest")
    log.assistant(use).result(
        use, "== 3 passed in 1s ==" if light == "oil" else "== 1 failed in 1s ==", error=light != "oil"
    )
    return log.assistant(log.text(f"It burns {light}."))


def test_each_is_counted_from_where_they_part() -> None:
    found = compared(
        session_of(attempt("one", "/home/dev/lamp", "oil")), session_of(attempt("two", "/srv/lamp", "gas"))
    )
    assert (found.shared, found.parted) == (1, "Build a lamp")
    one, other = found.sides
    assert [prompt.words for prompt in one.prompts] == ["With oil"]
    assert (one.tools, one.failed, other.failed) == ({"Write": 1, "Bash": 1}, 0, 1)
    assert (one.tests, other.tests) == ("3 passed", "1 failed")
    assert (one.answer, other.answer) == ("It burns oil.", "It burns gas.")


def test_files_are_compared_by_their_place_in_the_project_as_each_left_them() -> None:
    found = compared(
        session_of(attempt("one", "/home/dev/lamp", "oil")), session_of(attempt("two", "/srv/lamp", "gas"))
    )
    (file,) = found.files
    assert (file.path, file.same) == ("lamp.py", False)
    assert file.diff is not None
    assert [line for hunk in file.diff.hunks for line in hunk.lines] == [
        "-light = 'oil'",
        "+light = 'gas'",
        " lit = True",
    ]
    same = compared(session_of(attempt("one", "/home/dev/lamp", "oil")), session_of(attempt("two", "/srv/lamp", "oil")))
    assert (same.shared, same.files, same.sides[0].prompts) == (2, (), ())


def test_what_one_alone_changed_and_what_no_log_tells_are_said_to_be_so() -> None:
    blind = LogBuilder(session_id="two", seed="two", cwd="/home/dev/lamp")
    given_ = {"file_path": LAMP, "old_string": "a", "new_string": "b"}
    blind.prompt("Change it").call("Edit", given_, "Done.", {"filePath": LAMP}).wrote("/home/dev/lamp/new.py", "x\n")
    found = compared(session_of(attempt("one", "/home/dev/lamp", "oil")), session_of(blind))
    told = {file.path: (file.sides[0] is None, file.same, file.diff) for file in found.files}
    assert told == {"lamp.py": (False, None, None), "new.py": (True, None, None)}


def test_without_anything_in_common_the_sides_are_the_whole_sessions(tmp_path: Path) -> None:
    one, other = session_of(attempt("one", "/home/dev/lamp", "oil")), session([turn(1, "Hello", "Hi")])
    found = compared(one, other)
    assert (found.shared, found.parted) == (0, "")
    whole = figures(one, prices())
    assert (found.sides[0].usage, found.sides[0].cost) == (whole.usage, whole.cost)
    assert sum(found.sides[0].tools.values()) == whole.tool_calls


_WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@given(_WORDS, _WORDS)
def test_what_is_shared_and_what_is_not_make_up_both(one: list[str], other: list[str]) -> None:
    found = compared(
        session([turn(at, word, "Yes", at=at * 9) for at, word in enumerate(one, 1)]),
        session([turn(at, word, "Yes", at=at * 9) for at, word in enumerate(other, 1)]),
    )
    assert one[: found.shared] == other[: found.shared]
    for words, side in ((one, found.sides[0]), (other, found.sides[1])):
        assert [prompt.words for prompt in side.prompts] == words[found.shared :]
    assert one[found.shared : found.shared + 1] != other[found.shared : found.shared + 1] or not one[found.shared :]
