"""Context files kept in every version: which folders are looked at, how often, and what merging and forgetting do."""

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.context_scene import ContextScene, ago
from tests.store.archive.making import held
from tests.store.archive.version1 import HELD, unpacked
from tests.store.sync.sessions import rested
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.forget import LinesToForget, SessionFile, forget
from unspool.store.archive.merge import merge_archives
from unspool.store.archive.verify import verify_archive
from unspool.store.index.context_files import (
    CONTEXT,
    ContextFileIndex,
    KnownContextFile,
    context_agent,
    whole_path,
)
from unspool.store.index.database import Index
from unspool.store.sync import sync
from unspool.store.sync.scan import buried_name, file_rules


@pytest.fixture
def scene(home: Path) -> ContextScene:
    made = ContextScene(home)
    made.ran("crane", made.project("harbour"), ago(3))
    return made


def files(scene: ContextScene, folder: Path | None = None) -> dict[str, KnownContextFile]:
    """The context files that the index knows, by their paths below the home."""
    place = folder or scene.archive
    with ArchiveDatabase.open(place, readonly=True) as archive, Index.open(place, readonly=True) as index:
        known = ContextFileIndex(index.db, archive.origins()).files()
    return {os.path.relpath(one.place, scene.home): one for one in known}


def texts(scene: ContextScene, path: Path, folder: Path | None = None) -> list[str]:
    """What each kept version of a file says, the oldest first."""
    with ArchiveDatabase.open(folder or scene.archive, readonly=True) as archive:
        for number, origin in archive.origins().items():
            for name, versions in archive.versions(number).items():
                if whole_path(origin, name) == str(path):
                    return [archive.read(one.generation).decode() for one, _ in versions]
    return []


def test_files_of_the_agents_folder_and_of_the_project_are_kept_and_told_apart(scene: ContextScene) -> None:
    harbour = scene.project("harbour")
    made = {
        ".claude/CLAUDE.md": "instructions", ".claude/settings.json": "settings", ".claude/agents/x.md": "agent",
        ".claude/skills/tide/SKILL.md": "skill", ".claude/commands/a/b.md": "command", ".claude/plans/p.md": "plan",
        ".claude/projects/-p/memory/MEMORY.md": "memory", "work/harbour/CLAUDE.local.md": "instructions",
        "work/harbour/AGENTS.md": "instructions", "work/harbour/.mcp.json": "settings",
        "work/harbour/.cursor/rules/a.mdc": "instructions",
    }  # fmt: skip
    for name in made:
        scene.put(scene.home / name, f"words of {name}", ago(2))
    scene.put(harbour / "README.md", "no context file", ago(2))
    scene.put(scene.agent / ".credentials.json", "secret", ago(2))
    scene.sync()
    assert {name: one.kind for name, one in files(scene).items()} == made
    claude, shared = files(scene)["work/harbour/CLAUDE.local.md"], files(scene)["work/harbour/AGENTS.md"]
    assert (claude.agents, claude.folder) == (("claude-code",), str(harbour))
    assert "codex" in shared.agents
    assert "claude-code" not in shared.agents


def test_each_change_is_a_version_also_one_that_only_adds_at_the_end(scene: ContextScene) -> None:
    path, memory = scene.project("harbour") / "CLAUDE.md", scene.agent / "projects/-p/memory/MEMORY.md"
    said = ["one\n", "one\ntwo\n", "two\n", "one\n"]
    for number, words in enumerate(said):
        for place in (path, memory):
            scene.put(place, words, ago(9 - number))
        rested()
        scene.sync()
    assert texts(scene, path) == texts(scene, memory) == said
    assert files(scene)["work/harbour/CLAUDE.md"].versions == 4
    assert scene.sync().changed is False


def test_a_file_that_is_gone_is_said_to_be_and_its_versions_stay(scene: ContextScene) -> None:
    path = scene.put(scene.project("harbour") / "CLAUDE.md", "words", ago(9))
    scene.sync()
    path.unlink()
    assert scene.sync().gone == 1
    assert files(scene)["work/harbour/CLAUDE.md"].until is not None
    assert texts(scene, path) == ["words"]
    scene.put(path, "words", ago(9))
    scene.sync()
    assert files(scene)["work/harbour/CLAUDE.md"].until is None
    assert texts(scene, path) == ["words"]


