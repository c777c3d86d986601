"""The audit log: every change and reading in it, in one chain that shows when it was touched."""

import json
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hub.people.folk import ROOT, One, project, somebody
from tests.hub.people.test_users import at_once
from tests.thorough import tries
from unspool.hub.errors import StoreUnavailable
from unspool.hub.people import audit as log
from unspool.hub.people import holds
from unspool.hub.people.audit import (
    AuditedReads,
    AuditFilters,
    ChainMark,
    audit_as_json_lines,
    list_audit,
    mark_head,
    seal_audit,
    trim_audit,
    verify_audit,
    write_audit,
)
from unspool.hub.people.erasure import erase_permanently
from unspool.hub.people.users import ANYBODY
from unspool.hub.store.blobs import AUDIT_MARK, now
from unspool.hub.store.connect import Store


@pytest.fixture
def ada(store: Store) -> One:
    """Somebody who does things."""
    return somebody(store.db, "ada")


def done(store: Store, ada: One, count: int) -> None:
    """Some lines."""
    for number in range(count):
        write_audit(store.db, ada.person, "share.delete", f"share{number}", "done", {"number": number})


def test_what_was_done_is_listed_newest_first(store: Store, ada: One) -> None:
    """By person, act or family of acts, target, outcome and time; page by page."""
    write_audit(store.db, ada.person, "share.make", "one", "done")
    write_audit(store.db, ANYBODY, "share.view", "one", "refused 404")
    write_audit(store.db, ada.person, "shared.thing", "two", "done")
    assert [line.what for line in list_audit(store.db)] == ["shared.thing", "share.view", "share.make"]
    for filters, seqs in (
        (AuditFilters(person="ada"), [3, 1]),
        (AuditFilters(person=ada.id), [3, 1]),
        (AuditFilters(person="anonymous"), [2]),
        (AuditFilters(what="share"), [2, 1]),
        (AuditFilters(what="share.view"), [2]),
        (AuditFilters(target="two"), [3]),
        (AuditFilters(outcome="refused 404"), [2]),
        (AuditFilters(before=3), [2, 1]),
        (AuditFilters(since=now() + 1000), []),
        (AuditFilters(until=now() + 1000), [3, 2, 1]),
    ):
        assert [line.seq for line in list_audit(store.db, filters)] == seqs, filters
    assert [line.seq for line in list_audit(store.db, most=2)] == [3, 2]
    written = [json.loads(line) for line in audit_as_json_lines(store.db)]
    assert [line["seq"] for line in written] == [1, 2, 3]
    assert written[0]["name"] == "ada"
    assert written[0]["at"].endswith("+00:00")


def test_a_line_belongs_to_what_it_tells_of(store: Store, ada: One) -> None:
    """A change that is undone leaves no line that says it was done."""

    def undone() -> None:
        with store.db.transaction():
            write_audit(store.db, ada.person, "share.delete", "one", "done")
            raise StoreUnavailable("Not now.")

    with pytest.raises(StoreUnavailable):
        undone()
    assert list_audit(store.db) == []


def test_readings_are_written_together(store: Store, ada: One) -> None:
    """None is lost, whichever thread adds it; what cannot be written waits."""
    reads = AuditedReads(store.db)

    def read() -> None:
        for _ in range(600):
            reads.add(ada.person, "share.view", "x", "done")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.db.rows("SELECT count(*) FROM audit") == [(0,)]
    reads.flush()
    assert store.db.rows("SELECT count(*) FROM audit") == [(2400,)]
    assert verify_audit(store) == []


