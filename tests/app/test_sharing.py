"""The review of a session before it is shared, as a browser without scripts sees it."""

import gzip
import io
import json
import re
import shutil
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.app.browsing import Browsed, browsed
from tests.app.opened import opened
from tests.app.secrets import CUSTOMER, MAIL, OTHER, PERSON, TOKEN, WORD, leaky
from tests.log_builder.builder import LogBuilder
from tests.log_builder.prompts import make_png
from tests.waiting import until
from unspool.app import share_files
from unspool.app.share_findings import LISTED, mask_value
from unspool.redact.replacements import SecretMatch
from unspool.redact.rules import own_rules
from unspool.share.choices import ShareChoices, ShareSettings, finding_id, load_choices, save_choices
from unspool.share.prepare import prepare_shares, work_of
from unspool.store.library import Library

REVIEW, PREVIEW = "/s/leaky/share", "/s/leaky/share/preview/"
PROJECT = f"/home/{PERSON}/harbour"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Browsed]:
    with browsed(tmp_path, leaky()) as served:
        yield served


def choose(app: Browsed, name: str, value: str) -> None:
    answer = app.post(REVIEW, (name, value))
    assert (answer.status, answer.headers["location"]) == (303, REVIEW)


def button(app: Browsed, name: str, near: str) -> str:
    """The value of a button of that name, in the part of the review that holds a text."""
    parts = app.get(REVIEW).text.split('<li id="f-')[1:]
    part = next(part for part in parts if near in part)
    found = re.search(rf'name="{name}" value="([^"]*)"', part)
    assert found is not None
    return found[1]


def previewed(app: Browsed) -> str:
    """All pages of the preview."""
    first = app.get(PREVIEW)
    assert first.status == 200
    leaves = {link.partition("#")[0] for link in first.links(".html") if "/" not in link}
    assert leaves
    return first.text + "".join(app.get(f"{PREVIEW}{leaf}").text for leaf in sorted(leaves))


def made(app: Browsed, way: str) -> tuple[bytes, str]:
    """The file that a button gives, unpacked, and its name."""
    request = urllib.request.Request(f"{app.address}{REVIEW}/make", f"as={way}".encode())  # noqa: S310  our own server
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return _unpacked(answer.read(), way), answer.headers["content-disposition"]


def _unpacked(data: bytes, way: str) -> bytes:
    if way == "site":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            assert packed.testzip() is None
            return b"".join(name.encode() + packed.read(name) for name in packed.namelist())
    if way == "bundle":
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as archive:
            assert "session.jsonl" in archive.getnames()
        return gzip.decompress(data)
    return data


def test_the_session_leads_to_its_review(app: Browsed) -> None:
    assert "share" in app.get("/s/leaky/").links()
    assert app.get("/s/nobody/share").status == 404


def test_each_finding_is_shown_in_its_words_with_what_it_becomes(app: Browsed) -> None:
    page = app.get(REVIEW)
    assert "first one is [redacted:github-token-1]" in page.said
    assert "other one is [redacted:github-token-2]" in page.said
    assert f"{MAIL} → becomes user-" in page.said
    assert f"{PERSON} → becomes user-" in page.said
    assert TOKEN not in page.text
    assert OTHER not in page.text


def test_a_place_leads_to_the_same_place_in_the_preview(app: Browsed) -> None:
    links = app.get(REVIEW).links("share/preview/")
    assert len(links) > 4
    for link in links:
        page, _, anchor = link.partition("#")
        told = app.get(f"/s/leaky/{page.removeprefix('/s/leaky/')}")
        assert told.status == 200
        assert not anchor or f'id="{anchor}"' in told.text


def test_a_place_in_a_subagent_leads_to_the_subagent(app: Browsed) -> None:
    """Lines of several logs have the same numbers; the words tell which it is."""
    part = next(part for part in app.get(REVIEW).text.split('<p class="around"') if "The configuration has " in part)
    assert "a subagent, line" in part
    assert "share/preview/agent-" in part


def test_nothing_found_is_in_any_page_or_file(app: Browsed) -> None:
    for text in (previewed(app).encode(), *(made(app, way)[0] for way in ("html", "site", "bundle"))):
        for secret in (TOKEN, OTHER, MAIL, PERSON):
            assert secret.encode() not in text
        assert b"[redacted:github-token-1]" in text
        assert CUSTOMER.encode() in text, "nobody has said yet that it must go"


