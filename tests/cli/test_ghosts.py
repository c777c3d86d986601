"""Sessions that were deleted before anything was kept: listed, opened and told apart from what is kept."""

import json
from pathlib import Path

import pytest

from tests.app.browsing import Browsed
from tests.app.serving import served
from tests.cli.running import run, talk
from unspool.app.context import AppContext
from unspool.store.archive.database import archive_folder

GONE = "99999999-0000-4000-8000-000000000009"
KEPT = "11111111-0000-4000-8000-000000000001"


@pytest.fixture
def agent(home: Path) -> Path:
    """An agent's folder with one session, and the prompts and a file of another; all of it synced."""
    root = home / ".claude"
    talk("Any fish?", KEPT).write(root)
    lines = [("Hoist the zanzibar flag", GONE), ("and lower it", GONE), ("whose was this", "")]
    with (root / "history.jsonl").open("w") as stream:
        for number, (text, session) in enumerate(lines):
            line = {"display": text, "timestamp": 1_700_000_000_000 + number, "project": "/home/dev/ship"}
            stream.write(json.dumps({**line, **({"sessionId": session} if session else {})}) + "\n")
    (root / "file-history" / GONE).mkdir(parents=True)
    (root / "file-history" / GONE / "0123456789abcdef@v1").write_text("flag\n")
    assert run("sync").code == 0
    return root


def test_ghosts_are_listed_where_they_are_asked_for(agent: Path) -> None:
    rows = json.loads(run("list", "--json", "-k", "ghost").out)["sessions"]
    assert {row["turns"]: row["project"] for row in rows} == {1: "/home/dev/ship", 2: "/home/dev/ship"}
    assert GONE in [row["id"] for row in rows]
    assert not any(row.get("kept") for row in rows)
    usual = run("list").out
    assert GONE[:8] not in usual
    assert "1 session · 2 without a log (-k ghost) · " in usual


def test_a_ghost_is_shown_with_its_prompts_and_what_survives(agent: Path) -> None:
    shown = run("show", GONE[:8]).out
    assert shown.index("Hoist the zanzibar flag") < shown.index("and lower it")
    assert "whose was this" not in shown
    assert "its log is gone" in shown
    assert f"file-history/{GONE}" in shown
    told = json.loads(run("info", "--json", "zanzibar").out)
    assert (told["session"]["id"], told["session"]["kind"], told["figures"]["turns"]) == (GONE, "ghost", 2)
    assert run("show", "prompts-2023").out.count("whose was this") == 1


def test_a_hit_in_a_ghost_leads_to_it(agent: Path) -> None:
    (found,) = json.loads(run("search", "--json", "lower").out)["sessions"]
    assert (found["session"], found["resume"]) == (GONE, "")
    words = found["hits"][0]["link"].split()[1:]
    assert "and lower it" in run(*words).out


@pytest.mark.parametrize("command", [("clone",), ("fork",), ("share", "--dry-run")])
def test_what_needs_a_log_says_that_there_is_none(agent: Path, command: tuple[str, ...]) -> None:
    done = run(*command, GONE)
    assert done.code
    assert "Traceback" not in done.err
    assert GONE in done.err


def test_the_latest_session_is_no_ghost(agent: Path) -> None:
    lines = (agent / "history.jsonl").read_text()
    (agent / "history.jsonl").write_text(lines.replace("1700000000", "9900000000"))
    run("sync")
    assert KEPT in run("info", "latest").out


def test_the_app_counts_a_ghost_apart_and_opens_it(agent: Path) -> None:
    with served(AppContext(archive_folder(), ())) as address:
        app = Browsed(address)
        assert "1 session, all kept" in app.get("/").said
        assert app.keys() == [KEPT]
        assert GONE in app.keys(kind="ghost")
        page = app.get(f"/s/{GONE}/")
        assert (page.status, "Hoist the zanzibar flag" in page.said) == (200, True)
        (found,) = app.json("/search.json", q="zanzibar")["sessions"]
        assert f"/s/{GONE}/" in app.get(found["hits"][0]["href"]).url