def test_folders_above_are_looked_at_up_to_the_repository_and_nested_ones_where_files_were_touched(
    scene: ContextScene,
) -> None:
    top = scene.project("big")
    inner = top / "pkg" / "a"
    inner.mkdir(parents=True)
    log = scene.session("deep", inner, ago(2))
    log.read(str(inner / "src" / "deep" / "x.py"), "x\n").write(scene.agent)
    for folder in (scene.home, top, top / "pkg", inner, inner / "src", inner / "src/deep", top / "pkg" / "b"):
        scene.put(folder / "CLAUDE.md", str(folder), ago(3))
    scene.sync()
    found = {name.removeprefix("work/big").strip("/") for name in files(scene) if name.startswith("work/big")}
    assert found == {"CLAUDE.md", *(f"pkg/a{one}/CLAUDE.md" for one in ("", "/src", "/src/deep")), "pkg/CLAUDE.md"}
    assert "CLAUDE.md" not in files(scene)  # of the home, above the repository


def test_without_a_repository_folders_are_looked_at_up_to_the_home_and_only_for_instructions_there(
    scene: ContextScene,
) -> None:
    folder = scene.project("loose", repository=False)
    scene.ran("loose", folder, ago(2))
    for place in (scene.home, scene.home / "work", folder):
        scene.put(place / "CLAUDE.md", "words", ago(3))
        scene.put(place / ".mcp.json", "{}", ago(3))
    scene.sync()
    found = {name for name in files(scene) if not name.startswith(".claude")}
    assert found == {
        "CLAUDE.md",
        *(f"work{one}/{name}" for one in ("", "/loose") for name in ("CLAUDE.md", ".mcp.json")),
    }


