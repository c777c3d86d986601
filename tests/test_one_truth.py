"""Every screen says the same of a session: lists, info, exports, the index, the site, the app and the hub."""

import json
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.app.serving import served
from tests.app.sessions import get
from tests.cli.running import run, talk
from tests.log_builder import demo_sessions
from tests.log_builder.builder import LogBuilder
from tests.log_builder.story.requests import advised, watched
from unspool import human
from unspool.app.context import AppContext
from unspool.app.marks import AllMarks
from unspool.app.project_list import ProjectList
from unspool.app.session_query import ANY_KIND, SessionFinder, SessionQuery
from unspool.doc import Fields
from unspool.figures import Figures, figures, tell_ends
from unspool.hub.sessions.process_push import session_columns
from unspool.model import CallEnd, Overview, Session
from unspool.model.blocks import count_ends
from unspool.model.session import is_unlisted
from unspool.prices import Cost, PriceTable
from unspool.reading.prompts import plans_of
from unspool.render.transcript import head_nodes
from unspool.render.view import View
from unspool.render.writers import find_writer, write
from unspool.site.build.plan import BuildOptions, build_site
from unspool.site.session_rows import SessionRow, session_row
from unspool.store.index.schema import PICO
from unspool.store.index.stats import index_stats
from unspool.store.library import Library
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.library.read import read_session
from unspool.store.sync import sync
from unspool.store.sync.extract import ExtractJob, extract_rows

PRICES = PriceTable.load()


class Shown(NamedTuple):
    """What a screen says of a session; None for what it does not show."""

    title: str | None
    prompts: int
    tool_calls: int
    ends: Counter[CallEnd]
    """Calls that failed, were refused, interrupted, left without a result."""
    tokens: int | None
    cost: Decimal | None
    known: bool | None
    """Whether the cost is all of it; ≥ stands before it where it is not."""


def of_overview(one: Overview) -> Shown:
    known = not one.unpriced and not one.usage.floor
    return Shown(one.title, one.turns, one.tool_calls, one.ends, one.usage.total, one.cost, known)


def of_figures(session: Session, counted: Figures) -> Shown:
    tokens = (counted.usage + counted.agents_usage).total
    cost: Cost = counted.cost
    return Shown(
        session.title, counted.turns, counted.tool_calls, counted.ends, tokens, cost.amount, cost.known
    )  # fmt: skip


def of_row(row: SessionRow, *, tokens: bool) -> Shown:
    used = row.tokens if tokens else None
    return Shown(row.title, row.prompts, row.tool_calls, row.ends, used, row.amount, row.known)