def test_what_the_review_says_is_what_the_preview_has(app: Browsed) -> None:
    """By the same names, whatever order they were given in."""
    save_choices(PROJECT, ShareChoices(keep=frozenset({finding_id("github-token", TOKEN)})))
    assert "other one is [redacted:github-token-1]" in app.get(REVIEW).said
    assert "other one is [redacted:github-token-1]" in previewed(app)
    choose(app, "replace", button(app, "replace", "first one is <mark"))
    assert "first one is [redacted:github-token-2]" in app.get(REVIEW).said
    assert "first one is [redacted:github-token-2]" in previewed(app)


def test_looking_remembers_nothing_in_plain(app: Browsed, home: Path) -> None:
    """What was found is remembered, by digests, only once something is made of it."""
    app.get(REVIEW)
    previewed(app)
    assert not list(home.rglob("shares/*"))
    made(app, "html")
    (kept,) = home.rglob("shares/replaced/*")
    assert TOKEN.encode() not in kept.read_bytes()


def test_what_is_kept_stays_and_alone(app: Browsed) -> None:
    choose(app, "keep", button(app, "keep", "other one is <mark"))
    assert "1 of them stays as you wished" in app.get(REVIEW).said
    for text in (previewed(app).encode(), made(app, "html")[0]):
        assert OTHER.encode() in text
        assert TOKEN.encode() not in text
    assert OTHER not in app.get(REVIEW).text
    choose(app, "replace", button(app, "replace", "other one is <mark"))
    assert OTHER not in previewed(app)


def test_all_that_a_rule_found_is_kept_and_replaced_by_one_button(app: Browsed) -> None:
    choose(app, "keep-rule", "github-token")
    assert app.get(REVIEW).text.count("stays as it is") == 2
    choose(app, "replace-rule", "github-token")
    assert app.get(REVIEW).text.count("stays as it is") == 0


def test_a_term_that_is_added_goes_everywhere(app: Browsed) -> None:
    choose(app, "term", CUSTOMER)
    assert f"{CUSTOMER} → becomes [redacted:term-1]" in app.get(REVIEW).said
    assert CUSTOMER not in previewed(app)
    assert CUSTOMER.encode() not in made(app, "bundle")[0]
    choose(app, "drop", CUSTOMER)
    assert CUSTOMER in previewed(app)


def test_a_turn_is_left_out_and_comes_back(app: Browsed) -> None:
    choose(app, "leave-turn", "2")
    assert "1 of 3 left out." in app.get(REVIEW).said
    assert WORD not in previewed(app)
    assert WORD.encode() not in made(app, "bundle")[0]
    choose(app, "bring-turn", "2")
    assert WORD in previewed(app)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("thinking", "The token is in the environment."),
        ("tools", "other one is"),
        ("subagents", "The configuration has"),
    ],
)
def test_a_kind_is_left_out_whole_and_comes_back(app: Browsed, kind: str, words: str) -> None:
    assert words in previewed(app)
    choose(app, "leave", kind)
    assert words not in previewed(app)
    assert words.encode() not in made(app, "html")[0]
    choose(app, "bring", kind)
    assert words in previewed(app)


def test_images_are_left_out_by_a_click(tmp_path: Path) -> None:
    log = LogBuilder(session_id="leaky", cwd=PROJECT)
    log.prompt("What is this?", images=[make_png(1, 1, bytes(4))]).assistant(log.text("A lighthouse."))
    with browsed(tmp_path, log) as app:
        assert "Images 1" in app.get(REVIEW).said
        assert "data:image/png;base64," in previewed(app)
        choose(app, "leave", "images")
        assert "Images left out" in app.get(REVIEW).said
        assert "data:image/png;base64," not in previewed(app)
        assert b"image/png" not in made(app, "bundle")[0]


def test_where_nothing_would_be_left_the_page_says_so_and_offers_the_way_back(app: Browsed) -> None:
    for number in "123":
        choose(app, "leave-turn", number)
    page = app.get(REVIEW)
    assert page.status == 200
    assert 'role="alert"' in page.text
    assert "Not looked through" in page.said
    assert "Preview the result" not in page.said
    assert app.post(f"{REVIEW}/make", ("as", "html")).status >= 400
    choose(app, "bring-turn", "1")
    assert 'role="alert"' not in app.get(REVIEW).text


