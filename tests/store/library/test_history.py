"""A session is one session wherever its files lie; history that it copied from another is paid there, and shown."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from tests.reading.reading import library, prompts, texts
from unspool.figures import figures
from unspool.store.library import Library, neighbours

OTHER = "bbbbbbbb-0000-4000-8000-000000000002"


def first() -> LogBuilder:
    log = LogBuilder(seed="a", version="2.1.230").prompt("one")
    log.assistant(log.text("1")).prompt("two")
    return log.assistant(log.text("2"))


@pytest.mark.parametrize("fork", [False, True])
def test_a_copied_history_is_counted_once_in_a_listing(fork: bool, tmp_path: Path) -> None:
    one = first()
    two = one.copied(OTHER, fork=fork).wait(60).prompt("three")
    alone = library(tmp_path / "alone", two.assistant(two.text("3"))).listing()
    listing = library(tmp_path / "both", one, two).listing()
    shown = {overview.id: overview for overview in listing.overviews}
    copied = shown[OTHER].history
    assert copied is not None
    assert (copied.session, copied.turns) == (one.session_id, 2)
    assert copied.usage == shown[one.session_id].usage
    assert copied.cost == shown[one.session_id].cost > 0
    assert listing.usage == shown[OTHER].usage + shown[one.session_id].usage == alone.usage
    assert listing.cost.amount == sum(overview.cost for overview in listing.overviews) == alone.cost.amount


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
    assert [shown.cost for shown in listing.overviews if shown.cost] == [listing.cost.amount]
    assert sum(shown.history is None for shown in listing.overviews) == 1


def test_the_same_log_reached_twice_is_listed_once(tmp_path: Path) -> None:
    library(tmp_path, first())
    (tmp_path / "again").symlink_to(tmp_path / "projects", target_is_directory=True)
    assert len(Library([tmp_path, tmp_path / "again", tmp_path / "projects"]).logs()) == 1


def test_a_copy_and_its_original_lead_to_each_other_and_only_its_own_turns_cost_it(tmp_path: Path) -> None:
    one = first()
    two = one.copied(OTHER).wait(60).prompt("three")
    there = library(tmp_path, one, two.assistant(two.text("3")))
    copy, original = there.open(OTHER), there.open(one.session_id)
    assert [(link.session, link.relation) for link in copy.links] == [(one.session_id, "copied-from")]
    assert [(link.session, link.relation) for link in original.links] == [(OTHER, "copied-to")]
    assert [turn.copied for turn in copy.turns] == [True, True, False]
    assert not any(turn.copied for turn in original.turns)
    assert original.history is None
    listed = {overview.id: overview for overview in there.overviews()}
    for session in (copy, original):
        assert figures(session, there.prices).cost.amount == listed[session.id].cost
    assert copy.history == listed[OTHER].history


def test_a_log_that_says_it_is_a_copy_is_one_though_it_ended_before_its_original(tmp_path: Path) -> None:
    one = first()
    two = one.copied(OTHER, fork=True)
    one.wait(90).prompt("more")
    one.assistant(one.text("3"))
    histories = {overview.id: overview.history for overview in library(tmp_path, one, two).overviews()}
    assert histories[one.session_id] is None
    assert histories[OTHER] is not None


def test_a_session_in_two_folders_is_one(tmp_path: Path) -> None:
    one, other = first(), first().wait(60).prompt("three")
    library(tmp_path / "old", one)
    library(tmp_path / "new", other)
    there = Library([tmp_path / "old", tmp_path / "new"])
    (overview,) = there.overviews()
    assert overview.turns == 3
    assert len(there.open(one.session_id).turns) == 3
    assert there.find(one.session_id[:6]).path.startswith(str(tmp_path / "new"))


def test_of_two_files_that_went_on_differently_the_last_is_shown_and_both_are_paid(tmp_path: Path) -> None:
    one, other = first().wait(60).prompt("left"), first().wait(600).prompt("right")
    one.assistant(one.text("3"))
    there = Library([library(tmp_path / name, log).sources[0] for name, log in (("a", one), ("b", other))])
    alone = library(tmp_path / "a", one).listing()
    listing = there.listing()
    assert [prompt.text for prompt in prompts(there.open(one.session_id))][-1] == "right"
    assert listing.cost.amount == alone.cost.amount
    assert len(there.versions(there.find(one.session_id))) == 1


@pytest.mark.parametrize("words", [("list", "-n", "0"), ("search", "two"), ("usage", "session")])
def test_commands_know_one_session_though_the_archive_has_it_from_two_folders(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    for name in ("old", "new"):
        library(tmp_path / name, first())
        assert run("sync", "--source", str(tmp_path / name)).code == 0
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "new"))
    said = run(*words, "--json")
    assert said.code == 0, said.err
    rows = next(iter(json.loads(said.out)[key] for key in ("sessions", "rows") if key in json.loads(said.out)))
    assert len(rows) == 1


@pytest.mark.parametrize("command", ["info", "show", "restore"])
def test_such_a_session_is_opened_by_its_id(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    one = first()
    for name in ("old", "new"):
        library(tmp_path / name, one)
        assert run("sync", "--source", str(tmp_path / name)).code == 0
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "none"))
    more = ("--to", str(tmp_path / "back")) if command == "restore" else ()
    said = run(command, one.session_id, *more)
    assert said.code == 0, said.err


def test_what_a_copy_holds_of_its_original_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    one = LogBuilder(seed="a").prompt("the granite question")
    one.assistant(one.text("granite it is"))
    two = one.copied(OTHER).wait(60).prompt("marble")
    source = library(tmp_path, one, two.assistant(two.text("no"))).sources[0]
    run("sync", "--source", str(source))
    found = json.loads(run("search", "granite", "--json").out)["sessions"]
    assert [session["session"] for session in found] == [one.session_id]
    inside = json.loads(run("search", f"granite session:{OTHER}", "--json").out)["sessions"]
    assert [session["session"] for session in inside] == [OTHER]


def test_an_id_that_stands_everywhere_makes_no_other_log_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that somebody sent may call its first line `a`."""
    log = LogBuilder(seed="sent").prompt("Read all that is here", uuid="a")
    there = library(tmp_path, log, first())
    counted: list[str] = []
    monkeypatch.setattr(neighbours, "count_log", lambda found: counted.append(found.path))
    there.open(log.session_id)
    assert counted == []
