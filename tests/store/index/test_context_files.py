"""Which sessions ran under which version of a context file, told by logs, by time and folder, or not known."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.context_scene import ContextScene, ago
from tests.store.sync.sessions import rested
from unspool.errors import Ambiguous, NotFound
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.context_files import ContextFileIndex, ContextVersion, by_version, in_force
from unspool.store.index.database import Index


@contextmanager
def known(scene: ContextScene) -> Iterator[ContextFileIndex]:
    with (
        ArchiveDatabase.open(scene.archive, readonly=True) as archive,
        Index.open(scene.archive, readonly=True) as index,
    ):
        yield ContextFileIndex(index.db, archive.origins())


@pytest.fixture
def scene(home: Path) -> ContextScene:
    return ContextScene(home)


def told(scene: ContextScene, session: str) -> dict[str, tuple[int | None, str, bool]]:
    """What a session ran under: the version, how it is known, whether it changed meanwhile; by the file's name."""
    with known(scene) as files:
        return {
            one.file.place.removeprefix(f"{scene.home}/"): (one.version and one.version.number, one.how, one.changed)
            for one in files.of_session(session)
        }


def test_a_session_ran_under_what_was_there_when_it_began(scene: ContextScene) -> None:
    harbour, shop = scene.project("harbour"), scene.project("shop")
    path = scene.put(harbour / "CLAUDE.md", "one", ago(20))
    scene.put(scene.agent / "CLAUDE.md", "own", ago(30))
    before, first = scene.ran("before", harbour, ago(25)), scene.ran("first", harbour, ago(15))
    second, elsewhere = scene.ran("second", harbour, ago(5)), scene.ran("elsewhere", shop, ago(5))
    scene.sync()
    scene.put(path, "two", ago(10))
    scene.sync()
    own = {".claude/CLAUDE.md": (1, "by time", False)}
    assert told(scene, before) == {**own, "work/harbour/CLAUDE.md": (None, "not known", False)}
    assert told(scene, first) == {**own, "work/harbour/CLAUDE.md": (1, "by time", False)}
    assert told(scene, second) == {**own, "work/harbour/CLAUDE.md": (2, "by time", False)}
    assert told(scene, elsewhere) == own
    with known(scene) as files:
        groups = list(by_version(files.of_file(files.find(str(path), "/"))))
    listed = [(version and version.number, [one.session.key for one in runs]) for version, runs in groups]
    assert listed == [(2, [second]), (1, [first]), (None, [before])]


def test_a_version_that_came_while_a_session_ran_is_said_to_have(scene: ContextScene) -> None:
    harbour = scene.project("harbour")
    log = scene.session("long", harbour, ago(2))
    log.now = ago(1)
    log.prompt("still there?").assistant(log.text("Yes.")).write(scene.agent)
    path = scene.put(harbour / "CLAUDE.md", "one", ago(3))
    scene.sync()
    scene.put(path, "two", ago(1.5))
    scene.sync()
    assert told(scene, log.session_id) == {"work/harbour/CLAUDE.md": (1, "by time", True)}


def test_what_the_log_shows_counts_more_than_time(scene: ContextScene) -> None:
    harbour, path = scene.project("harbour"), scene.project("harbour") / "AGENTS.md"
    scene.put(path, "one\n", ago(9))
    log = scene.session("told", harbour, ago(2))
    log.attached("instructions", "x", files=[{"path": str(path), "content": "one"}]).write(scene.agent)
    scene.sync()
    scene.put(path, "two\n", ago(5))
    scene.sync()
    assert told(scene, log.session_id) == {"work/harbour/AGENTS.md": (1, "logged", False)}


def test_a_nested_file_holds_for_sessions_that_touched_something_there(scene: ContextScene) -> None:
    harbour = scene.project("harbour")
    scene.put(harbour / "pkg" / "CLAUDE.md", "nested", ago(9))
    log = scene.session("deep", harbour, ago(3))
    log.read(str(harbour / "pkg" / "src" / "x.py"), "x\n").write(scene.agent)
    other = scene.ran("other", harbour, ago(2))
    scene.sync()
    assert told(scene, log.session_id) == {"work/harbour/pkg/CLAUDE.md": (1, "by time", False)}
    assert told(scene, other) == {}


def test_plans_are_of_the_session_that_is_called_so_and_memories_of_those_of_their_folder(scene: ContextScene) -> None:
    harbour, shop = scene.project("harbour"), scene.project("shop")
    log = scene.session("planned", harbour, ago(3), slug="brave-crane")
    log.plan("# Paint the crane", "approved").write(scene.agent)
    memory = scene.agent / Path(log.path).parent / "memory" / "MEMORY.md"
    scene.put(memory, "rusty", ago(9))
    other = scene.ran("till", shop, ago(2))
    scene.sync()
    found = told(scene, log.session_id)
    assert found.pop(".claude/plans/brave-crane.md")[:2] == (1, "logged")
    assert [(name.rpartition("/")[2], how) for name, how in found.items()] == [("MEMORY.md", (1, "by time", False))]
    assert told(scene, other) == {}
    with known(scene) as files:
        assert {one.project for one in files.files()} == {str(harbour)}


def test_a_file_that_was_only_touched_is_as_old_as_it_was(scene: ContextScene) -> None:
    harbour = scene.project("harbour")
    path = scene.put(harbour / "CLAUDE.md", "one", ago(9))
    session = scene.ran("crane", harbour, ago(5))
    scene.sync()
    scene.kept_at(path, ago(8))
    scene.put(path, "one", ago(1))
    rested()
    scene.sync()
    assert told(scene, session) == {"work/harbour/CLAUDE.md": (1, "by time", False)}


def test_a_file_is_meant_by_its_whole_path_from_here_or_by_its_end(scene: ContextScene) -> None:
    for name in ("harbour", "shop"):
        scene.ran(name, scene.project(name), ago(3))
        scene.put(scene.project(name) / "CLAUDE.md", name, ago(9))
    scene.sync()
    with known(scene) as files:
        here = str(scene.project("shop"))
        assert files.find("CLAUDE.md", here).place == f"{here}/CLAUDE.md"
        assert files.find("shop/CLAUDE.md", "/").place == f"{here}/CLAUDE.md"
        with pytest.raises(Ambiguous, match="2 context files end with"):
            files.find("CLAUDE.md", "/")
        with pytest.raises(NotFound, match="No context file"):
            files.find("p/CLAUDE.md", "/")


def version(number: int, time: float, until: float | None = None) -> ContextVersion:
    return ContextVersion(number, number, 0, time, until, time, "")


def test_the_version_in_force_is_that_of_the_beginning_else_the_first_that_came_meanwhile() -> None:
    versions = [version(1, 10.0, 20.0), version(2, 20.0, 30.0), version(3, 40.0)]
    assert in_force(versions, 15.0, 18.0) == (versions[0], False)
    assert in_force(versions, 15.0, 25.0) == (versions[0], True)
    assert in_force(versions, 20.0, None) == (versions[1], False)
    assert in_force(versions, 35.0, 36.0) == (None, False)
    assert in_force(versions, 35.0, 50.0) == (versions[2], True)
    assert in_force(versions, None, 50.0) == (None, False)
