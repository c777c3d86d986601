"""A session is called by the best of its names, and is of one kind."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import jsonl, library, opened, session
from unspool.model import Notice
from unspool.render.view import View
from unspool.render.writers import find_writer

PLAN = "# Plan: Tides\n\n1. x"


def named(*ranks: str) -> LogBuilder:
    log = LogBuilder(slug="quiet-tide" if "slug" in ranks else "")
    if "prompt" in ranks:
        log.prompt("Make   a tide\ntable").assistant(log.text("ok"))
    else:
        log.meta("x").assistant(log.text("ok"))
    if "summary" in ranks:
        log.summary("Old summary", "gone").summary("Summary", str(log.last))
    if "plan" in ranks:
        log.plan(PLAN, "approved")
    if "generated" in ranks:
        log.ai_title("First guess").ai_title("Generated")
    if "custom" in ranks:
        log.title("Old name").title("Custom")
    return log


RANKS = [
    (("prompt", "summary", "plan", "generated", "custom", "slug"), "Custom"),
    (("prompt", "summary", "plan", "generated", "slug"), "Generated"),
    (("prompt", "summary", "plan", "slug"), "Tides"),
    (("prompt", "summary", "slug"), "Summary"),
    (("prompt", "slug"), "Make a tide table"),
    (("slug",), "quiet-tide"),
]


@pytest.mark.parametrize(("ranks", "title"), RANKS, ids=[row[1] for row in RANKS])
def test_the_highest_rank_names_a_session_and_the_last_word_within_it_wins(
    ranks: tuple[str, ...], title: str, tmp_path: Path
) -> None:
    there = library(tmp_path, log := named(*ranks))
    assert there.open(log.session_id).title == title
    assert there.overviews()[0].title == title


def test_a_summary_of_another_session_names_that_one(tmp_path: Path) -> None:
    old = LogBuilder(seed="old").prompt("old work")
    old.assistant(old.text("ok"))
    new = LogBuilder(seed="new", start=old.now).summary("About the old work", str(old.last)).prompt("new work")
    there = library(tmp_path, old, new)
    titles = {one.id: one.title for one in there.overviews()}
    assert titles == {old.session_id: "About the old work", new.session_id: "new work"}


def test_an_opened_session_has_the_title_that_the_list_gives_it(tmp_path: Path) -> None:
    old = LogBuilder(seed="old").prompt("old work")
    old.assistant(old.text("ok"))
    new = LogBuilder(seed="new", start=old.now).summary("About the old work", str(old.last)).prompt("new work")
    there = library(tmp_path, old, new)
    assert {there.open(one.id).title for one in there.overviews()} == {one.title for one in there.overviews()}


def test_a_prompt_typed_while_the_agent_worked_on_a_command_is_the_title_everywhere(tmp_path: Path) -> None:
    log = LogBuilder(version="2.1.90").command("init", body="Look around.")
    log.assistant(log.text("Looking.")).queue("enqueue", "first words").queue("remove").assistant(log.text("ok"))
    there = library(tmp_path, log.prompt("later words"))
    assert there.open(log.session_id).title == there.overviews()[0].title == "first words"


def test_an_edited_first_prompt_gives_one_title_everywhere(tmp_path: Path) -> None:
    log = LogBuilder().prompt("first wording")
    log.assistant(log.text("ok")).rewind(None).prompt("second wording").assistant(log.text("ok"))
    there = library(tmp_path, log)
    assert there.open(log.session_id).title == there.overviews()[0].title


def test_a_command_names_a_session_only_where_nothing_else_was_said() -> None:
    assert session(LogBuilder().command("review", "src", body="x")).title == "/review src"
    assert session(LogBuilder().command("review", "src", body="x").prompt("and now?")).title == "and now?"
    assert session(LogBuilder().bash("ls -la")).title == "! ls -la"


def test_a_long_prompt_is_cut_to_one_line() -> None:
    title = session(LogBuilder().prompt("word " * 500)).title
    assert len(title) <= 200
    assert title.endswith("…")


def test_a_session_without_any_name_is_called_by_its_id() -> None:
    assert session(b"").title == "session"


KINDS = [
    (LogBuilder().prompt("go"), "interactive"),
    (LogBuilder(mode="plan").prompt("plan"), "planning"),
    (LogBuilder().prompt("Implement the following plan:\n\n# P\n\nx"), "implementation"),
    (LogBuilder(entrypoint="sdk-cli").prompt("go"), "headless"),
    (LogBuilder(entrypoint="sdk-ts").prompt("go"), "headless"),
    (LogBuilder().prompt("go", sessionKind="bg"), "background"),
    (LogBuilder(sidechain=True).prompt("go"), "subagent"),
    (LogBuilder().ai_title("x"), "stub"),
    (LogBuilder().snapshot(), "stub"),
    (LogBuilder(version="2.1.33").hook("SessionStart", "a.sh"), "stub"),
    (LogBuilder(), "empty"),
]


@pytest.mark.parametrize(("log", "kind"), KINDS, ids=[f"{row[1]}-{n}" for n, row in enumerate(KINDS)])
def test_the_kind_of_a_session_is_told_by_its_lines(log: LogBuilder, kind: str, tmp_path: Path) -> None:
    assert opened(tmp_path, log).kind == kind
    assert library(tmp_path).overviews()[0].kind == kind


def test_a_log_of_blank_lines_is_empty() -> None:
    assert session(b"\n \n").kind == "empty"


def test_a_log_of_problems_alone_is_a_stub_or_empty_and_keeps_them() -> None:
    read = session(b'{"torn\n')
    assert read.kind in ("stub", "empty")
    assert len(read.problems) == 1


def test_a_mode_that_changes_later_does_not_make_a_planning_session() -> None:
    log = LogBuilder().prompt("go")
    log.mode = "plan"
    assert session(log.prompt("now plan")).kind == "interactive"


def test_an_old_stub_of_summaries_is_a_stub() -> None:
    assert session(jsonl({"type": "summary", "summary": "x", "leafUuid": "y"})).kind == "stub"


def test_the_last_summary_is_the_title_and_the_others_stand_where_they_end() -> None:
    log = LogBuilder().prompt("one")
    log.assistant(log.text("first"))
    middle = str(log.last)
    log.prompt("two").assistant(log.text("second"))
    log.summary("Elsewhere", "gone").summary("About one", middle).summary("About both", str(log.last))
    found = session(log)
    assert found.titles.summary == "About both"
    notices = [(turn.number, block.text) for turn in found.turns for block in turn.blocks if isinstance(block, Notice)]
    assert notices == [(1, "About one")]
    shown = "".join(chunk.decode() for chunk in find_writer("text").chunks(found, View()))
    assert shown.index("first") < shown.index("Summary up to here: About one") < shown.index("two")
