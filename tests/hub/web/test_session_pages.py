"""Pages of what a team pushed: what it did, charts of usage, the way to a story, and sharing from a session's page."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import pytest

from tests.agents import test_codex_threads as rollouts
from tests.agents.stories import pi
from tests.hub.running import Answer
from tests.hub.sessions.team import CWD, Machine, Member, Team, team
from tests.log_builder.builder import LogBuilder
from unspool.hub.people.projects import Right
from unspool.hub.people.users import Person
from unspool.hub.sessions.activity import DaySpan, recent_days, team_activity
from unspool.hub.sessions.usage import HubSum, HubUsage, UsageLine
from unspool.hub.store.connect import Store
from unspool.hub.web.session_pages import usage_charts

KEY = "aaaaaaaa-0000-4000-8000-00000000000{}"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def crew(store: Store) -> Iterator[Team]:
    """A hub of each kind."""
    with team(store) as made:
        yield made


@pytest.fixture
def small_crew(files_store: Store) -> Iterator[Team]:
    with team(files_store) as made:
        yield made


def pushed(member: Member, folder: Path, project: str, *ages: timedelta) -> Machine:
    """Sessions so long ago, in which a file was written and committed."""
    machine = Machine(member, folder, project)
    for number, ago in enumerate(ages, 1):
        key = f"{member.name}-{project}-{number}"
        log = LogBuilder(session_id=KEY.format(number), cwd=CWD, seed=key, start=datetime.now(UTC) - ago)
        log.title(f"Gauge {number}").prompt(f"Please mend the gauge of {key}.\nIt reads wrong.")
        log.wrote(f"{CWD}/gauge.py", "one\ntwo\n")
        log.assistant(log.text("Mended."))
        log.write(machine.source)
    assert all(done.session for done in machine.push())
    return machine


def shown(member: Member, path: str) -> str:
    answer = member.get(path)
    assert answer.status == 200, answer
    return answer.body.decode()


HOUR = timedelta(minutes=10)
OLD = timedelta(days=40)


def test_the_first_page_tells_what_was_done_by_project(crew: Team, tmp_path: Path) -> None:
    anne, bert = crew.member("anne"), crew.member("bert", project="mill")
    crew.permit(bert.id, "harbour", Right.READ)
    pushed(anne, tmp_path / "anne", "harbour", HOUR, HOUR, OLD)
    pushed(bert, tmp_path / "bert", "mill", HOUR)
    hers, his = shown(anne, "/"), shown(bert, "/")
    assert "2 sessions" in hers
    assert "mill" not in hers
    assert his.index(">harbour</a></h2>") < his.index(">mill</a></h2>")
    assert "3 sessions" in his
    assert "2 people" in his
    assert "Please mend the gauge of anne-harbour-1. It reads wrong." in his
    assert "anne-harbour-3" not in his
    assert "1 file changed" in his


def test_a_quiet_morning_shows_the_last_day_that_had_something(small_crew: Team, tmp_path: Path) -> None:
    anne = small_crew.member("anne")
    assert "No session was pushed yet" in shown(anne, "/")
    pushed(anne, tmp_path / "anne", "harbour", OLD)
    page = shown(anne, "/")
    assert "Nothing since" in page
    assert "anne-harbour-1" in page
    assert "$0.00" not in page
    assert "anne-harbour-1" in shown(anne, "/?days=7")


@pytest.mark.parametrize(
    ("today", "first"),
    [("2026-11-17", "2026-11-16"), *((f"2026-11-{day}", "2026-11-13") for day in (14, 15, 16))],
)
def test_days_are_looked_back_to_the_working_day_before(today: str, first: str) -> None:
    assert recent_days(0, date.fromisoformat(today)) == DaySpan(date.fromisoformat(first), date.fromisoformat(today))


def test_what_a_few_days_cost_is_added_up_without_a_look_at_every_request(small_crew: Team, tmp_path: Path) -> None:
    db, asked = small_crew.store.db, list[tuple[str, tuple[object, ...]]]()
    pushed(small_crew.member("anne"), tmp_path / "anne", "harbour", HOUR)

    class Heard:
        dialect = db.dialect

        def rows(self, sql: str, *values: Any) -> Any:
            asked.append((sql, values))
            return db.rows(sql, *values)

    team_activity(cast("Any", Heard()), Person("", "root", admin=True), recent_days())
    steps = [row[-1] for sql, values in asked for row in db.rows(f"EXPLAIN QUERY PLAN {sql}", *cast("Any", values))]
    assert not [step for step in steps if step in ("SCAN request", "SCAN session")]


def test_shares_of_others_are_told_where_they_are_listed(small_crew: Team, tmp_path: Path) -> None:
    anne, bert = small_crew.member("anne"), small_crew.member("bert", Right.READ)
    pushed(anne, tmp_path / "anne", "harbour", HOUR)
    session = anne.get("/api/archive").json["sessions"][0]["id"]
    for listed in ("0", "1"):
        assert sent(anne, session, listed=listed).status == 303
    db = small_crew.store.db
    assert len(team_activity(db, anne.person, recent_days()).shares) == 2
    assert len(team_activity(db, bert.person, recent_days()).shares) == 1
    assert "Shares made" in shown(bert, "/")


@pytest.mark.parametrize(
    ("path", "name"),
    [*((f"/{name.lower()}", name) for name in ("Sessions", "Search", "Usage", "Shares")), ("/me", "anne")],
)
def test_the_navigation_says_where_one_is(small_crew: Team, path: str, name: str) -> None:
    page = shown(small_crew.member("anne"), path)
    assert page.count('aria-current="page">') == 2, "the crumb and the way"
    assert f'aria-current="page">{name}</a>' in page


def test_a_story_is_offered_where_more_than_one_session_is_in_it(small_crew: Team, tmp_path: Path) -> None:
    anne = small_crew.member("anne")
    pushed(anne, tmp_path / "anne", "harbour", HOUR, HOUR)
    db = small_crew.store.db
    db.run("UPDATE session SET kind = 'planning', slug = '', source = ''")
    assert "/story" not in shown(anne, "/sessions")
    db.run("UPDATE session SET source = ? WHERE key = ?", KEY.format(1), KEY.format(2))
    assert shown(anne, "/sessions").count("/story") == 2
    db.run("UPDATE session SET source = 'something-nobody-pushed' WHERE key = ?", KEY.format(2))
    assert "/story" not in shown(anne, "/sessions")


def test_usage_is_drawn_over_time_and_ranked_otherwise(crew: Team, tmp_path: Path) -> None:
    anne = crew.member("anne")
    pushed(anne, tmp_path / "anne", "harbour", HOUR, timedelta(days=3))
    for by in ("day", "week", "month"):
        page = shown(anne, f"/usage?by={by}")
        assert all(f"{what} by {by}" in page for what in ("Cost", "Tokens", "Sessions begun"))
    assert "2 sessions" in shown(anne, "/usage?by=month") or "1 session" in shown(anne, "/usage?by=month")
    for by in ("person", "project", "model"):
        page = shown(anne, f"/usage?by={by}")
        assert 'class="rank-bar"' in page
        assert "bars-cost" not in page
    until = (datetime.now(UTC) - timedelta(days=1)).date()
    assert "1 session" in shown(anne, f"/usage?by=month&until={until}")


def test_a_chart_of_very_many_days_shows_the_last_of_them() -> None:
    made = [UsageLine(day, day, HubSum(picodollars=1), "") for day in ("1971-01-01", "2026-01-01", "9999-12-31", "")]
    charts = usage_charts(HubUsage("day", tuple(made), HubSum(), ""), {"2026-01-02": 3})
    assert len(charts[0].bars) == 130
    assert charts[2].bars[-1].says == "2026-01-02: 3 sessions"
    assert usage_charts(HubUsage("day", (), HubSum(), ""), {}) == ()


def sent(member: Member, session: str, **fields: str) -> Answer:
    body = urlencode({"expires": "7d", **fields}).encode()
    return member.client.ask("POST", f"/sessions/{session}/share", body, FORM)


def test_a_pushed_session_is_shared_from_its_page_by_who_may(crew: Team, tmp_path: Path) -> None:
    anne, owner = crew.member("anne"), crew.member("olga", Right.OWN)
    bert, carl = crew.member("bert", Right.WRITE), crew.member("carl", Right.NONE)
    pushed(anne, tmp_path / "anne", "harbour", HOUR)
    session = anne.get("/api/archive").json["sessions"][0]["id"]
    assert 'href="share">Share</a>' in shown(anne, f"/sessions/{session}/")
    for member, status in ((bert, 403), (carl, 404)):
        assert member.get(f"/sessions/{session}/share").status == status
        assert sent(member, session).status == status
    assert "Share it" in shown(owner, f"/sessions/{session}/share")
    assert sent(anne, session, password="short").status == 400
    assert sent(anne, session, password="open sesame", raw="1").status == 303
    (share,) = anne.get("/api/shares").json["shares"]
    assert (share["password"], share["raw"], share["listed"]) == (True, True, False)
    assert share["expires"] is not None
    assert anne.client.as_("").get(f"/{share['address']}/").status == 401
    rows = crew.store.db.rows("SELECT what, target, outcome, detail FROM audit WHERE what = 'share.create' ORDER BY id")
    assert rows[-1][:3] == ("share.create", share["address"], "done")
    assert "open sesame" not in str(rows)


def test_a_share_is_brought_up_to_date_with_what_was_pushed_since(small_crew: Team, tmp_path: Path) -> None:
    anne, bert = small_crew.member("anne"), small_crew.member("bert")
    machine = pushed(anne, tmp_path / "anne", "harbour", HOUR)
    session = anne.get("/api/archive").json["sessions"][0]["id"]
    assert sent(anne, session).status == 303
    (share,) = anne.get("/api/shares").json["shares"]
    (log,) = machine.source.rglob("*.jsonl")
    log.write_bytes(log.read_bytes().replace(b"Mended.", b"Mended for good."))
    assert all(done.session for done in machine.push())
    path = f"/sessions/{session}/share/{share['address']}"
    assert path in shown(anne, f"/sessions/{session}/share")
    assert bert.client.ask("POST", path, b"", FORM).status == 404
    assert anne.client.ask("POST", path, b"", FORM).status == 303
    assert anne.get("/api/shares").json["shares"][0]["version"] == 2
    assert b"Mended for good." in anne.get(f"/{share['address']}/page-001.html").body


def test_a_session_of_another_agent_is_shared_too(small_crew: Team, tmp_path: Path) -> None:
    machine = Machine(small_crew.member("anne"), tmp_path / "anne")
    pi.write(machine.source)
    rollouts.keep(machine.source, rollouts.PARENT, rollouts.spawned())
    assert all(done.session for done in machine.push())
    for session in machine.member.get("/api/archive").json["sessions"]:
        assert sent(machine.member, session["id"]).status == 303
        (share, *_) = machine.member.get("/api/shares").json["shares"]
        assert share["session"] == session["key"]


def test_what_policy_keeps_out_is_told_on_the_form(small_crew: Team, tmp_path: Path) -> None:
    anne = small_crew.member("anne")
    pushed(anne, tmp_path / "anne", "harbour", HOUR)
    session = anne.get("/api/archive").json["sessions"][0]["id"]
    small_crew.store.db.run(
        "INSERT INTO setting(key, value) VALUES('policy', ?)", '{"refused": ["term"], "terms": ["gauge"]}'
    )
    refused = sent(anne, session)
    assert refused.status == 422
    assert b'role="alert"' in refused.body
    assert anne.get("/api/shares").json["shares"] == []
