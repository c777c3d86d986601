"""`unspool search` as people see it: sessions with hits, filters as options, data, exit codes, a safe terminal."""

import json
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import finished, run
from tests.log_builder.builder import LogBuilder
from tests.log_builder.story.requests import watched
from tests.store.index.synced import kept
from unspool.cli.search_cmd import patience
from unspool.errors import UnspoolError

NOW = datetime.now(UTC).replace(microsecond=0)
NASTY = "quokka \x1b]0;owned\x07\x1b[2J \u202eevil"


def lighthouse() -> LogBuilder:
    log = LogBuilder(session_id="lamp", cwd="/home/dev/light house", start=NOW - timedelta(days=3))
    log.prompt("Light the lamp.").ran("lamp --on", "lit").title(f"Lamps {NASTY}")
    log.failed("Bash", {"command": "lamp --off"}, "no such lamp")
    log.prompt("Again, the lamp!")
    use = log.agent_use("Explore", "look", "Look for oil.")
    log.assistant(use)
    return log.subagent(use, "Explore", "look", lambda child: child.assistant(child.text("Whale oil, of course.")))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    quiet = LogBuilder(session_id="quiet", start=NOW - timedelta(days=9)).prompt(f"A {NASTY} and a lamp.")
    return str(kept(tmp_path_factory.mktemp("cli"), lighthouse(), quiet))


def test_a_subagent_that_only_progress_lines_tell_of_is_found_once(tmp_path: Path) -> None:
    archive = str(kept(tmp_path, watched()))
    for word in ("bladderwrack", "sargassum"):
        (found,) = search(archive, f'"grep -r {word}"')["sessions"]
        assert len(found["hits"]) == 1


def search(archive: str, *arguments: str) -> Any:
    done = run("search", "--archive", archive, "--json", *arguments)
    assert done.code in (0, 1), done.err
    return json.loads(done.out)


def sessions(archive: str, *arguments: str) -> list[str]:
    return [one["session"] for one in search(archive, *arguments)["sessions"]]


def test_logs_elsewhere_are_searched_where_they_lie(tmp_path: Path, home: Path) -> None:
    """With `-s`, as `list` takes it; nothing of them is kept, and what is shown can be shown."""
    for folder, name in (("one way", "lamp"), ("other", "oil")):
        LogBuilder(session_id=name, seed=name).prompt(f"Where is the {name}?").write(tmp_path / folder)
    before = sorted(home.rglob("*"))
    places = "-s", str(tmp_path / "one way"), "--source", str(tmp_path / "other")
    done = run("search", "where", "--json", *places)
    found = {one["session"]: one["hits"][0]["link"] for one in json.loads(done.out)["sessions"]}
    assert set(found) == {"lamp", "oil"}
    for name, link in found.items():
        assert f"Where is the {name}?" in run(*shlex.split(link)[1:]).out
    assert [path for path in home.rglob("*") if path not in before and path.is_file()] == []
    assert [one["session"] for one in json.loads(run("search", "lamp", "--json", *places[:2]).out)["sessions"]] == [
        "lamp"
    ]


def test_another_archive_is_a_source_too(archive: str, tmp_path: Path) -> None:
    found = json.loads(run("search", "lamp", "--json", "-s", archive).out)["sessions"]
    assert {one["session"] for one in found} == {"lamp", "quiet"}
    assert run("search", "lamp", "-s", archive, "-s", str(tmp_path)).code == 2
    assert run("search", "lamp", "-s", str(tmp_path / "nowhere")).code == 3


def test_the_demo_is_searched() -> None:
    done = run("search", "surge", "--demo")
    assert (done.code, "Add the storm surge to predictions" in done.out) == (0, True)
    assert re.search(r"unspool show 57024000\S+( --at \S+)? --demo\n", done.out)


