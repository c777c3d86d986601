"""An index that followed a log says the same as one that was made of the log as it is."""

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.store.sync.dumped import Rows, differing, dump, generations_fit
from tests.store.sync.sessions import child, full, rested, turn, write
from tests.thorough import tries
from unspool.store.sync import sync

Tree = dict[str, bytes]


def at_once(tree: Tree, folder: Path, source: Path) -> Rows:
    """What one sync says of the files as they are in the end."""
    sync(folder, [source])
    return dump(folder)


def laid(tree: Tree, source: Path) -> None:
    for name, data in tree.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def grown(tree: Tree, source: Path, sizes: dict[str, int]) -> None:
    """Append to every file until it has the size given."""
    for name, size in sizes.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat().st_size if path.exists() else 0
        with path.open("ab") as stream:
            stream.write(tree[name][before:size])


def agents() -> Tree:
    """A session whose subagents say at length what it says as well, some of it first."""
    log = LogBuilder(seed="agents")
    same = "the very same words " * 20
    for number in range(3):
        turn(log, number)
        use = log.agent_use("explore", f"look {number}", f"Look number {number}: {same}")
        log.assistant(use)
        log.subagent(use, "explore", "look", lambda sub, n=number: sub.assistant(sub.text(f"{same} {n}")))  # type: ignore[misc]
        log.prompt(f"Now {same}")
        log.assistant(log.text(f"{same} {number + 1}"))
    return log.tree()


def odd() -> Tree:
    """A log with lines that are none."""
    log = full("odd", 1)
    tree = log.tree()
    tree[log.path] = b"\n\xff\xfe not json\n" + tree[log.path].replace(b"\n", b"\n\n{\n", 3) + b'{"type": "user"'
    return tree


def two() -> Tree:
    """A session and one that began as a copy of it."""
    log = full("two", 2)
    other = log.copied("0b0b0b0b-0000-4000-8000-000000000001", fork=True)
    return {**log.tree(), **turn(other, 9).tree()}


TREES: dict[str, Callable[[], Tree]] = {
    "full": lambda: full("one").tree(),
    "beside": lambda: full("beside", version="2.0.5").tree(),
    "inline": lambda: full("inline", version="1.0.80").tree(),
    "agents": agents,
    "odd": odd,
    "two": two,
}


@pytest.mark.parametrize("name", TREES)
@given(data=st.data())
@settings(max_examples=tries(3, 30), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_growing_in_any_cuts_gives_the_same_tables(name: str, data: st.DataObject) -> None:
    tree = TREES[name]()
    chosen = random.Random(data.draw(st.integers(0, 2**32)))
    with TemporaryDirectory() as scratch:
        folder, source = Path(scratch, "archive"), Path(scratch, "source")
        (source / "projects").mkdir(parents=True)
        sizes = dict.fromkeys(tree, 0)
        for _ in range(data.draw(st.integers(1, 6))):
            for one in chosen.sample(sorted(tree), chosen.randint(1, len(tree))):
                sizes[one] = chosen.randint(sizes[one], len(tree[one]))
            grown(tree, source, {one: size for one, size in sizes.items() if size})
            assert not sync(folder, [source]).failures
        grown(tree, source, {one: len(tree[one]) for one in tree})
        sync(folder, [source])
        generations_fit(folder)
        assert differing(dump(folder), at_once(tree, Path(scratch, "other"), source)) == {}


def test_a_cut_in_the_middle_of_a_line_is_healed_when_the_line_is_whole(tmp_path: Path) -> None:
    log = full("cut", 2)
    data, source = log.to_bytes(), tmp_path / "source"
    path = log.write(source)
    for at in range(len(data) // 2, len(data) // 2 + 4000, 500):
        path.write_bytes(data[:at])
        sync(tmp_path / "archive", [source])
    path.write_bytes(data)
    sync(tmp_path / "archive", [source])
    assert differing(dump(tmp_path / "archive"), at_once({}, tmp_path / "other", source)) == {}


def test_a_rewritten_log_leaves_nothing_of_its_former_self_in_the_index(tmp_path: Path) -> None:
    folder, source = tmp_path / "archive", tmp_path / "source"
    log = full("rewritten")
    write(source, [log])
    sync(folder, [source])
    path = turn(LogBuilder(seed="quite different", session_id=log.session_id), 7).write(source)
    rested()
    assert sync(folder, [source]).rewritten == 1
    with path.open("rb+") as stream:
        stream.truncate(path.stat().st_size // 2)
    rested()
    assert sync(folder, [source]).rewritten == 1
    assert differing(dump(folder), at_once({}, tmp_path / "other", source)) == {}


def test_a_subagent_that_comes_later_is_added(tmp_path: Path) -> None:
    folder, source = tmp_path / "archive", tmp_path / "source"
    log = full("later", 1)
    write(source, [log])
    sync(folder, [source])
    child(log, "see more")
    write(source, [log])
    assert sync(folder, [source]).parsed == 1
    assert differing(dump(folder), at_once({}, tmp_path / "other", source)) == {}
    with_agents = [row for row in dump(folder)["log"] if row[4]]
    assert len(with_agents) == 2
