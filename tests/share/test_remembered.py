"""What is remembered of shares: the same names each time, and no value that was found, wherever it would be written."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.browsing import Browsed
from tests.app.secrets import CUSTOMER, MAIL, OTHER, TOKEN, leaky
from tests.app.serving import served
from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from unspool.app.context import AppContext
from unspool.files import scratch_folder
from unspool.hub_client.prepare import PushRedaction, naming_key, prepare_push
from unspool.hub_client.push import PushedSession, PushMemory
from unspool.redact.policy import RedactionPolicy
from unspool.share.choices import ShareChoices, load_choices, load_replacements, save_choices
from unspool.share.select_files import file_stem
from unspool.store.archive.database import archive_folder
from unspool.store.archive.keys import known_key
from unspool.store.library import Library

SECRETS = (TOKEN, OTHER, MAIL)
SESSION = file_stem("leaky")
PASSPHRASE = "a passphrase for tests"


@pytest.fixture
def agent(home: Path) -> Path:
    leaky().write(home / ".claude")
    assert run("sync").code == 0
    return home / ".claude"


@pytest.fixture
def sealed(agent: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", PASSPHRASE)
    done = run("archive", "encrypt")
    assert done.code == 0, done.err
    assert run("sync").code == 0
    return agent


def told(home: Path, words: tuple[str, ...] = SECRETS) -> Iterator[str]:
    """Every file of unspool's own below a home that holds a value; what keeps sessions to be read and searched holds
    their words, unless it is encrypted."""
    plain = not os.environ.get("UNSPOOL_PASSPHRASE")
    for path in sorted(path for path in home.rglob("*") if path.is_file() and ".claude" not in path.parts):
        if not (plain and path.name.startswith(("archive.db", "index.db"))):
            try:
                data = path.read_bytes()
            except FileNotFoundError:  # a journal that its database is done with
                continue
            yield from (f"{path.relative_to(home)}: {word}" for word in words if word.encode() in data)


def shared(out: Path) -> bytes:
    done = run("share", "leaky", "--yes", "--bundle", "-o", str(out))
    assert done.code == 0, done.err
    return out.read_bytes()


def used(home: Path, agent: Path, out: Path) -> None:
    """Everything that looks for secrets, once."""
    shared(out / "talk.tar.gz")
    assert run("redact", "leaky", "-o", str(out / "clean.jsonl")).code == 0
    (found,) = Library((agent,)).logs()
    place = home / "xdg_config_home" / "unspool" / "push"
    with scratch_folder() as folder:
        made = prepare_push(found, PushRedaction(RedactionPolicy(), naming_key(place)), folder)
        PushMemory(place, "https://hub.example").remember(PushedSession("tides", made.key, "0" * 64, "1"))
    context = AppContext(archive_folder(), [agent], known_key(archive_folder() / "archive.db"))
    with served(context) as address:
        app = Browsed(address)
        for page in ("share", "share/preview/"):
            assert app.get(f"/s/leaky/{page}").status == 200


@pytest.mark.parametrize("encrypted", [False, True])
def test_no_value_that_was_found_is_written_anywhere(
    home: Path, tmp_path: Path, encrypted: bool, request: pytest.FixtureRequest
) -> None:
    agent: Path = request.getfixturevalue("sealed" if encrypted else "agent")
    used(home, agent, tmp_path)
    assert list(told(home)) == []
    assert load_replacements(SESSION)
    done = run("forget", "leaky", "--yes")
    assert done.code == 0, done.err
    assert list(told(home)) == []
    assert load_replacements(SESSION) == {}


def test_the_same_value_keeps_its_name_over_time(agent: Path, tmp_path: Path) -> None:
    first = shared(tmp_path / "one.tar.gz")
    before = load_replacements(SESSION)
    assert set(map(len, before.values())) == {64}
    log = leaky()
    log.prompt(f"And {OTHER}, and ghp_{'Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll2'}").write(agent)
    shared(tmp_path / "two.tar.gz")
    assert before.items() < load_replacements(SESSION).items()
    leaky().write(agent)
    assert shared(tmp_path / "three.tar.gz") == first


def test_what_an_older_version_wrote_down_is_converted_and_gone(home: Path, agent: Path, tmp_path: Path) -> None:
    """Also where the archive was encrypted since, and what a process left half written."""
    shared(tmp_path / "one.tar.gz")
    values = {"[redacted:github-token-7]": TOKEN, "user-9@example.invalid": MAIL}
    (new,) = (archive_folder() / "shares" / "replaced").iterdir()
    new.unlink()
    old = archive_folder() / "shares" / "names" / new.name
    old.parent.mkdir()
    old.write_text(json.dumps(values))
    old.with_name(f".{old.name}.x.part").write_text(json.dumps(values))
    other = old.with_name("0" * 24 + ".json")
    other.write_text(json.dumps(values))
    assert len(list(told(home))) == 6
    assert run("redact", "leaky", "-o", str(tmp_path / "clean.jsonl")).code == 0
    assert not old.parent.exists()
    assert list(told(home)) == []
    assert b"[redacted:github-token-7]" in (tmp_path / "clean.jsonl").read_bytes()
    assert (archive_folder() / "shares" / "replaced" / other.name).exists()


def test_an_encrypted_archive_takes_it_in_and_gives_it_back(
    home: Path, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, choices and words that must go, with no file of them left beside it; the same shares before, in and
    after."""
    first = shared(tmp_path / "one.tar.gz")
    project = leaky().cwd
    save_choices(project, ShareChoices(terms=(CUSTOMER,)))
    names = load_replacements(SESSION)
    old = archive_folder() / "shares" / "names" / ("1" * 24 + ".json")
    old.parent.mkdir()
    old.write_text(json.dumps({"[redacted:github-token-7]": TOKEN}))
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", PASSPHRASE)
    assert run("archive", "encrypt").code == 0
    assert not [path for path in (archive_folder() / "shares").rglob("*") if path.is_file()]
    assert list(told(home, (*SECRETS, CUSTOMER, *names))) == []
    assert (load_replacements(SESSION), load_choices(project).terms) == (names, (CUSTOMER,))
    save_choices(project, ShareChoices())
    assert shared(tmp_path / "two.tar.gz") == first
    assert run("archive", "decrypt").code == 0
    monkeypatch.delenv("UNSPOOL_PASSPHRASE")
    assert load_replacements(SESSION) == names
    assert shared(tmp_path / "three.tar.gz") == first


