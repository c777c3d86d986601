"""`unspool all`: a site of everything, and what it says about it."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.sessions import CHAIN
from tests.cli.fakes import browser
from tests.cli.running import finished, run, source, talk
from tests.site.links import broken
from unspool import human
from unspool.demo import write_demo
from unspool.site.build.manifest import load_manifest


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, ...]:
    """A source of two sessions, and where the site goes."""
    logs = [talk(f"Ahoy {number}", f"{number:08x}-0000-4000-8000-000000000000") for number in (1, 2)]
    return (*source(tmp_path / "logs", *logs), "-o", str(tmp_path / "site"))


def test_a_site_is_made_and_told(given: tuple[str, ...], tmp_path: Path) -> None:
    """One line says how much was made and where; a second run says that nothing has changed."""
    done = run("all", *given)
    assert done.code == 0, done.err
    assert re.fullmatch(rf"2 sessions made \(\d+ files\): {re.escape(str(tmp_path))}/site/index.html\n", done.out)
    assert done.err == ""
    assert broken(tmp_path / "site") == []
    again = run("all", *given)
    assert again.out == f"Nothing has changed: 2 sessions in {tmp_path}/site/index.html\n"


def test_a_site_of_no_sessions_says_so(tmp_path: Path) -> None:
    """It is no site in which nothing has changed, the second time neither."""
    (tmp_path / "logs").mkdir()
    for _ in range(2):
        done = run("all", "-s", str(tmp_path / "logs"), "-o", str(tmp_path / "site"))
        assert done.code == 0
        assert done.out.startswith("No sessions were found (`unspool agents --all`")
        assert done.out.endswith(f"{tmp_path}/site/index.html\n")


def test_a_dry_run_makes_nothing(given: tuple[str, ...], tmp_path: Path) -> None:
    """--dry-run names projects and sessions, and the folder is not even made."""
    done = run("all", *given, "--dry-run")
    assert done.code == 0
    assert "2 sessions to make" in done.out
    assert "00000001  " in done.out
    assert "2 sessions of 2 would be made." in done.out
    assert not (tmp_path / "site").exists()


def promised(*arguments: str) -> set[tuple[str, str]]:
    """Ids and titles that a dry run names; its last line counts them."""
    lines = run("all", *arguments, "--dry-run").out.splitlines()
    found = {(line[2:10], line[21:]) for line in lines if line.startswith("  ")}
    assert lines[-1].startswith(human.count(len(found), "session"))
    return found


def test_a_dry_run_promises_what_is_made(tmp_path: Path) -> None:
    """Every session that gets pages, by its title, and no stub or warm-up; later what tells of another title too."""
    source, site = write_demo(tmp_path / "logs"), tmp_path / "site"
    talk("Warmup", "77777777").write(source)
    place = ("-s", str(source), "-o", str(site))
    words = promised(*place)
    done = run("all", *place)
    cards = [one.card for one in load_manifest(site).sessions.values() if one.card]
    assert words == {(card.id[:8], card.title) for card in cards}
    assert done.out.startswith(f"{len(words)} sessions made")
    assert promised(*place) == set()
    work = next(source.rglob(f"{CHAIN}.jsonl"))
    with work.open("a") as stream:
        stream.write(json.dumps({"type": "custom-title", "customTitle": "Another name", "sessionId": CHAIN}) + "\n")
    words = promised(*place)
    assert (CHAIN[:8], "Another name") in words
    assert len(words) > 1
    assert run("all", *place).out.startswith(f"{len(words)} sessions made")


def test_quiet_says_nothing(given: tuple[str, ...]) -> None:
    """-q prints nothing where all went well."""
    done = run("all", *given, "-q")
    assert (done.out, done.err, done.code) == ("", "", 0)


def test_the_default_is_a_folder_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without -o the site is made below the current folder."""
    monkeypatch.chdir(tmp_path)
    assert run("all", "--demo", "-q").code == 0
    assert (tmp_path / "unspool-site" / "index.html").is_file()


def test_failures_are_listed_with_reasons_and_an_exit_code(given: tuple[str, ...], tmp_path: Path) -> None:
    """What could not be made is listed at the end, the rest is made, and the exit code tells."""
    log = next((tmp_path / "logs").rglob("*.jsonl"))
    log.with_name("00000003-0000-4000-8000-000000000000.jsonl.gz").write_bytes(b"\x1f\x8bbroken")
    for quiet in ((), ("-q",)):
        done = run("all", *given, *quiet)
        assert done.code == 1
        assert "1 session could not be made:" in done.err
        assert "00000003" in done.err
        assert "damaged" in done.err
    assert broken(tmp_path / "site") == []


