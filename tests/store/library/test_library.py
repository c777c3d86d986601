"""A session is found by whatever a person calls it."""

import os
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import library
from unspool.errors import Ambiguous, NotFound, Unreadable
from unspool.model.session import is_unlisted
from unspool.store.library import Library, open_session, sessions

ONE = "aaaa1111-0000-4000-8000-000000000001"
TWO = "aaaa2222-0000-4000-8000-000000000002"


def log(session_id: str, words: str) -> LogBuilder:
    made = LogBuilder(session_id=session_id, seed=session_id).prompt(words)
    return made.assistant(made.text("ok"))


@pytest.fixture
def there(tmp_path: Path) -> Library:
    return library(tmp_path, log(ONE, "Fix the tide parser"), log(TWO, "Draw the tide table"))


@pytest.mark.parametrize("name", [ONE, "aaaa1", "Fix the tide parser", "tide PARSER"])
def test_an_id_its_start_or_a_piece_of_the_title_will_do(there: Library, name: str) -> None:
    assert there.open(name).id == ONE


def test_a_start_that_fits_several_ids_lists_them(there: Library) -> None:
    with pytest.raises(Ambiguous) as caught:
        there.find("aaaa")
    assert len(caught.value.candidates) == 2
    assert ONE in str(caught.value)


def test_a_piece_that_fits_several_titles_lists_them(there: Library) -> None:
    with pytest.raises(Ambiguous) as caught:
        there.find("tide")
    assert any("Draw the tide table" in line for line in caught.value.candidates)


def test_a_whole_title_goes_before_a_piece_of_another(tmp_path: Path) -> None:
    there = library(tmp_path, log(ONE, "tide"), log(TWO, "tide table"))
    assert there.find("tide").session_id == ONE


@pytest.mark.parametrize("name", ["zzzz", "", "no such words"])
def test_what_fits_nothing_is_not_found(there: Library, name: str) -> None:
    with pytest.raises(NotFound):
        there.find(name)


def test_an_empty_library_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="No sessions"):
        Library([tmp_path]).find("latest")


def test_latest_is_the_last_written_session_in_which_something_was_asked(tmp_path: Path) -> None:
    old, stub = log(ONE, "real work"), LogBuilder(session_id=TWO).ai_title("stub")
    warm = log("aaaa3333-0000-4000-8000-000000000003", "Warmup")
    there = library(tmp_path, old, stub, warm)
    for number, made in enumerate((old, warm, stub), 1):
        os.utime(tmp_path / made.path, (number * 1000, number * 1000))
    assert there.find("latest").session_id == ONE


def test_latest_of_stubs_alone_is_the_last_stub(tmp_path: Path) -> None:
    assert library(tmp_path, LogBuilder(session_id=TWO).ai_title("stub")).find("latest").session_id == TWO


def test_a_path_is_read_with_the_companions_around_it(tmp_path: Path) -> None:
    made = LogBuilder(session_id=ONE).prompt("go")
    use = made.agent_use("Explore", "d", "Look")
    made.assistant(use).subagent(use, "Explore", "d", lambda child: child.assistant(child.text("ok")))
    path = made.write(tmp_path)
    assert len(open_session(path).agents) == 1
    assert len(open_session(str(path)).agents) == 1


def test_a_session_is_the_same_by_its_path_and_by_its_id(tmp_path: Path) -> None:
    made = LogBuilder(session_id=ONE, slug="quiet-tide").prompt("go")
    use = made.use("ExitPlanMode", allowedPrompts=[])
    made.assistant(use).rejected(use).file("plans/quiet-tide.md", b"# Plan: Tides")
    there = library(tmp_path, made)
    assert there.open(tmp_path / made.path) == there.open(ONE)


def test_a_path_may_lie_anywhere_and_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "saved.log"
    path.write_bytes(log(ONE, "go").to_bytes())
    read = open_session(str(path))
    assert read.id in (ONE, "saved")
    assert len(read.turns) == 1


def test_a_file_in_the_working_folder_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "saved.jsonl").write_bytes(log(ONE, "go").to_bytes())
    monkeypatch.chdir(tmp_path)
    assert len(open_session("saved.jsonl").turns) == 1


@pytest.mark.parametrize("name", ["gone.jsonl", "some/where.jsonl", "/no/such/file"])
def test_a_path_to_nothing_is_not_found(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFound):
        open_session(name)


def test_a_path_to_a_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="--source"):
        open_session(f"{tmp_path}/")


def test_a_file_without_any_line_holds_no_session(tmp_path: Path) -> None:
    path = tmp_path / "empty.log"
    path.write_bytes(b"\n\n")
    with pytest.raises(NotFound):
        open_session(str(path))


def test_latest_is_the_first_of_the_list(tmp_path: Path) -> None:
    """Whatever the files' own times say, and though a warm-up, a stub and a long last line came later."""
    long = log(TWO, "long").wait(60).prompt("x" * 100_000)
    warm_up = LogBuilder(session_id="33333333-0000-4000-8000-000000000003", seed="warm").wait(600).prompt("Warmup")
    stub = LogBuilder(session_id="44444444-0000-4000-8000-000000000004", seed="stub").wait(900).ai_title("stub")
    there = library(tmp_path, log(ONE, "first"), long, warm_up, stub)
    for age, path in enumerate(sorted(tmp_path.rglob("*.jsonl"))):
        os.utime(path, (2_000_000_000 - age, 2_000_000_000 - age))
    listed = [overview.id for overview in there.overviews() if not is_unlisted(overview.kind, overview.title)]
    assert there.find("latest").session_id == listed[0] == TWO


def test_sources_are_paths_or_strings(tmp_path: Path) -> None:
    library(tmp_path, log(ONE, "Where do gulls sleep?"))
    assert len(sessions([str(tmp_path)])) == len(sessions([tmp_path])) == 1
    assert open_session("gulls", [str(tmp_path)]).title == "Where do gulls sleep?"
