"""Logs of many shapes, drawn from numbers, for what must hold of any log."""

from collections.abc import Sequence

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import encode_line

VERSIONS = ("1.0.60", "2.0.60", "2.1.30", "2.1.100", "2.1.230", "2.1.260", "2.1.325")


def made(version: str, steps: Sequence[int]) -> list[bytes]:
    """A sound log of that version: each number is one thing that happens."""
    log = LogBuilder(version=version)
    log.prompt("Begin, please.").assistant(log.think("Where to begin?"), log.text("I begin."))
    log.ran("ls", "README.md\nsrc")
    for number, step in enumerate(steps):
        _happens(log, step % 9, number)
    log.prompt("Enough.").assistant(log.text("Done."))
    return [line if isinstance(line, bytes) else encode_line(line) for line in log.lines]


def _happens(log: LogBuilder, step: int, number: int) -> None:
    match step:
        case 0:
            log.prompt(f"Prompt {number}.")
            _told(log) if log.since("2.1.280") else None
            log.assistant(log.text(f"Answer {number}."))
        case 1:
            log.ran(f"echo {number}", str(number), lead=(log.think("Let me see."),))
        case 2:
            _parallel(log, number)
        case 3:
            log.failed("Bash", {"command": "false"}, "Exit code 1")
        case 4:
            log.hook("PostToolUse", "lint.sh")
        case 5:
            log.snapshot("a.py")
        case 6:
            log.meta(f"A remark {number}.")
        case 7:
            log.compact("auto", f"What was said up to {number}.")
            log.assistant(log.text("On we go."))
        case _:
            last = log.last
            log.prompt(f"Left {number}.").assistant(log.text("On a branch."))
            log.rewind(last).prompt(f"Right {number}.").assistant(log.text("On the way."))


def _told(log: LogBuilder) -> None:
    """What an agent tells the model unasked, and its record of the request."""
    log.attached("environment", "The place.", snapshot={"workingDirectory": log.cwd})
    log.attached("prompt_snapshot", "", systemPrompt=["You help."]).sends("You help.", [], "The place.")


def _parallel(log: LogBuilder, number: int) -> None:
    """Several calls at once, the first answered while the message still streams."""
    uses = [log.use("Bash", command=f"echo {number} {one}") for one in range(3)]
    log.assistant(log.text("Three at once."), uses[0], lambda: log.result(uses[0], "0"), uses[1], uses[2])
    log.result(uses[2], "2").result(uses[1], "1")
    log.assistant(log.text("All three came back."))
