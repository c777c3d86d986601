"""`unspool redact --audit`: whether anything of a session is left in what was made of it."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from tests.cli.running import Outcome, run, source, talk
from tests.share.made import ALL, SECRETS, SESSION, session
from unspool.redact.rules import builtin_rules

WORDS = "four tides every day"
EVERYTHING = [arg for rule in builtin_rules().rules for arg in ("--keep", rule.id)]


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    return source(tmp_path / "logs", session())


def audit(given: tuple[str, str], place: Path, *more: str) -> Outcome:
    done = run("redact", "--audit", str(place), *given, *more)
    assert not [one for one in SECRETS.values() if one in done.out + done.err]
    return done


@pytest.mark.parametrize("form", ["html", "site", "bundle"])
def test_a_share_holds_nothing_of_its_session(given: tuple[str, str], tmp_path: Path, form: str) -> None:
    assert run("share", SESSION, *given, f"--{form}", "-o", str(tmp_path / "talk"), "--yes").code == 0
    done = audit(given, tmp_path / "talk")
    assert (done.code, "None of" in done.out) == (0, True), done.out + done.err
    assert f"rules {builtin_rules().version}" in done.out


@pytest.mark.parametrize("form", ["html", "site", "bundle"])
def test_what_was_let_stay_is_told(given: tuple[str, str], tmp_path: Path, form: str) -> None:
    """The search finds everything that was kept, in whatever it is packed."""
    to = tmp_path / "talk"
    assert run("share", SESSION, *given, f"--{form}", "-o", str(to), "--yes", *EVERYTHING).code == 0
    done = audit(given, to, "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert told["sessions"] == [SESSION]
    assert len({leak["id"] for leak in told["leaks"]}) >= len(SECRETS)
    assert {"secret", "personal"} == {leak["kind"] for leak in told["leaks"]}


def test_an_encrypted_share_is_opened(given: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "words").write_text(WORDS)
    (tmp_path / "wrong").write_text("four tides every night")
    to = tmp_path / "talk.html"
    made = run(
        "share", SESSION, *given, "--html", "-o", str(to), "--yes", "--keep", "npm-token",
        "--passphrase-file", str(tmp_path / "words"),
    )  # fmt: skip
    assert made.code == 0, made.err
    done = audit(given, to, "--passphrase-file", str(tmp_path / "words"))
    assert (done.code, "npm-token" in done.out) == (1, True), done.out + done.err
    done = audit(given, to, "--passphrase-file", str(tmp_path / "wrong"))
    assert done.code not in (0, 1) or "another key or passphrase" in done.err


def test_a_key_goes_behind_the_file(given: tuple[str, str], tmp_path: Path) -> None:
    to = tmp_path / "talk.html"
    made = run("share", SESSION, *given, "--html", "-o", str(to), "--yes", "--encrypt")
    key = made.out.partition("#key=")[2].split()[0]
    done = audit(given, Path(f"{to}#key={key}"))
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("name", SECRETS)
def test_whatever_it_is_hidden_in(given: tuple[str, str], tmp_path: Path, name: str) -> None:
    """In the name of a file, packed, in base64 of something packed, beside bytes that are no text."""
    value = SECRETS[name]
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "packed").write_bytes(gzip.compress(f"words {value}".encode()))
    inner = base64.b64encode(gzip.compress(f"{'words ' * 20}{value}".encode()))
    (folder / "index.js").write_bytes(b'const index = "' + inner + b'"')
    (folder / "raw").write_bytes(b"\xff\xfe\x00" + value.encode() + b"\xff")
    (folder / f"{value}.txt").write_bytes(b"")
    done = audit(given, folder, SESSION, "--json")
    assert done.code == 1
    assert {leak["place"].partition(" ")[0] for leak in json.loads(done.out)["leaks"]} == {
        "made/packed", "made/index.js", "made/raw", "made/….txt",
    }  # fmt: skip


def test_which_session_must_be_known(given: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("words")
    done = audit(given, tmp_path / "x.txt")
    assert done.code != 0
    assert "name the session" in done.err
    assert len(ALL) > 3


def test_values_that_are_not_looked_for_are_counted(tmp_path: Path) -> None:
    """A home folder called as a word of everyday would be found in every sentence."""
    log = talk("See /home/flutter/x and mail ada.lovelace@analytical-engines.org", cwd="/home/flutter/x")
    given = source(tmp_path / "logs", log)
    assert run("share", log.session_id, *given, "--html", "-o", str(tmp_path / "talk"), "--yes").code == 0
    done = audit(given, tmp_path / "talk", log.session_id)
    assert "None of 1 value is left" in done.out
    assert "Not looked for: 1 value that is short or a word." in done.out
    told = json.loads(audit(given, tmp_path / "talk", log.session_id, "--json").out)
    assert (told["values"], told["not_looked_for"]) == (1, 1)
