"""History that stands in several files is counted once, and each session still shows whole."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import library, prompts, texts
from unspool.model import Usage
from unspool.store.library import Library

OTHER = "bbbbbbbb-0000-4000-8000-000000000002"


def first() -> LogBuilder:
    log = LogBuilder(seed="a", version="2.1.230").prompt("one")
    log.assistant(log.text("1")).prompt("two")
    return log.assistant(log.text("2"))


@pytest.mark.parametrize("fork", [False, True])
def test_a_copied_history_is_counted_once_in_a_listing(fork: bool, tmp_path: Path) -> None:
    one = first()
    two = one.copied(OTHER, fork=fork).wait(60).prompt("three")
    listing = library(tmp_path, one, two.assistant(two.text("3"))).listing()
    usages = {shown.id: shown.usage for shown in listing.overviews}
    assert listing.usage == usages[OTHER]
    assert usages[one.session_id].total < usages[OTHER].total


def test_each_session_shows_its_copied_history_whole(tmp_path: Path) -> None:
    one = first()
    two = one.copied(OTHER).wait(60).prompt("three")
    there = library(tmp_path, one, two.assistant(two.text("3")))
    copy = there.open(OTHER)
    assert [prompt.text for prompt in prompts(copy)] == ["one", "two", "three"]
    assert texts(copy) == ["1", "2", "3"]


def test_three_copies_cost_no_more_than_one(tmp_path: Path) -> None:
    one = first()
    copies = [one.copied(f"bbbbbbbb-0000-4000-8000-00000000000{number}") for number in range(3)]
    listing = library(tmp_path, one, *copies).listing()
    assert listing.usage == sum((shown.usage for shown in listing.overviews if shown.id == one.session_id), Usage())
    assert listing.cost.amount == max(shown.cost for shown in listing.overviews)


def test_the_same_log_reached_twice_is_listed_once(tmp_path: Path) -> None:
    library(tmp_path, first())
    (tmp_path / "again").symlink_to(tmp_path / "projects", target_is_directory=True)
    assert len(Library([tmp_path, tmp_path / "again", tmp_path / "projects"]).logs()) == 1
