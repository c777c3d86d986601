"""The audit log as sentences."""

from collections.abc import Iterator

import pytest

from tests.hub.people.folk import One, project, session, share, somebody
from tests.hub.running import running
from unspool.hub.people.audit import AuditLine, list_audit, write_audit
from unspool.hub.people.operations import ACTS
from unspool.hub.routes import all_routes
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.connect import Store
from unspool.hub.web.audit_sentences import DEEDS, AuditSentence, audit_sentences

WEEK = 7 * DAY


@pytest.fixture
def ana(files_store: Store) -> One:
    return somebody(files_store.db, "Ana", admin=True)


def told(store: Store, ana: One, what: str, target: str, outcome: str = "done", **detail: str | int) -> str:
    write_audit(store.db, ana.person, what, target, outcome, detail)
    return says(audit_sentences(store.db, list_audit(store.db, most=1))[0])


def says(sentence: AuditSentence) -> str:
    return "".join(part.text for part in sentence.parts)


def test_a_line_is_a_sentence_with_links(files_store: Store, ana: One) -> None:
    address = share(files_store, ana, "Fix the tide table")
    ends = now() + WEEK
    said = told(files_store, ana, "share.create", address, password=1, expires=ends, listed=0, raw=0)
    assert said == "Ana shared “Fix the tide table” with a password, ends in 7 days"
    (sentence,) = audit_sentences(files_store.db, list_audit(files_store.db, most=1))
    assert [part.href for part in sentence.parts if part.href] == [f"/audit?person={ana.id}", f"/{address}/"]


def test_sentences_of_every_kind(files_store: Store, ana: One) -> None:
    made = project(files_store.db, "harbour", own=ana)
    pushed = session(files_store, made, ana, "The pump")
    ben = somebody(files_store.db, "Ben")
    address = share(files_store, ana, "A talk")
    for what, target, outcome, detail, said in (
        ("session.push", pushed, "done", {}, "Ana pushed “The pump”"),
        ("session.view", pushed, "refused 404", {}, "Ana wanted to read “The pump”, and was refused (404)"),
        ("permit.give", made, "done", {"subject": ben.id, "level": "read"}, "Ana gave rights in harbour: Ben, read"),
        ("share.change", address, "done", {"password": 0, "expires": 0},
         "Ana changed how “A talk” is shown: without a password, without an end"),
        ("share.create", address, "done", {"session": pushed}, "Ana shared “A talk”, from “The pump”"),
        ("session.view", "gone", "done", {}, "Ana read gone"),
        ("erase", "gone", "not proved", {}, "Ana wanted to erase gone: not proved"),
        ("policy.set", "", "done", {}, "Ana set the policy of the hub"),
        ("browser.in", ben.id, "done", {}, "Ben signed in"),
        ("something.new", "x", "done", {}, "Ana did something.new to x"),
    ):  # fmt: skip
        assert told(files_store, ana, what, target, outcome, **detail) == said


def test_what_was_asked_for_is_not_told_twice(files_store: Store, ana: One) -> None:
    for outcome, request in (("asked", "one"), ("done", "one"), ("asked", "two")):
        write_audit(files_store.db, ana.person, "token.make", "", outcome, {"request": request})
    found = audit_sentences(files_store.db, list_audit(files_store.db))
    assert [says(one) for one in found] == ["Ana wanted to make a token", "Ana made a token"]


def test_everything_that_is_written_down_has_a_sentence() -> None:
    acts = {route.act for route in all_routes() if route.act} | set(ACTS.values())
    assert acts <= set(DEEDS)


@pytest.fixture
def page(files_store: Store, ana: One) -> Iterator[str]:
    made = session(files_store, project(files_store.db, "harbour", own=ana), ana, "<b>bold</b>")
    told(files_store, ana, "session.view", made)
    with running(files_store) as client:
        yield client.as_(ana.token).get("/audit").body.decode()


def test_the_page_has_sentences_and_the_codes_only_beside_them(page: str, files_store: Store) -> None:
    assert "“&lt;b&gt;bold&lt;/b&gt;”" in page
    assert 'title="session.view ' in page
    assert ">session.view<" not in page


def test_a_line_of_before_has_no_options(files_store: Store, ana: One) -> None:
    line = AuditLine(1, 0, ana.id, "Ana", "share.create", "", "done", {}, "", "", None, None)
    assert says(audit_sentences(files_store.db, [line])[0]) == "Ana shared something"
