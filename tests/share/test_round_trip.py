"""A bundle made under one home goes on under another; the same session makes the same bundle."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.agents.test_checkout import checkout
from tests.cli.running import run, source
from tests.copies.making import faults, said
from tests.log_builder.builder import LogBuilder
from tests.share.made import ALL, SESSION, USER, leaked, session
from tests.site.pages import made
from unspool.render.json import load

OTHER = "/home/marta/tool"


def harmless() -> LogBuilder:
    """A session in which nothing is found."""
    log = LogBuilder(session_id=SESSION, cwd="/srv/harbour", home="/srv/agent", model="claude-sonnet-4-5")
    log.prompt("What is here?").assistant(log.think("A question."), log.text("Let me look."))
    log.ran("ls", "README.md\n")
    use = log.agent_use("explorer", "Look", "Look around")
    log.assistant(use)
    log.subagent(use, "explorer", "Look", lambda child: child.ran("ls", "a\n").assistant(child.text("Seen.")))
    big = log.use("Bash", command="cat big")
    log.assistant(big).spilled(big, "tide " * 900)
    return log.assistant(log.text("A README.")).prompt("Thanks").assistant(log.text("Aye."))


def bundled(folder: Path, log: LogBuilder, *more: str) -> Path:
    path = folder / "talk.tar.gz"
    done = run("share", SESSION, *source(folder / "logs", log), "--bundle", "-o", str(path), "--yes", *more)
    assert done.code == 0, done.err
    return path


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {one.name: file.read() for one in archive if (file := archive.extractfile(one)) is not None}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another user's home."""
    place = tmp_path / "elsewhere"
    place.mkdir()

    def enter() -> None:
        monkeypatch.setenv("HOME", str(place))
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / ".claude"))
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, str(place / name))

    enter()
    return place


def imported(bundle: Path, home: Path) -> Path:
    """The log that `unspool import` writes."""
    done = run("import", str(bundle), "--to", str(home / "tool"), "--json")
    assert done.code == 0, done.err
    told: list[dict[str, Any]] = json.loads(done.out)["sessions"]
    return Path(told[0]["files"][0]["path"])


def test_a_session_without_secrets_goes_on_word_for_word(tmp_path: Path, elsewhere: Path) -> None:
    log = harmless()
    kinds = ("text", "thinking", "tool_use", "tool_result")
    before = said(log.to_bytes().splitlines(keepends=True), *kinds)
    path = imported(bundled(tmp_path, log), elsewhere)
    lines = path.read_bytes().splitlines(keepends=True)
    assert faults(lines) == []
    moved = [(role, words.replace(str(elsewhere / "tool"), "/srv/harbour")) for role, words in said(lines, *kinds)]
    same = [one for one in moved if "persisted-output" not in one[1]]
    assert same == [one for one in before if "persisted-output" not in one[1]]
    assert len(same) >= 8
    beside = path.with_suffix("")
    assert [one.read_text() for one in beside.glob("tool-results/*.txt")] == ["tide " * 900]
    assert len(list(beside.glob("subagents/agent-*.jsonl"))) == 1


def test_a_redacted_session_resumes_and_tells_nothing(tmp_path: Path, elsewhere: Path) -> None:
    path = imported(bundled(tmp_path, session()), elsewhere)
    assert faults(path.read_bytes().splitlines(keepends=True)) == []
    assert leaked(elsewhere / ".claude", ALL) == set()
    done = run("lint", str(path))
    assert done.code == 0, done.out


def test_what_a_bundle_holds_is_what_the_service_takes(tmp_path: Path) -> None:
    held = members(bundled(tmp_path, session()))
    pairs = dict(line.split("=", 1) for line in held["metadata.txt"].decode().splitlines())
    assert pairs["BUNDLE_VERSION"] == "1"
    assert pairs["SESSION_ID"] == SESSION
    assert pairs["AGENT"] == "CC"
    assert pairs["AGENT_VERSION"] == "2.1.230"
    assert pairs["GENERATED_AT"].endswith("Z")
    assert [name for name in held if name.endswith(".jsonl") and "/" not in name] == ["session.jsonl"]
    assert all(isinstance(json.loads(line), dict) for line in held["session.jsonl"].splitlines())
    assert {name.split("/")[0] for name in held if "/" in name} == {"subagents", "tool-results"}