def test_a_cost_that_is_a_lower_bound_says_so(tmp_path: Path) -> None:
    known, unknown = (LogBuilder(session_id=name, model=name, seed=name) for name in ("claude-opus-4-1", "sea-monster"))
    for log in (known, unknown):
        log.prompt("Any fish?").assistant(log.text("None."))
    found = search(str(kept(tmp_path, known, unknown)), "fish")["sessions"]
    assert {one["session"]: one["floor"] for one in found} == {"claude-opus-4-1": False, "sea-monster": True}


def test_it_prints_sessions_with_their_hits(archive: str) -> None:
    done = run("search", "--archive", archive, "again", "lamp")
    assert done.code == 0
    assert "Again, the lamp!" in done.out
    assert "/home/dev/light house" in done.out
    assert "unspool show lamp --at msg-" in done.out
    assert "cd '/home/dev/light house' && claude --resume lamp" in done.out
    assert "1 session, 1 hit" in done.out


def test_a_hit_in_a_title_has_no_turn(archive: str) -> None:
    (hit,) = search(archive, "lamps", "kind:title")["sessions"][0]["hits"]
    assert (hit["turn"], hit["time"], hit["link"]) == (None, None, "unspool show lamp")
    (line,) = [
        line for line in run("search", "--archive", archive, "lamps", "-k", "title").out.splitlines() if "title" in line
    ]
    assert line.split()[:2] == ["title", "Lamps"]


def test_nothing_found_ends_with_one(archive: str) -> None:
    done = run("search", "--archive", archive, "wombat")
    assert (done.code, done.out) == (1, "")
    assert "Nothing" in done.err
    assert search(archive, "wombat")["sessions"] == []


def test_no_archive_says_how_to_make_one(tmp_path: Path) -> None:
    done = run("search", "--archive", str(tmp_path), "lamp")
    assert done.code == 3
    assert "unspool sync" in done.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("lamp",), ["lamp", "quiet"]),
        (("lamp -quokka",), ["lamp"]),
        (("lamp", "--project", "light"), ["lamp"]),
        (("lamp", "--since", "5d"), ["lamp"]),
        (("lamp", "--until", "5d"), ["quiet"]),
        (("lamp", "--tool", "bash"), ["lamp"]),
        (("lamp", "--role", "user", "--session", "qui"), ["quiet"]),
        (("lamp", "--kind", "call", "--kind", "result"), ["lamp"]),
        (("--errors",), ["lamp"]),
        (("lamp", "--cost", ">500"), []),
        (("lamp", "--branch", "nope"), []),
        (("lamp", "--model", "nope"), []),
        (("--substring", "mp --o"), ["lamp"]),
        (("--regex", r"lamp --o(n|ff)"), ["lamp"]),
        (("--command", "--off"), ["lamp"]),
        (("--file", "nope.py"), []),
        (("--", "-lamp", "kind:prompt"), ["lamp"]),
    ],
)
def test_options_narrow_as_the_language_does(archive: str, arguments: tuple[str, ...], expected: list[str]) -> None:
    assert sorted(sessions(archive, *arguments)) == expected


def test_json_holds_all_that_is_documented(archive: str) -> None:
    found = search(archive, "lamp", "--limit", "1", "--hits", "1", "--context", "40")
    (session,) = found["sessions"]
    (hit,) = session["hits"]
    assert found["sessions_found"] == 2
    assert set(session) == {
        "session", "title", "project", "kind", "branch", "started", "ended", "cost", "score", "count", "hits", "resume",
        "floor", "agent",
    }  # fmt: skip
    assert set(hit) == {
        "kind", "snippet", "turn", "time", "anchor", "tool", "error", "agent", "log", "place", "link", "file", "how",
        "branch",
    }  # fmt: skip
    assert set(hit["snippet"]) == {"text", "marks", "before", "after"}


def test_what_was_mended_is_told_beside_the_answer(archive: str) -> None:
    done = run("search", "--archive", archive, '"lamp')
    assert done.code == 0
    assert "quote" in done.err


