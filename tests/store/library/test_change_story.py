"""The sessions of a change: who made it, what led to it, who tried the same, and who has nothing to do with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import kept
from unspool.errors import Ambiguous, NotFound
from unspool.figures.change_story import ChangeName, ChangeStory, tell_change
from unspool.prices import PriceTable
from unspool.store.index.database import Index
from unspool.store.index.git_work import parse_change, recent_changes
from unspool.store.library import Library
from unspool.store.library.change_story import find_change, story_sessions

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
PULL = "https://github.com/harbour/quay/pull/12"


def session(name: str, day: float, prompt: str, *, branch: str = "main", cwd: str = "/home/dev/quay") -> LogBuilder:
    log = LogBuilder(session_id=name, seed=name, cwd=cwd, branch=branch, start=START + timedelta(days=day))
    return log.prompt(prompt)


def shell(log: LogBuilder, command: str, printed: str) -> LogBuilder:
    use = log.use("Bash", command=command)
    return log.assistant(use).result(use, printed)


def commit(log: LogBuilder, number: str, branch: str, message: str) -> LogBuilder:
    return shell(log, f"git commit -m '{message}'", f"[{branch} {number}] {message}\n 1 file changed")


def harbour() -> tuple[LogBuilder, ...]:
    """A quay that was tried, built on a branch and opened as a pull request; and what has nothing to do with it."""
    tried = session("tried", 0, "Build a quay").wrote("/home/dev/quay/quay.py", "sand\n")
    begun = session("begun", 1, "Build it of granite", branch="granite").wrote("/home/dev/quay/quay.py", "granite\n")
    commit(begun, "abc1234", "granite", "A quay of granite")
    opened = session("opened", 2, "Open the pull request")
    shell(opened, "git push", "To github.com:harbour/quay.git\n * [new branch]      granite -> granite\n")
    shell(opened, "gh pr create", f"{PULL}\n")
    other = session("other", 0.5, "Paint the boats").wrote("/home/dev/quay/boats.py", "blue\n")
    commit(other, "fff0001", "main", "Boats are blue")
    after = session("after", 9, "Another quay").wrote("/home/dev/quay/quay.py", "steel\n")
    away = session("away", 1, "Build a lamp", branch="granite", cwd="/home/dev/lamp")
    return tried, begun, opened, other, after, away


@contextmanager
def indexed(folder: Path, *logs: LogBuilder) -> Iterator[tuple[Index, Library]]:
    archive = kept(folder, *logs)
    with Index.open(archive, readonly=True) as index:
        yield index, Library([folder / "source"])


def told(index: Index, library: Library, change: str, *wanted: str) -> ChangeStory:
    name, logs = parse_change(change), {log.session_id: log for log in library.logs()}
    rows = find_change(index.db, name, wanted)
    return tell_change(name, story_sessions(rows, lambda key: library.open(logs[key])), PriceTable.load())


def test_a_pull_request_has_the_sessions_of_its_branch_and_who_tried_before(tmp_path: Path) -> None:
    with indexed(tmp_path, *harbour()) as (index, library):
        story = told(index, library, PULL)
        short = told(index, library, "harbour/quay#12")
    assert [(step.session, step.reasons) for step in story.steps] == [
        ("tried", ("tried the same",)), ("begun", ("committed", "on the branch")), ("opened", ("opened", "pushed")),
    ]  # fmt: skip
    assert (story.title, [one.hash for one in story.commits], [one.url for one in story.pulls]) == (
        "harbour/quay#12", ["abc1234"], [PULL],
    )  # fmt: skip
    assert [step.landed for step in story.steps] == [False, True, True]
    assert [step.session for step in short.steps] == [step.session for step in story.steps]


@pytest.mark.parametrize("hash_", ["abc1234", "abc12", "abc1234def5678901234567890123456789012345"])
def test_a_commit_is_known_by_any_length_of_its_hash(tmp_path: Path, hash_: str) -> None:
    with indexed(tmp_path, *harbour()) as (index, library):
        story = told(index, library, hash_)
    assert [step.session for step in story.steps] == ["tried", "begun"]
    assert story.title == "A quay of granite"


def test_a_rebased_commit_is_known_by_its_message(tmp_path: Path) -> None:
    with indexed(tmp_path, *harbour()) as (index, _):
        rebased = ChangeName("commit", "0" * 40, message="A quay of granite")
        assert {row.key for row in find_change(index.db, rebased)} == {"tried", "begun"}
        with pytest.raises(NotFound):
            find_change(index.db, ChangeName("commit", "0" * 40))


def test_a_branch_of_several_projects_must_be_chosen_or_stood_in(tmp_path: Path) -> None:
    with indexed(tmp_path, *harbour()) as (index, library):
        name = parse_change("granite")
        with pytest.raises(Ambiguous) as several:
            find_change(index.db, name)
        assert several.value.candidates == ("/home/dev/lamp", "/home/dev/quay")
        assert {row.key for row in find_change(index.db, name, folder="/home/dev/lamp/src")} == {"away"}
        assert [step.session for step in told(index, library, "granite", "QUAY").steps] == ["tried", "begun", "opened"]


@pytest.mark.parametrize("change", ["main", "HEAD", "no-such-branch", "1234567", "other/one#12", "#13"])
def test_what_no_session_made_is_not_found(tmp_path: Path, change: str) -> None:
    with indexed(tmp_path, *harbour()) as (index, _), pytest.raises(NotFound):
        find_change(index.db, parse_change(change))


def test_a_plan_leads_to_what_was_made_of_it_and_the_costs_add_up(tmp_path: Path) -> None:
    made = session("made", 1, "Build it", branch="granite").wrote("/home/dev/quay/quay.py", "granite\n")
    commit(made, "abc1234", "granite", "A quay of granite")
    copy = made.copied("copied", fork=True)
    copy.prompt("Of steel instead").wrote("/home/dev/quay/quay.py", "steel\n")
    with indexed(tmp_path, made, copy) as (index, library):
        story = told(index, library, "granite")
    assert {step.session for step in story.steps} == {"made", "copied"}
    assert [prompt.words for step in story.steps for prompt in step.prompts] == ["Build it", "Of steel instead"]
    assert story.cost.amount == sum(step.cost.amount for step in story.steps)
    assert story.tokens == sum(step.tokens for step in story.steps)


def test_recent_changes_are_listed_without_branches_that_all_share(tmp_path: Path) -> None:
    with indexed(tmp_path, *harbour()) as (index, _):
        listed = recent_changes(index.db, 10)
    assert [(one.name, one.project, one.sessions) for one in listed] == [
        (PULL, "/home/dev/quay", 1), ("granite", "/home/dev/quay", 2), ("granite", "/home/dev/lamp", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("https://gitlab.com/a/b/-/merge_requests/7", "pull request", 7),
        ("https://github.com/a/b/pull/7/files", "pull request", 7),
        ("#7", "pull request", 7), ("a/b!7", "pull request", 7), ("ABC1234", "commit", 0), ("beef", "branch", 0),
        ("feature/x", "branch", 0), ("", "branch", 0), ("#" + "9" * 400, "branch", 0),
    ],
)  # fmt: skip
def test_a_change_is_a_pull_request_a_commit_or_a_branch(text: str, kind: str, number: int) -> None:
    found = parse_change(text)
    assert (found.kind, found.number) == (kind, number)