def test_the_same_session_makes_the_same_bundle(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever packs it, and whether or not it was shared before."""
    first = bundled(tmp_path, session()).read_bytes()
    assert bundled(tmp_path, session()).read_bytes() == first
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "other"))
    assert bundled(tmp_path, session()).read_bytes() == first


def test_members_are_plain_files_that_tell_nobody(tmp_path: Path) -> None:
    path = bundled(tmp_path, session())
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        for one in archive:
            assert one.isreg()
            assert (one.uid, one.gid, one.uname, one.gname, one.mode) == (0, 0, "", "", 0o644)
    assert USER.encode() not in path.read_bytes()


def planned() -> tuple[LogBuilder, LogBuilder]:
    """A session that plans and the one that carries the plan out."""
    text = "# Mend the gauge\n\n1. Mend it."
    planning = LogBuilder(session_id="a1a00000-0a11-4d0c-8e11-0000000000aa", cwd="/srv/harbour", slug="calm-tide")
    planning.prompt("Plan how the gauge is mended").plan(text, "cleared")
    doing = LogBuilder(session_id=SESSION, cwd="/srv/harbour", slug="calm-tide", start=planning.now)
    doing.wait(60).implement(text, planning).assistant(doing.text("Mended."))
    return planning, doing


@pytest.fixture
def chain(tmp_path: Path) -> tuple[str, str]:
    return source(tmp_path / "logs", *planned())


def test_a_chain_is_packed_and_taken_in_whole(tmp_path: Path, chain: tuple[str, str], elsewhere: Path) -> None:
    path = tmp_path / "talk.tar.gz"
    assert run("share", SESSION, *chain, "--bundle", "-o", str(path), "--yes", "--chain").code == 0
    assert b"Plan how the gauge is mended" in members(path)["source-session.jsonl"]
    done = run("import", str(path), "--to", str(elsewhere / "tool"), "--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["sessions"]) == 2
    alone = tmp_path / "alone.tar.gz"
    assert run("share", SESSION, *chain, "--bundle", "-o", str(alone), "--yes").code == 0
    assert "source-session.jsonl" not in members(alone)


def test_pages_of_a_chain_have_the_first_prompt_on_top(tmp_path: Path, chain: tuple[str, str]) -> None:
    folder = tmp_path / "talk"
    assert run("share", SESSION, *chain, "--site", "-o", str(folder), "--yes", "--chain").code == 0
    page = (folder / "index.html").read_text()
    top = page.split('class="chain"')[1].split("</ol>")[0]
    assert 'href="before-1/index.html"' in top
    assert "Plan how the gauge is mended" in top
    assert 'href="../index.html"' in (folder / "before-1" / "index.html").read_text()
    file = tmp_path / "talk.html"
    assert run("share", SESSION, *chain, "--html", "-o", str(file), "--yes", "--chain").code == 0
    assert 'href="talk-before-1.html"' in file.read_text()
    assert (tmp_path / "talk-before-1.html").is_file()


THIRD = "b3b00000-0a11-4d0c-8e11-0000000000aa"


@pytest.fixture
def middle(tmp_path: Path) -> tuple[str, str]:
    """Three sessions of a chain, of which the second is SESSION; each has a subagent."""
    planning, doing = planned()
    text = "# Paint the gauge\n\n1. Paint it."
    doing.prompt("Plan the paint").plan(text, "cleared")
    after = LogBuilder(session_id=THIRD, cwd="/srv/harbour", slug="calm-tide", start=doing.now)
    after.wait(60).implement(text, doing).assistant(after.text("Painted."))
    for log in (planning, doing, after):
        use = log.agent_use("explorer", "Look", "Look around")
        log.assistant(use)
        log.subagent(use, "explorer", "Look", lambda child: child.ran("ls", "a\n").assistant(child.text("Seen.")))
        log.assistant(log.text("Looked."))
    return source(tmp_path / "logs", planning, doing, after)


def test_what_came_after_is_shared_too(tmp_path: Path, middle: tuple[str, str], elsewhere: Path) -> None:
    path = tmp_path / "talk.tar.gz"
    assert run("share", SESSION, *middle, "--bundle", "-o", str(path), "--yes", "--chain").code == 0
    held = members(path)
    assert b"Painted." in held[f"chain/{THIRD}.jsonl"]
    assert [name for name in held if name.endswith(".jsonl") and "/" not in name] == [
        "session.jsonl", "source-session.jsonl",
    ]  # fmt: skip
    done = run("import", str(path), "--to", str(elsewhere / "tool"), "--json")
    assert done.code == 0, done.err
    taken = json.loads(done.out)["sessions"]
    assert len(taken) == 3
    assert all(sum("subagents" in file["path"] for file in one["files"]) == 2 for one in taken)
    assert all(faults(Path(one["files"][0]["path"]).read_bytes().splitlines(keepends=True)) == [] for one in taken)


def test_pages_lead_to_what_came_after_and_back(tmp_path: Path, middle: tuple[str, str]) -> None:
    folder = tmp_path / "talk"
    assert run("share", SESSION, *middle, "--site", "-o", str(folder), "--yes", "--chain").code == 0
    page = (folder / "index.html").read_text()
    assert 'href="before-1/index.html"' in page
    assert 'href="after-1/index.html"' in page
    assert 'href="../index.html"' in (folder / "after-1" / "index.html").read_text()
    file = tmp_path / "talk.html"
    assert run("share", SESSION, *middle, "--html", "-o", str(file), "--yes", "--chain").code == 0
    assert sorted(path.name for path in tmp_path.glob("talk*.html")) == [
        "talk-after-1.html", "talk-before-1.html", "talk.html",
    ]  # fmt: skip
    assert 'href="talk-after-1.html"' in file.read_text()


def test_the_first_of_a_chain_brings_all_that_followed(tmp_path: Path, middle: tuple[str, str]) -> None:
    folder = tmp_path / "talk"
    first = planned()[0].session_id
    assert run("share", first, *middle, "--site", "-o", str(folder), "--yes", "--chain").code == 0
    assert sorted(path.name for path in folder.glob("*-[0-9]")) == ["after-1", "after-2"]
    assert "Painted." in (folder / "after-2" / "page-001.html").read_text()


def test_what_was_shared_and_taken_in_is_shared_again_as_it_is(tmp_path: Path, elsewhere: Path) -> None:
    """Redacting twice is redacting once: the same lines, and nothing more is found in them."""
    first = bundled(tmp_path, session())
    assert run("import", str(first)).code == 0
    again = tmp_path / "again.tar.gz"
    done = run("share", SESSION, "--bundle", "-o", str(again), "--yes", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["report"]["found"] == []
    same, other = members(first), members(again)
    assert {name for name in same if same[name] != other.get(name)} == {"report.json"}


def test_the_same_session_makes_the_same_pages(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = source(tmp_path / "logs", session())
    made = []
    for number in range(2):
        monkeypatch.setenv("XDG_DATA_HOME", str(home / str(number)))
        folder = tmp_path / str(number)
        assert run("share", SESSION, *given, "--site", "-o", str(folder / "site"), "--yes").code == 0
        assert run("share", SESSION, *given, "--html", "-o", str(folder / "talk.html"), "--yes").code == 0
        made.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert made[0] == made[1]


def test_the_repository_goes_along_and_is_linked_where_the_bundle_is_read(tmp_path: Path) -> None:
    """Without what lets one into it."""
    cwd = checkout(tmp_path / "shop", "https://bob:ghp_9f8e7d6c5b4a39281706@code.example/team/shop.git")
    log = LogBuilder(session_id=SESSION, cwd=str(cwd)).prompt("go")
    log.ran("git commit -m x", "[main 1a2b3c4] Mend the till\n 1 file changed").assistant(log.text("done"))
    path = bundled(tmp_path, log)
    assert b"GIT_REMOTE=https://code.example/team/shop\n" in members(path)["metadata.txt"]
    assert run("import", str(path)).code == 0
    read = load(run("export", SESSION, "-f", "json").out.encode())
    assert read.remote == "https://code.example/team/shop"
    assert f"{read.remote}/commit/1a2b3c4" in "".join(made(read).values())


def test_a_repository_whose_address_holds_a_hidden_word_does_not_go_along(tmp_path: Path) -> None:
    log = LogBuilder(session_id=SESSION, cwd=str(checkout(tmp_path / "shop"))).prompt("go")
    path = bundled(tmp_path, log.assistant(log.text("done")), "--term", "team")
    assert b"GIT_REMOTE=\n" in members(path)["metadata.txt"]