def test_a_folder_that_nobody_worked_in_for_long_is_not_looked_through_but_what_is_known_of_it_is_followed(
    scene: ContextScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = scene.project("old")
    path = scene.put(old / "CLAUDE.md", "one", ago(200))
    scene.ran("old", old, ago(120))
    scene.sync()
    assert files(scene) == {}
    now = time.time()
    with monkeypatch.context() as then:
        then.setattr(time, "time", lambda: now - 100 * 86_400)
        scene.sync()
    scene.put(path, "two", ago(1))
    scene.put(old / "AGENTS.md", "new", ago(1))
    scene.sync()
    assert texts(scene, path) == ["one", "two"]
    assert set(files(scene)) == {"work/old/CLAUDE.md"}


def test_projects_are_left_alone_where_the_user_wants_that(scene: ContextScene) -> None:
    path = scene.put(scene.project("harbour") / "CLAUDE.md", "one", ago(2))
    scene.put(scene.agent / "CLAUDE.md", "own", ago(2))
    scene.sync(projects=False)
    assert set(files(scene)) == {".claude/CLAUDE.md"}
    scene.sync()
    path.unlink()
    assert scene.sync(projects=False).gone == 0


def test_a_sync_of_nothing_asks_little_of_the_system_for_each_folder(scene: ContextScene) -> None:
    def asked(number: int) -> int:
        for one in range(number):
            folder = scene.project(f"p{one}")
            scene.ran(f"p{one}", folder, ago(2))
            scene.put(folder / "CLAUDE.md", "words", ago(3))
            scene.put(folder / ".claude" / "settings.json", "{}", ago(3))
        rested()
        scene.sync()
        counts = Counter[str]()
        with pytest.MonkeyPatch.context() as patched:
            for name in ("lstat", "stat", "scandir", "open"):
                _count(patched, name, counts)
            scene.sync()
        return counts.total()

    few, many = asked(2), asked(12)
    assert (many - few) / 10 < 60


def _count(monkeypatch: pytest.MonkeyPatch, name: str, counts: Counter[str]) -> None:
    real = getattr(os, name)

    def counted(*given: Any, **more: Any) -> Any:
        counts[name] += 1
        return real(*given, **more)

    monkeypatch.setattr(os, name, counted)


def test_names_that_are_no_text_and_files_that_are_none_are_kept_all_the_same(scene: ContextScene) -> None:
    odd = scene.put(scene.agent / "skills" / "\udcff\udcfe.md", "odd name", ago(3))
    scene.put(scene.agent / "skills" / "table.bin", b"\0\xff", ago(3))
    scene.sync()
    assert texts(scene, odd) == ["odd name"]
    assert {one.kind for one in files(scene).values()} == {"skill"}
    assert len(files(scene)) == 2


def test_an_encrypted_archive_keeps_and_tells_context_files(scene: ContextScene) -> None:
    path = scene.put(scene.project("harbour") / "CLAUDE.md", "Speak of the secret derrick to nobody.", ago(3))
    key = "a passphrase of some length"
    sync(scene.archive, (), key=key)
    with (
        ArchiveDatabase.open(scene.archive, key=key, readonly=True) as archive,
        Index.open(scene.archive, key=key) as index,
    ):
        (file,) = ContextFileIndex(index.db, archive.origins()).files()
        assert file.place == str(path)
    held = b"".join(one.read_bytes() for one in scene.archive.iterdir() if one.is_file())
    assert b"derrick" not in held


def test_an_archive_with_context_files_is_proved_and_an_index_is_made_of_it_alone(scene: ContextScene) -> None:
    path = scene.put(scene.project("harbour") / "CLAUDE.md", "one", ago(9))
    scene.put(scene.agent / "settings.json", "{}", ago(9))
    scene.sync()
    scene.put(path, "two", ago(1))
    scene.sync()
    assert verify_archive(scene.archive).clean
    before = files(scene)
    (scene.archive / "index.db").unlink()
    scene.sync()
    assert files(scene) == before


def test_an_archive_of_an_older_version_takes_context_files_in(scene: ContextScene) -> None:
    unpacked(scene.archive)
    scene.put(scene.project("harbour") / "CLAUDE.md", "words", ago(3))
    scene.put(scene.agent / "CLAUDE.md", "own words", ago(3))
    scene.sync()
    assert set(files(scene)) == {"work/harbour/CLAUDE.md", ".claude/CLAUDE.md"}
    assert HELD.items() <= held(scene.archive).items()
    assert verify_archive(scene.archive).clean


def test_a_forgotten_context_file_does_not_come_back_and_others_of_its_name_stay(scene: ContextScene) -> None:
    harbour, shop = scene.project("harbour"), scene.project("shop")
    scene.ran("till", shop, ago(2))
    for folder in (harbour, shop):
        scene.put(
            folder / "CLAUDE.md", f"The password of {folder.name} is hunter2 and nobody must ever know it.", ago(3)
        )
    scene.sync()
    with ArchiveDatabase.open(scene.archive) as archive:
        number, origin = next(pair for pair in archive.origins().items() if context_agent(pair[1]) == "")
        kept = archive.kept(number)[buried_name(origin, str(harbour / "CLAUDE.md"))]
        proof = forget(archive, [SessionFile(number, origin, kept)], (scene.archive / "index.db").unlink)
    assert proof.samples > 0
    assert proof.found == 0
    assert verify_archive(scene.archive).clean
    scene.sync()
    assert set(files(scene)) == {"work/shop/CLAUDE.md"}


def test_merging_joins_versions_and_brings_back_nothing_that_was_forgotten(scene: ContextScene, tmp_path: Path) -> None:
    path, gone = scene.project("harbour") / "CLAUDE.md", scene.agent / "settings.json"
    other = ContextScene(scene.home)
    other.archive = tmp_path / "other"
    for number, (mine, theirs) in enumerate((("a", "a"), ("", "ab"), ("abc", "abc"), ("a", ""))):
        for one, words in ((scene, mine), (other, theirs)):
            if words:
                scene.put(path, words, ago(9 - number))
                scene.put(gone, f'{{"secret": "{words}"}}', ago(9 - number))
                rested()
                one.sync()
    with ArchiveDatabase.open(scene.archive) as archive, ArchiveDatabase.open(other.archive, readonly=True) as there:
        number, origin = next(pair for pair in archive.origins().items() if context_agent(pair[1]) == "claude-code")
        assert origin.agent == f"{CONTEXT}:claude-code"
        kept = archive.kept(number)["settings.json"]
        names = LinesToForget(names=[buried_name(origin, "settings.json")])
        forget(archive, [SessionFile(number, origin, kept)], parts=names)
        merge_archives(archive, there, file_rules)
        assert merge_archives(archive, there, file_rules).generations == 0
    assert texts(scene, path) == ["a", "ab", "abc", "a"]
    assert texts(scene, gone) == []
    assert verify_archive(scene.archive).clean
