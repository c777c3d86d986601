"""Search against a made corpus: every needle is found in its session, and only there."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.store.index.synced import Asked
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.sync import sync


@pytest.fixture(scope="module")
def corpus(made_corpus: Callable[[int, int], Path]) -> Path:
    return made_corpus(1, 5)


@pytest.fixture(scope="module")
def asking(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    place = tmp_path_factory.mktemp("truth")
    assert sync(place, [corpus]).failures == []
    with ArchiveDatabase.open(place, readonly=True) as archive, Index.open(place, readonly=True) as index:
        yield Asked(index, archive)


@pytest.fixture(scope="module")
def needles(corpus: Path) -> dict[str, str]:
    """The session of every needle."""
    truth = msgspec.json.decode((corpus / "truth.json").read_bytes())
    found = {needle: session["session"] for session in truth["sessions"] for needle in session["needles"]}
    assert len(found) > 3
    return found


@pytest.mark.parametrize("way", ["words", "substring", "regex"])
def test_every_needle_is_found_in_its_session_only(asking: Asked, needles: dict[str, str], way: str) -> None:
    """By word, by text without any word that is sure to be whole, and by pattern."""
    for needle, session in needles.items():
        question = {"words": needle, "substring": needle[1:-1], "regex": f"{needle[:8]}[0-9a-f]*{needle[-1]}"}[way]
        found = getattr(asking, way)(question)
        assert [one.session for one in found.sessions] == [session], needle
        snippet = found.sessions[0].hits[0].snippet
        lit = [snippet.text[start:end] for start, end in snippet.marks]
        assert all(mark in needle for mark in lit)
        assert lit


def test_no_other_needle_is_found(asking: Asked) -> None:
    assert asking.words("needle0123456789ab").sessions == ()
