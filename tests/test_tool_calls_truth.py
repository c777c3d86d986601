"""List, opened session, index and lake count the same tool calls, and the same that did not go well, of every agent."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.lake.lakes import asked as asked_lake
from tests.lake.lakes import written
from tests.reading.lines import answer, asked, said, use
from unspool.agents import AGENTS
from unspool.figures import figures, totalled_calls
from unspool.model import CallEnd
from unspool.prices import PriceTable
from unspool.store.index.database import Index
from unspool.store.library import Library
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.sync import sync

PRICES = PriceTable.load()
ENDS: tuple[CallEnd, ...] = ("failed", "refused", "interrupted", "unanswered")
Counts = tuple[int, ...]
"""Calls, and those that failed, were refused, interrupted, left without a result."""
Name = tuple[str, str]
"""Agent and id."""

LISTED = """
SELECT agent, session, tool_calls, tool_errors, tool_refusals, tool_interruptions, tool_unanswered FROM sessions
"""
TOTALLED = """
SELECT agent, session, count(*) FILTER (state <> 'orphan'), count(*) FILTER (outcome = 'failed'),
count(*) FILTER (outcome = 'refused'), count(*) FILTER (outcome = 'interrupted'),
count(*) FILTER (outcome = 'unanswered') FROM calls WHERE NOT copied GROUP BY ALL
"""
INDEXED = """
SELECT session.agent, key, sum(tally.calls), sum(tally.errors), sum(tally.refused), sum(tally.interrupted),
sum(tally.unanswered) FROM tally JOIN turn ON turn.id = tally.turn JOIN log ON log.id = turn.log
JOIN session ON session.id = log.session WHERE NOT turn.copied AND version_of IS NULL GROUP BY session.id
"""


def counted(made: int, ends: Counter[CallEnd]) -> Counts:
    return made, *(ends[end] for end in ENDS)


class CountedCalls:
    """What is said of the tool calls of each session of a source."""

    def __init__(self, scratch: Path, source: Path) -> None:
        sync(scratch / "kept", [source])
        written(scratch / "lake", source)
        library = Library([source])
        self._sessions = {(log.agent_id, log.session_id): library.open(log) for log in library.logs()}
        self.listed = self._overviews(library)
        self.kept = self._overviews(Library([source], kept=KeptSessions(scratch / "kept")))
        self.lake = self._named(asked_lake(scratch / "lake", LISTED))
        self.opened = {
            name: counted(found.tool_calls, found.ends)
            for name, session in self._sessions.items()
            for found in (figures(session, PRICES),)
        }
        self.totals = {name: self._total(name) for name in self._sessions}
        self.lake_totals = self._named(asked_lake(scratch / "lake", TOTALLED))
        with Index.open(scratch / "kept", readonly=True) as index:
            self.index_totals = self._named(index.db.execute(INDEXED))

    @staticmethod
    def _overviews(library: Library) -> dict[Name, Counts]:
        return {(one.agent, one.id): counted(one.tool_calls, one.ends) for one in library.overviews()}

    @staticmethod
    def _named(rows: Any) -> dict[Name, Counts]:
        return {(agent, name): tuple(counts) for agent, name, *counts in rows}

    def _total(self, name: Name) -> Counts:
        calls = list(totalled_calls(self._sessions[name]))
        return counted(sum(call.state != "orphan" for call in calls), Counter(call.end for call in calls))

    def check(self) -> None:
        assert self.listed == self.opened
        assert self.kept == self.opened
        assert self.lake == self.opened
        none = (0, 0, 0, 0, 0)
        totals = {name: counts for name, counts in self.totals.items() if counts != none}
        for found in (self.lake_totals, self.index_totals):
            assert {name: counts for name, counts in found.items() if counts != none} == totals


def sources(shared: Path) -> list[Path]:
    corpora = shared / "corpora"
    agents = sorted(one for one in (corpora / "agents").iterdir() if one.is_dir() and one.name != "kiro-cli")
    alike = sorted((corpora / "agents" / "kiro-cli").iterdir())  # three sessions that were given one name
    return [corpora / "claude", corpora / "codex", corpora / "cases", *agents, *alike]


def test_every_real_log_of_every_agent_has_the_same_calls_everywhere(shared: Path, tmp_path: Path) -> None:
    seen = set()
    for number, source in enumerate(sources(shared)):
        found = CountedCalls(tmp_path / str(number), source)
        seen |= {agent for agent, _ in found.opened}
        found.check()
    assert len(seen) > 10
    assert seen <= {agent.id for agent in AGENTS}


def written_by_hand(folder: Path, *lines: dict[str, Any]) -> Path:
    log = folder / "projects" / "-x" / "aaaaaaaa-0000-4000-8000-000000000001.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


REUSED = (
    asked("u", "go"),
    said("a", "m1", [use("t")], "u"),
    asked("r", [answer("t", "one", error=True)], "a"),
    said("b", "m2", [use("t", "Read")], "r", request="req_2"),
    asked("s", [answer("t", "two")], "b"),
    said("c", "m3", [use("t")], "s", request="req_3"),
)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        pytest.param(REUSED, (3, 1, 0, 0, 1), id="an id that later messages use again"),
        pytest.param(
            (*REUSED, said("a2", "m1", [use("t")], "c"), said("b", "m2", [use("t", "Read")], "r", request="req_2")),
            (3, 1, 0, 0, 1),
            id="messages that are logged again",
        ),
        pytest.param(
            (asked("u", "go"), said("a", "m", [use(""), use("")], "u"), said("b", "n", [use("")], "a")),
            (3, 0, 0, 0, 3),
            id="calls without ids",
        ),
    ],
)
def test_a_call_is_known_by_its_message_and_its_id(
    lines: tuple[dict[str, Any], ...], wanted: Counts, tmp_path: Path
) -> None:
    found = CountedCalls(tmp_path, written_by_hand(tmp_path / "source", *lines))
    found.check()
    assert list(found.opened.values()) == [wanted]