def test_open_shows_the_site(given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--open opens the first page; without it no browser opens."""
    opened = browser(tmp_path / "browser", monkeypatch)
    run("all", *given)
    assert not opened.exists()
    run("all", *given, "--open")
    assert opened.read_text() == (tmp_path / "site" / "index.html").as_uri()


def test_one_project(tmp_path: Path) -> None:
    """--project makes only projects whose path holds the text."""
    logs = [talk("Nets", cwd="/home/ada/nets"), talk("Boats", seed="boats", cwd="/home/ada/boats")]
    run("all", *source(tmp_path / "logs", *logs), "-o", str(tmp_path / "site"), "--project", "NETS")
    assert (tmp_path / "site" / "nets").is_dir()
    assert not (tmp_path / "site" / "boats").exists()


def test_no_sessions_are_told(tmp_path: Path) -> None:
    """A source without logs makes a site that says so, and no error."""
    (tmp_path / "logs" / "projects").mkdir(parents=True)
    done = run("all", "-s", str(tmp_path / "logs"), "-o", str(tmp_path / "site"))
    assert done.code == 0
    assert "No sessions" in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_as_a_process(jobs: str, given: tuple[str, ...], tmp_path: Path) -> None:
    """A real process does the same, with one worker or several."""
    done = finished("all", *given, "-j", jobs)
    assert (done.code, done.err) == (0, "")
    assert broken(tmp_path / "site") == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
def test_progress_on_a_terminal(given: tuple[str, ...]) -> None:
    """On a terminal a bar with bytes, rate and time left is drawn on standard error."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "unspool", "all", *given]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as started:
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            seen += chunk
        assert started.wait(60) == 0
    os.close(ours)
    assert b"Making pages" in seen
    assert b"B/s" in seen


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the terminal's other end is closed
        return b""


def lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent's folder with two sessions, both kept, of which one is then cleaned away."""
    root = tmp_path / "agent"
    logs = [talk(f"Ahoy {number}", f"{number:08x}-0000-4000-8000-000000000000") for number in (1, 2)]
    paths = [log.write(root) for log in logs]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "archive"))
    assert run("sync").code == 0
    paths[0].unlink()
    return tmp_path / "site"


def test_a_session_that_only_the_archive_has_is_made_and_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has pages like any other, lists say that it is kept, and a second run has nothing to do."""
    site = lost(tmp_path, monkeypatch)
    done = run("all", "-o", str(site), "-j", "2")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 sessions made")
    assert broken(site) == []
    (page,) = site.glob("*/00000001-*/index.html")
    assert "Ahoy 1" in page.read_text()
    kept = '<span class="badge " title="Only the archive still has its log">kept</span>'
    assert kept in (site / "index.html").read_text()
    assert (site / "index.html").read_text().count(">kept<") == 1
    assert run("all", "-o", str(site)).out.startswith("Nothing has changed: 2 sessions")


def test_a_session_whose_log_goes_after_its_pages_were_made_is_marked_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = lost(tmp_path, monkeypatch)
    (tmp_path / "agent").joinpath("projects").rename(tmp_path / "agent" / "away")
    (tmp_path / "agent" / "projects").mkdir()
    assert run("all", "-o", str(site)).out.startswith("2 sessions made")
    assert (site / "index.html").read_text().count(">kept<") == 2


def test_commands_agree_on_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the list has, the site has and can be picked; the list marks what is kept, and so does the picker."""
    site = lost(tmp_path, monkeypatch)
    listed = {one["id"]: one.get("kept", False) for one in json.loads(run("list", "--json").out)["sessions"]}
    assert listed == {"00000001-0000-4000-8000-000000000000": True, "00000002-0000-4000-8000-000000000000": False}
    assert run("list").out.count("(kept) Ahoy 1") == 1
    run("all", "-o", str(site))
    assert {page.parent.name for page in site.glob("*/0*/index.html")} == set(listed)
    offered = run("local", "-o", str(tmp_path / "one"), "--json", stdin=b"1\n")
    assert "(kept) Ahoy 1" in offered.err + offered.out
    assert offered.code == 0
    picked = run("json", "00000001", "-o", str(tmp_path / "two"), "--json")
    assert (picked.code, (tmp_path / "two" / "00000001-0000-4000-8000-000000000000.jsonl").exists()) == (0, True)


@pytest.mark.parametrize("command", ["all", "json", "local", "web"])
def test_a_repository_that_is_none_is_refused(command: str, tmp_path: Path) -> None:
    done = run(command, *(["x"] if command == "json" else []), "--repo", "bogus", "-o", str(tmp_path / "site"))
    assert (done.code, "“bogus” is no repository; owner/name is one" in done.err) == (2, True)
    assert not (tmp_path / "site").exists()
