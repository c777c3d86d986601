"""`unspool login`, `share --hub`, `shares` and `logout`, against a hub that runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Outcome, run, source
from tests.hub.running import running
from tests.hub.shares.bundles import token
from tests.hub.shares.conftest import Place, place
from tests.share.made import ALL, SESSION, TOLD, leaked, session
from unspool.hub.routes import HubSettings
from unspool.hub.store.connect import Store

LINK = re.compile(r"http://127\.0\.0\.1:\d+/([\w-]{22})\n")


@pytest.fixture
def at(files_store: Store, tmp_path: Path) -> Iterator[Place]:
    """A hub that is asked by its own address, and a session to share."""
    with running(files_store) as client:
        yield place(files_store, client)


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    return source(tmp_path / "logs", session())


def sign_in(at: Place, tmp_path: Path, who: str = "") -> Outcome:
    file = tmp_path / "token"
    file.write_text((who or at.ann.token) + "\n")
    return run("login", at.ann.address, "--token-file", str(file))


def shared(*more: str) -> str:
    done = run("share", SESSION, "--hub", "--yes", *more)
    assert done.code == 0, done.err
    found = LINK.fullmatch(done.out)
    assert found, done.out
    return found[1]


def test_signing_in_keeps_a_token_that_the_hub_knows(at: Place, tmp_path: Path, home: Path) -> None:
    done = sign_in(at, tmp_path)
    assert (done.code, done.out) == (0, f"Signed in to {at.ann.address} as ann.\n")
    kept = next(home.rglob("hubs.json"))
    assert kept.stat().st_mode & 0o777 == 0o600
    before = kept.read_bytes()
    wrong = sign_in(at, tmp_path, "uns_wrong")
    assert wrong.code == 12
    assert kept.read_bytes() == before
    assert run("login", at.ann.address, stdin=at.bob.token.encode()).out.endswith("as bob.\n")
    assert run("logout").code == 0
    assert run("logout").code == 3
    assert not kept.exists()


def test_nobody_works_in_vain_for_a_hub_that_does_not_let_them_in(
    at: Place, given: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("share", SESSION, *given, "--hub", "--yes")
    assert (done.code, "unspool login" in done.err) == (2, True)
    done = run("share", SESSION, *given, "--hub", at.ann.address, "--yes")
    assert (done.code, "unspool login http" in done.err) == (12, True)
    monkeypatch.setenv("UNSPOOL_HUB", at.ann.address)
    monkeypatch.setenv("UNSPOOL_HUB_TOKEN", "uns_wrong")
    assert run("share", SESSION, *given, "--hub", "--yes").code == 12
    monkeypatch.setenv("UNSPOOL_HUB_TOKEN", at.ann.token)
    assert run("share", SESSION, *given, "--hub", "--yes").code == 0


def test_what_is_sent_is_redacted_and_the_link_is_printed(at: Place, given: tuple[str, str], tmp_path: Path) -> None:
    sign_in(at, tmp_path)
    address = shared(*given, "--raw", "--expires", "7d")
    kept = tmp_path / "kept"
    kept.mkdir()
    for number, (name,) in enumerate(at.store.db.rows("SELECT name FROM share_file")):
        answer = at.anybody.get(f"/{address}/{name}")
        if answer.status == 200:
            (kept / str(number)).write_bytes(answer.body)
    (kept / "document").write_bytes(at.anybody.get(f"/api/sessions/{address}").body)
    assert leaked(kept, ALL) == set()
    assert leaked(kept, {"words": TOLD}) == {"words"}


def test_a_share_is_updated_in_place_changed_listed_and_deleted(
    at: Place, given: tuple[str, str], tmp_path: Path
) -> None:
    sign_in(at, tmp_path)
    address = shared(*given)
    again = shared(*given, "--update", f"{at.ann.address}/{address}", "--title", "Another title")
    assert again == address
    listed = json.loads(run("shares", "list", "--json").out)
    assert [(one["address"], one["title"], one["version"]) for one in listed] == [(address, "Another title", 2)]
    table = run("shares").out
    assert "Another title" in table
    assert address in table
    (tmp_path / "word").write_text("sesame\n")
    short = run("shares", "update", address, "--password-file", str(tmp_path / "word"))
    assert (short.code, "8 characters" in short.err) == (2, True)
    assert run("share", SESSION, *given, "--hub", "--yes", "--password-file", str(tmp_path / "word")).code == 2
    (tmp_path / "word").write_text("open sesame\n")
    done = run("shares", "update", address, "--password-file", str(tmp_path / "word"), "--expires", "2h", "--json")
    assert json.loads(done.out)["password"] is True
    assert at.anybody.get(f"/{address}/").status == 401
    assert run("shares", "update", address, "--no-password").code == 0
    assert at.anybody.get(f"/{address}/").status == 200
    assert run("shares", "delete", address).out == f"{address} is deleted.\n"
    assert at.anybody.get(f"/{address}/").status == 404
    assert "deleted" in run("shares").out


def test_what_belongs_to_another_is_not_found(at: Place, given: tuple[str, str], tmp_path: Path) -> None:
    sign_in(at, tmp_path)
    address = shared(*given)
    sign_in(at, tmp_path, at.bob.token)
    assert run("shares", "delete", address).code == 3
    assert run("shares", "update", address, "--raw").code == 3
    assert run("share", SESSION, *given, "--hub", "--yes", "--update", address).code == 3
    assert json.loads(run("shares", "list", "--json").out) == []


def test_what_the_hub_refuses_is_told_in_its_words(at: Place, given: tuple[str, str], tmp_path: Path) -> None:
    sign_in(at, tmp_path)
    secret = next(iter(ALL.values()))
    with running(at.store, HubSettings(upload=1000)) as small:
        done = run("share", SESSION, *given, "--hub", small.address, "--yes")
        assert done.code == 12
        file = tmp_path / "token"
        file.write_text(token(at.store, "carl"))
        run("login", small.address, "--token-file", str(file))
        done = run("share", SESSION, *given, "--hub", "--yes")
    assert (done.code, "1,000 bytes" in done.err) == (13, True)
    assert secret not in done.err


@pytest.mark.parametrize(
    "more",
    [("--expires", "7d", "--html", "-o", "x"), ("--raw",), ("--hub", "--html", "-o", "x.html"),
     ("--hub", "--update", "not an address!"), ("--hub", "ftp://x", "--yes"), ("--hub", "--expires", "soon", "--yes")],
)  # fmt: skip
def test_wishes_that_cannot_be_are_told_before_anything_is_made(
    at: Place, given: tuple[str, str], tmp_path: Path, more: tuple[str, ...]
) -> None:
    sign_in(at, tmp_path)
    done = run("share", SESSION, *given, *more)
    assert done.code in (2, 13)
    assert at.store.db.rows("SELECT 1 FROM share") == []


def test_titles_of_others_cannot_drive_the_terminal(at: Place, given: tuple[str, str], tmp_path: Path) -> None:
    sign_in(at, tmp_path)
    shared(*given)
    at.store.db.run("UPDATE share SET title = ?", "\x1b[2Jgone\x07")
    assert "\x1b[2J" not in run("shares").out
