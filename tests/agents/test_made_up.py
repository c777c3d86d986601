"""An agent with as few capabilities as are allowed goes through every command, page and route.

What it lacks is told in one sentence that names it; all else works as for any other.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Route

from tests.agents.made_up import SESSION, MadeUp, write_tale
from tests.app.serving import served
from tests.app.sessions import get
from tests.cli.running import run
from unspool.agents import AGENTS
from unspool.app.context import AppContext
from unspool.app.server import create_app
from unspool.cli.group import COMMANDS

WORKS = {
    "scan": f"scan {SESSION} -s SOURCE --json",
    "list": "list -s SOURCE",
    "agents": "agents -s SOURCE",
    "info": f"info {SESSION} -s SOURCE",
    "context": f"context {SESSION} -s SOURCE",
    "show": f"show {SESSION} -s SOURCE",
    "export": f"export {SESSION} -s SOURCE",
    "json": f"json {SESSION} -s SOURCE -o OUT",
    "all": "all -s SOURCE -o OUT",
    "sync": "sync -s SOURCE",
    "search": "search granite",
    "compare": f"compare {SESSION} {SESSION} -s SOURCE",
    "outline": f"outline {SESSION} -s SOURCE",
    "usage": "usage",
    "stats": "stats",
    "doctor": "doctor -s SOURCE",
    "verify": "verify",
    "restore": f"restore {SESSION} --to OUT",
    "archive": "archive info",
    "redact": f"redact {SESSION} -s SOURCE",
    "lake": "lake write OUT -s SOURCE",
    "hand-over": f"hand-over {SESSION} -s SOURCE --to codex -o OUT",
    "forget": f"forget {SESSION} --yes",
}
LACKS = {
    "clone": f"clone {SESSION} -s SOURCE",
    "recommend": f"recommend {SESSION} -s SOURCE",
    "fork": f"fork {SESSION} -s SOURCE --at 1",
    "lint": f"lint {SESSION} -s SOURCE",
    "repair": f"repair {SESSION} -s SOURCE",
    "move": f"move {SESSION} -s SOURCE --to OUT",
}
APART = {
    "share": "is tried with every agent's story in test_stories",
    "solved": "tells of errors, which no call of this agent meets",
    "mcp": "runs on; what it tells is what search, outline and the others tell",
    "blame": "tells of files, which no call of this agent changes",
    "commits": "tells of files, which no call of this agent changes",
    "why": "tells of files, which no call of this agent changes",
    "story": "tells of commits, which no call of this agent makes",
    "file": "tells of files, which no call of this agent changes",
    "context-files": "tells of files around sessions, of which this agent has none",
    "local": "asks a person to choose",
    "web": "asks a service that an agent of its own has",
    "open": "serves the pages, which are asked for below",
    "watch": "runs on; what it does is a sync",
    "requests": "says that the log keeps none, whoever wrote it",
    "import": "takes a bundle, which no such session becomes",
    "shares": "speaks of a hub",
    "push": "is tried with every agent's story in tests/hub/sessions/test_agents",
    "login": "speaks of a hub",
    "logout": "speaks of a hub",
    "hub": "takes only what was pushed",
    "sql": "asks the tables that `lake write` makes",
    "schema": "speaks of no session",
    "uninstall": "speaks of what unspool put on the machine",
    "completion": "speaks of no session",
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a session of the made-up agent, which is known while the test lasts."""
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    made_up = MadeUp()
    AGENTS.append(made_up)
    try:
        yield write_tale(tmp_path / "tales").parent
    finally:
        AGENTS.remove(made_up)


def test_every_command_has_its_place_here() -> None:
    assert {name for name, _ in COMMANDS} == {*WORKS, *LACKS, *APART}


@pytest.mark.parametrize("name", WORKS)
def test_a_command_that_reads_works(name: str, source: Path, tmp_path: Path) -> None:
    assert run("sync", "-s", str(source), "-q").code == 0
    words = WORKS[name].replace("SOURCE", str(source)).replace("OUT", str(tmp_path / "out"))
    done = run(*words.split())
    assert (done.code, done.err) == (0, "")
    assert done.out


@pytest.mark.parametrize("name", LACKS)
def test_a_command_that_writes_says_in_a_sentence_that_it_cannot(name: str, source: Path, tmp_path: Path) -> None:
    words = LACKS[name].replace("SOURCE", str(source)).replace("OUT", str(tmp_path / "out"))
    done = run(*words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err == "unspool: Sessions of Made Up can only be read: unspool does not write them.\n"
    assert not (tmp_path / "out").exists()


def test_what_is_told_of_it_is_the_same_everywhere(source: Path) -> None:
    run("sync", "-s", str(source), "-q")
    (listed,) = json.loads(run("list", "-s", str(source), "--json").out)["sessions"]
    info = json.loads(run("info", SESSION, "-s", str(source), "--json").out)
    (found,) = json.loads(run("search", "granite", "--json").out)["sessions"]
    assert (listed["agent"], listed["title"], listed["turns"], listed["tool_calls"]) == (
        "made-up", "Build a harbour", 2, 1
    )  # fmt: skip
    assert (info["figures"]["turns"], info["figures"]["tool_calls"]) == (2, 1)
    assert (found["session"], found["hits"][0]["turn"], found["resume"]) == (SESSION, 1, "")


def test_its_log_comes_back_from_the_archive_byte_for_byte(source: Path, tmp_path: Path) -> None:
    run("sync", "-s", str(source), "-q")
    log = source / f"{SESSION}.tale"
    written = log.read_bytes()
    log.unlink()
    assert run("sync", "-s", str(source), "-q").code == 0
    assert "A quay first" in run("show", SESSION).out
    assert run("restore", SESSION, "--to", str(tmp_path / "out")).code == 0
    assert [path.read_bytes() for path in (tmp_path / "out").rglob("*.tale")] == [written]


def test_every_page_of_the_app_answers(source: Path, tmp_path: Path) -> None:
    run("sync", "-s", str(source), "-q")
    context = AppContext(tmp_path / "kept", [source])
    paths = [
        route.path.replace("{key}", SESSION)
        for route in create_app(context).routes
        if isinstance(route, Route) and "GET" in (route.methods or ()) and not route.path.endswith("/events")
    ]
    with served(context) as address:
        answered = {path: get(f"{address}{path}").status for path in paths if "{" not in path}
        pages = {name: get(f"{address}/s/{SESSION}/{name}") for name in ("", "page-001.html", "context", "turn/1.md")}
    nothing_asked = {"/api/search"}
    parts = {f"/s/{SESSION}/{name}" for name in ("raw", "branches", "compare")}
    nothing_there = {"/files/at", "/files/at.txt", "/files/diff", *parts}
    assert {path for path, status in answered.items() if status == 400} == nothing_asked
    assert {path for path, status in answered.items() if status == 404} == nothing_there
    assert set(answered.values()) == {200, 400, 404}
    assert all(page.status == 200 for page in pages.values())
    assert "A quay first, of granite." in pages["page-001.html"].text
