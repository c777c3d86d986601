"""Progress lines of running commands, each of which repeats what was printed until then."""

import pytest

from tests.render.build import place, session, turn
from tests.render.seen import seen
from tests.steps import steps
from unspool.model import Block, Json, Notice
from unspool.render.ticks import told_once
from unspool.render.turns import RenderContext, turn_items
from unspool.render.view import View

LINES = [f"line {number} of what was printed" for number in range(30)]


def tick(seconds: Json, printed: str, **facts: Json) -> Notice:
    held = {"output": printed[-200:], "fullOutput": printed, "elapsedTimeSeconds": seconds, **facts}
    return Notice(place(), "progress", "bash_progress", held)


def facts(blocks: list[Block]) -> list[dict[str, Json]]:
    return [told.facts for told in told_once(blocks) if isinstance(told, Notice)]


def test_what_was_printed_by_then_is_told_by_the_last_line_that_holds_it() -> None:
    printed = ["\n".join(LINES[:number]) for number in (10, 10, 20, 30)]
    told = facts([tick(at, text) for at, text in enumerate(printed, 2)])
    assert [one["fullOutput"] for one in told] == [*["part of fullOutput at 5 s"] * 3, printed[-1]]
    assert [one["output"] for one in told] == [*["part of fullOutput at 5 s"] * 3, printed[-1][-200:]]


def test_lines_of_commands_that_ran_at_once_are_told_apart() -> None:
    mine, other = "\n".join(LINES[:10]), "\n".join(LINES[20:])
    told = facts([tick(2, mine), tick(7, other), tick(3, mine), tick(8, other)])
    ends = ["the same as fullOutput at 3 s", "the same as fullOutput at 8 s", mine, other]
    assert [one["fullOutput"] for one in told] == ends


def test_only_what_another_line_holds_to_the_letter_is_left_out() -> None:
    """Nothing of output that was cut, of short facts, or of lines that cannot be named by their time."""
    printed = "\n".join(LINES)
    for blocks in (
        [tick(2, printed), tick(3, printed[5:-5])],
        [tick(2, "short"), tick(3, "short")],
        [tick(3, printed), tick(2, printed)],
        [tick(60.1, printed), tick(60.2, printed)],
        [tick("2", printed), tick("3", printed)],
        [tick(float("nan"), printed), tick(float("inf"), printed), tick(10**400, printed), tick(True, printed)],
        [Notice(one.place, "hook", "", one.facts) for one in (tick(2, printed), tick(3, printed))],
    ):
        assert list(told_once(blocks)) == blocks


@pytest.mark.parametrize("full", [True, False])
def test_a_turn_shows_the_output_of_a_command_once_and_every_line(full: bool) -> None:
    blocks = tuple(tick(at, "\n".join(LINES[:at])) for at in range(10, 31))
    own = turn(1, None, *blocks)
    items = turn_items(own, RenderContext.of(session(own), View(full=full)))
    shown = [seen(list(item.nodes)) for item in items]
    assert [item.block for item in items] == (list(blocks) if full else [])
    assert sum(text.count(f"{LINES[0]}\n") for text in shown) == full
    assert all(text.count("at 30 s") for text in shown[:-1])


def test_lines_of_very_many_facts_are_not_compared_with_each_other() -> None:
    """Ten times as many long facts take no more than some ten times as many steps."""
    counts = []
    for many in (100, 1000):
        long = {f"fact{number}": f"{number} " * 200 for number in range(many)}
        blocks: list[Block] = [tick(at, "short", **long) for at in range(1, 6)]
        counts.append(steps(lambda: told_once(blocks)))  # noqa: B023 - called at once
    assert counts[1] < 15 * counts[0]
