"""What is found, listed, counted and told of pushed sessions, on both databases the same, and only to those who may."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.running import FIRST_LIGHT, STORM
from tests.hub.sessions.team import CWD, Machine, Member, Team
from tests.log_builder.builder import LogBuilder
from tests.log_builder.story.spring import building, planning
from unspool import human
from unspool.demo import write_demo
from unspool.hub.people.projects import Right
from unspool.hub.sessions.listing import ListPage
from unspool.hub.sessions.search import FoundInHub, search
from unspool.hub.store.connect import Store
from unspool.store.index.billing import UsageFilter, UsageSum
from unspool.store.index.database import Index
from unspool.store.index.schema import PICO
from unspool.store.index.usage import usage_report
from unspool.store.sync import sync

TEXTS = {
    "aaaaaaaa-0000-4000-8000-000000000001": ("Mend the harbour gauge", "The gauge reads two metres; read_file works."),
    "aaaaaaaa-0000-4000-8000-000000000002": ("Paint the boathouse", "Größe and naïve café; the colour is grün."),
    "aaaaaaaa-0000-4000-8000-000000000003": ("潮位を読む", "水位は二メートルです。 harbour"),
    "aaaaaaaa-0000-4000-8000-000000000004": ("It's a C++ matter", "foo(bar) => baz; user@tide.example.com 10.5% v2"),
    "aaaaaaaa-0000-4000-8000-000000000005": ("Gauge the harbour", "harbour " * 20 + "readFile and /usr/lib/tide.so"),
}
JANUARY = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUESTIONS = (
    "harbour", "gauge harbour", '"harbour gauge"', '"gauge harbour"', "harb*", "harbour -gauge", "gauge OR boathouse",
    "NOT harbour", "(gauge OR café) -paint", "grun", "groesse", "größe", "naive", "水位", "二メートル", "潮",
    "read_file", "readfile", "readFile", "C++", "foo(bar)", "user@tide.example.com", "10.5", "v2", "/usr/lib",
    "tide.so", '"it\'s a"', "kind:prompt gauge", "role:assistant gauge", "model:sonnet harbour", "model:opus harbour",
    "-kind:prompt harbour", '"two metres"', '"two metr"*', "zzz", "project:harbour gauge", "by:anne gauge",
    "person:nobody gauge", "title:paint", "since:2020-01-01 gauge", "until:2020-01-01 gauge", "cost:>100 gauge",
    "kind:title gauge",
)  # fmt: skip


def texts(folder: Path) -> None:
    for number, (key, (asked, said)) in enumerate(TEXTS.items()):
        log = LogBuilder(
            session_id=key, cwd=CWD, model="claude-sonnet-4-5", seed=key, start=JANUARY + timedelta(days=number)
        )
        log.prompt(asked).assistant(log.text(said)).write(folder)


def keys(answer: dict[str, Any]) -> list[str]:
    return [one["session"]["key"] for one in answer["found"]]


@pytest.fixture
def pair(files_store: Store, servers_store: Store, tmp_path: Path) -> Iterator[list[Member]]:
    """The same sessions on a hub of each kind."""
    from tests.hub.sessions.team import team

    with team(files_store) as one, team(servers_store) as other:
        made: list[Member] = []
        for number, crew in enumerate((one, other)):
            machine = Machine(crew.member("anne"), tmp_path / str(number))
            texts(machine.source)
            write_demo(machine.source)
            assert {done.outcome for done in machine.push()} == {"pushed"}
            made.append(machine.member)
        yield made


def test_both_databases_find_the_same(pair: list[Member]) -> None:
    demo = (
        "the",
        "test*",
        "tests NOT fail",
        '"the test"',
        "commit OR branch",
        "error",
        "def",
        "README.md",
        "git status",
    )
    found = 0
    for question in (*QUESTIONS, *demo):
        one, other = (search(member.store, member.person, question, ListPage(None, 50)) for member in pair)
        assert [told(hit) for hit in one.found] == [told(hit) for hit in other.found], question
        assert one.notes == other.notes
        found += bool(one.found)
    assert found > 35
    pages = [[page(member, "the", after) for after in ("", "next")] for member in pair]
    assert pages[0] == pages[1]


def told(found: FoundInHub) -> tuple[object, ...]:
    return found.session.key, [(hit.kind, hit.turn, hit.page, hit.snippet) for hit in found.hits]


def page(member: Member, question: str, after: str) -> list[str]:
    first = member.get(f"/api/search?q={question}&limit=2").json
    return keys(member.get(f"/api/search?q={question}&limit=2&after={first['next']}").json if after else first)


EXPECTED = {
    "harbour": {1, 3, 5},
    '"harbour gauge"': {1},
    "harbour -gauge": {3, 5},
    "grun": {2},
    "水位": {3},
    "readfile": {5},
    "read_file": {1, 5},
    '"it\'s a"': {4},
    "by:anne boathouse": {2},
    "by:bert boathouse": set(),
    "until:2026-01-03 gauge": {1},
    "since:2026-01-03 gauge": {5},
    "tool:x gauge": {1, 5},
}


def test_what_is_asked_for_is_found(small_crew: Team, tmp_path: Path) -> None:
    machine = Machine(small_crew.member("anne"), tmp_path / "anne")
    texts(machine.source)
    machine.push()
    for question, wanted in EXPECTED.items():
        answer = machine.member.get(f"/api/search?q={quote(question)}").json
        assert {int(key[-1]) for key in keys(answer)} == wanted, question
    (hit, *_) = machine.member.get("/api/search?q=metres").json["found"][0]["hits"]
    start, end = hit["snippet"]["marks"][0]
    assert hit["snippet"]["text"][start:end] == "metres"
    assert machine.member.get("/api/search?q=tool:x").json["notes"] == ["tool: is not asked of a hub and was left out."]


def test_a_hit_leads_to_its_place_on_a_page(machine: Machine) -> None:
    write_demo(machine.source)
    machine.push()
    seen = 0
    for found in machine.member.get("/api/search?q=test&limit=50").json["found"]:
        for hit in found["hits"]:
            name, _, anchor = hit["page"].partition("#")
            answer = machine.member.get(f"/sessions/{found['session']['id']}/{name}")
            assert answer.status == 200
            assert not anchor or f'id="{anchor}"' in answer.body.decode(), (found["session"]["key"], hit)
            seen += bool(anchor)
    assert seen > 5


def test_lists_are_paged_without_gaps_and_filtered(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    texts(machine.source)
    machine.push()
    seen: list[str] = []
    after = ""
    while True:
        part = machine.member.get(f"/api/archive?limit=2&after={after}").json
        seen += [one["key"] for one in part["sessions"]]
        after = str(part["next"])
        if not after:
            break
    assert [int(key[-1]) for key in seen] == [5, 4, 3, 2, 1]
    for asked, wanted in (("q=gauge", 2), ("since=2026-01-04", 2), ("model=sonnet", 5), ("person=bert", 0)):
        found = machine.member.get(f"/api/projects/harbour/sessions?{asked}").json["sessions"]
        assert len(found) == wanted, asked
    assert machine.member.get("/api/archive?after=x").status == 400


def test_only_those_who_may_read_are_told_anything(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    texts(machine.source)
    machine.push()
    (one, *_) = machine.member.get("/api/archive").json["sessions"]
    reader, stranger = crew.member("rita", Right.READ), crew.member("stan", Right.WRITE, "elsewhere")
    for path in ("", "/story", "/files", "/log", f"/files/{one['key']}.jsonl"):
        assert reader.get(f"/api/archive/{one['id']}{path}").status == 200
        hidden, none = (stranger.get(f"/api/archive/{id_}{path}") for id_ in (one["id"], "0" * 32))
        assert (hidden.status, hidden.body) == (404, none.body)
    assert reader.get(f"/sessions/{one['id']}/").status == 200
    assert stranger.get(f"/sessions/{one['id']}/").status == 404
    assert stranger.get("/api/archive").json["sessions"] == []
    assert stranger.get("/api/search?q=harbour").json["found"] == []
    assert stranger.get("/api/usage").json["lines"] == []
    assert len(reader.get("/api/search?q=harbour").json["found"]) == 3


def test_a_change_is_one_story_whoever_did_each_part(crew: Team, tmp_path: Path) -> None:
    planner, builder = crew.member("anne"), crew.member("bert", project="quay")
    crew.permit(planner.id, "quay", Right.READ)
    crew.permit(builder.id, "harbour", Right.READ)
    one, other = Machine(planner, tmp_path / "anne"), Machine(builder, tmp_path / "bert", "quay")
    plan = planning()
    plan.write(one.source)
    building(plan).write(other.source)
    one.push()
    other.push()
    sessions = planner.get("/api/archive?limit=200").json["sessions"]
    built = next(s for s in sessions if s["kind"] == "implementation" and s["person"]["name"] == "bert")
    story = planner.get(f"/api/archive/{built['id']}/story").json["story"]
    assert [step["role"] for step in story] == ["planning", "implementation"]
    assert {step["session"]["person"]["name"] for step in story} == {"anne", "bert"}
    alone = crew.member("cora", Right.READ, "quay")
    told = alone.get(f"/api/archive/{built['id']}/story").json["story"]
    assert {step["session"]["person"]["name"] for step in told} == {"bert"}


def test_a_lower_bound_is_marked_on_every_page(crew: Team, tmp_path: Path) -> None:
    """A session whose log never held final figures has ≥ before its cost, and so has every sum with it; no other."""
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    write_demo(machine.source)
    machine.push()
    facts = {one["key"]: one for one in machine.member.get("/api/archive").json["sessions"]}
    assert facts[FIRST_LIGHT]["open"]
    assert not facts[STORM]["open"]
    rows = machine.member.get("/sessions").body.decode().split("<li")
    light, storm = (next(row for row in rows if facts[key]["id"] in row) for key in (FIRST_LIGHT, STORM))
    assert "≥$" in light
    assert "≥" not in storm
    assert "$" in storm
    report = machine.member.get("/api/usage?by=project").json
    spent = human.money(report["sum"]["picodollars"] / PICO, floor=True)
    page = machine.member.get("/usage?by=project").body.decode()
    assert page.count(f">{spent}<") == 2


def test_usage_is_that_of_the_same_logs_here(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    write_demo(machine.source)
    copy = LogBuilder(session_id="cccccccc-0000-4000-8000-000000000001", cwd=CWD, model="claude-opus-4-1")
    copy.prompt("Count me once").assistant(copy.text("Yes"))
    copy.write(machine.source)
    copy.copied("cccccccc-0000-4000-8000-000000000002").write(machine.source)
    machine.push()
    sync(tmp_path / "archive", [machine.source])
    with Index.open(tmp_path / "archive") as index:
        for by in ("model", "day", "week", "month"):
            here = usage_report(index, by, UsageFilter())
            there = machine.member.get(f"/api/usage?by={by}").json
            assert {line["key"]: figures(line["sum"]) for line in there["lines"]} == {
                row.key: figures(row.sum) for row in here.rows
            }
            assert figures(there["sum"]) == figures(here.sum)
            assert here.sum.requests > 10
    listed = machine.member.get("/api/archive?limit=100").json["sessions"]
    assert sum(round(one["cost"] * 10**12) for one in listed) == here.sum.cost
    assert sum(one["tokens"] for one in listed) == here.sum.total
    totals = [machine.member.get(f"/api/usage?by={by}").json for by in ("person", "project")]
    assert [one["lines"][0]["name"] for one in totals] == ["anne", "harbour"]
    assert {figures(one["sum"]) for one in totals} == {figures(here.sum)}


def figures(sum_: UsageSum | dict[str, int]) -> tuple[int, ...]:
    names = ("requests", "input", "output", "cache_read", "cache_write", "unpriced", "open")
    if isinstance(sum_, dict):
        return (*(sum_[name] for name in names), sum_["picodollars"])
    return (*(getattr(sum_, name) for name in names), sum_.cost)


def test_a_copy_counts_once_among_what_one_may_see(crew: Team, tmp_path: Path) -> None:
    anne, bert = crew.member("anne"), crew.member("bert", project="quay")
    log = LogBuilder(session_id="cccccccc-0000-4000-8000-000000000001", cwd=CWD, model="claude-opus-4-1")
    log.prompt("Count me once").assistant(log.text("Yes"))
    one, other = Machine(anne, tmp_path / "anne"), Machine(bert, tmp_path / "bert", "quay")
    log.write(one.source)
    log.copied("cccccccc-0000-4000-8000-000000000002").write(other.source)
    one.push()
    other.push()
    both = crew.member("cora", Right.READ)
    crew.permit(both.id, "quay", Right.READ)
    counts = [member.get("/api/usage?by=person").json for member in (anne, bert, both)]
    assert [one["sum"]["requests"] for one in counts] == [1, 1, 1]
    assert [line["name"] for one in counts for line in one["lines"]] == ["anne", "bert", "anne"]
    paid = [[one["cost"] > 0 for one in member.get("/api/archive").json["sessions"]] for member in (anne, bert, both)]
    assert [sorted(one) for one in paid] == [[True], [True], [False, True]]
    (copy,) = (one for one in both.get("/api/archive").json["sessions"] if not one["cost"])
    assert (copy["key"], copy["tokens"]) == ("cccccccc-0000-4000-8000-000000000002", 0)
    assert both.get(f"/api/archive/{copy['id']}").json["cost"] == 0


def test_shared_history_is_found_once_among_what_one_may_see(crew: Team, tmp_path: Path) -> None:
    """In the session that it was first said in, though a copy that says so ended before; and where one asks for it."""
    anne, bert = crew.member("anne"), crew.member("bert", project="quay")
    log = LogBuilder(session_id="eeeeeeee-0000-4000-8000-000000000001", cwd=CWD)
    log.prompt("Where do puffins nest?").assistant(log.text("In burrows.")).ran("ls", "cliffs")
    fork = log.copied("cccccccc-0000-4000-8000-000000000002", fork=True)
    fork.prompt("And razorbills?").assistant(fork.text("On ledges.")).write(tmp_path / "bert" / "agent")
    log.wait(600).prompt("And puffins in winter?").assistant(log.text("At sea.")).write(tmp_path / "anne" / "agent")
    Machine(bert, tmp_path / "bert", "quay").push()
    Machine(anne, tmp_path / "anne").push()
    both = crew.member("cora", Right.READ)
    crew.permit(both.id, "quay", Right.READ)

    def found(member: Member, text: str) -> list[str]:
        return keys(member.get(f"/api/search?q={quote(text)}").json)

    for text in ("burrows", "puffins", "cliffs", "kind:result cliffs"):
        assert found(both, text) == found(anne, text) == [log.session_id], text
        assert found(bert, text) == [fork.session_id], text
    assert found(both, "ledges") == [fork.session_id]
    assert found(both, f"burrows session:{fork.session_id}") == [fork.session_id]
    paid = {one["key"]: one["cost"] for one in both.get("/api/archive").json["sessions"]}
    alone = {one["key"]: one["cost"] for one in bert.get("/api/archive").json["sessions"]}
    assert 0 < paid[fork.session_id] < alone[fork.session_id]


def test_what_an_older_hub_kept_is_found_once_when_its_pages_were_made_anew(machine: Machine) -> None:
    log = LogBuilder(session_id="cccccccc-0000-4000-8000-000000000001", cwd=CWD)
    log.prompt("Where do puffins nest?").assistant(log.text("In burrows.")).write(machine.source)
    fork = log.copied("cccccccc-0000-4000-8000-000000000002", fork=True).wait(60).prompt("And razorbills?")
    fork.assistant(fork.text("On ledges.")).write(machine.source)
    machine.push()
    db = machine.member.store.db
    db.run("UPDATE session SET made = 'older', forked = 0")
    db.run("DELETE FROM opening")
    assert len(keys(machine.member.get("/api/search?q=burrows").json)) == 2
    for one in machine.member.get("/api/archive").json["sessions"]:
        assert machine.member.get(f"/sessions/{one['id']}/").status == 200
    assert keys(machine.member.get("/api/search?q=burrows").json) == [log.session_id]


def test_the_page_of_sessions_tells_figures_and_an_unknown_price(small_crew: Team, tmp_path: Path) -> None:
    """As the app's list does; a plan leads to its story."""
    machine = Machine(small_crew.member("anne"), tmp_path / "anne")
    strange = LogBuilder(session_id="cccccccc-0000-4000-8000-000000000001", cwd=CWD, model="sea-monster-1")
    strange.prompt("Any fish?").assistant(strange.text("None."))
    strange.write(machine.source)
    write_demo(machine.source)
    machine.push()
    page = machine.member.get("/sessions").body.decode()
    rows = {row.partition("</a>")[0].rpartition(">")[2]: row for row in page.split('<a class="title"')[1:]}
    assert ">?</span>" in rows["Any fish?"]
    assert "<span>1 prompt</span>" in rows["Any fish?"]
    assert "⎇ surge" in rows["Add the storm surge to predictions"]
    assert "/story" in next(row for row in rows.values() if ">planning<" in row)
