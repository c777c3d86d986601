"""A share as people see it."""

import gzip
import io
import tarfile
from html.parser import HTMLParser
from ipaddress import ip_network
from urllib.parse import urljoin

import pytest

from tests.hub.running import Answer, Client, running
from tests.hub.shares.bundles import GZIP, bundle, lines, log, packed
from tests.hub.shares.conftest import Place, place, same
from unspool.hub.routes import HubSettings
from unspool.hub.shares import routes
from unspool.hub.shares.share import COOKIE, hash_password
from unspool.hub.store.connect import Store

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
WORDS = "täglich & 100%"
TYPED = b"password=t%C3%A4glich+%26+100%25"


def open_(client: Client, address: str, body: bytes = TYPED) -> Answer:
    return client.ask("POST", f"/{address}/", body, FORM)


def ticket(answer: Answer) -> dict[str, str]:
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_a_link_leads_to_pages_whose_every_part_is_there(hub: Place) -> None:
    address = hub.share(query="?raw=1")
    first = hub.anybody.get(f"/{address}")
    assert (first.status, first.headers["location"]) == (308, f"/{address}/")
    waiting, seen = [f"/{address}/"], set()
    while waiting:
        path = waiting.pop()
        answer = hub.anybody.get(path)
        assert answer.status == 200, path
        seen.add(path)
        if answer.headers["content-type"].startswith("text/html"):
            waiting += [one for one in links(path, answer.body.decode()) if one not in seen]
    assert f"/{address}/page-001.html" in seen
    assert f"/{address}/bundle.tar.gz" in seen
    assert sum(path.startswith(f"/{address}/assets/") for path in seen) >= 6
    assert all(path.startswith(f"/{address}/") for path in seen)


def links(base: str, html: str) -> list[str]:
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(
                urljoin(base, value).partition("#")[0] for name, value in attrs if name in ("href", "src") and value
            )

    Reader().feed(html)
    return [one for one in found if one.startswith("/")]


