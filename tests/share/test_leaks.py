"""Every secret, in every field, is in nothing that is made: searched byte by byte, escaped, encoded and unpacked."""

import json
import re
from pathlib import Path
from shutil import rmtree

import pytest

from tests.cli.fakes import gh
from tests.cli.running import Outcome, run
from tests.share.made import PERSONAL, SESSION
from tests.share.opening import from_base64
from tests.share.seeded import KINDS, SECRETS, TELLING, escaped, write
from tests.share.test_share_encrypted import inside
from unspool.agents import by_id
from unspool.hub_client.prepare import PushRedaction, prepare_push
from unspool.redact.policy import RedactionPolicy
from unspool.redact.rules import builtin_rules
from unspool.render.exchange import EXCHANGE_FORMATS
from unspool.render.exchange.otel import OtelWriter
from unspool.render.view import View
from unspool.render.writers import write as write_session
from unspool.share.choices import ShareChoices, ShareSettings
from unspool.share.encryption import ShareSecret
from unspool.share.redacted_session import open_ready
from unspool.store.library import Library

EVERYTHING = [arg for rule in (one.id for one in builtin_rules().rules) for arg in ("--keep", rule)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source that holds them all."""
    place = write(tmp_path_factory.mktemp("seeded"))
    assert len(KINDS) >= 40
    assert len(SECRETS) >= 100
    assert len(TELLING) >= 8
    assert escaped(place) == SECRETS | set(PERSONAL.values()) | TELLING
    return place


def told(done: Outcome) -> Outcome:
    """What was said on the way tells none of them either."""
    assert done.code == 0, done.err
    assert not [one for one in SECRETS if one in done.out + done.err]
    return done


def opened(page: Path, done: Outcome, to: Path) -> Path:
    """What the key opens that was printed, file by file."""
    key = re.findall(r"#key=([\w-]{43})\n", done.out)[0]
    data = inside(page, ShareSecret("key", from_base64(key)), to / "packed").read_bytes()
    (to / "packed").unlink()
    size = int.from_bytes(data[:4], "big")
    at = 4 + size
    for number, (name, length) in enumerate(json.loads(data[4:at])):
        (to / f"{number}-{name.replace('/', '_')}").write_bytes(data[at : at + length])
        at += length
    return to


class Making:
    """Makes each artefact of the session below a folder."""

    def __init__(self, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.logs, self._monkeypatch = logs, monkeypatch

    def share(self, *arguments: str) -> Outcome:
        return told(run("share", SESSION, "--source", str(self.logs), *arguments, "--yes"))

    def html(self, to: Path, more: tuple[str, ...]) -> Path:
        self.share("--html", "-o", str(to / "talk.html"), *more)
        return to

    def site(self, to: Path, more: tuple[str, ...]) -> Path:
        self.share("--site", "-o", str(to / "talk"), *more)
        assert list((to / "talk").rglob("search*"))
        assert (to / "talk" / "preview.svg").is_file()
        assert (to / "talk" / "report.json").is_file()
        return to / "talk"

    def bundle(self, to: Path, more: tuple[str, ...]) -> Path:
        self.share("--bundle", "-o", str(to / "talk.tar.gz"), *more)
        return to

    def gist(self, to: Path, more: tuple[str, ...]) -> Path:
        folder = gh(to / "bin", self._monkeypatch)
        self.share("--gist", *more)
        return folder

    def locked(self, to: Path, more: tuple[str, ...]) -> Path:
        done = self.share("--html", "-o", str(to / "talk.html"), "--encrypt", *more)
        assert escaped(to / "talk.html", cipher=True) == set()
        (to / "opened").mkdir()
        return opened(to / "talk.html", done, to / "opened")

    def locked_site(self, to: Path, more: tuple[str, ...]) -> Path:
        done = self.share("--site", "-o", str(to / "talk"), "--encrypt", *more)
        assert escaped(to / "talk", cipher=True) == set()
        (to / "opened").mkdir()
        return opened(to / "talk" / "index.html", done, to / "opened")

    def export(self, to: Path, more: tuple[str, ...]) -> Path:
        """Documents of the session as it was shared, session-share's among them."""
        self.share("--bundle", "-o", str(to / "talk.tar.gz"), *more)
        self._monkeypatch.setenv("UNSPOOL_ARCHIVE", str(to / "archive"))
        told(run("import", str(to / "talk.tar.gz")))
        told(run("export", SESSION, "--format", "session-share", "-o", str(to / "talk.json")))
        for form in ("markdown", "text", "json"):
            told(run("export", SESSION, "--format", form, "-o", str(to / f"talk.{form}")))
        (to / "talk.tar.gz").unlink()
        rmtree(to / "archive")
        return to

    def exchange(self, to: Path, more: tuple[str, ...]) -> Path:
        """Every format for other programs, with all that it can tell; one of them as a user would have it."""
        asked = ("--no-redact",) if more else ()
        hub = ("-f", "hf", "-o", str(to / "traces"), "--license", "other")
        told(run("export", SESSION, "-s", str(self.logs), *hub, *asked))
        ask = None if more else ShareSettings(lambda _: ShareChoices(), builtin_rules(), rehearsed=True)
        names = by_id("claude-code").telemetry
        assert names is not None
        spans = (OtelWriter(content=True), OtelWriter(True, names), OtelWriter(True, names, "logs"))
        writers = [*(one.writer for one in EXCHANGE_FORMATS if one.name != "otel"), *spans]
        with open_ready(Library((self.logs,)), SESSION, ask) as one:
            for number, writer in enumerate(writers):
                write_session(writer, one.session, to / f"talk-{number}{writer.suffixes[0]}", View(agents=True))
        return to


MADE = ["html", "site", "bundle", "gist", "locked", "locked_site", "export", "exchange"]


@pytest.fixture
def making(logs: Path, monkeypatch: pytest.MonkeyPatch) -> Making:
    return Making(logs, monkeypatch)


@pytest.mark.parametrize("what", MADE)
def test_no_secret_is_in_what_is_made(making: Making, tmp_path: Path, what: str) -> None:
    """By this search, and by the product's own, which looks for what the product found."""
    made = getattr(making, what)(tmp_path, ())
    assert escaped(made) == set()
    told(run("redact", SESSION, "--source", str(making.logs), "--audit", str(made)))


@pytest.mark.parametrize("what", MADE)
def test_the_search_would_find_them(making: Making, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is replaced, most of them are found in each artefact: in the same way they would be anywhere."""
    monkeypatch.setattr("tests.share.test_leaks.told", lambda done: done)
    found = escaped(getattr(making, what)(tmp_path, tuple(EVERYTHING)))
    assert len(found & SECRETS) > 0.9 * len(SECRETS)


def test_no_secret_is_in_a_log_that_was_redacted(logs: Path, tmp_path: Path) -> None:
    told(run("redact", SESSION, "--source", str(logs), "-o", str(tmp_path / "clean.jsonl")))
    assert escaped(tmp_path / "clean.jsonl") == set()


def test_no_secret_is_in_what_is_pushed(logs: Path, tmp_path: Path) -> None:
    (found,) = Library((logs,)).logs()
    (tmp_path / "pushed").mkdir()
    prepare_push(found, PushRedaction(RedactionPolicy(), b"k" * 32, {}), tmp_path / "pushed")
    assert escaped(tmp_path / "pushed") == set()