def test_without_the_key_nothing_is_remembered(
    home: Path, sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share is not made without the words that must go, unless that is asked for; with the key again, the names of
    before are there."""
    shared(tmp_path / "one.tar.gz")
    before = load_replacements(SESSION)
    monkeypatch.setattr("unspool.store.archive.keys._given", {})
    monkeypatch.delenv("UNSPOOL_PASSPHRASE")
    make = ("share", "leaky", "--yes", "--bundle", "-o", str(tmp_path / "two.tar.gz"))
    done = run(*make)
    assert (done.code, (tmp_path / "two.tar.gz").exists()) == (2, False)
    assert "UNSPOOL_PASSPHRASE" in done.err
    done = run(*make, "--fresh")
    assert done.code == 0
    assert "nothing of a share is remembered" in done.err
    assert load_replacements(SESSION) == {}
    assert not (archive_folder() / "shares" / "replaced").exists()
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", PASSPHRASE)
    assert load_replacements(SESSION) == before


def test_forgetting_one_session_leaves_the_names_of_others(agent: Path, tmp_path: Path) -> None:
    other = LogBuilder(session_id="other", seed="other", cwd="/srv/other").prompt(f"Use {OTHER}")
    other.assistant(other.text("I do.")).write(agent)
    assert run("sync").code == 0
    shared(tmp_path / "one.tar.gz")
    assert run("share", "other", "--yes", "--bundle", "-o", str(tmp_path / "two.tar.gz")).code == 0
    assert run("forget", "leaky", "--yes").code == 0
    assert load_replacements(SESSION) == {}
    assert load_replacements(file_stem("other"))
