"""What lies beside a log and changes later is told as it stands now, as if the index had been made anew."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.sync.dumped import differing, dump
from tests.store.sync.sessions import full, rested, write
from unspool.model import Plan, ToolCall
from unspool.store.index.database import Index, discard_index
from unspool.store.library import Library
from unspool.store.sync import sync

SLUG = "mend-the-quay"


def planned(seed: str = "planned", slug: str = SLUG) -> LogBuilder:
    """A session whose plan is nowhere but in its file."""
    log = LogBuilder(seed=seed, slug=slug).prompt("Plan it.")
    use = log.use("ExitPlanMode")
    log.assistant(use)
    log.result(use, "User has approved your plan. You can now start coding.")
    log.assistant(log.text("Begun."))
    return log


def plan(root: Path, words: str, slug: str = SLUG) -> Path:
    path = root / "plans" / f"{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words)
    rested()
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    plan(root, "# The old quay\n\nStones.")
    write(root, [planned(), full("other")])
    return root


def titles(folder: Path) -> set[str]:
    with Index.open(folder, readonly=True) as index:
        return {title for (title,) in index.db.execute("SELECT title FROM plan")}


def shown(root: Path, session: str) -> set[str]:
    """The titles of plans as `show` has them."""
    opened = Library([root]).open(session)
    calls = [block for turn in opened.turns for block in turn.blocks if isinstance(block, ToolCall)]
    return {call.meaning.title for call in calls if isinstance(call.meaning, Plan)}


def same_made_anew(folder: Path, root: Path) -> None:
    before = dump(folder, states=True)
    discard_index(folder)
    sync(folder, [root])
    assert differing(before, dump(folder, states=True)) == {}


def test_a_plan_that_changes_makes_only_its_session_stale(root: Path, folder: Path) -> None:
    sync(folder, [root])
    assert sync(folder, [root]).parsed == 0
    plan(root, "# The new quay\n\nMore stones than before.")
    report = sync(folder, [root])
    assert (report.rewritten, report.parsed) == (1, 1)
    assert "The new quay" in titles(folder)
    assert "The old quay" not in titles(folder)
    assert shown(root, planned().session_id) == {"The new quay"}
    assert sync(folder, [root]).parsed == 0
    same_made_anew(folder, root)


def test_a_plan_that_comes_after_its_session_was_indexed_is_taken_in(tmp_path: Path, folder: Path) -> None:
    root = tmp_path / "source"
    write(root, [planned()])
    sync(folder, [root])
    assert titles(folder) == {"Plan"}
    plan(root, "# A late quay\n\nStones.")
    assert sync(folder, [root]).parsed == 1
    assert titles(folder) == {"A late quay"} == shown(root, planned().session_id)
    same_made_anew(folder, root)


def test_a_plan_that_only_the_archive_has_is_told_by_an_index_made_anew(root: Path, folder: Path) -> None:
    sync(folder, [root])
    (root / "plans" / f"{SLUG}.md").unlink()
    assert sync(folder, [root]).gone == 1
    assert "The old quay" in titles(folder)
    same_made_anew(folder, root)


def test_a_plan_that_changes_once_its_log_is_gone_is_taken_in(root: Path, folder: Path) -> None:
    sync(folder, [root])
    (root / planned().path).unlink()
    sync(folder, [root])
    plan(root, "# The new quay\n\nMore stones than before.")
    assert sync(folder, [root]).parsed == 1
    assert "The new quay" in titles(folder)
    same_made_anew(folder, root)


@pytest.mark.parametrize("name", ["todos/{0}-agent-{0}.json", "tasks/{0}/1.json", "projects/{1}/memory/MEMORY.md"])
def test_other_companions_that_change_leave_index_and_archive_agreeing(root: Path, folder: Path, name: str) -> None:
    log = planned()
    path = root / name.format(log.session_id, log.path.split("/")[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    for words in ("[]", '[{"content": "sweep", "status": "pending"}]'):
        path.write_text(words)
        rested()
        sync(folder, [root])
    assert sync(folder, [root]).parsed == 0
    same_made_anew(folder, root)
