"""What the played model does next: a step is one message of it, or an error in its place."""

from typing import Any

import msgspec

MATCH = "match:"
"""Begins an argument that is a pattern: it is filled in with what that last found in the conversation."""


class Call(msgspec.Struct, frozen=True):
    """A tool, and what it is called with."""

    name: str
    input: dict[str, Any]


class Step(msgspec.Struct, frozen=True):
    """One answer, or with a `status` an error with its `message`.

    `thinking` of "" is a thinking block without its text, None is no such block; `blocks` are sent as they are, behind
    everything else. `stop` is a reason to stop that does not follow from the rest. `within` is a piece of the prompt
    of the subagent that the step is for. A `held` step is answered once the terminal's script says so, a `cut` one
    only by half. Where `left_out` is false, a tool that is not offered is called all the same.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    thinking: str | None = None
    blocks: tuple[dict[str, Any], ...] = ()
    stop: str = ""
    status: int = 200
    message: str = ""
    within: str = ""
    held: bool = False
    cut: bool = False
    left_out: bool = True


def call(name: str, /, *, within: str = "", **given: Any) -> Step:
    """A message that calls one tool."""
    return Step((Call(name, given),), within=within)


def bash(command: str, description: str = "Run a command", *, within: str = "", background: bool = False) -> Step:
    """A command is run."""
    later = {"run_in_background": True} if background else {}
    return call("Bash", within=within, command=command, description=description, **later)


def agent(prompt: str, *, within: str = "", **more: Any) -> Step:
    """A subagent is started; its prompt is what its own steps are found by."""
    given = {"description": "Look around", "prompt": prompt, "subagent_type": "general-purpose", **more}
    return call("Agent", within=within, **given)


def calls(*steps: Step, text: str = "") -> Step:
    """A message that makes the calls of all these at once."""
    return Step(tuple(one for step in steps for one in step.calls), text)


def say(text: str, *, thinking: str | None = None, within: str = "") -> Step:
    """A message that ends a turn."""
    return Step(text=text, thinking=thinking, within=within)


def fail(status: int, message: str = "made to fail") -> Step:
    """The server refuses instead of answering."""
    return Step(status=status, message=message)
