"""Sums over the tables are what `usage`, `stats` and `list` say, and what whoever made the logs knows."""

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.lake.lakes import PRICES, asked, written
from tests.log_builder import demo_sessions
from tests.log_builder.builder import LogBuilder
from unspool.figures import figures, totalled_calls
from unspool.store.index.billing import UsageSum
from unspool.store.index.database import Index
from unspool.store.index.schema import PICO
from unspool.store.index.stats import IndexStats, index_stats
from unspool.store.index.usage import usage_report
from unspool.store.library import Library
from unspool.store.sync import sync

FORK = "bbbbbbbb-0000-4000-8000-000000000002"
SUMS = """count(*), sum(input), sum(output), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(web_searches),
sum(web_fetches), sum(reasoning), coalesce(sum(cost), 0), count(*) FILTER (cost IS NULL), count(*) FILTER (NOT final)"""


def told(sums: tuple[Any, ...]) -> UsageSum:
    *figures, cost, unpriced, open_ = sums
    values = [*map(int, figures), int(Decimal(cost) * PICO), unpriced, open_]
    return UsageSum(*values)


class Compared:
    """The lake and the index of the same sources."""

    def __init__(self, scratch: Path, *sources: Path) -> None:
        self.lake, self.library = scratch / "lake", Library(sources)
        sync(scratch / "archive", sources)
        self.report = written(self.lake, *sources)
        with Index.open(scratch / "archive", readonly=True) as index:
            self.stats: IndexStats = index_stats(index)
            self.usage = {by: usage_report(index, by) for by in ("day", "model", "session", "project")}

    def check_usage(self) -> None:
        keys = {"day": "time::DATE::VARCHAR", "model": "model", "session": "session"}
        for by, key in keys.items():
            rows = asked(self.lake, f"SELECT coalesce({key}, ''), {SUMS} FROM usage WHERE counted GROUP BY ALL")  # noqa: S608
            assert {name: told(sums) for name, *sums in rows} == {row.key: row.sum for row in self.usage[by].rows}, by  # type: ignore[arg-type]
        projects = asked(self.lake, "SELECT coalesce(project, ''), requests, cost FROM cost_by_project")
        wanted = {row.key: (row.sum.requests, Decimal(row.sum.cost) / PICO) for row in self.usage["project"].rows}
        assert {name: (requests, cost or 0) for name, requests, cost in projects} == wanted

    def check_stats(self) -> None:
        totals = self.stats.totals
        ((*counts, _),) = asked(self.lake, "FROM totals")
        sessions, projects, turns, messages, calls, errors, agents, compactions, commits, files = (
            one or 0 for one in counts
        )
        known = (totals.sessions, totals.projects, totals.turns, totals.messages, totals.agents, totals.compactions)
        assert (sessions, projects, turns, messages, agents, compactions) == known
        assert (commits, files) == (totals.commits, totals.files)
        listed = {one.path: (one.reads, one.writes, one.edits, one.sessions) for one in self.stats.files}
        rows = asked(self.lake, "SELECT path, reads, writes, edits, sessions FROM files_touched")
        assert listed.items() <= {path: tuple(counts) for path, *counts in rows}.items()
        assert (calls, errors) == (totals.tool_calls, totals.tool_errors)
        tools = asked(self.lake, "SELECT tool, calls, failed, sessions, refused, interrupted, unanswered FROM tools")
        assert {row[0]: row[1:] for row in tools} == {
            one.name: (one.calls, one.errors, one.sessions, one.refused, one.interrupted, one.unanswered)
            for one in self.stats.tools
        }

    def check_sessions(self) -> None:
        columns = "title, kind, project, turns, messages, tool_calls, subagents, lines, cost"
        rows = {row[0]: row[1:] for row in asked(self.lake, f"SELECT session, {columns} FROM sessions")}  # noqa: S608
        assert rows == {
            one.id: (one.title, one.kind, one.project or None, one.turns, one.messages, one.tool_calls, one.agents,
                     one.lines, one.cost)
            for one in self.library.overviews()
        }  # fmt: skip
        calls = Counter(dict(asked(self.lake, "SELECT session, count(*) FROM calls WHERE NOT copied GROUP BY ALL")))
        opened = {log.session_id: self.library.open(log) for log in self.library.logs()}
        assert calls == Counter(
            {name: number for name, one in opened.items() if (number := len(list(totalled_calls(one))))}
        )


def test_the_demo_adds_up(tmp_path: Path) -> None:
    for session in demo_sessions():
        session.write(tmp_path / "logs")
    compared = Compared(tmp_path, tmp_path / "logs")
    compared.check_usage()
    compared.check_stats()
    compared.check_sessions()


