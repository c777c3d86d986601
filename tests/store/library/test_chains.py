"""Sessions that continue one another are linked the same way in a list and when opened."""

from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import FORMAT, library
from unspool.model import ChainLink
from unspool.store.library import Library
from unspool.store.library.read import offered_plans

PLAN = "# Plan: Tides\n\n1. Parse\n2. Show"
NEXT = "# Plan: Harbours\n\n1. Draw"


def planning(version: str = "2.1.230", **fields: Any) -> LogBuilder:
    log = LogBuilder(version=version, seed="planning", mode="plan", **fields).prompt("Plan a tide table")
    return log.plan(PLAN, "cleared")


def later(before: LogBuilder, seed: str, **fields: Any) -> LogBuilder:
    return LogBuilder(version=before.version, seed=seed, start=before.now, **fields).wait(3600)


def answered(log: LogBuilder) -> LogBuilder:
    return log.assistant(log.text("Done."))


def order(plan: str) -> str:
    return f"Implement the following plan:\n\n{plan}"


def shown(links: tuple[ChainLink, ...]) -> set[tuple[str, str, str]]:
    return {(link.session, link.relation, link.by) for link in links}


def links(there: Library) -> dict[str, set[tuple[str, str, str]]]:
    """The links of every session, which the list and the opened session must agree on."""
    listed = {one.id: shown(one.links) for one in there.overviews()}
    assert {name: shown(there.open(name).links) for name in listed} == listed
    return listed


def test_a_path_in_the_first_prompt_links_two_sessions_both_ways(tmp_path: Path) -> None:
    first = planning(slug="quiet-tide")
    second = answered(later(first, "b", slug="other").implement(PLAN, first))
    assert links(library(tmp_path, first, second)) == {
        first.session_id: {(second.session_id, "follow-up", "path")},
        second.session_id: {(first.session_id, "source", "path")},
    }


def test_an_equal_slug_links_where_no_path_is_named(tmp_path: Path) -> None:
    first = planning("2.1.20", slug="quiet-tide")
    second = answered(later(first, "b", slug="quiet-tide").prompt(order(PLAN)))
    found = links(library(tmp_path, first, second))
    assert found[second.session_id] == {(first.session_id, "source", "slug")}


def test_an_equal_plan_links_where_nothing_else_tells(tmp_path: Path) -> None:
    first = planning("2.1.20")
    second = answered(later(first, "b").prompt(order(PLAN)))
    found = links(library(tmp_path, first, second))
    assert found[second.session_id] == {(first.session_id, "source", "plan")}
    assert found[first.session_id] == {(second.session_id, "follow-up", "plan")}


def test_a_chain_of_three_is_linked_step_by_step(tmp_path: Path) -> None:
    first = planning(slug="quiet-tide")
    second = later(first, "b", slug="quiet-tide").implement(PLAN, first)
    answered(second).prompt("More").plan(NEXT, "cleared")
    third = answered(later(second, "c", slug="quiet-tide").implement(NEXT, second))
    assert links(library(tmp_path, first, second, third)) == {
        first.session_id: {(second.session_id, "follow-up", "path")},
        second.session_id: {(first.session_id, "source", "path"), (third.session_id, "follow-up", "path")},
        third.session_id: {(second.session_id, "source", "path")},
    }


def test_a_chain_of_three_that_only_a_slug_holds_together_is_linked_step_by_step(tmp_path: Path) -> None:
    first = planning("2.1.20", slug="quiet-tide")
    second = answered(later(first, "b", slug="quiet-tide").prompt(order(PLAN)))
    third = answered(later(second, "c", slug="quiet-tide").prompt(order(NEXT)))
    found = links(library(tmp_path, first, second, third))
    assert (second.session_id, "source", "slug") in found[third.session_id]
    assert (first.session_id, "source", "slug") in found[second.session_id]


def test_a_path_to_a_log_that_is_gone_leaves_the_slug_to_tell(tmp_path: Path) -> None:
    gone = planning(slug="quiet-tide")
    first = LogBuilder(seed="kept", slug="quiet-tide").prompt("Before").plan(PLAN, "cleared")
    second = answered(later(first, "b", slug="quiet-tide").implement(PLAN, gone))
    found = links(library(tmp_path, first, second))
    assert found[second.session_id] == {(first.session_id, "source", "slug")}


def test_sessions_without_slug_are_never_linked_to_each_other(tmp_path: Path) -> None:
    logs = [answered(LogBuilder(seed=str(number)).prompt(f"task {number}")) for number in range(3)]
    assert set().union(*links(library(tmp_path, *logs)).values()) == set()


def test_an_equal_slug_alone_links_no_ordinary_sessions(tmp_path: Path) -> None:
    logs = [answered(LogBuilder(seed=str(number), slug="quiet-tide").prompt(f"task {number}")) for number in range(2)]
    assert set().union(*links(library(tmp_path, *logs)).values()) == set()


