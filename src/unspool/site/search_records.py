"""What can be found in a session: records of its prompts, answers, plans and tools, cut to size."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final, Literal, NamedTuple, get_args

from unspool.model import Block, Json, Notice, Plan, Prompt, Questionnaire, Session, Text, Thinking, ToolCall, Turn
from unspool.render.view import is_shown
from unspool.site.address import INDEX, Addresses, chapter_turns
from unspool.tools.ansi import strip_ansi

RecordKind = Literal["prompt", "title", "plan", "question", "answer", "agent", "thinking", "tool", "notice"]

RECORD_KINDS: tuple[RecordKind, ...] = get_args(RecordKind)
"""In the order of rank: what people said and were told is found before what the agent did.

`agent` is what was said to and by a subagent; what it thought and did is `thinking` and `tool` like any other.
"""


class SearchRecord(NamedTuple):
    """Text of one block, cut to what is worth finding; controls and escapes already made inert."""

    kind: RecordKind
    link: str
    """Page and anchor, relative to the session's folder."""
    time: int
    """Seconds since 1970; 0 where the log has no time."""
    text: str


PROSE: Final = 64_000
"""Characters of a prompt, an answer, a plan or thinking."""
OUTPUT: Final = 1_000
"""Characters of a tool's answer and of a notice; of a longer answer the last third are from its end."""
EXCERPT: Final = 300
"""Characters of a file that was read."""
INPUT: Final = 2_000
"""Characters of all that a tool was given."""
VALUE: Final = 500
"""Characters of one value that a tool was given; a command may fill `INPUT`."""

_DEPTH: Final = 4
_HIDDEN_BY: Final = {"tool": "tools", "notice": "notices"}
"""What hides records of a kind though a page shows the block, as it does with the calls of subagents."""
_SILENT: Final = frozenset({"progress", "duration", "hook", "tick"})


def session_records(
    session: Session, addresses: Addresses, hide: frozenset[str] = frozenset()
) -> Iterator[SearchRecord]:
    """Everything findable, in the order of the log; nothing of the kinds that the site's options hide."""
    yield SearchRecord("title", INDEX, _seconds(session.started), plain_beginning(session.title, VALUE))
    for chapter in addresses.chapters():
        if chapter.agent is not None and "agents" in hide:
            continue
        for turn in chapter_turns(chapter):
            yield from _of_turn(turn, addresses, chapter.agent is not None, hide)


def plain_beginning(text: str, limit: int) -> str:
    """The beginning of a text without anything active."""
    return strip_ansi(text[:limit]).strip()


def _of_turn(turn: Turn, addresses: Addresses, agent: bool, hide: frozenset[str]) -> Iterator[SearchRecord]:
    if turn.prompt is not None and (asked := _asked(turn.prompt)):
        kind: RecordKind = "agent" if agent else "prompt"
        yield SearchRecord(kind, addresses.link(turn.prompt), _seconds(turn.prompt.time), asked)
    for block in turn.blocks:
        kind, text = _said(block)
        if text and not (hide and (_HIDDEN_BY.get(kind) in hide or not is_shown(block, hide))):
            kind = "agent" if agent and kind == "answer" else kind
            yield SearchRecord(kind, addresses.link(block), _seconds(block.time), text)


def _seconds(time: datetime | None) -> int:
    return int(time.timestamp()) if time else 0


def _asked(prompt: Prompt) -> str:
    typed = f"{prompt.command} {prompt.arguments}".strip()
    told = prompt.words if prompt.text not in typed else ""
    return plain_beginning("\n".join(part for part in (typed, told) if part), PROSE)


def _said(block: Block) -> tuple[RecordKind, str]:
    match block:
        case Text():
            return "answer", plain_beginning(block.text, PROSE)
        case Thinking():
            return "thinking", plain_beginning(block.text, PROSE)
        case ToolCall():
            return _called(block)
        case Notice():
            return "notice", "" if block.kind in _SILENT else plain_beginning(block.text, OUTPUT)
        case _:
            return "notice", ""


def _called(call: ToolCall) -> tuple[RecordKind, str]:
    result, meaning = call.result, call.meaning
    feedback = result.feedback if result else ""
    if isinstance(meaning, Plan):
        return "plan", _lines(PROSE, meaning.title, meaning.text, meaning.feedback or feedback)
    if isinstance(meaning, Questionnaire):
        return "question", _lines(PROSE, *_questions(meaning), meaning.feedback or feedback)
    answer = _ends(result.text, EXCERPT if call.role == "read" else OUTPUT) if result else ""
    strings: list[str] = []
    _add_given(strings, call.input, INPUT if call.role == "shell" else VALUE)
    given = "\n".join(strings)[:INPUT]
    return "tool", _lines(PROSE, call.name[:VALUE], given, answer, feedback if feedback not in answer else "")


def _ends(text: str, limit: int) -> str:
    """A text's beginning and end: commands tell last how they went."""
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]}\n...\n{text[-limit // 3 :]}"


def _lines(limit: int, *parts: str) -> str:
    return plain_beginning("\n".join(filter(None, parts)), limit)


def _questions(asked: Questionnaire) -> Iterator[str]:
    for question in asked.questions:
        yield from (question.text, question.answer or "", question.notes)
        yield from (option.label for option in question.options if option.label != question.answer)


def _add_given(strings: list[str], value: Json, limit: int, depth: int = _DEPTH) -> None:
    """The strings of a call's input, each cut; names of fields say nothing that anyone looks for."""
    if isinstance(value, str):
        strings.append(value[:limit])
    elif isinstance(value, dict | list) and depth:
        for inner in islice(value.values() if isinstance(value, dict) else value, 50):
            if isinstance(inner, str):
                strings.append(inner[:limit])
            else:
                _add_given(strings, inner, limit, depth - 1)