class Screens:
    """All that is said of the sessions of a source."""

    def __init__(self, folder: Path, *sources: Path) -> None:
        for source in sources:
            sync(folder, [source])
        self.library, self.folder, self.sources = Library(sources), folder, sources
        self.logs = {log.session_id: log for log in self.library.logs()}
        self.sessions = {name: self.library.open(log) for name, log in self.logs.items()}
        overviews = self.library.overviews()
        self.listed = {one.id: of_overview(one) for one in overviews}
        self.kinds = {one.id: one.kind for one in overviews}

    def kept(self) -> dict[str, Shown]:
        overviews = Library(self.sources, kept=KeptSessions(self.folder)).overviews()
        return {one.id: of_overview(one) for one in overviews}

    def info(self) -> dict[str, Shown]:
        return {name: of_figures(one, figures(one, PRICES)) for name, one in self.sessions.items()}

    def shown(self) -> dict[str, Shown]:
        """What the head of `show` says, in words."""
        found = {}
        for name, session in self.sessions.items():
            (fields,) = (node for node in head_nodes(session, View()) if isinstance(node, Fields))
            said = dict(fields.items)
            turns, calls = (int(said[field].split(" ")[0].replace(",", "")) for field in ("turns", "tool calls"))
            told = (re.search(rf"(\d[\d,]*) {end}", said["tool calls"]) for end in _ENDS)
            ends = count_ends(*(int(found[1].replace(",", "")) if found else 0 for found in told))
            found[name] = Shown(session.title, turns, calls, ends, None, None, None)
        return found

    def exported(self, folder: Path) -> dict[str, Shown]:
        found = {}
        for name, session in self.sessions.items():
            write(find_writer("json"), session, folder / "x.json")
            data = json.loads((folder / "x.json").read_bytes())
            told = data["figures"]
            used = [
                count for part in ("usage", "agents_usage") for name, count in told[part].items() if name in _TOKENS
            ]
            cost = told["cost"]
            known = "unpriced" not in cost and "floor" not in cost
            amount = Decimal(cost.get("amount", "0"))
            counts = told["turns"], told["tool_calls"], count_ends(*(told[end] for end in _END_NAMES))
            found[name] = Shown(data["title"], *counts, sum(used), amount, known)
        return found

    def site(self) -> dict[str, Shown]:
        rows = [session_row(one, figures(one, PRICES)) for one in self.sessions.values()]
        return {row.id: of_row(row, tokens=True)._replace(title=None) for row in rows}

    def app(self) -> dict[str, Shown]:
        with AppContext(self.folder, self.sources).index() as index:
            rows = SessionFinder(index.db, AllMarks()).find(SessionQuery(kind=ANY_KIND), 0, 10_000).rows
        return {row.id: of_row(row, tokens=False) for row in rows}

    def api(self) -> dict[str, Shown]:
        with served(AppContext(self.folder, self.sources)) as address:
            rows = json.loads(get(f"{address}/api/sessions?limit=500").body)["sessions"]
        return {
            row["key"]: Shown(
                *(row["title"], row["turns"], row["tool_calls"], count_ends(*(row[end] for end in _END_NAMES))),
                *(None, Decimal(str(row["cost"])), row["known"]),
            )
            for row in rows
        }

    def hub(self) -> dict[str, Shown]:
        found = {}
        for name, log in self.logs.items():
            rows = extract_rows(ExtractJob(log, {}), PRICES)
            assert not isinstance(rows, str)
            one = session_columns(rows, figures(read_session(log), PRICES))
            cost = Decimal(one.cost) / PICO
            known = not one.unpriced and not one.open
            ends = count_ends(one.errors, one.refused, one.interrupted, one.unanswered)
            assert ends == figures(read_session(log), PRICES).ends  # as its pages say
            settled = any(plan.settled_by for plan in plans_of(self.sessions[name].turns))
            ends = self.listed[name].ends if settled else ends
            found[name] = Shown(None, one.turns, one.calls, ends, one.tokens, cost, known)
        return found


_ENDS = ("failed", "refused", "interrupted", "without a result")
_END_NAMES = ("tool_errors", "tool_refusals", "tool_interruptions", "tool_unanswered")
_TOKENS = ("input", "output", "cache_read", "cache_write")


def compare(screens: Screens, tmp_path: Path) -> None:
    shown = {
        "kept": screens.kept(), "show": screens.shown(), "info": screens.info(),
        "export": screens.exported(tmp_path), "site": screens.site(),
        "app": screens.app(), "api": screens.api(), "hub": screens.hub(),
    }  # fmt: skip
    shared = shared_history(screens)
    differing = []
    for screen, said in shown.items():
        assert said.keys() == screens.listed.keys(), screen
        for name, one in said.items():
            for field, here, there in zip(Shown._fields, screens.listed[name], one, strict=True):
                if there is None or (field in ("cost", "tokens", "known") and screen == "hub" and name in shared):
                    continue
                if here != there:
                    differing.append(f"{name} {field}: list says {here!r}, {screen} {there!r}")
    assert differing == []


