"""Search in context files: what is found, in which version, and which filters hold for them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.context_scene import ContextScene, ago
from tests.store.index.synced import Asked
from unspool.errors import UsageProblem
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.index.results import SearchResults


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextScene]:
    """Two projects, one of whose files changed, and sessions that say the same words."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(home))
        patched.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
        scene = ContextScene(home)
        harbour, shop = scene.project("harbour"), scene.project("shop")
        scene.ran("crane", harbour, ago(3))
        scene.ran("till", shop, ago(2))
        path = scene.put(harbour / "CLAUDE.md", "Use the crane. Never at night.", ago(20))
        scene.put(shop / "AGENTS.md", "No credit at the till; the crane is not ours.", ago(6))
        scene.put(scene.agent / "settings.json", '{"env": {"TOKEN": "abc"}, "crane": true}', ago(30))
        scene.put(scene.agent / "skills" / "tide" / "SKILL.md", "Tell the tide.", ago(30))
        scene.put(scene.agent / "skills" / "tide" / "table.bin", b"\0crane", ago(30))
        scene.put(scene.agent / "plans" / "p.md", "# Paint the crane", ago(4))
        typed = {"display": "lift the anchor", "timestamp": 1, "project": str(harbour), "sessionId": "gone"}
        scene.put(scene.agent / "history.jsonl", json.dumps({**typed, "pastedContents": {}}) + "\n", ago(4))
        scene.sync()
        scene.put(path, "Use the new crane.", ago(5))
        scene.sync()
        yield scene


@contextmanager
def asked(scene: ContextScene) -> Iterator[Asked]:
    with (
        ArchiveDatabase.open(scene.archive, readonly=True) as archive,
        Index.open(scene.archive, readonly=True) as index,
    ):
        yield Asked(index, archive)


def paths(scene: ContextScene, results: SearchResults) -> set[str]:
    return {one.path.removeprefix(f"{scene.home}/") for one in results.context_files}


def test_a_few_context_files_follow_the_sessions_with_how_many_there_are(place: ContextScene) -> None:
    with asked(place) as opened:
        found = opened.words("crane")
    assert len(found.sessions) == 1
    assert (len(found.context_files), found.context_files_found) == (3, 4)


def test_by_their_kind_all_are_found_and_no_sessions(place: ContextScene) -> None:
    with asked(place) as opened:
        found = opened.words("crane kind:plan kind:instructions kind:settings")
        skills, plain = opened.words("kind:skill"), opened.words("kind:prompt crane")
    assert found.sessions == ()
    assert len(found.context_files) == found.context_files_found == 4
    assert paths(place, skills) == {".claude/skills/tide/SKILL.md", ".claude/skills/tide/table.bin"}
    assert plain.context_files == ()


def test_words_of_an_earlier_version_are_found_and_said_to_be_so_no_longer(place: ContextScene) -> None:
    with asked(place) as opened:
        (old,) = opened.words("kind:instructions night").context_files
        (new,) = opened.words("kind:instructions project:harbour crane").context_files
    assert (old.version, old.versions, old.current) == (1, 2, False)
    assert (new.version, new.versions, new.current) == (2, 2, True)
    assert new.snippet.text[slice(*new.snippet.marks[0])] == "crane"
    assert (old.kind, old.project, old.time) == ("instructions", str(place.project("harbour")), ago(20).timestamp())


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("crane project:shop", {"work/shop/AGENTS.md"}),
        ("crane agent:codex", {"work/shop/AGENTS.md"}),
        ("crane agent:claude -kind:plan -kind:settings", {"work/harbour/CLAUDE.md"}),
        ("crane kind:plan kind:settings since:10d", {".claude/plans/p.md"}),
        ("crane kind:plan kind:settings until:10d", {".claude/settings.json"}),
        ("kind:instructions -night -credit", {"work/harbour/CLAUDE.md"}),
        ("crane tool:bash", set()),
        ("crane role:user", set()),
        ("crane cost:>0", set()),
        ("project:shop", set()),
        ("kind:prompt-history crane", set()),
    ],
)
def test_filters_hold_for_files_as_far_as_they_mean_anything_for_them(
    place: ContextScene, question: str, found: set[str]
) -> None:
    with asked(place) as opened:
        assert paths(place, opened.words(question)) == found


def test_exact_texts_and_patterns_are_found_in_files_too(place: ContextScene) -> None:
    with asked(place) as opened:
        assert paths(place, opened.substring('"TOKEN": "abc"')) == {".claude/settings.json"}
        assert paths(place, opened.regex("Never at \\w+", "kind:instructions")) == {"work/harbour/CLAUDE.md"}
        assert opened.regex("Never at \\w+", "tool:bash").context_files == ()


def test_prompts_of_deleted_sessions_are_a_kind_too(place: ContextScene) -> None:
    with asked(place) as opened:
        assert [one.kind for one in opened.words("kind:prompt-history anchor").sessions] == ["ghost"]
        assert opened.words("kind:prompt-history crane").sessions == ()


def test_a_kind_that_means_nothing_is_told_with_those_there_are(place: ContextScene) -> None:
    with asked(place) as opened, pytest.raises(UsageProblem, match=r"plan, memory, instructions, .*prompt-history"):
        opened.words("kind:bogus")
