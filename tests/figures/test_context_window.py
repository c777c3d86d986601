"""What fills a window: every piece by its kind, held against what requests measured, emptied by compactions."""

from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories import copilot
from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.log_builder.prompts import make_png
from tests.reading.reading import opened, session
from unspool.figures.context_window import ContextWindow, context_window, request_windows
from unspool.figures.tokens import CALL, RESULT, estimate_tokens
from unspool.prices.table import token_density, window_size
from unspool.store.library import Library

NEW, OLD = "claude-opus-5", "claude-opus-4-5"
WORDS = "the till is short by a little, and nobody knows why " * 40


def log(**given: Any) -> LogBuilder:
    return LogBuilder(model=NEW, **given)


def sent(tokens: int, output: int = 50) -> DemoTokens:
    """A request that found so many tokens in the window."""
    return DemoTokens(input=0, read=tokens, output=output)


def filled(made: LogBuilder) -> ContextWindow:
    return context_window(session(made))


def kinds(made: LogBuilder) -> dict[str, int]:
    """The window that a last request finds."""
    found = filled(made.assistant(made.text("done"), usage=sent(0))).now
    assert found is not None
    return found.kinds


def test_a_session_without_requests_has_no_window() -> None:
    found = filled(log().prompt("hello"))
    assert (found.now, found.window, found.share, found.peak, found.tools) == (None, None, None, 0, ())
    assert found.added == {"prompts": estimate_tokens("hello")}


def test_prompts_answers_and_both_sides_of_calls_are_told_apart() -> None:
    made = log().prompt("go").assistant(log().text("I will look."))
    found = kinds(made.ran("ls", WORDS).read("/a.py", "x = 1"))
    assert found["prompts"] == estimate_tokens("go")
    assert found["answers"] == estimate_tokens("I will look.")
    assert found["tool output"] == RESULT + estimate_tokens(WORDS)
    assert found["files"] == RESULT + estimate_tokens("     1→x = 1")
    assert found["tool input"] > 2 * CALL
    assert set(found) == {"prompts", "answers", "tool input", "tool output", "files"}


def test_a_read_that_failed_gave_no_file() -> None:
    assert "files" not in kinds(log().prompt("go").failed("Read", {"file_path": "/a"}, "no such file"))


def test_pictures_count_by_their_size_wherever_they_come_from() -> None:
    dot = make_png(75, 100, b"\0" * 7500)
    made = log().prompt("see", images=[dot])
    assert kinds(made.call("Read", {"file_path": "/a.png"}, [made.image(dot)]))["images"] == 20


def test_what_the_agent_tells_the_model_is_an_instruction_and_what_it_tells_the_person_is_nothing() -> None:
    made = log(version="2.1.230").prompt("go").hook("SessionStart", "make ready")
    assert set(kinds(made)) == {"prompts"}
    made = log(version="2.1.230").prompt("go").attachment("nested_memory", content="Be kind to the till.")
    assert set(kinds(made)) == {"prompts", "instructions"}


def test_a_file_that_came_with_a_prompt_is_a_file() -> None:
    made = log(version="2.1.230").prompt("see @a.py").attachment("file", filename="/a.py", content=WORDS)
    assert kinds(made)["files"] >= estimate_tokens(WORDS)


def test_an_answer_that_was_put_into_a_file_counts_as_far_as_the_model_saw_it(tmp_path: Any) -> None:
    made = log(version="2.1.230").prompt("go")
    use = made.use("Bash", command="cat big")
    made.assistant(use).spilled(use, WORDS * 50).assistant(made.text("done"))
    now = context_window(opened(tmp_path, made)).now
    assert now is not None
    assert now.kinds["tool output"] < estimate_tokens(WORDS * 2)


def test_thinking_without_its_words_is_what_is_left_of_the_output() -> None:
    made = log(version="2.1.230").prompt("go")
    made.assistant(made.think(), made.text("So."), usage=sent(10_000, output=500))
    assert kinds(made)["thinking"] == 500 - estimate_tokens("So.")


def test_what_was_measured_beyond_the_estimates_is_unaccounted() -> None:
    made = log().prompt("go")
    found = filled(made.assistant(made.text("yes"), usage=sent(20_000)))
    assert found.now is not None
    assert (found.now.measured, found.now.total, found.peak) == (20_000, 20_000, 20_000)
    assert found.now.unaccounted == 20_000 - estimate_tokens("go")
    assert found.share == pytest.approx(0.02)


def test_estimates_beyond_what_was_measured_are_made_smaller_alike() -> None:
    made = log().prompt(WORDS).ran("ls", WORDS)
    now = filled(made.assistant(made.text("yes"), usage=sent(100))).now
    assert now is not None
    assert now.total == now.measured == 100
    assert 0 <= now.unaccounted < len(now.kinds)
    assert now.kinds["tool output"] >= now.kinds["prompts"] > 40


def test_a_compaction_empties_the_window_and_leaves_its_summary() -> None:
    made = log().prompt(WORDS).ran("ls", WORDS).compact("auto", "short").prompt("on")
    found = filled(made.assistant(made.text("yes"), usage=sent(0)))
    assert found.now is not None
    assert set(found.now.kinds) == {"summaries", "prompts"}
    assert found.now.kinds["prompts"] == estimate_tokens("on")
    assert (found.compactions, found.tools) == (1, ())
    assert sum(turn.compactions for turn in found.turns) == 1
    assert found.added["tool output"] == RESULT + estimate_tokens(WORDS)