def compare_totals(screens: Screens, tmp_path: Path) -> None:
    """Site, app and statistics count the same tool calls: of sessions and subagents, copied ones once."""
    shown = (log for log in screens.logs.values() if not is_unlisted(screens.kinds[log.session_id], ""))
    build_site(list(shown), tmp_path / "site", BuildOptions())
    page = (tmp_path / "site" / "index.html").read_text()
    told = re.search(r"Tool calls</\w+>\s*<[^>]*>\s*([\d,]+)(?:\s*<[^>]*>)+\s*([^<]*)", page)
    assert told is not None
    with AppContext(screens.folder, screens.sources).index() as index:
        totals, projects = index_stats(index).totals, ProjectList.of(index.db).projects.values()
    calls = int(told[1].replace(",", ""))
    assert (calls, calls) == (totals.tool_calls, sum(project.calls for project in projects))
    assert sum((project.ends for project in projects), Counter()) == +totals.ends
    if not any(plan.settled_by for one in screens.sessions.values() for plan in plans_of(one.turns)):
        assert told[2].strip() == tell_ends(totals.ends)


def shared_history(screens: Screens) -> set[str]:
    """Sessions that hold messages of another, or have other versions: a hub counts what one file holds."""
    owners: dict[str, set[str]] = {}
    for name, session in screens.sessions.items():
        for message in session.messages:
            owners.setdefault(message.id, set()).add(name)
    several = {name for names in owners.values() if len(names) > 1 for name in names}
    return several | {name for name, log in screens.logs.items() if log.versions}


def test_every_screen_says_the_same_of_real_sessions(shared: Path, tmp_path: Path) -> None:
    screens = Screens(tmp_path / "kept", shared / "corpora" / "claude")
    compare(screens, tmp_path)
    compare_totals(screens, tmp_path)


def test_every_screen_pays_all_versions_of_a_session_and_pages_say_so(tmp_path: Path) -> None:
    """Two machines went on with one session: the last is shown, the requests of both are paid."""
    one = LogBuilder(seed="one", model="claude-opus-4-1").prompt("Which way to the harbour?")
    one.assistant(one.text("North."))
    left, right = one.copied(one.session_id), one.copied(one.session_id)
    left.ids, right.ids = type(one.ids)("left"), type(one.ids)("right")
    left.prompt("Is it far?").assistant(left.text("No.")).write(tmp_path / "laptop")
    right.wait(60).prompt("Is it deep?").assistant(right.text("Yes.")).write(tmp_path / "desktop")
    screens = Screens(tmp_path / "kept", tmp_path / "laptop", tmp_path / "desktop")
    compare(screens, tmp_path)
    (session,), (log,) = screens.sessions.values(), screens.logs.values()
    paid = human.money(screens.listed[one.session_id].cost or Decimal(0))
    assert len(session.elsewhere) == 1
    assert f"cost {paid}" in re.sub(" +", " ", run("info", one.session_id, *sources_of(screens)).out)
    assert "for requests that only they hold" in run("info", one.session_id, *sources_of(screens)).out
    build_site([log], tmp_path / "site", BuildOptions())
    (index,) = (tmp_path / "site").glob(f"*/{one.session_id}/index.html")
    with served(AppContext(screens.folder, screens.sources)) as address:
        for page in (get(f"{address}/s/{one.session_id}/").text, index.read_text()):
            assert paid in page
            assert "of it in other versions" in page


def sources_of(screens: Screens) -> list[str]:
    return [argument for source in screens.sources for argument in ("-s", str(source))]


def test_every_screen_says_the_same_of_rollouts(shared: Path, tmp_path: Path) -> None:
    compare(Screens(tmp_path / "kept", shared / "corpora" / "codex"), tmp_path)


def test_every_screen_counts_advisors_and_subagents_without_a_log(tmp_path: Path) -> None:
    source = tmp_path / "claude"
    for log in (advised(), watched()):
        log.write(source)
    screens = Screens(tmp_path / "kept", source)
    compare(screens, tmp_path)
    compare_totals(screens, tmp_path)
    assert [one.agents for one in screens.library.overviews()] == [3, 0]
    assert screens.listed[advised().session_id].tokens == 303_375


