"""A session's counts: each thing once, branches included, subagents apart."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.log_builder.prompts import make_png
from tests.reading.reading import FORMAT, opened, session, stream
from unspool.agents import Detail
from unspool.figures import Figures, all_turns, family, figures
from unspool.model import FileChange, LogFile, Overview, Usage
from unspool.prices import PriceTable
from unspool.reading.scan import Scan

PRICES = PriceTable.load()
DOT = make_png(1, 1, b"\0")


def counted(log: LogBuilder) -> Figures:
    return figures(session(log), PRICES)


def overview_of(log: LogBuilder) -> Overview:
    """What a list says of a log that lies by itself."""
    events = FORMAT.events(stream(log.to_bytes()), detail=Detail.FIGURES)
    scan = Scan(FORMAT.dialect(None, events.facts))
    for event in events:
        scan.add(event)
    return scan.overview("x", events.facts, LogFile("x", 0))


def test_a_session_with_nothing_in_it_counts_nothing() -> None:
    found = counted(LogBuilder())
    assert (found.turns, found.messages, found.tool_calls, found.usage) == (0, 0, 0, Usage())
    assert not found.cost.amount


def test_prompts_are_counted_by_kind_and_abandoned_ones_are_known() -> None:
    log = LogBuilder().prompt("one")
    at = log.last
    log.assistant(log.text("1")).prompt("two").rewind(at).assistant(log.text("again")).bash("ls").command(
        "model", stdout="x"
    )
    found = counted(log.prompt("three"))
    assert found.prompts == {"text": 3, "bash": 1, "command": 1}
    assert (found.turns, found.abandoned_turns, found.branches) == (5, 1, 1)


def test_calls_are_counted_by_tool_and_orphans_are_not_calls() -> None:
    log = (
        LogBuilder().prompt("go").ran("ls", "a").ran("ls", "b").read("/a", "x").failed("Bash", {"command": "x"}, "boom")
    )
    log.user([{"type": "tool_result", "tool_use_id": "gone", "content": "x", "is_error": True}])
    found = counted(log)
    assert (found.tool_calls, found.tools) == (4, {"Bash": 3, "Read": 1})
    assert found.tool_errors == 2


@pytest.mark.parametrize("version", ["2.1.7", "2.1.30", "2.1.230"])
def test_failed_refused_interrupted_and_unanswered_calls_are_four_things(version: str) -> None:
    log = (
        LogBuilder(version=version).prompt("go").failed("Bash", {"command": "x"}, "boom").plan("# No", "rejected", "no")
    )
    asked, refused, broken, open_ = (log.use("AskUserQuestion", questions=[{"question": "a?"}]), log.use("Bash"),
                                     log.use("Bash"), log.use("Bash"))  # fmt: skip
    log.prompt("on").assistant(asked).rejected(asked).prompt("on").assistant(refused).rejected(refused, "not that")
    log.prompt("on").assistant(broken).result(broken, "[Request interrupted by user for tool use]", error=True)
    log.prompt("on").assistant(open_).prompt("on").assistant(log.text("done"))
    found = counted(log)
    assert (found.tool_errors, found.tool_refusals, found.tool_interruptions, found.tool_unanswered) == (1, 3, 1, 1)
    assert overview_of(log).ends == found.ends


def test_a_call_that_an_interruption_left_without_a_result_was_interrupted_in_lists_too() -> None:
    log = LogBuilder().prompt("go")
    stopped, open_ = log.use("Bash"), log.use("Bash")
    log.assistant(stopped).user("[Request interrupted by user]").prompt("on").assistant(open_).prompt("done?")
    found = counted(log)
    assert (found.tool_interruptions, found.tool_unanswered) == (1, 1)
    assert overview_of(log).ends == found.ends


def test_a_plan_that_was_accepted_with_the_context_cleared_went_well() -> None:
    log = LogBuilder(version="2.1.7").prompt("plan it").plan("# Do\n\nit", "cleared")
    found = counted(log)
    assert found.plans[0].status == "approved"
    assert (found.tool_errors, found.tool_refusals, found.tool_interruptions) == (0, 0, 0)
    assert overview_of(log).tool_errors == 0


def test_pictures_of_prompts_and_of_results_are_counted() -> None:
    log = LogBuilder().prompt("see", images=[DOT, DOT])
    log.call("Read", {"file_path": "/a.png"}, [log.image(DOT)])
    assert counted(log).images == 3


def test_files_are_counted_with_what_was_done_to_them() -> None:
    log = LogBuilder().prompt("go").read("/a", "x\ny").wrote("/b", "one\ntwo\n").edited("/a", "x\ny", "y", "z\nw")
    log.failed("Edit", {"file_path": "/c", "old_string": "a", "new_string": "b"}, "not found")
    assert set(counted(log).files) == {
        FileChange("/a", reads=1, writes=1, added=2, removed=1),
        FileChange("/b", writes=1, added=2, created=True),
    }


def test_the_window_is_that_of_the_last_request() -> None:
    log = LogBuilder().prompt("go")
    log.assistant(log.text("a"), usage=DemoTokens(input=5, output=9, read=100, write=20))
    log.prompt("on").assistant(log.text("b"), usage=DemoTokens(input=7, output=9, read=200, write=30))
    assert counted(log).context == 237


def test_usage_is_summed_by_model_with_subagents(tmp_path: Path) -> None:
    log = LogBuilder(model="claude-opus-4-8").prompt("go")
    use = log.agent_use("Explore", "d", "Look")
    log.assistant(use, usage=DemoTokens(input=1, output=10))
    log.subagent(
        use,
        "Explore",
        "d",
        lambda child: child.assistant(child.text("ok"), model="claude-haiku-4-5", usage=DemoTokens(input=2, output=20)),
    )
    found = figures(opened(tmp_path, log), PRICES)
    assert {call.model: call.usage.output for call in found.models} == {"claude-opus-4-8": 10, "claude-haiku-4-5": 20}
    assert (found.usage.output, found.agents_usage.output) == (10, 20)
    assert found.cost.amount == PRICES.cost(found.models).amount


def test_a_model_without_price_is_named() -> None:
    log = LogBuilder().prompt("go")
    found = counted(log.assistant(log.text("x"), model="some-other-model"))
    assert [name for name, _ in found.cost.unpriced] == ["some-other-model"]


def test_the_family_of_a_session_is_itself_and_its_subagents_to_any_depth(tmp_path: Path) -> None:
    def deeper(log: LogBuilder) -> None:
        inner = log.agent_use("Plan", "inner", "Deeper")
        log.assistant(inner).subagent(inner, "Plan", "inner", lambda child: child.assistant(child.text("ok")))

    log = LogBuilder().prompt("go")
    use = log.agent_use("Explore", "outer", "Look")
    read = opened(tmp_path, log.assistant(use).subagent(use, "Explore", "outer", deeper))
    assert len(list(family(read))) == 3


@pytest.mark.parametrize("version", ["1.0.88", "2.0.76", "2.1.33", "2.1.230"])
def test_the_usage_of_turns_and_branches_adds_up_to_that_of_the_session(version: str) -> None:
    log = LogBuilder(version=version).prompt("one")
    at = log.last
    use = log.use("Bash", command="ls")
    log.assistant(log.think("hm"), use).result(use, "a").assistant(log.text("1"))
    log.rewind(at).assistant(log.text("again")).prompt("two").assistant(log.text("2"))
    read = session(log)
    assert sum((turn.usage for turn in all_turns(read)), Usage()) == figures(read, PRICES).usage
