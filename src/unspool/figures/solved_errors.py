"""How an error was solved: calls that failed alike, and what was done until the same call went well."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from unspool.figures import family
from unspool.figures.changes import changed_lines
from unspool.figures.outline import prompt_words
from unspool.model import Session, Text, ToolCall
from unspool.model.blocks import Block, Prompt
from unspool.model.tool_input import paths_of, usual_input
from unspool.tools.ansi import strip_ansi

_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@~+-]*(?:[/\\]+[\w.@~+-]+)+[/\\]?")
_NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f]*)\b", re.I)
_WORD = re.compile(r"[^\W\d_][\w$]{2,}")
_GENERAL = frozenset((
    "traceback", "most", "recent", "call", "last", "file", "line", "error", "errors", "failed", "failure", "exit",
    "code", "the", "and", "for", "with", "not", "was", "are", "has", "from", "this", "that", "module", "usr", "lib",
    "self", "return", "raise", "none",
))  # fmt: skip
"""Words that errors of every kind have."""
_LOOKED = 6_000
"""Characters at either end of an answer that tell its error."""
_ALIKE = 0.6
"""The share of the words of an error that another has to have."""
_BESIDE = 2
"""Lines more than those asked about that its words may be spread over."""
_FAR = 80
"""Blocks after which an error is given up as not solved."""


class SolutionStep(msgspec.Struct, frozen=True):
    """What was said or done between an error and its end."""

    kind: Literal["said", "asked", "changed", "ran", "worked"]
    """`worked`: the call that had failed, once it went well."""
    turn: int
    block: int
    """The place of the block in its turn, from 1; 0 is the prompt."""
    text: str
    failed: bool = False


class SolvedError(msgspec.Struct, frozen=True):
    """A call that failed, and what followed."""

    turn: int
    block: int
    tool: str
    command: str
    """What was tried: the command, or the file."""
    error: str
    line: str
    """The line of it that is most like the one asked about."""
    asked: str
    """The prompt that led there."""
    alike: float
    """The share of the words of the error asked about that it has."""
    solved: bool
    steps: tuple[SolutionStep, ...]
    subagent: str = ""


def error_words(text: str) -> frozenset[str]:
    """The words that tell an error again: without numbers, paths, addresses in memory, and what all errors say."""
    plain = _NUMBER.sub(" ", _PATH.sub(" ", strip_ansi(text)))
    words = frozenset(word.lower() for word in _WORD.findall(plain))
    return words - _GENERAL or words


class AskedError(NamedTuple):
    """An error that is looked for: its words, and in how many lines they stand together."""

    words: frozenset[str]
    lines: int

    @classmethod
    def of(cls, text: str) -> "AskedError":
        return cls(error_words(text), len([line for line in text.splitlines() if line.strip()]))


class LikeError(NamedTuple):
    share: float
    """Of the words asked about, those that stand together somewhere."""
    line: str = ""
    """The line there that has most of them."""


def like_error(asked: AskedError, text: str) -> LikeError:
    """How much a text says what was asked about, within about as many lines."""
    ends = text if len(text) <= 2 * _LOOKED else f"{text[:_LOOKED]}\n{text[-_LOOKED:]}"
    lines = [line for line in strip_ansi(ends).splitlines() if line.strip()]
    held = [asked.words & error_words(line) for line in lines]
    near = asked.lines + _BESIDE
    windows = (len(frozenset().union(*held[at : at + near])) for at in range(len(held)))
    best = max(windows, default=0)
    if not best:
        return LikeError(0.0)
    most = max(range(len(held)), key=lambda at: len(held[at]))
    return LikeError(best / len(asked.words), lines[most].strip())


class _PlacedBlock(NamedTuple):
    turn: int
    number: int
    block: Block | Prompt
    asked: str


def solved_errors(session: Session, asked: AskedError) -> list[SolvedError]:
    """The errors of a session and its subagents that are like the one asked about, each with what followed."""
    names = {id(agent.session): agent.id for member in family(session) for agent in member.agents}
    return [found for member in family(session) for found in _in_member(member, asked, names.get(id(member), ""))]


def _in_member(member: Session, asked: AskedError, subagent: str) -> Iterator[SolvedError]:
    blocks, past = list(_placed(member)), -1
    for at, placed in enumerate(blocks):
        call = placed.block
        if at <= past or not isinstance(call, ToolCall) or call.end != "failed" or call.result is None:
            continue
        alike = like_error(asked, call.result.text)
        if alike.share < _ALIKE:
            continue
        steps, solved, past = _followed(blocks, at, call)
        tried = (call.name, tried_words(call), call.result.text, alike.line, placed.asked)
        yield SolvedError(placed.turn, placed.number, *tried, alike.share, solved, steps, subagent)


def _placed(member: Session) -> Iterator[_PlacedBlock]:
    for turn in member.turns:
        if turn.copied:
            continue
        asked = prompt_words(turn.prompt)
        if turn.prompt is not None:
            yield _PlacedBlock(turn.number, 0, turn.prompt, asked)
        for number, block in enumerate(turn.blocks, 1):
            yield _PlacedBlock(turn.number, number, block, asked)


def _followed(blocks: Sequence[_PlacedBlock], at: int, call: ToolCall) -> tuple[tuple[SolutionStep, ...], bool, int]:
    """What came after a failed call until the like went well, whether it did, and where that ended."""
    steps: list[SolutionStep] = []
    for where in range(at + 1, min(len(blocks), at + _FAR)):
        turn, number, block, asked = blocks[where]
        match block:
            case Prompt():
                steps.append(SolutionStep("asked", turn, number, asked))
            case Text() if block.text.strip():
                steps.append(SolutionStep("said", turn, number, block.text))
            case ToolCall() if block.end == "ok" and _is_like(block, call):
                steps.append(SolutionStep("worked", turn, number, tried_words(block)))
                return tuple(steps), True, where
            case ToolCall() if block.role in ("write", "edit"):
                steps.append(SolutionStep("changed", turn, number, _changed(block), block.end != "ok"))
            case ToolCall() if block.role == "shell":
                steps.append(SolutionStep("ran", turn, number, tried_words(block), block.end != "ok"))
            case _:
                pass  # what was only looked at solved nothing
    return tuple(steps), False, at


def _is_like(one: ToolCall, other: ToolCall) -> bool:
    """Whether a call tries the same as another: a command of mostly the same words, or the same tool on a file."""
    if one.name != other.name:
        return False
    if one.role == "shell":
        mine, others = (set(tried_words(call).split()) for call in (one, other))
        return bool(mine & others) and len(mine & others) * 2 >= len(mine | others)
    return paths_of(one) == paths_of(other)


def tried_words(call: ToolCall) -> str:
    """What a call tried: its command, or the files that it names."""
    given = usual_input(call)
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else " ".join(paths_of(call)) or call.name


def _changed(call: ToolCall) -> str:
    lines = changed_lines(call)
    return ", ".join(f"{path} +{added} −{removed}" for path, (added, removed) in lines.items()) or tried_words(call)
