"""A file over several sessions: who asked for each line, as far as the sessions that are read tell."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import kept
from unspool.errors import NotFound
from unspool.model import Place, Result, Session, ToolCall
from unspool.store.index.database import Index
from unspool.store.library import Library
from unspool.store.library.file_history import AskedLines, FileCall, FileHistory

FILE = "/p/a.py"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def session(name: str, day: int) -> LogBuilder:
    return LogBuilder(session_id=name, cwd="/p", start=START + timedelta(days=day)).prompt(f"Do {name}.\nNow.")


def three() -> tuple[LogBuilder, ...]:
    """One writes, one lets a subagent edit, one edits what somebody else had changed in between."""
    first = session("first", 0).wrote(FILE, "a\nb\nc\n")
    second = session("second", 1)
    use = second.agent_use("Explore", "mend", "Mend.")
    second.assistant(use).subagent(use, "Explore", "mend", lambda child: child.edited(FILE, "a\nb\nc\n", "b", "B"))
    return first, second, session("third", 2).edited(FILE, "a\nB\nc\nhand\n", "c", "C")


@contextmanager
def history(folder: Path, *logs: LogBuilder, gone: str = "") -> Iterator[FileHistory]:
    archive, library = kept(folder, *logs), Library([folder / "source"])

    def opened(key: str) -> Session:
        if key == gone:
            raise NotFound("gone")
        return library.open(library.find(key))

    with Index.open(archive, readonly=True) as index:
        yield FileHistory(index.db, FILE, opened, library.companions)


def told(asked: AskedLines) -> list[tuple[str, str, str]]:
    return [
        (line, owner.how, asked.changes[owner.step].key if owner.how == "change" else "")
        for line, owner in zip(asked.lines or (), asked.owners, strict=True)
    ]


def test_each_line_is_of_the_session_that_last_changed_it(tmp_path: Path) -> None:
    with history(tmp_path, *three()) as found:
        asked = found.asked_lines()
    assert told(asked) == [
        ("a", "change", "first"), ("B", "change", "second"), ("C", "change", "third"), ("hand", "outside", ""),
    ]  # fmt: skip
    assert [(one.prompt, bool(one.origin.agent)) for one in asked.changes] == [
        ("Do first.", False), ("Do second.", True), ("Do third.", False),
    ]  # fmt: skip
    assert (asked.later, asked.left) == (0, 0)


def test_sessions_that_are_not_read_are_counted_and_what_they_did_is_not_anothers(tmp_path: Path) -> None:
    with history(tmp_path, *three(), gone="second") as found:
        few, one_gone = found.asked_lines(most=1), found.asked_lines()
    assert few.left == 2
    assert told(few) == [("a", "before", ""), ("B", "before", ""), ("C", "change", "third"), ("hand", "before", "")]
    assert one_gone.left == 1
    assert told(one_gone)[1] == ("B", "outside", "")


def test_of_a_call_that_changes_several_files_only_the_lines_of_one_are_told(tmp_path: Path) -> None:
    place = Place(1, 7, 0)
    patch = "*** Begin Patch\n*** Add File: b.py\n+other\n+more\n*** Add File: a.py\n+mine\n*** End Patch"
    call = ToolCall(place, "p", "apply_patch", {"input": patch}, "ok", "edit", Result(place, "p", "Done."))
    with history(tmp_path, session("patched", 0)) as found:
        opened = found.open_session("patched")
        turn = msgspec.structs.replace(opened.turns[0], blocks=(call,))
        found.open_session = lambda _: msgspec.structs.replace(opened, turns=(turn,))
        got = found.at(FileCall(FILE, "patched", 7))
        assert got.diff is not None
        assert (got.diff.path, got.diff.added, got.diff.created, got.now.after) == (FILE, 1, True, "mine\n")
        with pytest.raises(NotFound):
            found.at(FileCall(FILE, "patched", 8))


def test_a_fork_does_not_change_a_file_again(tmp_path: Path) -> None:
    log = session("first", 0).wrote(FILE, "a\n")
    fork = log.copied("forked", fork=True).prompt("On.").edited(FILE, "a\n", "a", "b")
    with history(tmp_path, log, fork) as found:
        asked = found.asked_lines()
    assert [(one.key, one.prompt) for one in asked.changes] == [("first", "Do first."), ("forked", "On.")]
    assert told(asked) == [("b", "change", "forked")]