def test_what_a_compaction_keeps_stays_in_the_window() -> None:
    made = log(version="2.1.230").prompt("one").ran("ls", WORDS).prompt("kept")
    kept = str(made.last)
    made.compact("auto", "short", keep=[kept]).prompt("on")
    assert kinds(made)["prompts"] == estimate_tokens("kept") + estimate_tokens("on")


def test_the_tools_of_a_session_that_ended_with_a_compaction_are_those_of_its_last_request() -> None:
    made = log().prompt("go").ran("ls", WORDS)
    made.assistant(made.text("yes"), usage=sent(0)).compact("manual", "short")
    assert [tool.name for tool in filled(made).tools] == ["Bash"]


def test_a_smaller_compaction_takes_answers_out_and_leaves_what_was_asked() -> None:
    made = log(version="2.1.20").prompt("go")
    use = made.use("Bash", command="ls")
    made.assistant(use).result(use, WORDS)
    made.system("microcompact_boundary", microcompactMetadata={"compactedToolIds": [use["id"]], "tokensSaved": 9})
    found = kinds(made)
    assert "tool output" not in found
    assert found["tool input"] > CALL


def test_tools_are_told_the_fullest_first_with_what_they_were_asked_and_answered() -> None:
    made = log().prompt("go").ran("ls", "a").call("Grep", {"pattern": "x"}, WORDS)
    found = filled(made.assistant(made.text("yes")))
    assert [tool.name for tool in found.tools] == ["Grep", "Bash"]
    assert found.tools[0].output == RESULT + estimate_tokens(WORDS)
    assert found.tools[0].tokens == found.tools[0].input + found.tools[0].output


def test_turns_tell_what_they_added_and_how_full_the_window_was_at_their_last_request() -> None:
    made = log().prompt("one")
    made.assistant(made.text("1"), usage=sent(1000)).prompt("two").assistant(made.text("2"), usage=sent(2000))
    made.assistant(made.text("3"), usage=sent(3000)).prompt("unanswered")
    turns = filled(made).turns
    assert [turn.window and turn.window.measured for turn in turns] == [1000, 3000, None]
    assert turns[0].added == {"prompts": estimate_tokens("one"), "answers": estimate_tokens("1")}
    assert turns[2].tokens == estimate_tokens("unanswered")
    assert [request.measured for request in request_windows(session(made))] == [1000, 2000, 3000]


def test_branches_that_were_left_fill_nothing() -> None:
    made = log().prompt("one").assistant(log().text("1"))
    at = made.last
    made.prompt(WORDS).assistant(made.text("2")).rewind(str(at)).prompt("again")
    assert kinds(made)["prompts"] == estimate_tokens("one") + estimate_tokens("again")


def test_models_of_old_make_fewer_tokens_of_a_text() -> None:
    made = LogBuilder(model=OLD).prompt("go").ran("ls", WORDS)
    assert kinds(made)["tool output"] == round((RESULT + estimate_tokens(WORDS)) * token_density(OLD))
    assert token_density(OLD) < token_density(NEW) == token_density("who knows") == 1


def test_the_window_of_a_model_is_known_or_unknown() -> None:
    assert window_size("claude-opus-5-20260801") == 1_000_000
    assert window_size("us.anthropic.claude-opus-4-5-20251101-v1:0") == 200_000
    assert window_size("claude-sonnet-4-5", 200_001) == window_size("claude-sonnet-4-5[1m]") == 1_000_000
    assert window_size("house-model") is window_size("claude-opus-4-5", 200_001) is None


@pytest.mark.parametrize("given", [{"n": 10**30}, {"half": "\ud800"}, ["x"], "text", None, 7])
def test_no_input_is_so_odd_that_it_cannot_be_counted(given: Any) -> None:
    made = log().prompt("go")
    use = {**made.use("Bash"), "input": given}
    made.assistant(use).result(use, "ok")
    assert kinds(made)["tool input"] >= CALL


def test_figures_of_a_session_are_told_from_figures_of_requests(tmp_path: Path) -> None:
    copilot.write(tmp_path)
    (path,) = tmp_path.rglob(
        "events.jsonl"
    )  # older versions tell what was used when a session ends, and nothing before
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "session.usage_record" not in line))
    found = context_window(Library([tmp_path]).open(copilot.SESSION))
    assert (found.measured, found.unmeasured) == ("by session", "tokens are logged for the session, not by turn")
    said = run("context", copilot.SESSION, "-s", str(tmp_path)).out
    assert "(estimated: tokens are logged for the session, not by turn" in said
    made = log().prompt("hello")
    assert filled(made.assistant(made.text("done"), usage=sent(9))).measured == "by request"


def test_every_entry_in_the_window_is_told_with_its_line_turn_and_weight() -> None:
    """Together they weigh what the kinds do, in the order of the log; what a compaction took out is not among them."""
    made = log().prompt("Gone soon").assistant(log().text("Yes."), usage=sent(0)).compact("auto", "All is well.")
    made.prompt("Look").ran("ls", WORDS).assistant(made.text("Seen."), usage=sent(0))
    found = filled(made)
    assert found.now is not None
    assert sum(one.tokens for one in found.entries) == sum(found.now.kinds.values())
    assert [one.line for one in found.entries] == sorted(one.line for one in found.entries)
    heaviest = max(found.entries, key=lambda one: one.tokens)
    assert (heaviest.kind, heaviest.tool, heaviest.turn) == ("tool output", "Bash", 2)
    assert heaviest.words.startswith("the till is short")
    assert not any(one.words == "Gone soon" for one in found.entries)