def test_choices_are_the_projects_and_turns_the_sessions(tmp_path: Path) -> None:
    second = leaky().copied("second")
    with browsed(tmp_path, leaky(), second) as app:
        choose(app, "term", CUSTOMER)
        choose(app, "leave-turn", "2")
        choose(app, "leave", "thinking")
        other = app.get("/s/second/share").said
        assert f"{CUSTOMER} → becomes" in other
        assert "Thinking left out" in other
        assert "All of them are shared." in other
    kept = load_choices(PROJECT)
    assert (kept.terms, kept.thinking, kept.without) == ((CUSTOMER,), False, ())


def test_choices_are_for_their_owners_eyes_alone(app: Browsed, home: Path) -> None:
    choose(app, "term", CUSTOMER)
    previewed(app)
    files = [path for path in home.rglob("*") if path.is_file() and "shares" in path.parts]
    assert files
    assert {path.stat().st_mode & 0o077 for path in files} == {0}


def test_files_have_plain_names_and_are_kept_by_nobody(app: Browsed) -> None:
    for way, ending in (("html", "html"), ("site", "zip"), ("bundle", "tar.gz")):
        assert made(app, way)[1] == f'attachment; filename="session-leaky.{ending}"'


def test_the_same_choices_make_the_same_bytes(app: Browsed) -> None:
    def whole(way: str) -> bytes:
        request = urllib.request.Request(f"{app.address}{REVIEW}/make", f"as={way}".encode())  # noqa: S310
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            data: bytes = answer.read()
            return data

    assert whole("site") == whole("site")


@pytest.mark.parametrize("sent", [("keep", "0123456789"), ("leave", "all"), ("nothing", "1"), ("term", "x")])
def test_a_form_that_means_nothing_changes_nothing(app: Browsed, sent: tuple[str, str]) -> None:
    before = app.get(REVIEW).text
    assert app.post(REVIEW, sent).status == 400
    assert app.post(f"{REVIEW}/make", sent).status == 400
    assert app.get(REVIEW).text == before


def test_what_a_log_says_is_text_on_the_page(tmp_path: Path) -> None:
    log = LogBuilder(session_id="bad", cwd="/home/dev/<b>x</b>")
    log.prompt(f"<script>alert(1)</script> {TOKEN} <img src=x onerror=alert(1)>").assistant(log.text("Yes."))
    with browsed(tmp_path, log) as app:
        app.post("/s/bad/share", ("term", "<i>Yes</i>"))
        page = app.get("/s/bad/share").text
        for markup in ("<script>alert", "<img", "<b>x", "<i>Yes"):
            assert markup not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_log_that_changes_is_looked_through_again(tmp_path: Path) -> None:
    log = leaky()
    with browsed(tmp_path, log) as app:
        assert "Rosenkvist" not in previewed(app)
        log.prompt("Call Rosenkvist at rosen@kvist-havn.no").assistant(log.text("Yes.")).write(tmp_path / "source")
        assert "rosen@kvist-havn.no → becomes user-" in app.get(REVIEW).said
        assert "rosen@kvist-havn.no" not in previewed(app)


def test_a_session_that_only_the_archive_has_is_shared(tmp_path: Path) -> None:
    with browsed(tmp_path, leaky()) as app:
        shutil.rmtree(tmp_path / "source" / "projects")
        choose(app, "leave-turn", "2")
        told = previewed(app)
        assert "[redacted:github-token-1]" in told
        assert not any(word in told for word in (TOKEN, OTHER, MAIL, PERSON, WORD))
        assert b"[redacted:github-token-1]" in made(app, "bundle")[0]


def test_of_very_many_values_the_first_are_listed_and_those_that_stay(tmp_path: Path) -> None:
    mails = [f"person{number}@nordlys-havn.no" for number in range(LISTED + 5)]
    log = LogBuilder(session_id="many", cwd="/home/dev/many")
    log.prompt("\n".join(f"mail {mail} soon" for mail in mails)).assistant(log.text("Yes."))
    with browsed(tmp_path, log) as app:
        page = app.get("/s/many/share")
        assert page.text.count('<li id="f-') - page.said.count("dev → becomes") == LISTED
        assert "and 5 more values" in page.said
        app.post("/s/many/share", ("keep", finding_id("email", mails[-1])))
        assert f"{mails[-1]} stays as it is" in app.get("/s/many/share").said


