"""An archive of an old version: every byte comes back, everything said about sessions stays, and a sync goes on."""

import json
from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.old_data.unpacked import FORGOTTEN, OLD, PLAN, RELEASE, ROOT, SHORT, WORK, OldData, differing, lost
from tests.store.archive.making import clean, held
from unspool.app.marks import MarkStore, SavedFilter, StoredMark
from unspool.errors import UnspoolError
from unspool.store.archive.keys import find_key, is_weak

Unpacked = Callable[..., OldData]
MARKS = {
    PLAN: StoredMark(True, "The plan for the port", "", ("tides", "to read")),
    WORK: StoredMark(False, "", "Where the hours\nwere mended.", ("tides",)),
}


def digests(data: OldData) -> dict[str, list[str]]:
    """The digests of every generation of what was kept and not forgotten, by path, as the logs had it."""
    found: dict[str, list[str]] = json.loads((data.shared / "digests.json").read_text())
    return found


def in_archive(data: OldData) -> dict[str, list[str]]:
    """The same, as today's version reads it from the archive."""
    found: dict[str, list[str]] = defaultdict(list)
    for (_, name, _), content in sorted(held(data.archive).items()):
        found[name].append(sha256(content).hexdigest())
    return dict(found)


def test_every_byte_of_every_generation_is_read_as_it_was(unpacked: Unpacked) -> None:
    data = unpacked("home", "shared")
    assert in_archive(data) == digests(data)
    assert max(len(all_) for all_ in digests(data).values()) == 2
    clean(data.archive)
    assert FORGOTTEN.encode() not in b"".join(held(data.archive).values())


@pytest.mark.parametrize("session", [PLAN, WORK, RELEASE, SHORT])
def test_a_session_is_given_back_byte_for_byte(unpacked: Unpacked, tmp_path: Path, session: str) -> None:
    """Also one whose log the agent has deleted."""
    data = unpacked("home", "shared")
    data.said("restore", session, "--to", tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    got = {path.relative_to(tmp_path / "out").as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}
    assert got.items() <= {name: all_[-1] for name, all_ in digests(data).items()}.items()
    assert {name for name in digests(data) if session in name} <= set(got)


def test_an_export_holds_all_that_it_held(unpacked: Unpacked) -> None:
    """Also of a session that the archive alone has."""
    data = unpacked("home", "shared")
    for name, session in (("json", PLAN), ("session-share", SHORT)):
        old, new = (data.shared / f"export.{name}").read_text(), data.said("export", session, "-f", name)
        assert list(lost(json.loads(old), json.loads(new.replace(str(data.root), ROOT)))) == []


def test_a_sync_goes_on_and_loses_nothing(unpacked: Unpacked) -> None:
    """What grew and what is new is added; what was forgotten stays forgotten, what is gone stays kept."""
    data = unpacked("home", "shared")
    before = held(data.archive)
    with data.log(RELEASE).open("ab") as log:
        log.write(b'{"type":"summary","summary":"A lighthouse keeper","leafUuid":"x"}\n')
    builder = LogBuilder(session_id="f0f0f0f0-0000-4000-8000-000000000001", cwd="/home/dev/harbour")
    builder.prompt("Paint the lighthouse").write(data.source)
    (data.log(FORGOTTEN)).write_bytes(b'{"type":"user","sessionId":"%s"}\n' % FORGOTTEN.encode())
    data.said("sync")
    after = held(data.archive)
    grown = next(key for key in before if RELEASE in key[1] and key[2] == 2)
    assert after[grown] == data.log(RELEASE).read_bytes()
    assert {key: one for key, one in after.items() if key in before and key != grown}.items() == (
        {key: one for key, one in before.items() if key != grown}.items()
    )
    assert {name for _, name, _ in after.keys() - before.keys()} == {
        builder_path.relative_to(data.source).as_posix() for builder_path in data.source.rglob("f0f0f0f0*.jsonl")
    }
    assert "Paint the lighthouse" in data.said("search", "paint", "lighthouse")
    clean(data.archive)


def test_the_old_index_answers_or_is_made_anew_in_one_go(unpacked: Unpacked) -> None:
    """A command that cannot use it says what makes it anew; after one sync every answer is there."""
    data = unpacked("home")
    done = data.run("search", "tide")
    assert done.code == 0 or "unspool sync" in done.err
    data.said("sync")
    assert list(lost(OLD["search"]["answer"], data.json("search", "tide"))) == []
    for path in data.archive.glob("index.db*"):
        path.unlink()
    data.said("sync")
    for name in ("search", "search-kind", "search-file", "usage-session", "stats"):
        assert differing(name, data.json(*OLD[name]["asked"].split())) == []


def test_a_sync_of_what_is_kept_changes_nothing(unpacked: Unpacked) -> None:
    data = unpacked("home")
    before = held(data.archive)
    report = data.json("sync")
    assert [report[name] for name in ("new", "grown", "rewritten", "gone")] == [0, 0, 0, 0]
    assert held(data.archive) == before


def test_stars_names_tags_notes_hidden_projects_and_filters_stay(unpacked: Unpacked) -> None:
    data = unpacked("home")
    said = MarkStore(data.archive).all_marks()
    assert {session: said.of(session) for session in said.marks} == MARKS
    assert said.hidden == {"/home/dev/attic"}
    assert said.saved == (SavedFilter("Dear ones", "sort=cost&kind=planning"),)


def test_what_an_old_version_encrypted_is_opened_by_its_key_alone(unpacked: Unpacked) -> None:
    data = unpacked("shared")
    key = find_key({}, data.shared / "key", None)
    said = MarkStore(data.root / "sealed", key).all_marks()
    assert {session: said.of(session) for session in said.marks} == MARKS
    with pytest.raises(UnspoolError):
        MarkStore(data.root / "sealed", "another").all_marks()


def test_what_an_old_version_encrypted_is_made_strong_by_the_next_star(unpacked: Unpacked) -> None:
    """And is opened by the same key file."""
    data = unpacked("shared")
    key = find_key({}, data.shared / "key", None)
    marks = data.root / "sealed" / "marks.db"
    assert is_weak(marks)
    MarkStore(data.root / "sealed", key).change("a-new-session", starred=True)
    assert not is_weak(marks)
    said = MarkStore(data.root / "sealed", key).all_marks()
    assert said.of("a-new-session").starred
    assert {session: said.of(session) for session in said.marks if session != "a-new-session"} == MARKS


def test_a_bundle_of_an_old_version_is_taken_in(unpacked: Unpacked, tmp_path: Path) -> None:
    """Into an archive that has nothing yet, to be read, and as a session that the agent resumes."""
    data = unpacked("shared")
    data.said("import", data.shared / "talk.tar.gz", "--archive", tmp_path / "mine")
    assert PLAN in data.said("search", "--archive", tmp_path / "mine", "spring")
    target = tmp_path / "project"
    target.mkdir()
    data.said("import", data.shared / "talk.tar.gz", "--to", target, "-o", tmp_path / "copy.jsonl")
    assert "every tide on the board is an hour late" in (tmp_path / "copy.jsonl").read_text()
