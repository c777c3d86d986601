"""What the guard lets in and what not, rule by rule, and what it says to the browser."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from unspool.app.auth import AccessTerms, Guard, new_token
from unspool.web.guard import (
    MAX_ADDRESS,
    MAX_BODY,
    MAX_HEADERS,
    SECURITY_HEADERS,
    AllowedHosts,
    add_security_headers,
    is_loopback,
)

TOKEN = new_token()
COOKIE = {"cookie": f"unspool-8642={TOKEN}"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
HOST = "127.0.0.1:8642"


class Inside:
    """An app that notes what reaches it."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive() if scope["method"] == "POST" else {"body": b""}
        self.bodies.append(message["body"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"inside"})


class Said:
    """An answer."""

    def __init__(self, messages: list[Message]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        self.body = b"".join(message.get("body", b"") for message in messages[1:])


def asked(method: str, target: str, headers: dict[str, str], body: bytes = b"", **terms: Any) -> Said:
    return asyncio.run(_asked(Guard(Inside(), _terms(**terms)), method, target, headers, body))


def _terms(host: str = "", *, read_only: bool = False) -> AccessTerms:
    return AccessTerms(AllowedHosts(8642, host), TOKEN, read_only)


async def _asked(guard: Guard, method: str, target: str, headers: dict[str, str], body: bytes = b"") -> Said:
    path, _, query = target.partition("?")
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in {"host": HOST, **headers}.items()],
    }
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    await guard(scope, receive, send)
    return Said(messages)


# --- the token ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [COOKIE, BEARER], ids=["cookie", "bearer"])
def test_who_has_the_token_gets_in(key: dict[str, str]) -> None:
    assert asked("GET", "/", key).body == b"inside"


@pytest.mark.parametrize(
    "key",
    [
        {},
        {"cookie": "unspool-8642="},
        {"cookie": f"unspool-8643={TOKEN}"},
        {"cookie": f"unspool-8642={TOKEN[:-1]}"},
        {"cookie": f"unspool-8642={TOKEN}x"},
        {"cookie": "unspool-8642=" + "é" * 43},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer"},
        {"authorization": TOKEN},
    ],
)
def test_who_has_not_learns_only_how_to_get_in(key: dict[str, str]) -> None:
    said = asked("GET", "/s/some-session/", key)
    assert said.status == 401
    assert b"printed" in said.body
    assert b"some-session" not in said.body
    assert TOKEN.encode() not in said.body


@given(st.text(max_size=60))
def test_no_other_text_is_the_token(text: str) -> None:
    """Whatever somebody brings, of any characters, is compared and refused, and breaks nothing."""
    guard = Guard(Inside(), _terms())
    assert not guard._fits(text)


def test_every_start_has_a_token_of_256_bits() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert all(len(new_token()) == 43 for _ in range(100))


def test_the_opened_address_sets_a_cookie_and_loses_its_token() -> None:
    said = asked("GET", f"/s/one/?a=1&token={TOKEN}&b=%26", {})
    assert (said.status, said.headers["location"]) == (303, "/s/one/?a=1&b=%26")
    cookie = said.headers["set-cookie"]
    assert cookie.startswith(f"unspool-8642={TOKEN};")
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/"))


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example", "/\\/evil.example"])
def test_the_way_without_the_token_leads_nowhere_else(path: str) -> None:
    assert asked("GET", f"{path}?token={TOKEN}", {}).headers["location"].startswith("/evil.example")


def test_a_wrong_token_in_the_address_is_refused_even_with_a_right_one() -> None:
    assert asked("GET", f"/?token={TOKEN}&token=x", {}).status == 401


def test_a_ticket_lets_in_once() -> None:
    guard = Guard(Inside(), _terms())
    ticket = guard.ticket()
    first = asyncio.run(_asked(guard, "GET", f"/?token={ticket}", {}))
    second = asyncio.run(_asked(guard, "GET", f"/?token={ticket}", {}))
    assert (first.status, second.status) == (303, 401)
    assert TOKEN in first.headers["set-cookie"]
    assert asyncio.run(_asked(guard, "GET", "/", {"cookie": f"unspool-8642={ticket}"})).status == 401


