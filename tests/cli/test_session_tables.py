"""What was said about a session in the app is told by `list` and `info`, and kept apart from its own title in data."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import run, talk
from unspool.app.marks import MarkStore
from unspool.store.archive.database import archive_folder

FIRST, SECOND = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"


@pytest.fixture
def marks(home: Path) -> MarkStore:
    """Two sessions, of which one is marked."""
    talk("Waves", FIRST).write(home / ".claude")
    talk("Sand", SECOND).write(home / ".claude")
    said = MarkStore(archive_folder())
    said.change(FIRST, starred=True, title="Moon \x1b[31mand water", note="Read\nagain", tags=["sea", "later"])
    return said


@pytest.mark.usefixtures("marks")
def test_a_list_shows_the_name_it_was_given_its_star_and_tags() -> None:
    out = run("list").out
    assert "★ #later #sea Moon and water" in out
    assert "Waves" not in out
    assert "\x1b[31m" not in out


@pytest.mark.usefixtures("marks")
@pytest.mark.parametrize(("text", "found"), [("moon", FIRST), ("waves", FIRST), ("sand", SECOND)])
def test_a_session_is_found_by_either_title(text: str, found: str) -> None:
    assert [one["id"] for one in json.loads(run("list", "--json", "-t", text).out)["sessions"]] == [found]


@pytest.mark.usefixtures("marks")
def test_data_has_the_own_title_and_the_mark() -> None:
    rows = {one["id"]: one for one in json.loads(run("list", "--json").out)["sessions"]}
    assert (rows[FIRST]["title"], rows[SECOND]["mark"]) == ("Waves", None)
    mark = {"starred": True, "title": "Moon \x1b[31mand water", "note": "Read\nagain", "tags": ["later", "sea"]}
    assert rows[FIRST]["mark"] == mark
    told = json.loads(run("info", FIRST, "--json").out)
    assert (told["session"]["title"], told["mark"]) == ("Waves", mark)


@pytest.mark.usefixtures("marks")
def test_info_tells_all_that_was_said() -> None:
    lines = run("info", FIRST).out.splitlines()
    assert lines[0] == "Moon and water"
    told = dict(line.split(maxsplit=1) for line in lines if line.startswith(("marked", "note")))
    assert told == {"marked": "★ #later #sea", "note": "Read"}
    assert any(line.split() == ["own", "title", "Waves"] for line in lines)


def _damaged(marks: MarkStore) -> None:
    marks.close()
    marks.path.write_bytes(b"no database at all" * 100)


def _closed(marks: MarkStore) -> None:
    marks.close()
    marks.path.chmod(0o400)
    marks.path.parent.chmod(0o500)


@pytest.mark.parametrize(("harm", "told"), [(_damaged, True), (_closed, False)], ids=["damaged", "read only"])
def test_marks_that_cannot_be_written_or_read_keep_nobody_from_listing(
    marks: MarkStore, harm: Callable[[MarkStore], None], told: bool
) -> None:
    harm(marks)
    done = run("list")
    marks.path.parent.chmod(0o700)
    assert done.code == 0
    assert ("cannot be read" in done.err) == told
    assert ("Waves" if told else "Moon") in done.out