def test_a_link_brings_the_title_and_first_prompt_of_the_other_session(tmp_path: Path) -> None:
    first = planning(slug="quiet-tide")
    second = answered(later(first, "b").implement(PLAN, first))
    (link,) = library(tmp_path, first, second).open(second.session_id).links
    assert (link.title, link.prompt) == ("Tides", "Plan a tide table")


def test_a_link_is_described_alike_in_the_list_and_when_opened(tmp_path: Path) -> None:
    first = planning(slug="quiet-tide")
    second = answered(later(first, "b").implement(PLAN, first)).prompt("And then?")
    there = library(tmp_path, first, answered(second))
    for one in there.overviews():
        assert there.open(one.id).links == one.links


@pytest.mark.parametrize("carried_out", [PLAN, "# Tides, and the moon\n\n1. Parse\n2. Look up"])
def test_list_link_and_page_call_a_session_the_same(carried_out: str, tmp_path: Path) -> None:
    first = LogBuilder(seed="a", slug="quiet-tide", version="2.1.90").prompt("Plan a tide table")
    first.plan("# Rejected draft\n\n1. x", "rejected", "no").plan(PLAN, "cleared")
    second = answered(later(first, "b").implement(carried_out, first))
    told = LogBuilder(seed="c", start=second.now).summary("About carrying it out", str(second.last)).prompt("new work")
    there = library(tmp_path, first, second, answered(told))
    listed = {one.id: one.title for one in there.overviews()}
    assert listed[first.session_id] == carried_out.split("\n", maxsplit=1)[0].removeprefix("# ").removeprefix("Plan: ")
    for one in there.overviews():
        opened = there.open(one.id)
        assert opened.title == listed[one.id]
        for link in (*one.links, *opened.links):
            assert link.title == listed[link.session]


def test_the_source_may_lie_in_another_project(tmp_path: Path) -> None:
    first = planning(cwd="/home/dev/one")
    second = answered(later(first, "b", cwd="/home/dev/two").implement(PLAN, first))
    there = library(tmp_path, first, second)
    assert shown(there.open(second.session_id).links) == {(first.session_id, "source", "path")}


def test_a_session_that_moved_to_the_background_names_the_one_it_moved_to(tmp_path: Path) -> None:
    first = answered(LogBuilder(seed="front").prompt("go"))
    second = first.copied("bbbbbbbb-0000-4000-8000-000000000002")
    first.side("continued-in", continuedInSessionId=second.session_id)
    there = library(tmp_path, first, answered(second))
    expected = (second.session_id, "moved-to", "record")
    assert expected in shown(there.open(first.session_id).links)
    assert expected in {link for one in there.overviews() for link in shown(one.links)}


@pytest.mark.parametrize("fork", [False, True])
def test_a_copy_of_a_history_names_the_session_it_copied(fork: bool, tmp_path: Path) -> None:
    first = answered(LogBuilder(seed="a").prompt("go"))
    second = answered(first.copied("bbbbbbbb-0000-4000-8000-000000000002", fork=fork).wait(60).prompt("on"))
    listed = {one.id: one.links for one in library(tmp_path, first, second).overviews()}
    assert shown(listed[first.session_id]) == {(second.session_id, "copied-to", "uuid")}
    assert [(link.session, link.relation) for link in listed[second.session_id]] == [(first.session_id, "copied-from")]


def test_a_fork_with_fresh_ids_names_the_session_it_came_from(tmp_path: Path) -> None:
    first = answered(LogBuilder(seed="a").prompt("go"))
    second = first.copied("bbbbbbbb-0000-4000-8000-000000000002", fork=True)
    fresh = {line["uuid"]: f"f{number}" for number, line in enumerate(second.lines) if isinstance(line, dict)}
    for line in second.lines:
        if isinstance(line, dict):
            line["uuid"], line["parentUuid"] = fresh[line["uuid"]], fresh.get(line["parentUuid"])
    second.last = fresh[str(second.last)]
    there = library(tmp_path, first, answered(second.wait(60).prompt("on")))
    (copy,) = [one for one in there.overviews() if one.id == second.session_id]
    assert [(link.session, link.relation) for link in copy.links] == [(first.session_id, "copied-from")]


@pytest.mark.parametrize("at", range(-30, 31, 6))
def test_a_plan_is_seen_wherever_it_stands_in_a_log(at: int, tmp_path: Path) -> None:
    """A log is looked through piece by piece, and the name of a tool may lie across two of them."""
    (there,) = library(tmp_path, planning()).logs()
    plans, log = offered_plans(there), Path(there.path)
    tool = next(tool.encode() for tool in FORMAT.plan_tools if tool.encode() in log.read_bytes())
    padding = 256 * 1024 + at - log.read_bytes().index(tool)
    log.write_bytes(b" " * (padding - 1) + b"\n" + log.read_bytes())
    assert offered_plans(there) == plans != ()


def test_a_log_that_names_no_plan_is_not_read_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (there,) = library(tmp_path, answered(LogBuilder(seed="none").prompt("Hello"))).logs()
    monkeypatch.setattr("unspool.store.library.read.count_log", lambda _: pytest.fail("it was read"))
    assert offered_plans(there) == ()
