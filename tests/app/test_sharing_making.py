"""What the review makes, as a browser without scripts asks for it: with title and chain, under a seal, as a gist."""

import gzip
import io
import re
import urllib.request
import zipfile
from base64 import b64decode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.app.asking import NOW
from tests.app.browsing import Browsed, browsed, planned
from tests.app.secrets import MAIL, PERSON, TOKEN, leaky
from tests.cli.fakes import GIST, gh
from tests.log_builder.builder import LogBuilder
from tests.share.opening import from_base64, unseal
from unspool.app.share_selection import ShareHabit, load_habit
from unspool.errors import Unreadable
from unspool.share.encryption import SealedData, ShareSecret, passphrase

WORK, PLAN, LEAKY = "/s/work/share", "/s/plan/share", "/s/leaky/share"
WORDS = "four tides every day"
LAMP = "/home/dev/lamp"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Browsed]:
    """A plan, the session that carries it out, and one with much that must not leave."""
    with browsed(tmp_path, *planned(), leaky()) as served:
        yield served


def choose(app: Browsed, review: str, name: str, value: str) -> None:
    assert app.post(review, (name, value)).status == 303


def fetched(app: Browsed, review: str, **form: str) -> tuple[bytes, str]:
    """The file that a form gives at once, and its name."""
    request = urllib.request.Request(f"{app.address}{review}/make", urlencode(form).encode())  # noqa: S310  our own server
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return answer.read(), answer.headers["content-disposition"].split('"')[1]


def told(app: Browsed, review: str, **form: str) -> str:
    """The address of the page that tells of what was made."""
    answer = app.post(f"{review}/make", *form.items())
    assert answer.status == 303
    return answer.headers["location"]