def test_a_ticket_is_void_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = Guard(Inside(), _terms())
    ticket = guard.ticket()
    monkeypatch.setattr("unspool.app.auth._MINUTE", 0.0)
    late = guard.ticket()
    assert asyncio.run(_asked(guard, "GET", f"/?token={late}", {})).status == 401
    assert asyncio.run(_asked(guard, "GET", f"/?token={ticket}", {})).status == 303


def test_a_program_with_the_token_gets_a_ticket_and_no_page_does() -> None:
    guard = Guard(Inside(), _terms(read_only=True))
    ticket = asyncio.run(_asked(guard, "GET", "/ticket", BEARER)).body.decode()
    assert asyncio.run(_asked(guard, "GET", f"/?token={ticket}", {})).status == 303
    assert asyncio.run(_asked(guard, "GET", "/ticket", COOKIE)).body == b"inside"
    assert asyncio.run(_asked(guard, "GET", "/ticket", {})).status == 401
    assert asyncio.run(_asked(guard, "GET", "/ticket", {**BEARER, "sec-fetch-site": "cross-site"})).status == 403


def test_whoever_is_refused_is_told_the_one_command() -> None:
    """A bookmark that is opened after a restart: as a page with its look, as data for a program."""
    page = asked("GET", "/s/some-session/", {"cookie": "unspool-8642=old"})
    assert b"<code>unspool open</code>" in page.body
    assert b'rel="stylesheet" href="/assets/look-' in page.body
    for target, sent in (("/api/sessions", {}), ("/", {"accept": "application/json"})):
        told = json.loads(asked("GET", target, sent).body)
        assert told["status"] == 401
        assert "`unspool open`" in told["reason"]


def test_a_token_in_the_address_changes_nothing() -> None:
    """POST takes a cookie or a header; an address is too easily passed on."""
    assert asked("POST", f"/?token={TOKEN}", {"origin": f"http://{HOST}"}).status == 401


# --- names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "LOCALHOST:8642", "[::1]:8642"])
def test_it_answers_to_its_own_names(host: str) -> None:
    assert asked("GET", "/", {**COOKIE, "host": host}).status == 200


STRANGE = [
    "",
    "evil.example",
    "evil.example:8642",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:8642.evil.example",
    "127.0.0.1.evil.example:8642",
    "localhost.:8642",
    "localhost:8642@evil.example",
    "evil.example#localhost:8642",
    "[::1]x:8642",
    "[::1]:86421",
    "[::1",
    "0.0.0.0:8642",
    "192.168.1.5:8642",
    "127.0.0.1:8642 ",
    "127.0.0.1:08642",
]


@pytest.mark.parametrize("host", STRANGE)
def test_it_answers_to_no_other_name_even_with_the_token(host: str) -> None:
    """A foreign name that leads here, by DNS rebinding, gets nothing."""
    said = asked("GET", "/", {**COOKIE, "host": host})
    assert said.status == 421
    assert b"inside" not in said.body


def test_a_host_that_was_given_is_a_name_of_its_own() -> None:
    assert asked("GET", "/", {**COOKIE, "host": "den.example:8642"}, host="den.example").status == 200
    assert asked("GET", "/", {**COOKIE, "host": "evil.example:8642"}, host="den.example").status == 421


def test_everywhere_means_addresses_not_names() -> None:
    for host, status in (("192.168.1.5:8642", 200), ("[fe80::1]:8642", 200), ("evil.example:8642", 421)):
        assert asked("GET", "/", {**COOKIE, "host": host}, host="0.0.0.0").status == status  # noqa: S104


def test_port_80_goes_without_saying() -> None:
    assert AllowedHosts(80).own("localhost")
    assert not AllowedHosts(8642).own("localhost")


@pytest.mark.parametrize(("host", "here"), [("127.0.0.1", True), ("::1", True), ("localhost", True),
                                            ("127.9.9.9", True), ("0.0.0.0", False), ("den", False)])  # fmt: skip  # noqa: S104
def test_what_only_this_machine_reaches(host: str, here: bool) -> None:
    assert is_loopback(host) is here


# --- pages of others ---------------------------------------------------------------------------------

OWN = f"http://{HOST}"