def test_readings_wait_for_a_database_that_does_not_answer(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written when it does; beyond a bound they are counted, and the count is written."""
    monkeypatch.setattr(log, "_MOST", 10)
    reads = AuditedReads(files_store.db)
    for _ in range(15):
        reads.add(ANYBODY, "share.view", "x", "done")

    def broken(*_: object) -> None:
        raise StoreUnavailable("It does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(files_store.db, "many", broken)
        with pytest.raises(StoreUnavailable):
            reads.flush()
    reads.flush()
    found = list_audit(files_store.db)
    assert len(found) == 11
    assert [line.detail for line in found if line.what == "audit.lost"] == [{"readings": 5}]


def test_sealing_from_several_places_makes_one_chain(store: Store, ada: One) -> None:
    """Every line has its place once, whoever seals."""
    done(store, ada, 30)
    at_once(4, lambda: seal_audit(store.db))
    assert [row[0] for row in store.db.rows("SELECT seq FROM audit ORDER BY seq")] == list(range(1, 31))
    assert verify_audit(store) == []
    assert seal_audit(store.db).seq == 30


@pytest.mark.parametrize(
    ("touch", "problem"),
    [
        ("UPDATE audit SET outcome = 'refused 403' WHERE seq = 5", "Row 5"),
        ("UPDATE audit SET person = 'bob' WHERE seq = 1", "Row 1"),
        ("UPDATE audit SET at = at + 1 WHERE seq = 20", "Row 20"),
        ("DELETE FROM audit WHERE seq = 7", "Rows 7 to 7"),
        ("DELETE FROM audit WHERE seq <= 3", "Rows 1 to 3"),
        ("DELETE FROM audit WHERE seq > 15", "ends at row 15"),
        ("DELETE FROM audit", "ends at row 0"),
        ("UPDATE audit SET digest = 'f' WHERE seq = 20", "Row 20"),
    ],
)
def test_a_touched_line_shows(files_store: Store, touch: str, problem: str) -> None:
    """Changed, removed, cut off at either end."""
    ada = somebody(files_store.db, "ada")
    done(files_store, ada, 20)
    assert verify_audit(files_store) == []
    files_store.db.run(touch)
    found = verify_audit(files_store)
    assert len(found) == 1
    assert problem in found[0]


def test_two_lines_that_change_places_show(files_store: Store) -> None:
    """The order is part of the chain."""
    done(files_store, somebody(files_store.db, "ada"), 5)
    seal_audit(files_store.db)
    for was, becomes in ((2, 102), (3, 2), (102, 3)):
        files_store.db.run("UPDATE audit SET seq = ? WHERE seq = ?", becomes, was)
    assert verify_audit(files_store) != []


def test_a_chain_written_anew_does_not_hold_the_head_that_was_kept(files_store: Store) -> None:
    """Whoever can write the database can write a whole other chain; a head kept elsewhere tells."""
    ada = somebody(files_store.db, "ada")
    done(files_store, ada, 5)
    head = seal_audit(files_store.db)
    done(files_store, ada, 5)
    assert verify_audit(files_store, head.digest) == []
    files_store.db.run("UPDATE audit SET seq = NULL, digest = NULL, outcome = 'done otherwise'")
    files_store.db.run("DELETE FROM setting WHERE key = ?", log.HEAD)
    assert verify_audit(files_store) == []
    assert len(verify_audit(files_store, head.digest)) == 1


def test_old_lines_go_and_the_rest_still_proves_itself(store: Store, ada: One) -> None:
    """Retention cuts the beginning off; what is under a legal hold stays, and all after it."""
    done(store, ada, 10)
    store.db.run("UPDATE audit SET at = at - 1000000000")
    done(store, ada, 5)
    assert trim_audit(store, now() - 500_000_000) == 10
    assert verify_audit(store) == []
    assert [line.seq for line in list_audit(store.db)] == [15, 14, 13, 12, 11]
    write_audit(store.db, ada.person, "project.make", shop := project(store.db, "shop"), "done")
    done(store, ada, 2)
    holds.place_hold(store.db, ada.person, ("project", shop), "a case")
    assert trim_audit(store, now() + 1000) == 5
    assert [line.seq for line in list_audit(store.db)] == [18, 17, 16]
    assert trim_audit(store, now() + 1000) == 0
    assert verify_audit(store) == []


def test_a_name_is_sealed_and_can_be_erased(store: Store, ada: One) -> None:
    """Another name shows, and one that was taken away; with an erased person it goes, and nothing tells what it was."""
    done(store, ada, 3)
    write_audit(store.db, ANYBODY, "share.view", "x", "done")
    assert verify_audit(store) == []
    was = store.db.row("SELECT name, name_salt FROM audit WHERE seq = 2") or ()
    for touched in (("eve", was[1]), ("", was[1]), ("", "")):
        store.db.run("UPDATE audit SET name = ?, name_salt = ? WHERE seq = 2", *touched)
        assert verify_audit(store) == ["The name in row 2 of the audit log was changed."]
    store.db.run("UPDATE audit SET name = ?, name_salt = ? WHERE seq = 2", *was)
    erase_permanently(store, ROOT, "person", ada.id)
    assert {line.name for line in list_audit(store.db)} == {"", "anonymous"}
    assert verify_audit(store) == []
    assert store.db.rows("SELECT DISTINCT name_salt FROM audit WHERE person = ?", ada.id) == [("",)]


def test_lines_of_before_names_were_sealed_still_prove_themselves(store: Store, ada: One) -> None:
    """Beside newer ones; a newer one that passes itself off as one of them shows."""
    done(store, ada, 3)
    store.db.run("UPDATE audit SET name_salt = NULL, name_mark = NULL")
    seal_audit(store.db)
    done(store, ada, 2)
    assert verify_audit(store) == []
    store.db.run("UPDATE audit SET name = 'eve', name_salt = NULL, name_mark = NULL WHERE seq = 4")
    assert "Row 4" in verify_audit(store)[0]


def cut(store: Store, last: int) -> None:
    """Remove the tail and have the database say that it never was."""
    (digest,) = store.db.row("SELECT digest FROM audit WHERE seq = ?", last) or (log.NOBODY,)
    store.db.run("DELETE FROM audit WHERE seq > ?", last)
    log.set_mark(store.db, log.HEAD, ChainMark(last, digest))


@pytest.mark.parametrize("last", [0, 12])
def test_a_tail_that_went_with_the_mark_of_its_head_shows(store: Store, ada: One, last: int) -> None:
    """The object store knows the head too; what is written later hides nothing, and neither does the hub itself."""
    done(store, ada, 20)
    mark_head(store)
    cut(store, last)
    problem = [f"The audit log ends at row {last}, but the object store has a mark of row 20."]
    assert verify_audit(store) == problem
    mark_head(store)
    assert verify_audit(store) == problem
    done(store, ada, 25)
    mark_head(store)
    assert verify_audit(store) == ["Row 20 of the audit log is not the one that the object store has a mark of."]


def test_a_log_whose_loss_was_accepted_goes_on(store: Store, ada: One) -> None:
    """As when the database was brought back from an older copy: from then on it is guarded again."""
    done(store, ada, 20)
    mark_head(store)
    cut(store, 12)
    mark_head(store, anew=True)
    assert verify_audit(store) == []
    cut(store, 5)
    assert len(verify_audit(store)) == 1


def test_a_mark_that_is_gone_or_damaged_shows(store: Store, ada: One) -> None:
    done(store, ada, 3)
    assert verify_audit(store) == []
    mark_head(store)
    store.objects.put(AUDIT_MARK, [b'{"seq": "x"'])
    assert "cannot be read" in verify_audit(store)[0]
    store.objects.delete(AUDIT_MARK)
    assert "has no mark" in verify_audit(store)[0]
    mark_head(store)
    assert "has no mark" in verify_audit(store)[0]


def test_a_beginning_that_nobody_trimmed_shows(store: Store, ada: One) -> None:
    """Removed with the mark of the start; what the hub itself trims is known."""
    done(store, ada, 10)
    store.db.run("UPDATE audit SET at = at - 1000000000")
    done(store, ada, 10)
    mark_head(store)
    assert trim_audit(store, now() - 500_000_000) == 10
    assert verify_audit(store) == []
    (digest,) = store.db.row("SELECT digest FROM audit WHERE seq = 15") or ("",)
    store.db.run("DELETE FROM audit WHERE seq <= 15")
    log.set_mark(store.db, log.START, ChainMark(15, digest))
    assert verify_audit(store) == ["Rows 11 to 15 of the audit log are missing, and nobody trimmed them."]


def test_no_control_character_gets_in(files_store: Store) -> None:
    """What a path held cannot drive the terminal of whoever reads the log."""
    write_audit(files_store.db, ANYBODY, "share.view", "a\x1b]0;x\x07" + "y" * 1000, "done")
    [line] = list_audit(files_store.db)
    assert line.target.isprintable()
    assert len(line.target) == 300


@settings(max_examples=tries(25, 200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row=st.integers(1, 8),
    column=st.sampled_from(["id", "at", "person", "what", "target", "outcome", "detail", "digest", "name_mark"]),
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
)
def test_any_change_of_any_line_shows(files_store: Store, row: int, column: str, text: str) -> None:
    """Whichever line, whichever column that is sealed, whatever is put there."""
    db = files_store.db
    if db.row("SELECT 1 FROM audit LIMIT 1") is None:
        done(files_store, somebody(db, "ada"), 8)
    assert verify_audit(files_store) == []
    was = db.rows(f"SELECT {column} FROM audit WHERE seq = ?", row)[0][0]  # noqa: S608
    becomes = was + len(text) if column == "at" else text
    db.run(f"UPDATE audit SET {column} = ? WHERE seq = ?", becomes, row)  # noqa: S608
    try:
        assert (verify_audit(files_store) == []) == (becomes == was)
    finally:
        db.run(f"UPDATE audit SET {column} = ? WHERE seq = ?", was, row)  # noqa: S608
