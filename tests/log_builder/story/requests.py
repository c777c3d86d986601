"""Requests that a quick look misses: an advisor's, and those of subagents that only progress lines tell of."""

from functools import partial

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens

ADVISOR = "claude-fable-5"


def advised() -> LogBuilder:
    """A session whose model asks an advisor twice in one answer of several lines, and once in another."""
    log = LogBuilder(version="2.1.120", seed="advised")
    advice = DemoTokens(input=90_000, output=4_000, read=1_000, write=500, hour=500)
    usage = DemoTokens(output=300, read=5_000, advice=((ADVISOR, advice), (ADVISOR, advice.output_of(700))))
    log.prompt("which way is better?").assistant(log.think("ask"), log.text("the left one"), usage=usage)
    log.prompt("sure?").assistant(log.text("yes"), usage=DemoTokens(output=9, advice=(("claude-opus-5", advice),)))
    return log.prompt("thanks").assistant(log.text("any time"))


def watched() -> LogBuilder:
    """A session with three subagents: one that has a log, one that only progress lines tell of, and one of which
    the progress lines tell what its log tells as well."""
    log = LogBuilder(version="2.1.30", seed="watched")
    for number, (logged, word) in enumerate([(True, "kelp"), (False, "bladderwrack"), (True, "sargassum")], 1):
        use = log.agent_use("Explore", f"look {number}", f"look for the {word}")
        log.prompt(f"look again, {number}").assistant(use)
        log.subagent(use, "Explore", f"look {number}", partial(_look, word), logged=logged)
        if number == 3:
            for line in range(1, len(log.children[-1].lines)):
                log.watched(use, log.children[-1], line)
    return log.prompt("and?").assistant(log.text("found all three"))


def _look(word: str, child: LogBuilder) -> None:
    child.ran(f"grep -r {word} .", f"tide.txt: {word}")
    child.failed("Read", {"file_path": "/gone"}, "File does not exist.")
    child.assistant(child.text(f"The {word} is in tide.txt."), usage=DemoTokens(output=700, read=30_000))
