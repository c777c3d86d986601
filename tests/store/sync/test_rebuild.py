"""Deleting the index changes no answer."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.sync.changing import Changing
from tests.store.sync.dumped import Rows, differing, dump
from tests.store.sync.sessions import full, write
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index, discard_index
from unspool.store.index.query import parse_query
from unspool.store.index.search import SearchRequest, search_index, sessions_touching
from unspool.store.index.usage import usage_report
from unspool.store.sync import sync

QUESTIONS = ("mend", "crane", '"no rule to make"', "kind:thinking about", "is:error make")


def answers(folder: Path) -> dict[str, object]:
    """What is asked of an index, and answered."""
    wanted = SearchRequest(sessions=0, hits=50)
    with Index.open(folder, readonly=True) as index, ArchiveDatabase.open(folder, readonly=True) as archive:
        found = {
            question: sorted(
                (one.session, one.count, sorted((hit.kind, hit.snippet.text) for hit in one.hits))
                for one in search_index(index.db, archive, parse_query(question), wanted).sessions
            )
            for question in QUESTIONS
        }
        return {
            **found,
            **{by: usage_report(index, by).rows for by in ("day", "session", "project", "model", "subagent")},
            "touched": sorted(
                (one.session, one.count)
                for one in sessions_touching(index.db, archive, ".py", parse_query(""), wanted).sessions
            ),
        }


def remade(folder: Path, sources: list[Path]) -> tuple[Rows, Rows]:
    """What the index says, and what it says when it was deleted and made anew."""
    before = dump(folder, states=True)
    discard_index(folder)
    report = sync(folder, sources)
    assert report.failures == []
    assert (report.new, report.grown, report.rewritten, report.gone, report.bytes) == (0, 0, 0, 0, 0)
    return before, dump(folder, states=True)


@pytest.mark.parametrize("seed", range(4))
def test_an_index_that_followed_a_changing_source_is_the_same_made_anew(tmp_path: Path, seed: int) -> None:
    changing, folder = Changing(tmp_path / "source", seed), tmp_path / "archive"
    for _ in range(8):
        changing.change(4)
        assert sync(folder, [changing.root]).failures == []
    assert sync(folder, [changing.root]).failures == []
    told = answers(folder)
    assert [name for name, answer in told.items() if not answer] == []
    before, after = remade(folder, [changing.root])
    assert differing(before, after) == {}
    assert answers(folder) == told


def test_two_sources_and_one_that_is_gone_are_the_same_made_anew(tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("one", "two", "three")]
    log = full("shared")
    for number, root in enumerate(roots):
        write(root, [log, full(f"own{number}", version="2.0.5")])
    folder = tmp_path / "archive"
    sync(folder, roots)
    roots.pop().rename(tmp_path / "away")
    sync(folder, roots)
    before, after = remade(folder, roots)
    assert differing(before, after) == {}
    assert len(after["session"]) == 6


def test_a_made_corpus_is_the_same_made_anew(made_corpus: Callable[[int, int], Path], tmp_path: Path) -> None:
    source, folder = made_corpus(1, 5), tmp_path / "archive"
    sync(folder, [source])
    before, after = remade(folder, [source])
    assert differing(before, after) == {}


def test_a_file_that_no_session_touches_any_more_is_as_if_it_never_was(tmp_path: Path) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    one, other = (LogBuilder(seed=name).prompt("go") for name in ("one", "other"))
    write(root, [one.wrote("/a/crane.py", "1"), other.wrote("/a/crane.py.orig", "2")])
    sync(folder, [root])
    assert touching(folder, "crane.py") == [one.session_id]
    write(root, [LogBuilder(seed="less", session_id=one.session_id).prompt("go")])
    assert sync(folder, [root]).rewritten == 1
    told = touching(folder, "crane.py")
    discard_index(folder)
    sync(folder, [root])
    assert touching(folder, "crane.py") == told == [other.session_id]


def touching(folder: Path, path: str) -> list[str]:
    with Index.open(folder, readonly=True) as index, ArchiveDatabase.open(folder, readonly=True) as archive:
        return [one.session for one in sessions_touching(index.db, archive, path, parse_query("")).sessions]