def test_own_rules_hold_at_once(app: Browsed, home: Path) -> None:
    place = home / "xdg_config_home" / "unspool"
    place.mkdir(parents=True, exist_ok=True)
    (place / "redact.toml").write_text(
        '[[rule]]\nid = "bird"\nkind = "secret"\nabout = "A bird"\nkeys = ["kestrel"]\npattern = "kestrel"\n'
    )
    assert "bird" in app.get(REVIEW).said
    assert WORD not in previewed(app)


@pytest.mark.parametrize(
    ("match", "shown"),
    [
        (SecretMatch("key", "secret", TOKEN, 0, 40), "ghp_…UiO (40 characters)"),
        (SecretMatch("password", "secret", "hunter2hunter2", 0, 14), "•••• (14 characters)"),
        (
            SecretMatch("pem", "secret", "-----BEGIN\nAAAA\n-----END-----\n\n", 0, 30),
            "----…-  (31 characters)".replace("  ", " "),
        ),
        (SecretMatch("email", "personal", MAIL, 0, 9), MAIL),
        (SecretMatch("term", "term", CUSTOMER, 0, 9), CUSTOMER),
    ],
)
def test_a_secret_is_shown_at_its_ends_alone(match: SecretMatch, shown: str) -> None:
    assert mask_value(match) == shown


def test_only_who_has_the_token_may_choose(tmp_path: Path) -> None:
    """And nobody where the app only reads."""
    leaky().write(tmp_path / "source")
    given = ("-s", str(tmp_path / "source"), "--archive", str(tmp_path / "archive"))
    form, body = {"Content-Type": "application/x-www-form-urlencoded"}, f"term={quote(CUSTOMER)}".encode()
    with opened(*given) as app:
        app.synced()
        foreign = {**form, "Origin": "http://elsewhere.example", **app.bearer}
        assert app.ask("POST", REVIEW, form, body).status == 403
        assert app.ask("POST", REVIEW, foreign, body).status == 403
        assert load_choices(PROJECT).terms == ()
        assert app.ask("POST", REVIEW, {**form, **app.bearer}, body).status == 303
        assert load_choices(PROJECT).terms == (CUSTOMER,)
    with opened(*given, "--read-only") as app:
        assert app.ask("POST", REVIEW, {**form, **app.bearer}, b"term=other").status == 403
        page = app.get(REVIEW).body.decode()
        assert "--read-only" in page
        assert 'name="as"' not in page


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session counts as a long one."""
    monkeypatch.setattr(share_files, "LONG", 0)


def ended(app: Browsed) -> bool:
    told = json.loads(app.get(f"{REVIEW}/progress").text)
    assert 0 <= told["share"] <= 1
    assert (told["share"] == 1) == told["ended"]
    return bool(told["ended"])


@pytest.mark.usefixtures("long")
def test_of_a_long_session_the_page_tells_how_far_it_is_until_the_review_is_there(app: Browsed) -> None:
    first = app.get(REVIEW).text
    assert f'data-waits="{REVIEW}/progress"' in first
    assert TOKEN not in first
    until(lambda: ended(app))
    assert "becomes [redacted:github-token-1]" in app.get(REVIEW).said
    assert "becomes [redacted:github-token-1]" in app.get(REVIEW).said
    choose(app, "term", WORD)
    until(lambda: "data-waits" not in app.get(REVIEW).text)
    assert "[redacted:term-1]" in app.get(REVIEW).said


@pytest.mark.usefixtures("long")
def test_a_long_session_of_which_nothing_would_be_left_says_so(app: Browsed) -> None:
    for number in "123":
        choose(app, "leave-turn", number)
    until(lambda: 'role="alert"' in app.get(REVIEW).text)


def test_a_share_hears_of_every_byte_that_is_looked_through(tmp_path: Path) -> None:
    path = leaky().write(tmp_path / "source")
    library = Library((tmp_path / "source",))
    found = library.find("leaky")
    heard: list[int] = []
    settings = ShareSettings(
        lambda _: ShareChoices(), own_rules(tmp_path / "none"), rehearsed=True, advance=heard.append
    )
    with prepare_shares(library, [found], settings):
        pass
    assert path.stat().st_size <= sum(heard) <= work_of([found])
