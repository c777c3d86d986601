"""A session read aloud to an agent: turns block by block with long ones cut, or one block whole, page by page."""

from collections.abc import Iterator
from typing import NamedTuple

from unspool import human
from unspool.errors import NotFound
from unspool.figures.outline import prompt_words
from unspool.figures.solved_errors import tried_words
from unspool.mcp.answers import BudgetedAnswer, Quoter, ReferencesOf, SessionReference
from unspool.model import Session, Text, Thinking, ToolCall, Turn
from unspool.model.blocks import Block, Image, Notice, Unknown
from unspool.tools import describe
from unspool.tools.fields import json_text
from unspool.tools.summary import count_lines

_SAID = 3
"""The part of an answer that one block of several may take, as a divisor."""
_RESULT = 8


class _Told(NamedTuple):
    """A block as it is told: what it is, a line of it, and the text below it with the share that it may take."""

    what: str
    line: str = ""
    text: str = ""
    share: int = _SAID


class SessionReader:
    """Puts what was asked for into an answer, and gives how the rest is had."""

    def __init__(self, session: Session, quoter: Quoter, own: ReferencesOf, show: str, budget: int) -> None:
        self._session, self._quoter, self._own, self._show = session, quoter, own, show
        self._budget = budget

    def turns(self, answer: BudgetedAnswer, meant: SessionReference, start: int) -> str:
        """Turns from first to last; `start` is the block of the first that it begins with, 0 for its prompt."""
        first, last = meant.first or 0, meant.last if meant.last is not None else 10**9
        turns = [turn for turn in self._session.turns if first <= turn.number <= last]
        if not turns:
            most = max((turn.number for turn in self._session.turns), default=0)
            raise NotFound(f"It has no such prompt; its last is {most}.")
        to = "" if meant.first is not None and meant.last == meant.first else "-"
        ends = f"{to}{meant.last}" if to and meant.last is not None else to
        for turn in turns:
            for number, told in self._told(turn):
                if turn is turns[0] and number < start:
                    continue
                if not self._put(answer, told, turn, number):
                    place = self._own.place(turn.number)
                    return f"use session={place}{ends} start={number}"
        if answer.is_empty:
            answer.add("There is nothing more.")
        return ""

    def _put(self, answer: BudgetedAnswer, told: _Told, turn: Turn, number: int) -> bool:
        place = self._own.place(turn.number, *((number,) if number else ()))
        when = "" if number else human.moment(turn.started)
        if told.text.strip() and not answer.has_room:
            return False
        if not answer.add(" ".join(filter(None, (place, when, told.what))), self._quoter.line(told.line, 200)):
            return False
        if told.text.strip():
            rest = answer.add_quoted(self._quoter.lines(told.text), self._budget // told.share)
            if rest is not None:
                answer.add(f"  rest: session={place}{'' if number else '.0'} start={rest}")
        return True

    def _told(self, turn: Turn) -> Iterator[tuple[int, _Told]]:
        if turn.prompt is not None:
            yield 0, _Told("asked", "", prompt_words(turn.prompt))
        for number, block in enumerate(turn.blocks, 1):
            told = self._block_told(block)
            if told is not None:
                yield number, told

    def _block_told(self, block: Block) -> _Told | None:
        match block:
            case Text() if block.text.strip():
                return _Told("said", "", block.text)
            case Thinking() if self._show == "all" and block.text.strip():
                return _Told("thought", "", block.text)
            case ToolCall() if self._show != "text":
                return self._call_told(block)
            case Notice() if block.kind in ("compaction", "api-error", "interruption"):
                return _Told("notice", f"{block.kind} {block.text[:400]}".strip())
            case _:
                return None

    def _call_told(self, call: ToolCall) -> _Told:
        text = call.result.text if call.result is not None else ""
        size = human.count(count_lines(text), "line") if text else "no output"
        told = f"{call.end}, {size}"
        if call.agents:
            told += f", subagent {', '.join(map(self._own.subagent, call.agents[:8]))}"
        shown = self._show in ("results", "all") or call.end == "failed"
        summary = f"{call.name} {tried_words(call)}" if call.role == "shell" else describe(call).summary
        return _Told(told, summary, text if shown else "", _RESULT)

    def block(self, answer: BudgetedAnswer, meant: SessionReference, start: int) -> str:
        """One block whole, from a character on."""
        turn = next((one for one in self._session.turns if one.number == meant.first), None)
        number = meant.block or 0
        if turn is None or number > len(turn.blocks) or (not number and turn.prompt is None):
            raise NotFound("It has no such block.")
        text = block_text(turn.blocks[number - 1]) if number else prompt_words(turn.prompt)
        place = self._own.place(turn.number, number)
        whole = self._quoter.text(text)
        answer.add(f"{place} characters {start:,}- of {len(whole):,}")
        done = answer.add_quoted(self._quoter.lines(text, start))
        return "" if done is None else f"use start={start + done}"


def block_text(block: Block) -> str:
    """All of a block as text: of a call, what it was given and what it gave."""
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            result = block.result.text if block.result is not None else ""
            return f"{block.name} {json_text(block.input)}\n--- {block.end}\n{result}"
        case Notice():
            return f"{block.kind} {block.text}"
        case Image():
            return f"a picture, {block.media_type}"
        case Unknown():
            return f"{block.what} {json_text(block.data)}"
