"""What a sync weighs of windows while events go by."""

from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.reading.reading import transcript
from tests.steps import steps
from tests.waiting import ending
from unspool.figures.tokens import (
    ANSWERS,
    CALL,
    FILES,
    PROMPTS,
    RESULT,
    THINKING,
    TOOL_INPUT,
    TOOL_OUTPUT,
    estimate_tokens,
)
from unspool.store.sync.token_estimates import UNACCOUNTED, TokenEstimates, add_estimates, rough_estimate

WORDS = "The till is short by a little, and nobody knows why.\n"


def weighed(log: LogBuilder, twice: bool = False) -> TokenEstimates:
    found = TokenEstimates()
    for event in transcript(log.to_bytes()).events * (2 if twice else 1):
        found.take(event)
    return found


def sums(log: LogBuilder, output: int = 0) -> dict[tuple[int, str], int]:
    return dict(add_estimates([weighed(log)], output))


def new() -> LogBuilder:
    return LogBuilder(model="claude-opus-5").prompt("go")


def test_kinds_and_tools_are_told_apart() -> None:
    log = new().ran("ls", WORDS).read("/a", "x")
    found = sums(log.assistant(log.text("Done."), usage=DemoTokens(input=0)))
    assert found[PROMPTS, ""] == estimate_tokens("go")
    assert found[ANSWERS, ""] == estimate_tokens("Done.")
    assert found[TOOL_OUTPUT, "Bash"] == RESULT + estimate_tokens(WORDS)
    assert found[FILES, "Read"] == RESULT + estimate_tokens("     1→x")
    assert found[TOOL_INPUT, "Bash"] > CALL


def test_what_the_first_request_measured_beyond_its_prompt_is_unaccounted() -> None:
    log = new()
    log.assistant(log.text("1"), usage=DemoTokens(input=9000)).assistant(log.text("2"), usage=DemoTokens(input=99_000))
    assert sums(log)[UNACCOUNTED, ""] == 9000 - estimate_tokens("go")


def test_thinking_without_its_words_is_what_is_left_of_the_output() -> None:
    log = new()
    log.assistant(log.think(), log.text("So."))
    assert sums(log, 500)[THINKING, ""] == 500 - estimate_tokens("So.")
    assert (THINKING, "") not in sums(new(), 500)


def test_lines_that_stand_twice_are_weighed_once() -> None:
    log = new().ran("ls", WORDS)
    assert weighed(log, twice=True).sums() == weighed(log).sums()


@given(st.text(max_size=480))
def test_a_short_text_is_weighed_whole(text: str) -> None:
    assert rough_estimate(text) == estimate_tokens(text)


@given(st.integers(20, 400))
def test_a_long_text_of_one_kind_is_weighed_nearly_as_well(lines: int) -> None:
    text = WORDS * lines
    assert abs(rough_estimate(text) - estimate_tokens(text)) <= 0.1 * estimate_tokens(text)


def test_an_endless_text_takes_no_longer_than_a_long_one() -> None:
    long, endless = WORDS * 1_000, WORDS * 1_000_000
    assert steps(lambda: rough_estimate(endless)) == steps(lambda: rough_estimate(long))
    with ending():
        for _ in range(10_000):  # each of which would go through many megabytes
            rough_estimate(endless)
