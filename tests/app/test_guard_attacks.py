"""Attacks on a running app: foreign names and pages, wrong tokens, ways out of the folders, too much of everything.

They are tried on every route that the app has, so that a part that is added is attacked from then on.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import pytest

from tests.app.opened import Answer, Opened, opened
from tests.app.test_auth import STRANGE
from tests.cli.running import talk
from tests.thorough import THOROUGH
from unspool import app as app_package
from unspool.app.api_routes import ENDPOINTS
from unspool.app.context import AppContext
from unspool.app.render import PUBLIC_URLS
from unspool.app.server import create_app
from unspool.app.session_query import SessionQuery
from unspool.web.guard import MAX_ADDRESS, MAX_BODY

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and signals of this kind are POSIX")

KEY = "11111111-0000-4000-8000-000000000001"
LINKED = "99999999-0000-4000-8000-000000000009"
SECRET = "the-key-lies-under-the-third-stone"
WORDS = "Waves of the northern shore"


class Target(NamedTuple):
    """A running app, and the file beside its folders that nobody may see."""

    app: Opened
    secret: Path


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    place = tmp_path_factory.mktemp("attacked")
    agent, secret = place / "agent", place / "secret.txt"
    secret.write_text(f"{SECRET}\n")
    talk(WORDS, KEY).write(agent)
    _links_out(place, agent, secret)
    home = {name: str(place / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    with opened("-s", str(agent), "--archive", str(place / "archive"), **home) as app:
        app.synced()
        yield Target(app, secret)


def _links_out(place: Path, agent: Path, secret: Path) -> None:
    """A log, a companion and a folder of the source that are links to what lies outside."""
    (project,) = [path for path in (agent / "projects").iterdir() if path.is_dir()]
    talk(SECRET, LINKED).write(place / "outside")
    (outside,) = (place / "outside").rglob(f"{LINKED}.jsonl")
    outside.touch()  # it goes on now, as it were
    (project / f"{LINKED}.jsonl").symlink_to(outside)
    (project / KEY / "tool-results").mkdir(parents=True)
    (project / KEY / "tool-results" / "secret.txt").symlink_to(secret)
    (place / "outside" / "agent-linked.jsonl").write_bytes(outside.read_bytes())
    (project / KEY / "subagents").symlink_to(place / "outside")
    (project / "agent-beside.jsonl").symlink_to(place / "outside" / "agent-linked.jsonl")
    (agent / "projects" / "-linked").symlink_to(outside.parent)


@pytest.fixture
def app(target: Target) -> Opened:
    return target.app


def routes(method: str) -> list[str]:
    """The addresses that the app answers, as they are declared."""
    made = create_app(AppContext(Path("nowhere")))
    return [route.path for route in made.routes if method in getattr(route, "methods", ())]  # type: ignore[attr-defined]


def filled(path: str, value: str) -> str:
    """An address with the same in each of its braces."""
    parts = path.split("{")
    return parts[0] + "".join(value + part.partition("}")[2] for part in parts[1:])


GETS, POSTS = sorted(set(routes("GET"))), sorted(set(routes("POST")))


def test_there_is_something_to_attack() -> None:
    assert "/api/sessions/{key}" in GETS
    assert "/" in GETS
    assert POSTS


# --- foreign names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", STRANGE)
def test_foreign_names_get_nothing(app: Opened, host: str) -> None:
    """DNS rebinding: whatever name leads here, and even with the token, only our own are answered to."""
    name = host.replace("8642", str(app.port))
    answer = app.ask("GET", "/api/sessions", {**app.bearer, "Host": name})
    assert answer.status in (400, 421) or name.strip() == app.own
    assert answer.status != 200 or name.strip() == app.own


def test_two_names_are_none(app: Opened) -> None:
    head = f"Host: {app.own}\r\nHost: evil.example\r\nAuthorization: Bearer {app.token}"
    assert app.raw(f"GET /api/sessions HTTP/1.1\r\n{head}\r\n\r\n".encode()).status == 400


def test_no_name_is_none(app: Opened) -> None:
    for version in ("1.0", "1.1"):
        data = f"GET /api/sessions HTTP/{version}\r\nAuthorization: Bearer {app.token}\r\n\r\n"
        assert app.raw(data.encode()).status in (400, 421)


def test_the_address_cannot_name_another_host(app: Opened) -> None:
    assert app.get("http://evil.example/api/sessions").status == 400


def test_a_proxy_cannot_say_who_we_are(app: Opened) -> None:
    sent = {"X-Forwarded-Host": app.own, "X-Forwarded-For": "127.0.0.1", "Forwarded": f"host={app.own}"}
    assert app.ask("GET", "/", {**app.bearer, **sent, "Host": "evil.example"}).status == 421


# --- tokens ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path in GETS if path not in PUBLIC_URLS])
def test_no_page_without_the_token(app: Opened, path: str) -> None:
    """Whatever is there, and whether it is there: one answer for all pages, and one for all data."""
    strangers: Sequence[dict[str, str]] = ({}, {"Cookie": f"unspool-{app.port}=x"}, {"Authorization": "Bearer x"})
    for sent in strangers:
        answer = app.ask("GET", filled(path, KEY), sent)
        assert answer.status == 401
        assert WORDS.encode() not in answer.body
        nowhere = "/api/no/such" if path.startswith("/api/") else "/no/such/page"
        assert answer.body == app.ask("GET", nowhere, sent).body


@pytest.mark.parametrize("path", sorted(PUBLIC_URLS))
def test_what_everybody_may_have_is_the_same_for_all(app: Opened, path: str) -> None:
    """A browser asks for manifest and icons without a cookie: they say nothing of anybody, and only here."""
    answer = app.ask("GET", path)
    assert (answer.status, answer.body) == (200, app.get(path).body)
    assert KEY.encode() not in answer.body
    assert str(Path.home()).encode() not in answer.body
    assert app.ask("POST", path, {"Origin": f"http://{app.own}"}).status == 401
    assert app.ask("GET", path, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403
    assert app.ask("GET", path, {"Host": "evil.example"}).status == 421


@pytest.mark.parametrize("path", POSTS)
def test_no_change_without_the_token(app: Opened, path: str) -> None:
    sent = {"Origin": f"http://{app.own}", "Content-Type": "application/x-www-form-urlencoded"}
    assert app.ask("POST", filled(path, KEY), sent, b"star=1").status == 401


@pytest.mark.parametrize("path", POSTS)
def test_no_change_from_another_page(app: Opened, path: str) -> None:
    """The browser sends the cookie along when a page of another port asks: that is not enough."""
    cookie = {"Cookie": f"unspool-{app.port}={app.token}"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:3000", f"http://localhost:{app.port}"):
        assert app.ask("POST", filled(path, KEY), {**cookie, "Origin": origin}, b"star=1").status == 403
    assert app.ask("POST", filled(path, KEY), cookie, b"star=1").status == 403


@pytest.mark.parametrize("path", POSTS)
def test_nothing_is_changed_by_asking(app: Opened, path: str) -> None:
    """Only POST changes anything: where a page has the same address, asking for it is not the same."""
    if path not in GETS:
        assert app.get(filled(path, KEY)).status in (404, 405)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert app.ask(method, filled(path, KEY), app.bearer).status == 405


# --- ways out ----------------------------------------------------------------------------------------

OUT = [
    "../" * 9 + "{secret}",
    "..%2f" * 9 + "{secret}",
    "%2e%2e/" * 9 + "{secret}",
    "%252e%252e%252f" * 4 + "{secret}",
    "..%5c" * 9 + "{secret}",
    "....//" * 5 + "{secret}",
    "..%c0%af" * 5 + "{secret}",
    "/{secret}",
    "%2f{secret}",
    "file:///{secret}",
    "{secret}%00.html",
    "%00",
    "..",
    ".",
    "%2e%2e%2f",
    "~",
    "*",
    "secret.txt",
    "tool-results%2fsecret.txt",
    "subagents/",
    "x" * 4000,
    "%f0%9f%98%80%ff%fe",
    "%0d%0aSet-Cookie:%20a=b",
    "%27%20OR%201=1--",
    "{{7*7}}",
    LINKED,
]
NAMES = [
    "q", "path", "file", "project", "key", "session", "page", "sort", "order", "next", "back", "theme", "limit",
    "offset", "by", "tz", "since", "until", "from", "to", "name", "title", "tag", "at", "view", "kind",
    "branch", "with", "model", "tool", "anchor", "range", "n", "b", "turn", "line", "log", "place", "as", "part",
    "starred", "saved", "block", "agent", "only", "context", "hits", "days", "table", "of", "in",
    "measure", "heat",
]  # fmt: skip
_READ = re.compile(r"""query_params(?:\.get\(|\[)"(\w+)"|said\.get\("(\w+)\"""")


def test_every_parameter_that_is_read_is_attacked() -> None:
    """Those of pages, as the code has them, those of lists, and those that the API declares."""
    folder = Path(app_package.__file__).parent
    found = {name for path in folder.rglob("*.py") for pair in _READ.findall(path.read_text("utf-8")) for name in pair}
    declared = {one.name for endpoint in ENDPOINTS for one in endpoint.parameters}
    assert {"part", "q"} <= found
    assert (found | declared | set(SessionQuery.__struct_fields__)) - {""} - set(NAMES) == set()


def safe(answer: Answer, path: str) -> None:
    """Nothing of the secret, no fault of ours, no header of theirs."""
    assert SECRET.encode() not in answer.body, path
    assert b"root:" not in answer.body, path
    assert answer.status in range(200, 500) or answer.status == 503, (path, answer.status, answer.body[-2000:])
    assert answer.headers.get("set-cookie", "") != "a=b", path
    assert urlsplit(urljoin("http://127.0.0.1/", answer.headers.get("location", ""))).hostname == "127.0.0.1", path


@pytest.mark.parametrize("path", [path for path in GETS if "{" in path])
def test_no_path_leads_out(target: Target, path: str) -> None:
    """In every part of every address, in every spelling."""
    for way in OUT:
        there = filled(path, way.replace("{secret}", str(target.secret).lstrip("/")))
        safe(target.app.get(there.replace(" ", "%20")), there)
        if KEY not in there:
            both = filled(path.replace("{key}", KEY), way.replace("{secret}", str(target.secret).lstrip("/")))
            safe(target.app.get(both), both)


@pytest.mark.parametrize("path", [path for path in GETS if not path.startswith(("/assets", "/app"))])
def test_no_parameter_leads_out(target: Target, path: str) -> None:
    """Each parameter that any page might have, all at once; and each by itself, a third of them for each page."""
    for way in OUT:
        value = way.replace("{secret}", str(target.secret).lstrip("/"))
        short = value[:150]
        there = filled(path, KEY) + "?" + "&".join(f"{name}={short}" for name in NAMES)
        safe(target.app.get(there), there)
    for name in NAMES if THOROUGH else NAMES[GETS.index(path) % 3 :: 3]:
        there = f"{filled(path, KEY)}?{name}={quote(str(target.secret))}"
        safe(target.app.get(there), there)


@pytest.mark.parametrize("path", POSTS)
def test_no_form_leads_out(target: Target, path: str) -> None:
    """What is sent is a name among names: it never becomes a path, and never breaks the server."""
    for way in OUT:
        value = way.replace("{secret}", str(target.secret).lstrip("/"))
        body = "&".join(f"{name}={value}" for name in (*NAMES, "star", "note", "tags")).encode()
        safe(target.app.ask("POST", filled(path, value[:200]), target.app.bearer, body), path)
    for body in (b"", b"\xff\xfe\0", b"=&=&", b"a" * MAX_BODY, b"%" * 1000, b'{"a": 1}', b"a=1&" * 20000):
        safe(target.app.ask("POST", filled(path, KEY), target.app.bearer, body), path)
    assert target.secret.read_text() == f"{SECRET}\n"


def test_links_out_of_the_source_are_not_followed(target: Target) -> None:
    """A log, a file or a folder of the source that is a link elsewhere is none: not listed, not found, not shown."""
    app = target.app
    assert [one["key"] for one in app.get("/api/sessions").json["sessions"]] == [KEY]
    assert app.get("/api/search?q=stone").json["sessions"] == []
    for path in GETS:
        for value in (KEY, LINKED):
            safe(app.get(filled(path, value)), path)
    assert app.get(f"/api/sessions/{LINKED}").status == 404
    assert app.get(f"/api/sessions/{LINKED}/document").status == 404
    assert SECRET.encode() not in app.get(f"/api/sessions/{KEY}/document").body


def test_no_folder_is_ever_listed(app: Opened) -> None:
    for path in ("/assets/", "/assets", "/app/", "/app", "/static/", "/templates/", "/s/", "/api/", "/.git/", "//"):
        answer = app.get(path)
        assert answer.status == 404, path
        assert b"look.css" not in answer.body.replace(b"/assets/look", b"")


# --- too much ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/search?q=", "/api/search?q=", f"/s/{KEY}/?x="])
def test_long_addresses(app: Opened, path: str) -> None:
    assert app.get(path + "x" * MAX_ADDRESS).status == 414
    assert app.get(path + "x" * 200_000).status in (400, 414, 431)


def test_many_and_long_headers(app: Opened) -> None:
    assert app.get("/api/state", X_Long="x" * 40_000).status == 431
    assert app.get("/api/state", **{f"X_{number}": "y" * 100 for number in range(1000)}).status in (400, 431)
    assert app.get("/api/state", Cookie="a=b; " * 5000).status in (200, 431)


def test_large_and_endless_bodies(app: Opened) -> None:
    sent = {**app.bearer, "Content-Length": str(10**10)}
    assert app.ask("POST", POSTS[0], sent).status == 413
    chunked = {**app.bearer, "Transfer-Encoding": "chunked", "Host": app.own}
    head = "".join(f"{name}: {value}\r\n" for name, value in chunked.items())
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert app.raw(f"POST {filled(POSTS[0], KEY)} HTTP/1.1\r\n{head}\r\n".encode() + chunk * 40).status in (0, 413)
    assert app.get("/api/state").status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 1000,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ],
)
def test_what_is_no_http(app: Opened, data: bytes) -> None:
    assert app.raw(data + b"\r\n" * 2, seconds=20).status in (0, 400, 421)
    assert app.get("/api/state").status == 200


QUERIES = ["(" * 900, '"' * 999, "a OR " * 400, "-" * 900, "x* " * 600, "NEAR(" * 200, "\\" * 500, "project:" * 200,
           "since:9999999y", "cost:>" + "9" * 500, "is:" + "e" * 900, "\u202e\u0000\ud7ff" * 100]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("page", ["/search", "/search.json", "/api/search"])
def test_hostile_questions(app: Opened, page: str, query: str) -> None:
    """However a question is knotted, it is answered or refused in words."""
    safe(app.get(f"{page}?q={quote(query)}"[:8000]), query)


def test_nothing_was_said_of_all_that_but_what_is_wrong_with_us(app: Opened) -> None:
    """At the end it still runs, and knows its session."""
    assert app.process.poll() is None
    assert app.get(f"/api/sessions/{KEY}").status == 200