@pytest.mark.parametrize(
    "arguments",
    [("lamp", "since:soon"), ("--regex", "("), ("--regex", "a", "--substring", "b"), (), ("***",), ("--substring", "")],
)
def test_a_question_that_cannot_be_is_told(archive: str, arguments: tuple[str, ...]) -> None:
    done = run("search", "--archive", archive, *arguments)
    assert done.code == 2
    assert done.err.startswith("unspool: ")


def test_nothing_in_a_log_drives_the_terminal(archive: str) -> None:
    done = run("search", "--archive", archive, "quokka")
    assert "quokka" in done.out
    assert not set(done.out) & {"\x1b", "\x07", "\u202e"}


def test_colours_come_and_go_as_asked(archive: str) -> None:
    lit = finished("search", "--archive", archive, "again", FORCE_COLOR="1")
    assert "\x1b[33m\x1b[1mAgain\x1b[0m" in lit.out
    assert "\x1b" not in finished("search", "--archive", archive, "again", FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b" not in finished("search", "--archive", archive, "again").out


@pytest.mark.skipif(sys.platform == "win32", reason="no alarm")
def test_an_endless_pattern_ends() -> None:
    """A pattern that would take for ever is stopped from outside."""
    with pytest.raises(UnspoolError, match="too long"), patience(0.2, "too long"):
        re.search(r"(a+)+$", "a" * 60 + "b")


def test_it_starts_quickly(archive: str) -> None:
    """Neither tables nor the writers of documents nor the library are loaded for a search."""
    script = f"""
import sys
sys.argv = ["unspool", "search", "--archive", {archive!r}, "again"]
import unspool.cli
try:
    unspool.cli.main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    loaded = set(done.stderr.split())
    assert "Again" in done.stdout
    assert (
        loaded & {"rich", "jinja2", "comrak", "unspool.store.library", "unspool.render", "unspool.reading.assemble"}
        == set()
    )


# `unspool show --at`, where the links lead


def link(archive: str, *arguments: str) -> list[str]:
    (session,) = search(archive, *arguments, "--limit", "1", "--hits", "1")["sessions"]
    return str(session["hits"][0]["link"]).split()[1:]


@pytest.mark.parametrize(
    ("question", "shown", "hidden"),
    [
        ("again kind:prompt", "Again, the lamp!", "Light the lamp."),
        ("such is:error", "no such lamp", "Again, the lamp!"),
        ("whale kind:answer", "Whale oil", "no such lamp"),
    ],
)
def test_a_link_opens_the_turn(archive: str, question: str, shown: str, hidden: str) -> None:
    """Of a subagent's words, the turn that called it, with its conversation."""
    done = run(*link(archive, question), "--source", str(Path(archive).parent / "source"), "--full")
    assert done.code == 0, done.err
    assert shown in done.out
    assert hidden not in done.out


def test_a_moment_between_opens_the_turn_that_had_begun(archive: str) -> None:
    anchor = link(archive, "again kind:prompt")[-1]
    later = f"msg-{int(anchor.removeprefix('msg-')) + 1}"
    source = str(Path(archive).parent / "source")
    assert "Again, the lamp!" in run("show", "lamp", "--at", later, "--source", source).out
    assert run("show", "lamp", "--at", "msg-5", "--source", source).code == 3
    assert run("show", "lamp", "--at", "five", "--source", source).code == 2


@pytest.mark.parametrize(("zone", "found"), [("UTC", ["lamp"]), ("-10:00", []), ("+10:00", ["lamp"])])
def test_times_are_read_where_the_settings_say(
    archive: str, monkeypatch: pytest.MonkeyPatch, zone: str, found: list[str]
) -> None:
    """In the question and as an option alike."""
    monkeypatch.setenv("UNSPOOL_TIME_ZONE", zone)
    hour_before = f"{NOW - timedelta(days=3, hours=1):%Y-%m-%dT%H:%M}"
    assert sessions(archive, "lamp", f"since:{hour_before}") == found
    assert sessions(archive, "lamp", "--since", hour_before) == found
    assert sessions(archive, "--substring", "the lamp", "--since", hour_before) == found
