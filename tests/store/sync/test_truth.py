"""The index of a made corpus says what its maker knows, and what the list of sessions says."""

import json
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.store.sync.dumped import generations_fit
from tests.store.sync.sessions import turn
from tests.thorough import THOROUGH
from unspool.model import Overview, Usage
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.index.query import parse_query
from unspool.store.index.requests import requests_of
from unspool.store.index.schema import PICO
from unspool.store.index.search import SearchRequest, search_index
from unspool.store.library import Library, SessionListing
from unspool.store.sync import sync

SEEDS = (1, 2) if THOROUGH else (2,)
MB = 20
FIGURES = ("input", "output", "cache_read", "cache_write")


class Made:
    """One made corpus, synced."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.report = sync(folder, [source])
        self.folder = folder
        self.truth: list[dict[str, Any]] = json.loads((source / "truth.json").read_bytes())["sessions"]
        self.listing: SessionListing = Library([source]).listing()
        self.index = Index.open(folder, readonly=True)

    def by_session(self, query: str) -> dict[str, Any]:
        """What a query tells of each session, by its id."""
        return dict(self.index.db.execute(query))


@pytest.fixture(scope="module", params=SEEDS)
def made(
    request: pytest.FixtureRequest, made_corpus: Callable[[int, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Made]:
    found = Made(made_corpus(request.param, MB), tmp_path_factory.mktemp("archive"))
    yield found
    found.index.close()


def test_every_session_is_kept_and_read_once(made: Made) -> None:
    assert made.report.failures == []
    assert made.report.parsed == len(made.truth)
    assert {key for (key,) in made.index.db.execute("SELECT key FROM session")} == {
        one["session"] for one in made.truth
    }
    generations_fit(made.folder)


def test_usage_of_every_session_and_of_all_is_what_the_maker_knows(made: Made) -> None:
    ids = made.by_session("SELECT key, id FROM session")
    all_ = dict.fromkeys(FIGURES, 0)
    for one in made.truth:
        used = [row.usage for row in requests_of(made.index.db, ids[one["session"]])]
        for name in FIGURES:
            keys = (name, f"{name}_tokens", f"agent_{name}", f"agent_{name}_tokens")
            told = sum(one.get(key, 0) for key in keys)
            assert sum(getattr(usage, name) for usage in used) == told, (one["session"], name)
            all_[name] += told
    query = "SELECT sum(input), sum(output), sum(cache_read), sum(cache_write) FROM request WHERE counts = 1"
    assert made.index.db.execute(query).fetchone() == tuple(all_.values())


def test_all_together_is_what_the_list_says(made: Made) -> None:
    assert counted(made.index) == (made.listing.usage, int(made.listing.cost.amount * PICO))


def test_the_columns_of_a_session_are_what_the_list_says(made: Made) -> None:
    columns = "project, title, kind, branch, turns, messages, calls, errors, cost, started, ended"
    rows: Any = made.index.db.execute(f"SELECT key, {columns} FROM session")  # noqa: S608
    told = {key: row for key, *row in rows}
    for one in made.listing.overviews:
        started, ended = (time and time.timestamp() for time in (one.started, one.ended))
        figures = [one.turns, one.messages, one.tool_calls, one.tool_errors, int(one.cost * PICO), started, ended]
        assert told[one.id] == [one.project, one.title, one.kind, one.branch, *figures], one.id


def test_the_whole_overview_is_that_of_the_list_before_sessions_are_told_of_each_other(made: Made) -> None:
    rows: Any = made.index.db.execute("SELECT key, overview FROM session")
    kept = {key: msgspec.msgpack.decode(packed, type=Overview) for key, packed in rows}
    of_neighbours = {"links", "titles", "kind", "project", "cost", "unpriced", "open_plans", "tool_refusals"}
    for one in made.listing.overviews:
        for name in set(Overview.__struct_fields__) - of_neighbours:
            assert getattr(kept[one.id], name) == getattr(one, name), (one.id, name)


def test_plans_commits_todos_and_calls_are_what_the_maker_knows(made: Made) -> None:
    of_turn = "JOIN turn ON turn.id = turn JOIN log ON log.id = turn.log AND log.number = 0"
    plans: dict[str, list[tuple[str, str]]] = {}
    of_session = f"{of_turn} JOIN session ON session.id = log.session"
    query = f"SELECT key, plan.title, status FROM plan {of_session}"  # noqa: S608
    for key, *plan in made.index.db.execute(query):
        plans.setdefault(key, []).append((plan[0], plan[1]))
    settled_elsewhere = {one.get("source_session") for one in made.truth}
    commits = made.by_session(f"SELECT key, count(*) FROM git_commit {of_session} GROUP BY 1")  # noqa: S608
    calls = made.by_session(
        "SELECT key, sum(tally.calls) FROM tally JOIN turn ON turn.id = tally.turn JOIN log ON log.id = turn.log"
        " JOIN session ON session.id = log.session GROUP BY 1"
    )
    todos: dict[str, list[list[str]]] = {}
    for key, *todo in made.index.db.execute(
        "SELECT key, text, todo.state FROM todo JOIN session ON session.id = session ORDER BY position"
    ):
        todos.setdefault(key, []).append(todo)
    for one in made.truth:
        name = one["session"]
        told = sorted((plan["title"].strip(), plan["status"]) for plan in one["plans"])
        found = sorted(plans.get(name, []))
        assert [title for title, _ in found] == [title for title, _ in told], name
        assert name in settled_elsewhere or found == told, name
        assert commits.get(name, 0) == one["commits"], name
        assert calls.get(name, 0) == one["tool_calls"] + one["agent_tool_calls"], name
        assert sorted(todos.get(name, [])) == sorted([*one["todos"], *one["tasks"]]), name


def test_every_needle_is_found_in_its_session_alone(made: Made) -> None:
    with ArchiveDatabase.open(made.folder, readonly=True) as archive:
        for one in made.truth:
            for needle in one["needles"]:
                found = search_index(made.index.db, archive, parse_query(needle), SearchRequest(sessions=0))
                assert [session.session for session in found.sessions] == [one["session"]], needle
    assert sum(len(one["needles"]) for one in made.truth) > 10


def counted(index: Index) -> tuple[Usage, int]:
    """What requests used and cost, each counted once."""
    query = (
        "SELECT sum(input), sum(output), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(web_searches),"
        " sum(web_fetches), sum(NOT final), sum(cost) FROM request WHERE counts = 1"
    )
    row: Any = index.db.execute(query).fetchone()
    *figures, open_, cost = row
    names = (*FIGURES, "cache_write_1h", "web_searches", "web_fetches")
    return msgspec.convert({**dict(zip(names, figures, strict=True)), "floor": bool(open_)}, Usage), cost


def family(root: Path) -> list[LogBuilder]:
    """A session, its fork that went on, a copy of that without names of requests, and one with lesser figures."""
    first = LogBuilder(seed="family")
    for number in range(3):
        turn(first, number)
    second = turn(first.copied("22222222-0000-4000-8000-000000000002", fork=True), 5)
    third = turn(second.copied("33333333-0000-4000-8000-000000000003"), 6)
    fourth = first.copied("44444444-0000-4000-8000-000000000004")
    for line in third.lines:
        if isinstance(line, dict) and line["type"] == "assistant":
            line.pop("requestId", None)
    for at, line in enumerate(fourth.lines):
        if isinstance(line, dict) and line["type"] == "assistant":
            less = DemoTokens(input=at % 3, output=at % 2, read=99_999 if at % 5 == 0 else 0)
            line["message"] = {**line["message"], "usage": less.wire(fourth.version), "stop_reason": None}
    logs = [first, second, third, turn(fourth, 7)]
    for log in logs:
        log.write(root)
    return logs


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_copies_count_once_in_whatever_order_they_are_synced(tmp_path: Path, order: tuple[int, ...]) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    logs = family(root)
    data = {log.path: (root / log.path).read_bytes() for log in logs}
    for log in logs:
        (root / log.path).unlink()
    for number in order:
        (root / logs[number].path).write_bytes(data[logs[number].path])
        sync(folder, [root])
        agree(folder, root)


@pytest.mark.parametrize("number", range(4))
def test_copies_count_once_after_one_of_them_grew_or_was_rewritten(tmp_path: Path, number: int) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    log = family(root)[number]
    sync(folder, [root])
    agree(folder, root)
    turn(log, 8).write(root)
    sync(folder, [root])
    agree(folder, root)
    other = turn(LogBuilder(seed="other", session_id=log.session_id), 9)
    other.write(root)
    assert sync(folder, [root]).rewritten == 1
    agree(folder, root)


def agree(folder: Path, root: Path) -> None:
    """The index counts as the list does, and a session costs what the list says."""
    listing = Library([root]).listing()
    with Index.open(folder, readonly=True) as index:
        assert counted(index) == (listing.usage, int(listing.cost.amount * PICO))
        costs = dict(index.db.execute("SELECT key, cost FROM session"))
        assert costs == {one.id: int(one.cost * PICO) for one in listing.overviews}