def test_every_screen_says_the_same_of_forks_and_copies(tmp_path: Path) -> None:
    """Forks, copies in two folders, a link on the way, queued and refused, rewound and advised, all together."""
    one = LogBuilder(seed="one").prompt("Which way to the harbour?")
    one.ran("ls", "boats").failed("Bash", {"command": "false"}, "exit code 1").queued("And then?")
    refused, broken, open_ = (one.use("Bash", command=command) for command in ("rm", "wait", "watch"))
    one.assistant(refused).rejected(refused, "not that").assistant(broken)
    one.result(broken, "[Request interrupted by user for tool use]", error=True).assistant(open_).prompt("Go on")
    one.plan("# Go north\n\n1. Walk.", "rejected", "No, south.").plan("# Go south\n\n1. Walk.", "approved")
    fork = one.copied("bbbbbbbb-0000-4000-8000-000000000002", fork=True).wait(60).prompt("Only in the fork")
    fork.assistant(fork.text("Yes."))
    older = one.copied("cccccccc-0000-4000-8000-000000000003").wait(90).prompt("Only in the continuation")
    older.assistant(older.text("No."))
    first, second = tmp_path / "laptop", tmp_path / "backup"
    for log in (one, fork, older, advised(), watched(), *demo_sessions()):
        log.write(first)
    for log in (one, older):
        log.write(second)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "projects").symlink_to(second / "projects", target_is_directory=True)
    grown = older.wait(30).prompt("And later, elsewhere")
    grown.assistant(grown.text("Aye.")).write(tmp_path / "desktop")
    screens = Screens(tmp_path / "kept", first, second, tmp_path / "linked", tmp_path / "desktop")
    compare(screens, tmp_path)
    compare_totals(screens, tmp_path)
    assert screens.listed[one.session_id].ends == {"failed": 1, "refused": 2, "interrupted": 1, "unanswered": 1}
    assert screens.listed[older.session_id].prompts == screens.listed[one.session_id].prompts + 2
    listing = screens.library.listing()
    assert listing.cost.amount == sum(overview.cost for overview in listing.overviews)
    assert listing.usage.total == sum(overview.usage.total for overview in listing.overviews)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_screen_says_the_same_of_made_sessions(
    seed: int, made_corpus: Callable[[int, int], Path], tmp_path: Path
) -> None:
    screens = Screens(tmp_path / "kept", made_corpus(seed, 5))
    compare(screens, tmp_path)
    compare_totals(screens, tmp_path)


def test_every_list_leaves_out_the_same_sessions(tmp_path: Path) -> None:
    """List, site, app, projects and statistics count the same sessions: no stub, warm-up, stray subagent or ghost."""
    root = tmp_path / "source"
    asked, warm, stub = talk("Any fish?", "11111111"), talk("Warmup", "22222222"), LogBuilder(session_id="33333333")
    stray = [line for line in talk("Look for fish.", "44444444").lines if isinstance(line, dict)]
    for line in stray:
        line.update(isSidechain=True, agentId="a44444444")
    for log in (asked, warm, stub.summary("Nothing was said.", "")):
        log.write(root)
    (root / "projects" / asked.path.split("/")[1] / "agent-a44444444.jsonl").write_text(
        "\n".join(map(json.dumps, stray))
    )
    (root / "history.jsonl").write_text(
        json.dumps({"display": "Gone", "timestamp": 1_770_000_000_000, "project": "/x", "sessionId": "5" * 8}) + "\n"
    )
    folder = tmp_path / "kept"
    sync(folder, [root])
    library = Library([root])
    listed = [one.id for one in library.overviews() if not is_unlisted(one.kind, one.title)]
    with AppContext(folder, [root]).index() as index:
        found = SessionFinder(index.db, AllMarks()).find(SessionQuery(), 0, 10)
        projects = [one.sessions for one in ProjectList.of(index.db).projects.values()]
        told = index_stats(index).totals
    assert set(found.kinds) == {"interactive", "stub", "subagent", "ghost"}
    assert listed == [asked.session_id] == [row.id for row in found.rows]
    assert (found.total, projects, told.sessions, told.projects) == (1, [1], 1, 1)
    assert build_site(library.logs(), tmp_path / "site", BuildOptions()).made == 1