def test_real_sessions_add_up(shared: Path, tmp_path: Path) -> None:
    compared = Compared(tmp_path, shared / "corpora" / "claude")
    compared.check_usage()
    compared.check_stats()
    compared.check_sessions()


def test_sessions_of_every_agent_add_up(shared: Path, tmp_path: Path) -> None:
    sources = [one for one in sorted((shared / "corpora" / "agents").iterdir()) if one.is_dir()]
    compared = Compared(tmp_path, *sources)
    compared.check_usage()
    compared.check_stats()


def test_sessions_of_two_agents_may_have_one_name(shared: Path, tmp_path: Path) -> None:
    agents = shared / "corpora" / "agents"
    written(tmp_path / "lake", agents / "kiro-cli", agents / "windsurf")
    rows = asked(tmp_path / "lake", "SELECT agent, session, turns FROM sessions ORDER BY ALL")
    assert rows == [("kiro", "transcript", 1), ("windsurf", "transcript", 4)]


def test_a_made_corpus_is_what_its_maker_knows(made_corpus: Callable[[int, int], Path], tmp_path: Path) -> None:
    corpus = made_corpus(3, 12)
    truth = {one["session"]: one for one in json.loads((corpus / "truth.json").read_bytes())["sessions"]}
    compared = Compared(tmp_path, corpus)
    compared.check_usage()
    compared.check_stats()
    rows = {row[0]: row[1:] for row in asked(compared.lake, """
        SELECT session,
          (SELECT count(*) FROM prompts p WHERE p.session = s.session AND subagent IS NULL AND kind = 'text'),
          (SELECT count(*) FROM calls c WHERE c.session = s.session AND subagent IS NULL),
          (SELECT count(*) FROM calls c WHERE c.session = s.session AND subagent IS NOT NULL),
          (SELECT count(*) FROM blocks b WHERE b.session = s.session AND subagent IS NULL AND kind = 'thinking'),
          (SELECT count(*) FROM commits c WHERE c.session = s.session AND subagent IS NULL),
          (SELECT count(*) FROM agents a WHERE a.session = s.session),
          (SELECT coalesce(sum(output), 0) FROM usage u WHERE u.session = s.session),
          (SELECT list(status ORDER BY line) FROM plans p WHERE p.session = s.session AND branch = 0)
        FROM sessions s""")}  # fmt: skip
    assert rows.keys() == truth.keys()
    for name, one in truth.items():
        prompts, calls, agent_calls, thinking, commits, agents, output, plans = rows[name]
        assert (prompts, calls, agent_calls) == (one["prompts"], one["tool_calls"], one["agent_tool_calls"]), name
        assert (thinking, commits, agents) == (one["thinking"], one["commits"], one["subagents"]), name
        assert output == one["output_tokens"] + one["agent_output_tokens"], name
        assert [status if status != "chained" else "approved" for status in (p["status"] for p in one["plans"])] == (
            plans or []
        )


@pytest.mark.parametrize("fork", [False, True])
def test_what_two_sessions_hold_is_counted_in_the_first(fork: bool, tmp_path: Path) -> None:
    first = LogBuilder(seed="a", version="2.1.230").prompt("one")
    first.ran("ls", "README.md").prompt("two")
    first.assistant(first.text("2")).write(tmp_path / "logs")
    second = first.copied(FORK, fork=fork).wait(60).prompt("three")
    second.assistant(second.text("3")).write(tmp_path / "logs")
    compared = Compared(tmp_path, tmp_path / "logs")
    compared.check_usage()
    compared.check_stats()
    assert asked(tmp_path / "lake", "SELECT session, turn, copied FROM turns WHERE turn > 0 ORDER BY ALL") == sorted(
        [(first.session_id, 1, False), (first.session_id, 2, False),
         (FORK, 1, True), (FORK, 2, True), (FORK, 3, False)]
    )  # fmt: skip
    counted = asked(tmp_path / "lake", "SELECT session, counted, count(*) FROM usage GROUP BY ALL ORDER BY ALL")
    assert counted == sorted([(first.session_id, True, 2), (FORK, False, 2), (FORK, True, 1)])
    copied = asked(tmp_path / "lake", "SELECT session, copied_from, copied_turns FROM sessions WHERE copied_turns > 0")
    assert copied == [(FORK, first.session_id, 2)]
    found = Library([tmp_path / "logs"])
    own = figures(found.open(FORK), PRICES).cost.amount
    assert asked(tmp_path / "lake", f"SELECT cost FROM sessions WHERE session = '{FORK}'") == [(own,)]  # noqa: S608