def test_previews_name_the_share_by_the_hubs_own_name(hub: Place) -> None:
    address = hub.share()
    page = hub.anybody.get(f"/{address}/").body.decode()
    assert f'<meta property="og:url" content="https://hub.example/{address}/">' in page
    assert f'<meta property="og:image" content="https://hub.example/{address}/preview.png">' in page
    assert '<meta property="og:title" content="Make a tide table">' in page
    picture = hub.anybody.get(f"/{address}/preview.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert b"Make a tide table" in picture.body


def test_a_hub_that_does_not_know_its_name_invents_none(files_store: Store) -> None:
    with running(files_store, HubSettings(open_shares=True)) as client:
        answer = client.ask("POST", "/api/shares", bundle(), {**GZIP, "Host": "evil.example"})
        page = client.get(f"/{answer.json['address']}/").body
    assert b"evil.example" not in page
    assert b"og:url" not in page


def test_what_cannot_change_is_kept_and_what_can_is_asked_for(hub: Place) -> None:
    address = hub.share()
    page = hub.anybody.get(f"/{address}/")
    assert page.headers["cache-control"] == "private, no-cache"
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    again = hub.anybody.ask("GET", f"/{address}/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    style = next(one for one in links(f"/{address}/", page.body.decode()) if one.endswith(".css"))
    assert hub.anybody.get(style).headers["cache-control"] == "private, max-age=31536000, immutable"
    document = hub.anybody.get(f"/api/sessions/{address}")
    assert document.headers["cache-control"] == "private, no-cache"
    fixed = hub.anybody.get(f"/api/sessions/{address}?version=1")
    assert fixed.headers["cache-control"] == "private, max-age=31536000, immutable"
    hub.ann.ask("PUT", f"/api/shares/{address}", bundle(log("Other")), GZIP)
    assert hub.anybody.get(f"/api/sessions/{address}?version=1").status == 404


def test_pages_go_out_packed_as_they_lie_or_plain(hub: Place) -> None:
    address = hub.share()
    plain = hub.anybody.get(f"/{address}/")
    small = hub.anybody.ask("GET", f"/{address}/", headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert len(small.body) < len(plain.body)
    assert gzip.decompress(small.body) == plain.body
    none = hub.anybody.ask("GET", f"/{address}/", headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert none.body == plain.body


def test_the_session_itself_is_given_out_only_where_that_is_wished(hub: Place) -> None:
    sent = bundle()
    open_one, closed = hub.share(sent, "?raw=1"), hub.share(sent)
    answer = hub.anybody.get(f"/{open_one}/bundle.tar.gz")
    assert answer.body == sent
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Make%20a%20tide%20table.tar.gz"
    with tarfile.open(fileobj=io.BytesIO(answer.body)) as archive:
        assert "session.jsonl" in archive.getnames()
    assert same(hub.anybody.get(f"/{closed}/bundle.tar.gz"), hub.anybody.get(f"/{'A' * 22}/bundle.tar.gz"))


@pytest.mark.parametrize(
    "path",
    ["A" * 22, "A" * 22 + "/", "short", "-" * 22, "A" * 22 + "/index.html", "api/sessions/" + "A" * 22,
     "%00" * 22 + "/", "A" * 200, "..%2f..%2fetc/passwd", "A" * 22 + "/..%2f..%2fhub.db", "ä" * 11],
)  # fmt: skip
def test_guessed_addresses_find_the_same_nothing(hub: Place, path: str) -> None:
    hub.share()
    answer = hub.anybody.get("/" + path.replace("ä", "%C3%A4"))
    assert answer.status == 404
    assert b"There is nothing at this address." in answer.body


def test_files_are_given_by_their_exact_names_alone(hub: Place) -> None:
    address = hub.share(query="?raw=1")
    for name in ("session-share.json", "../index.html", "./index.html", "//index.html", "INDEX.html", "index.html/",
                 "assets", "assets/", "bundle.tar", "%2e%2e/index.html", "index.html%00"):  # fmt: skip
        assert hub.anybody.get(f"/{address}/{name}").status in (400, 404), name


def test_sessions_of_a_chain_lie_beside_the_one_that_is_meant(hub: Place) -> None:
    planning = lines(log("The plan is made.", "0b5e7a11-5e55-4a1e-9a7e-000000000002"))
    address = hub.share(bundle(None, **{"source-session.jsonl": planning}))
    names = [name for (name,) in hub.store.db.rows("SELECT name FROM share_file")]
    inner = next(name for name in names if name.endswith("-1/page-001.html"))
    page = hub.anybody.get(f"/{address}/{inner}")
    assert b"The plan is made." in page.body
    for one in links(f"/{address}/{inner}", page.body.decode()):
        assert hub.anybody.get(one).status == 200, one


def test_a_password_is_asked_for_and_opens_this_share_alone(both: Place) -> None:
    address = both.share(Share_Password="t%C3%A4glich%20%26%20100%25")
    other = both.share(Share_Password="t%C3%A4glich%20%26%20100%25")
    asked = both.anybody.get(f"/{address}/")
    assert asked.status == 401
    assert asked.headers["cache-control"] == "no-store"
    assert b"tide" not in asked.body
    for name in ("page-001.html", "preview.svg", "no-such-file", "bundle.tar.gz"):
        assert same_but_request(both.anybody.get(f"/{address}/{name}"), asked)
    wrong = open_(both.anybody, address, b"password=wrong")
    assert wrong.status == 403
    assert "set-cookie" not in wrong.headers
    right = open_(both.anybody, address)
    assert (right.status, right.headers["location"]) == (303, f"/{address}/")
    cookie = right.headers["set-cookie"].lower()
    assert all(part in cookie for part in (f"path=/{address.lower()}", "httponly", "samesite=lax", "secure"))
    page = both.anybody.ask("GET", f"/{address}/", headers=ticket(right))
    assert page.status == 200
    assert page.headers["cache-control"] == "no-store"
    assert both.anybody.ask("GET", f"/{other}/", headers=ticket(right)).status == 401


def same_but_request(first: Answer, second: Answer) -> bool:
    return same(first, second)


def test_a_ticket_ends_with_its_password_and_cannot_be_made(hub: Place) -> None:
    address = hub.share(Share_Password="high-water")
    got = ticket(open_(hub.anybody, address, b"password=high-water"))
    assert hub.anybody.ask("GET", f"/{address}/", headers=got).status == 200
    until, _, mark = got["Cookie"].partition("=")[2].partition(".")
    for forged in (
        f"{int(until) + 1}.{mark}",
        f"{until}.",
        f"{until}.{mark[:-2]}AA",
        ".",
        "x.y",
        f"{'9' * 30}.{mark}",
        "",
    ):
        assert hub.anybody.ask("GET", f"/{address}/", headers={"Cookie": f"{COOKIE}={forged}"}).status == 401
    hub.ann.send("PATCH", f"/api/shares/{address}", {"password": "low-water"})
    assert hub.anybody.ask("GET", f"/{address}/", headers=got).status == 401
    hub.ann.send("PATCH", f"/api/shares/{address}", {"password": ""})
    assert hub.anybody.get(f"/{address}/").status == 200
    assert open_(hub.anybody, address).status == 303


def test_passwords_cannot_be_tried_for_ever(hub: Place) -> None:
    address = hub.share(Share_Password="high-water")
    answers = [open_(hub.anybody, address, b"password=%d" % number).status for number in range(routes.TRIES + 2)]
    assert answers == [403] * routes.TRIES + [429] * 2
    late = open_(hub.anybody, address, b"password=high-water")
    assert late.status == 429
    assert int(late.headers["retry-after"]) > 0
    asked = hub.anybody.ask("GET", f"/api/sessions/{address}", headers={"Share-Password": "high-water"})
    assert asked.status == 429


def test_right_passwords_lock_nobody_out(both: Place) -> None:
    """However many readers come through one address; only what is wrong counts."""
    address = both.share(Share_Password="high-water")
    opened = [open_(both.anybody, address, b"password=high-water").status for _ in range(routes.TRIES + 2)]
    assert opened == [303] * len(opened)
    answers = [open_(both.anybody, address, b"password=wrong").status for _ in range(routes.TRIES + 1)]
    assert answers == [403] * routes.TRIES + [429]


def test_behind_a_proxy_one_reader_locks_out_no_other(files_store: Store) -> None:
    """The proxy's word for where somebody comes from counts: its own, not what the reader wrote before it."""
    terms = HubSettings(proxies=(ip_network("127.0.0.0/8"),))
    with running(files_store, terms) as client:
        hub = place(files_store, client)
        address = hub.share(Share_Password="high-water")

        def tried(source: str, word: bytes = b"wrong") -> int:
            headers = {**FORM, "X-Forwarded-For": source}
            return client.ask("POST", f"/{address}/", b"password=" + word, headers).status

        forged = [tried(f"198.51.100.{number}, 192.0.2.1") for number in range(routes.TRIES)]
        assert forged == [403] * routes.TRIES
        assert tried("192.0.2.1", b"high-water") == 429
        assert tried("192.0.2.2", b"high-water") == 303


@pytest.mark.parametrize("word", ["x", "high-wa"])
def test_a_short_password_is_refused_and_an_old_one_still_opens(hub: Place, word: str) -> None:
    assert hub.ann.ask("POST", "/api/shares", bundle(), {**GZIP, "Share-Password": word}).status == 400
    address = hub.share()
    answer = hub.ann.send("PATCH", f"/api/shares/{address}", {"password": word})
    assert (answer.status, "8 characters" in answer.json["reason"]) == (400, True)
    signed_in = {**FORM, "Sec-Fetch-Site": "same-origin"}
    assert hub.ann.ask("POST", f"/shares/{address}", f"password={word}".encode(), signed_in).status == 400
    hub.store.db.run("UPDATE share SET password = ? WHERE address = ?", hash_password(word), address)
    assert open_(hub.anybody, address, f"password={word}".encode()).status == 303


def test_the_document_wants_the_password_in_a_header(hub: Place) -> None:
    address = hub.share(Share_Password="t%C3%A4glich%20%26%20100%25")
    assert hub.anybody.get(f"/api/sessions/{address}").status == 403
    answer = hub.anybody.ask(
        "GET", f"/api/sessions/{address}", headers={"Share-Password": "t%C3%A4glich%20%26%20100%25"}
    )
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"


def test_a_password_is_kept_so_that_it_cannot_be_read(hub: Place) -> None:
    hub.share(Share_Password="einmalig")
    ((kept,),) = hub.store.db.rows("SELECT password FROM share")
    assert "einmalig" not in kept
    hub.share(Share_Password="einmalig")
    assert len({row[0] for row in hub.store.db.rows("SELECT password FROM share")}) == 2


def test_markup_of_a_session_stays_text(hub: Place) -> None:
    bad = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    address = hub.share(bundle(log(bad)), "?title=" + "%3Cscript%3Ealert(3)%3C/script%3E")
    for name in ("", "page-001.html", "preview.svg"):
        body = hub.anybody.get(f"/{address}/{name}").body
        assert b"<script>alert" not in body
        assert b"<img src=x" not in body


def test_metadata_cannot_choose_names(hub: Place) -> None:
    sent = packed({"metadata.txt": b"SESSION_ID=../../evil\n", "session.jsonl": lines()}.items())
    address = hub.share(sent)
    assert all(".." not in name for (name,) in hub.store.db.rows("SELECT name FROM share_file"))
    assert hub.anybody.get(f"/{address}/").status == 200
