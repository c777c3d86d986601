"""Stars, tags, names and notes: kept beside the archive, private, shown in every list, never in a log."""

import stat
import threading
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.browsing import browsed
from tests.log_builder.builder import LogBuilder
from unspool.app.marks import LONGEST_TAG, MOST_TAGS, MarkStore, StoredMark, clean_tags
from unspool.errors import Unreadable, UnspoolError, UsageProblem


def test_what_is_said_is_kept_and_what_is_not_spoken_of_stays(tmp_path: Path) -> None:
    marks = MarkStore(tmp_path)
    marks.change("a", starred=True, note="  why \r\n not ")
    marks.change("a", title=" A \n name ", tags=["one", "#Two", "TWO", " "])
    assert MarkStore(tmp_path).all_marks().of("a") == StoredMark(True, "A name", "why \n not", ("one", "TWO"))
    assert marks.all_marks().of("b") == StoredMark()
    marks.change("a", starred=False, tags=[])
    assert marks.all_marks().of("a") == StoredMark(False, "A name", "why \n not", ())


def test_nothing_is_written_before_the_first_mark_and_then_it_is_private(tmp_path: Path) -> None:
    marks = MarkStore(tmp_path / "archive")
    assert marks.all_marks().marks == {}
    assert list(tmp_path.iterdir()) == []
    marks.change("a", starred=True)
    files = list((tmp_path / "archive").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert apsw.Connection(str(marks.path)).pragma("journal_mode") == "wal"


def test_marks_of_an_encrypted_archive_are_encrypted(tmp_path: Path) -> None:
    marks = MarkStore(tmp_path, "secret")
    marks.change("a", note="quicksilver")
    marks.close()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"quicksilver" not in data
    assert b"SQLite format" not in data
    assert MarkStore(tmp_path, "secret").all_marks().of("a").note == "quicksilver"
    with pytest.raises(UnspoolError):
        MarkStore(tmp_path, "wrong").all_marks()


def test_marks_get_the_key_that_the_archive_gets_and_lose_it_again(tmp_path: Path) -> None:
    """Nothing that was said is lost, and while there is a key no byte of it can be read without."""
    MarkStore(tmp_path).change("one", starred=True, note="a secret lighthouse", tags=["x"])
    said = MarkStore(tmp_path).all_marks()
    for before, after in ((None, "first"), ("first", "second"), ("second", None)):
        MarkStore(tmp_path, before).rekeyed(after)
        assert MarkStore(tmp_path, after).all_marks() == said
        raw = b"".join(path.read_bytes() for path in tmp_path.glob("marks.db*"))
        assert (b"lighthouse" in raw) == (after is None)
    assert [path.name for path in tmp_path.glob("marks.db.new*")] == []


def test_where_nothing_was_said_there_is_nothing_to_encrypt(tmp_path: Path) -> None:
    MarkStore(tmp_path).rekeyed("key")
    assert list(tmp_path.iterdir()) == []


def test_others_see_at_once_what_is_said(tmp_path: Path) -> None:
    one, other = MarkStore(tmp_path), MarkStore(tmp_path)
    one.change("a", starred=True)
    assert other.all_marks().of("a").starred
    other.change("a", starred=False)
    assert not one.all_marks().of("a").starred


def test_many_threads_lose_nothing(tmp_path: Path) -> None:
    marks = MarkStore(tmp_path)
    work = [threading.Thread(target=marks.change, args=(f"s{at}",), kwargs={"starred": True}) for at in range(24)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(marks.all_marks().marks) == 24


def test_an_id_that_is_none_is_refused(tmp_path: Path) -> None:
    for key in ("", "a\nb", "x" * 300):
        with pytest.raises(UsageProblem):
            MarkStore(tmp_path).change(key, starred=True)


@given(st.lists(st.text()))
def test_tags_are_settled_once_and_for_all(names: list[str]) -> None:
    """Each is there once in whatever case, none is empty or long, and settling them again changes nothing."""
    kept = clean_tags(names)
    assert clean_tags(kept) == kept
    assert len({name.casefold() for name in kept}) == len(kept) <= MOST_TAGS
    assert all(0 < len(name) <= LONGEST_TAG for name in kept)


def test_forms_mark_and_lists_show_it(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        logs = {path: path.read_bytes() for path in (tmp_path / "source").rglob("*.jsonl")}
        answer = app.post(
            "/marks/shop", ("star", "0"), ("star", "1"), title="Till trouble", tags="pay, urgent", back="/"
        )
        assert (answer.status, answer.headers["location"]) == (303, "/")
        assert app.keys(starred="1") == app.keys(tag="PAY") == app.keys(q="till tr") == ["shop"]
        got = app.get("/sessions")
        assert "Till trouble" in got.said
        assert 'title="Its own title: Slow &lt;b&gt;checkout&lt;/b&gt;"' in got.text
        assert "#urgent" in app.get("/").said
        assert app.keys(sort="title")[-1] == "shop"
        assert "Till trouble" in app.get("/search", q="checkout").said
        assert "/marks/shop" in app.get("/s/shop/").links("/marks/")
        assert {path: path.read_bytes() for path in logs} == logs


def test_a_script_gets_data_and_the_form_alone(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        assert app.sent("/marks/shop", star="1") == {"starred": True, "title": "", "note": "", "tags": []}
        assert app.sent("/marks/shop", note="n")["starred"] is True
        form = app.get("/marks/shop", part="form").text
        assert "<html" not in form
        assert "<form" in form
        assert "checked" in form


def test_only_sessions_there_are_can_be_marked(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        assert app.get("/marks/nobody").status == 404
        assert app.post("/marks/nobody", star="1").status == 404
        assert app.post("/marks/shop", other="1").status == 400
        assert not (tmp_path / "archive" / "marks.db").exists()


def test_a_filter_is_saved_listed_and_forgotten(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        answer = app.post("/saved", name="Dear ones", query="sort=cost&kind=planning")
        assert answer.headers["location"] == "/sessions?sort=cost&kind=planning"
        assert "/sessions?sort=cost&kind=planning" in app.get("/").links("kind=planning")
        assert "Dear ones" in app.get("/sessions").said
        app.post("/saved", name="Dear ones", forget="1")
        assert "Dear ones" not in app.get("/sessions").said
        assert app.post("/saved", name="", query="q=x").status == 400
        assert app.post("/saved", name="all", query="").status == 400


def test_damaged_marks_do_not_keep_anyone_from_reading(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        (tmp_path / "archive" / "marks.db").write_bytes(b"no database" * 1000)
        got = app.get("/sessions")
        assert got.status == 200
        assert "cannot be read" in got.said
        assert len(app.keys()) == 4


def test_a_session_that_no_sync_has_seen_can_be_marked(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        LogBuilder(session_id="fresh").prompt("go").write(tmp_path / "source")
        assert app.get("/marks/fresh").status == 200
        assert app.post("/marks/fresh", tags="new").status == 303


def test_what_was_said_about_a_forgotten_session_goes(tmp_path: Path) -> None:
    """Nothing of it stays, and what was said about others does."""
    marks = MarkStore(tmp_path)
    marks.forget("nobody")
    assert not marks.path.exists()
    marks.change("one", title="A secret name", note="a secret note", tags=["secret"])
    marks.change("two", title="Another")
    marks.forget("one")
    assert set(marks.all_marks().marks) == {"two"}
    assert marks.all_marks().tags == {}


def test_marks_of_a_newer_version_are_left_alone(tmp_path: Path) -> None:
    marks = MarkStore(tmp_path)
    marks.change("one", starred=True)
    marks.close()
    with apsw.Connection(str(marks.path)) as db:
        db.pragma("user_version", 99)
    db.close()
    with pytest.raises(Unreadable, match="newer unspool"):
        MarkStore(tmp_path).change("one", starred=False)
