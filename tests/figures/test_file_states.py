"""A file rebuilt from calls: known where they tell enough, unknown where they do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.log_builder.tool_calls import structured_patch
from tests.reading.reading import session
from unspool.doc import Hunk
from unspool.figures import calls_of
from unspool.figures.file_states import FileAroundCall, calls_touching, file_place, replay_file
from unspool.figures.line_owners import line_owners
from unspool.model import Place, Result, ToolCall
from unspool.tools.diff import apply_patch, diff_of_patch

A, B = "one\ntwo\nthree\n", "one\n2\nthree\n"


def told(log: LogBuilder, believed: str | None = None, path: str = "/a") -> list[FileAroundCall]:
    return list(replay_file(calls_touching(calls_of(session(log)), path), believed))


def around(log: LogBuilder, believed: str | None = None) -> list[tuple[str | None, str | None]]:
    return [(one.before, one.after) for one in told(log, believed)]


def asked(log: LogBuilder, old: str, new: str, **detail: Any) -> LogBuilder:
    """An edit that keeps only some details."""
    arguments = {"file_path": "/a", "old_string": old, "new_string": new}
    return log.call("Edit", arguments, "Done.", {"filePath": "/a", **detail})


def begun() -> LogBuilder:
    return LogBuilder().prompt("go")


def test_what_is_written_is_the_whole_file() -> None:
    assert around(begun().wrote("/a", A).wrote("/a", B, A)) == [("", A), (A, B)]


def test_an_edit_starts_from_the_kept_original() -> None:
    assert around(begun().edited("/a", A, "two", "2")) == [(A, B)]


def test_an_edit_without_its_original_starts_from_what_the_call_before_left() -> None:
    assert around(asked(begun().wrote("/a", A), "two", "2")) == [("", A), (A, B)]
    assert around(asked(begun(), "two", "2"), A) == [(A, B)]


def test_an_edit_of_a_file_that_nobody_knows_is_unknown_and_so_is_what_builds_on_it() -> None:
    log = asked(asked(begun(), "two", "2"), "one", "1")
    assert around(log) == [(None, None), (None, None)]


def test_an_edit_that_does_not_fit_what_was_believed_leaves_the_file_unknown() -> None:
    assert around(asked(begun().wrote("/a", A), "nine", "9"))[1] == (None, None)


def test_a_file_read_whole_is_known_and_one_read_in_part_is_what_it_was() -> None:
    log = begun().read("/a", A)
    assert around(asked(log, "two", "2"))[1] == (A, B)
    part = {"filePath": "/a", "content": "two", "numLines": 1, "startLine": 2, "totalLines": 3}
    log = begun().wrote("/a", A).call("Read", {"file_path": "/a"}, "     2→two", {"type": "text", "file": part})
    assert around(log)[1] == (A, A)


def test_what_something_else_changed_in_between_is_seen() -> None:
    log = begun().wrote("/a", A).edited("/a", A + "more\n", "two", "2").edited("/a", B + "more\n", "one", "1")
    assert [one.outside for one in told(log)] == [False, True, False]


def test_what_a_person_changed_on_the_way_is_taken_from_the_patch() -> None:
    log = asked(
        begun(), "two", "2", originalFile=A, userModified=True, structuredPatch=structured_patch(A, "one\nII\nthree\n")
    )
    assert around(log) == [(A, "one\nII\nthree\n")]
    log = asked(begun(), "two", "2", originalFile=A, userModified=True)
    assert around(log) == [(A, None)]


def test_calls_that_failed_and_other_files_do_not_count() -> None:
    log = begun().wrote("/b", A).failed("Write", {"file_path": "/a", "content": A}, "no room")
    assert told(log) == []
    assert len(told(begun().wrote("\\a", A))) == 1


def test_several_edits_in_one_call_follow_one_another() -> None:
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "12"}]
    log = begun().call("MultiEdit", {"file_path": "/a", "edits": edits}, "Done.", {"originalFileContents": A})
    assert around(log) == [(A, "12\nthree\n")]


def test_odd_shapes_are_unknown() -> None:
    log = begun().call("Edit", {"file_path": "/a", "old_string": 5}, "Done.", {"originalFile": [A]})
    assert around(log.call("Write", {"file_path": "/a"}, "Done.")) == [(None, None), (None, None)]


texts = st.lists(st.sampled_from(["a", "b", "", "c c"]), max_size=12).map(
    lambda lines: "".join(f"{x}\n" for x in lines)
)


@given(texts, texts)
def test_a_patch_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    made = diff_of_patch("/a", structured_patch(before, after))
    if made is not None and before:
        assert apply_patch(before, made.hunks) == after


@given(texts, texts, texts)
def test_whatever_a_patch_was_applied_to_can_be_had_back(before: str, after: str, other: str) -> None:
    made = diff_of_patch("/a", structured_patch(before, after))
    became = None if made is None else apply_patch(other, made.hunks)
    if made is not None and became is not None and before and after:
        assert apply_patch(became, tuple(_reversed(hunk) for hunk in made.hunks)) == other


def _reversed(hunk: Hunk) -> Hunk:
    lines = (line.translate({43: "-", 45: "+"}) if line[0] in "+-" else line for line in hunk.lines)
    return Hunk(hunk.new_start, hunk.old_start, tuple(lines))


def owned(log: LogBuilder, believed: str | None = None) -> list[tuple[str, str, int]]:
    found = line_owners(told(log, believed))
    assert found.lines is not None
    assert len(found.lines) == len(found.owners)
    return [(line, owner.how, owner.step) for line, owner in zip(found.lines, found.owners, strict=True)]


def test_a_line_is_of_the_call_that_last_changed_it() -> None:
    log = begun().wrote("/a", A).edited("/a", A, "two", "2").edited("/a", B, "three", "3\n4")
    assert owned(log) == [("one", "change", 0), ("2", "change", 1), ("3", "change", 2), ("4", "change", 2)]


def test_what_was_there_before_the_first_call_is_nobodys() -> None:
    assert owned(begun().edited("/a", A, "two", "2")) == [
        ("one", "before", 0), ("2", "change", 0), ("three", "before", 0),
    ]  # fmt: skip


def test_what_something_else_changed_in_between_is_nobodys_either() -> None:
    log = begun().wrote("/a", A).edited("/a", f"{A}more\n", "two", "2")
    assert owned(log)[-1] == ("more", "outside", 1)


def test_what_a_call_changed_that_tells_too_little_is_not_known_and_not_anothers() -> None:
    log = asked(begun().wrote("/a", A), "nine", "9").edited("/a", f"{A}9\n", "two", "2")
    assert owned(log) == [("one", "change", 0), ("2", "change", 2), ("three", "change", 0), ("9", "unknown", 2)]


def test_a_file_that_no_call_tells_whole_has_no_lines() -> None:
    found = line_owners(told(asked(asked(begun(), "two", "2"), "one", "1")))
    assert found == (None, (), 2)


def test_changes_after_the_last_known_state_are_counted() -> None:
    found = line_owners(told(asked(begun().wrote("/a", A), "nine", "9")))
    assert (found.lines, found.later) == (("one", "two", "three"), 1)


def test_a_file_named_from_the_folder_of_its_session_is_the_same_file() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-two\n+2\n*** End Patch"
    log = begun().wrote("/p/src/a.py", A)
    calls = [*calls_of(session(log)), edit_call(patch)]
    found = list(replay_file(calls_touching(calls, "/p/src/a.py", "/p"), path="/p/src/a.py"))
    assert [one.after for one in found] == [A, B]
    assert len(calls_touching(calls, "/other/src/a.py", "/p")) == 0


def edit_call(patch: str) -> ToolCall:
    place = Place(1, 0, 0)
    return ToolCall(place, "p", "apply_patch", {"input": patch}, "ok", "edit", Result(place, "p", "Done."))


@pytest.mark.parametrize(
    ("name", "folder", "place"),
    [
        ("a.py", "/p", "/p/a.py"), ("./a.py", "/p/", "/p/a.py"), ("../a.py", "/p/q", "/p/a.py"),
        ("/a.py", "/p", "/a.py"),
        ("~/a.py", "/p", "~/a.py"), ("C:\\a.py", "/p", "C:\\a.py"), ("q\\a.py", "C:\\p", "C:/p/q/a.py"), ("a", "", "a"),
        ("", "/p", ""),
    ],
)  # fmt: skip
def test_where_a_file_lies(name: str, folder: str, place: str) -> None:
    assert file_place(name, folder) == place


raw_texts = st.text(alphabet="ab\n\r", max_size=14)


@given(st.lists(raw_texts, min_size=1, max_size=6))
def test_replaying_edits_gives_the_last_state_and_every_line_has_one_owner(states: list[str]) -> None:
    log, before = begun(), ""
    for text in states:
        log.wrote("/a", text, before)
        before = text
    steps = told(log)
    assert [one.after for one in steps] == states
    found = line_owners(steps)
    lines = states[-1].replace("\r\n", "\n").split("\n")
    assert found.lines == tuple(lines if lines[-1] else lines[:-1])
    assert len(found.owners) == len(found.lines)
    assert all(owner.how == "change" and 0 <= owner.step < len(states) for owner in found.owners)


@given(st.lists(st.tuples(st.one_of(st.none(), texts), st.one_of(st.none(), texts)), max_size=6))
def test_whatever_is_known_every_line_has_one_owner(around: list[tuple[str | None, str | None]]) -> None:
    call = edit_call("")
    found = line_owners(FileAroundCall(call, before, after) for before, after in around)
    known = [text for pair in around for text in pair if text is not None]
    assert (found.lines is None) == (not known)
    assert len(found.owners) == len(found.lines or ())
    if known:
        assert "".join(f"{line}\n" for line in found.lines or ()) == known[-1]