def packed(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def unlocked(page: bytes, secret: ShareSecret) -> bytes:
    """All that an encrypted page holds."""
    header = re.findall(rb'id="sealed">(.*?)</script>', page)[0]
    chunks = tuple(map(b64decode, re.findall(rb'class="chunk">(.*?)</script>', page)))
    return gzip.decompress(unseal(SealedData(header, chunks), secret))


# --- title --------------------------------------------------------------------------------------------


def test_a_title_is_what_everything_is_called(app: Browsed) -> None:
    choose(app, LEAKY, "title", "  Tides,\n told ")
    assert "Tides, told" in app.get(LEAKY).said
    assert "<title>Tides, told</title>" in app.get(f"{LEAKY}/preview/").text
    assert "Tides, told" in app.get(f"{LEAKY}/preview/preview.svg").text
    assert b"<title>Tides, told</title>" in fetched(app, LEAKY, **{"as": "html"})[0]
    choose(app, LEAKY, "title", "")
    assert "<title>The tide table</title>" in app.get(f"{LEAKY}/preview/").text


def test_a_title_must_not_tell_what_is_replaced(app: Browsed) -> None:
    choose(app, LEAKY, "title", f"How {MAIL} shared {TOKEN}")
    told = app.get(f"{LEAKY}/preview/").text + app.get(f"{LEAKY}/preview/preview.svg").text
    told += fetched(app, LEAKY, **{"as": "html"})[0].decode()
    assert not any(word in told for word in (MAIL, TOKEN))


@pytest.mark.parametrize(
    "title",
    ["</title><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil\u0000\u0007", "x" * 200],
)
def test_any_title_is_text(app: Browsed, title: str) -> None:
    choose(app, LEAKY, "title", title)
    for page in (app.get(LEAKY), app.get(f"{LEAKY}/preview/"), app.get(f"{LEAKY}/preview/preview.svg")):
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text


def test_a_title_that_is_too_long_is_refused(app: Browsed) -> None:
    assert app.post(LEAKY, ("title", "x" * 201)).status == 400


# --- the chain ----------------------------------------------------------------------------------------


def test_a_session_that_stands_alone_has_no_chain_to_share(app: Browsed) -> None:
    assert 'name="chain"' not in app.get(LEAKY).text
    assert 'name="chain"' in app.get(WORK).text


@pytest.mark.parametrize(("review", "place"), [(WORK, "before-1"), (PLAN, "after-1")])
def test_the_chain_is_previewed_and_made_whole(app: Browsed, review: str, place: str) -> None:
    """Whichever of its sessions is meant; and each leads to the other."""
    assert app.get(f"{review}/preview/{place}/").status == 404
    choose(app, review, "chain", "whole")
    assert app.get(review).links(f"{review}/preview/{place}/"), "which sessions are shared is told"
    assert f"{review}/preview/{place}/" in app.get(f"{review}/preview/").text
    other = app.get(f"{review}/preview/{place}/")
    assert other.status == 200
    assert f'href="{review}/preview/"' in other.text
    site = packed(fetched(app, review, **{"as": "site"})[0])
    assert {"index.html", f"{place}/index.html"} <= set(site)
    assert set(packed(fetched(app, review, **{"as": "html"})[0])) == {"session.html", f"session-{place}.html"}
    choose(app, review, "chain", "one")
    assert fetched(app, review, **{"as": "html"})[1].endswith(".html")


def test_what_is_found_in_the_chain_is_reviewed_and_leads_there(tmp_path: Path) -> None:
    """And what stands in it is not found where the chain is not shared."""
    plan = LogBuilder(session_id="plan", seed="p", cwd=LAMP, start=NOW - timedelta(days=2))
    plan.prompt(f"Plan it with {TOKEN} at hand").plan("# Lamp\n\nOil.", "cleared")
    work = LogBuilder(session_id="work", seed="w", cwd=LAMP, start=NOW - timedelta(days=1))
    work.implement("# Lamp\n\nOil.", plan).assistant(work.text("Done."))
    with browsed(tmp_path, plan, work) as app:
        assert "github-token" not in app.get(WORK).said
        choose(app, WORK, "chain", "whole")
        page = app.get(WORK)
        assert "Plan it with [redacted:github-token-1]" in page.said
        assert "a session before it, turn 1" in page.said
        (link,) = set(page.links("share/preview/before-1/page-"))
        assert "Plan it with" in app.get(f"/s/work/{link.partition('#')[0]}").text
        site = packed(fetched(app, WORK, **{"as": "site"})[0])
        assert not any(TOKEN.encode() in data for data in site.values())


def test_a_chain_that_has_grown_is_looked_at_before_it_is_made(tmp_path: Path) -> None:
    first, later = planned()
    with browsed(tmp_path, first, later) as app:
        choose(app, PLAN, "chain", "whole")
        app.get(PLAN)
        again = LogBuilder(session_id="again", seed="again", cwd=LAMP, start=NOW - timedelta(days=1))
        again.implement("# Light the lamp\n\n1. Buy oil.", first).assistant(again.text("Once more."))
        again.write(tmp_path / "source")
        refused = app.post(f"{PLAN}/make", ("as", "site"))
        assert refused.status == 400
        assert "has grown" in refused.text
        app.get(PLAN)
        assert "after-2/index.html" in packed(fetched(app, PLAN, **{"as": "site"})[0])


def test_the_projects_next_session_is_shared_the_same_way(app: Browsed) -> None:
    choose(app, WORK, "chain", "whole")
    told(app, WORK, **{"as": "html", "seal": "key"})
    assert load_habit(LAMP) == ShareHabit(chain=True, seal="key")
    page = app.get(PLAN).text
    assert 'name="chain" value="one" aria-pressed="true"' in page
    assert 'value="key" checked' in page
    assert 'value="open" checked' in app.get(LEAKY).text


# --- seals --------------------------------------------------------------------------------------------


def test_a_key_is_told_once_the_page_is_made_and_opens_it(app: Browsed) -> None:
    page = app.get(told(app, LEAKY, **{"as": "html", "seal": "key"}))
    key = re.search(r"#key=([\w-]{43})", page.said)
    assert key is not None
    sealed = app.get(f"{page.url.removeprefix(app.address)}/file").text.encode()
    assert b"harbour" not in sealed
    inside = unlocked(sealed, ShareSecret("key", from_base64(key[1])))
    assert b"[redacted:github-token-1]" in inside
    assert not any(word.encode() in inside for word in (TOKEN, MAIL, PERSON))
    with pytest.raises(Unreadable):
        unlocked(sealed, ShareSecret("key", bytes(32)))


def test_every_page_has_a_key_of_its_own(app: Browsed) -> None:
    keys = {
        re.findall(r"#key=[\w-]{43}", app.get(told(app, WORK, **{"as": "html", "seal": "key"})).said)[0] for _ in "12"
    }
    assert len(keys) == 2


def test_a_passphrase_opens_it_and_is_kept_nowhere(app: Browsed, home: Path) -> None:
    page, name = fetched(app, WORK, **{"as": "html", "seal": "passphrase", "passphrase": WORDS, "again": WORDS})
    assert name == "session-work.html"
    assert b"Buy oil" in unlocked(page, passphrase(WORDS))
    assert not [path for path in home.rglob("*") if path.is_file() and WORDS.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"as": "html", "seal": "passphrase", "passphrase": WORDS, "again": "another"}, "differ"),
        ({"as": "html", "seal": "passphrase", "passphrase": "short", "again": "short"}, "at least 12"),
        ({"as": "html", "seal": "passphrase"}, "at least 12"),
        ({"as": "html", "seal": "rot13"}, "opens for all"),
        ({"as": "site", "seal": "key"}, "Only a page"),
        ({"as": "bundle", "seal": "key"}, "Only a page"),
        ({"as": "gist", "seal": "key"}, "not encrypted"),
        ({"as": "tape"}, "html, site, bundle or gist"),
    ],
)
def test_what_cannot_be_sealed_as_asked_is_not_made(
    app: Browsed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: dict[str, str], why: str
) -> None:
    """Above all it is not made without the seal."""
    fake = gh(tmp_path / "gh", monkeypatch)
    answer = app.post(f"{WORK}/make", *form.items())
    assert answer.status == 400
    assert why in answer.said
    assert not (fake / "asked").exists()
    assert load_habit(LAMP) == ShareHabit()


