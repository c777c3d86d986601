"""Large corpora made of copies of a small one."""

import re
from pathlib import Path

import pytest

from bench.copies import copy
from unspool.demo import write_demo
from unspool.store.library import Library

MB = 1_000_000


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    write_demo(tmp_path / "demo")
    return tmp_path / "demo"


def mb_of(source: Path, times: float) -> float:
    return times * sum(path.stat().st_size for path in source.rglob("*") if path.is_file()) / MB


def test_copies_count_as_sessions_of_their_own(demo: Path, tmp_path: Path) -> None:
    """So many times the sessions, the projects and the tokens, for nothing is taken for a copy of anything."""
    copy(demo / "projects", tmp_path / "large" / "projects", mb_of(demo / "projects", 3))
    one, three = (list(Library(sources=[source]).overviews()) for source in (demo, tmp_path / "large"))
    assert len(three) == 3 * len(one) == len({overview.id for overview in three})
    assert len({overview.project for overview in three}) == 3 * len({overview.project for overview in one})
    assert sum(overview.usage.total for overview in three) == 3 * sum(overview.usage.total for overview in one)


def test_the_same_copies_are_made_each_time(demo: Path, tmp_path: Path) -> None:
    """Names and bytes."""
    made = []
    for name in ("first", "second"):
        copy(demo / "projects", tmp_path / name, mb_of(demo / "projects", 2))
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        made.append([(path.relative_to(tmp_path / name), path.read_bytes()) for path in files])
    assert made[0] == made[1]


def test_no_id_of_a_log_is_in_two_copies(demo: Path, tmp_path: Path) -> None:
    """Of lines, messages, requests and calls."""
    copy(demo / "projects", tmp_path / "large", mb_of(demo / "projects", 2))
    ids = re.compile(rb'"(?:uuid|sessionId|requestId)":"([^"]+)"')
    of_copy: dict[str, set[bytes]] = {"1": set(), "2": set()}
    for path in (tmp_path / "large").rglob("*.jsonl"):
        number = path.relative_to(tmp_path / "large").parts[0][-1]
        of_copy[number].update(ids.findall(path.read_bytes()))
    assert of_copy["1"]
    assert not of_copy["1"] & of_copy["2"]