@pytest.mark.parametrize(
    "sent",
    [
        {"origin": OWN},
        {"origin": OWN, "sec-fetch-site": "same-origin"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "same-origin"},
    ],
)
def test_our_own_pages_may_change_things(sent: dict[str, str]) -> None:
    assert asked("POST", "/x", {**COOKIE, **sent}, b"a=1").status == 200


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:3000"},
        {"origin": "http://localhost:8642"},
        {"origin": f"https://{HOST}"},
        {"origin": f"{OWN}.evil.example"},
        {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
        {"origin": OWN, "sec-fetch-site": "cross-site"},
        {"origin": OWN, "sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
    ],
)
def test_other_pages_may_not_even_with_the_cookie(sent: dict[str, str]) -> None:
    said = asked("POST", "/x", {**COOKIE, **sent}, b"a=1")
    assert said.status == 403
    assert b"inside" not in said.body


def test_a_program_with_the_token_may_change_things() -> None:
    assert asked("POST", "/x", BEARER).status == 200
    assert asked("POST", "/x", {**BEARER, "origin": "http://evil.example"}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(("mode", "dest", "status"), [("navigate", "document", 200), ("navigate", "iframe", 403),
                                                      ("no-cors", "script", 403), ("cors", "empty", 403),
                                                      ("no-cors", "image", 403)])  # fmt: skip
def test_other_pages_may_link_but_not_embed(site: str, mode: str, dest: str, status: int) -> None:
    sent = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest}
    assert asked("GET", "/api/sessions", {**COOKIE, **sent}).status == status


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "GETT"])
def test_only_three_methods_are_known(method: str) -> None:
    said = asked(method, "/", COOKIE)
    assert (said.status, said.headers["allow"]) == (405, "GET, HEAD, POST")


def test_nothing_changes_where_nothing_may() -> None:
    assert asked("POST", "/x", BEARER, read_only=True).status == 403
    assert asked("GET", "/x", BEARER, read_only=True).status == 200


# --- limits ------------------------------------------------------------------------------------------


def test_addresses_headers_and_bodies_have_a_size() -> None:
    """At the limit it is heard, one byte beyond it is not; and that is said before who asks matters."""
    assert asked("GET", "/" + "a" * (MAX_ADDRESS - 1), COOKIE).status == 200
    assert asked("GET", "/" + "a" * MAX_ADDRESS, {}).status == 414
    assert asked("GET", "/", {"x": "y" * MAX_HEADERS}).status == 431
    assert asked("POST", "/", {**BEARER, "content-length": str(MAX_BODY)}, b"x" * MAX_BODY).status == 200
    assert asked("POST", "/", {**BEARER, "content-length": str(MAX_BODY + 1)}).status == 413
    assert asked("POST", "/", {**BEARER, "transfer-encoding": "chunked"}, b"x" * (MAX_BODY + 1)).status == 413
    assert asked("POST", "/", {**BEARER, "content-length": "9" * 400}).status == 413


def test_nothing_is_sent_along_with_a_question() -> None:
    assert asked("GET", "/", {**COOKIE, "content-length": "5"}, b"hello").status == 413
    assert asked("GET", "/", {**COOKIE, "transfer-encoding": "chunked"}, b"hello").status == 413


@pytest.mark.parametrize("target", ["/a\0b", "http://evil.example/", "*", ""])
def test_what_is_no_address_is_refused(target: str) -> None:
    assert asked("GET", target, COOKIE).status == 400


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.web.guard.PATIENCE", 0.05)
    guard, messages = Guard(Inside(), _terms()), list[Message]()

    async def never() -> Message:
        await asyncio.sleep(60)
        return {}

    async def send(message: Message) -> None:
        messages.append(message)

    headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/", "raw_path": b"/", "query_string": b"", "headers": headers}
    asyncio.run(guard(scope, never, send))
    assert messages[0]["status"] == 408


# --- headers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [COOKIE, {}], ids=["inside", "refused"])
def test_every_answer_says_what_a_browser_may_do(key: dict[str, str]) -> None:
    headers = asked("GET", "/", key).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert {name.decode() for name in SECURITY_HEADERS} <= set(headers)
    assert headers["cache-control"] == "no-store"


def test_a_handler_may_say_what_is_kept_but_not_what_is_allowed() -> None:
    given_ = [(b"Cache-Control", b"max-age=9"), (b"Content-Security-Policy", b"default-src *")]
    headers = dict(add_security_headers(given_))
    assert headers[b"cache-control"] == b"max-age=9"
    assert headers[b"content-security-policy"] == SECURITY_HEADERS[b"content-security-policy"]
    assert len(headers) == len(add_security_headers(given_))