def test_what_was_made_is_found_by_nobody_else(app: Browsed) -> None:
    """Neither by another name nor under another session, and not once others were made."""
    first = told(app, WORK, **{"as": "html", "seal": "key"})
    assert app.get(first).status == 200
    assert app.get(first.replace("/s/work/", "/s/leaky/")).status == 404
    assert app.get(f"{WORK}/made/nothing").status == 404
    for _ in "12":
        told(app, WORK, **{"as": "html", "seal": "key"})
    assert app.get(first).status == 404
    assert app.get(f"{first}/file").status == 404


# --- a gist -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("public", [False, True])
def test_a_gist_is_published_redacted_and_told_where(
    app: Browsed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, public: bool
) -> None:
    fake = gh(tmp_path / "gh", monkeypatch)
    choose(app, LEAKY, "title", "Tides, told")
    page = app.get(told(app, LEAKY, **{"as": "gist"} | ({"public": "on"} if public else {})))
    assert page.links("gist.github.com") == [GIST]
    asked = (fake / "asked").read_text().splitlines()
    assert ("--public" in asked) is public
    assert "Tides, told" in asked
    sent = b"".join(path.read_bytes() for path in (fake / "files").iterdir())
    assert b"[redacted:github-token-1]" in sent
    assert not any(word.encode() in sent for word in (TOKEN, MAIL, PERSON))
    assert app.get(f"{page.url.removeprefix(app.address)}/file").status == 404


def test_why_no_gist_could_be_made_is_said(app: Browsed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gh(tmp_path / "gh", monkeypatch, code=4, says="gh: not logged in")
    answer = app.post(f"{WORK}/make", ("as", "gist"))
    assert answer.status >= 400
    assert "not logged in" in answer.said


def test_without_the_program_a_gist_is_not_offered(
    app: Browsed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert 'value="gist"' not in app.get(WORK).text
    gh(tmp_path / "gh", monkeypatch)
    assert 'value="gist"' in app.get(WORK).text


# --- what comes with it -------------------------------------------------------------------------------


def test_the_picture_and_the_report_of_the_preview_are_those_of_the_folder(app: Browsed) -> None:
    site = packed(fetched(app, LEAKY, **{"as": "site"})[0])
    for name in ("preview.svg", "report.json"):
        assert app.get(f"{LEAKY}/preview/{name}").text.encode() == site[name]
