"""A file rebuilt from calls: known where they tell enough, unknown where they do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.log_builder.tool_calls import structured_patch
from tests.reading.reading import session
from unspool.doc import Hunk
from unspool.figures import Figures, calls_of, figures
from unspool.figures.changes import FileAroundCall, calls_touching, replay_file
from unspool.prices import PriceTable
from unspool.tools.diff import apply_patch, diff_of_patch

A, B = "one\ntwo\nthree\n", "one\n2\nthree\n"


def told(log: LogBuilder, believed: str | None = None, path: str = "/a") -> list[FileAroundCall]:
    return replay_file(calls_touching(calls_of(session(log)), path), believed)


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
