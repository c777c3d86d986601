"""Short ways from a built log to a session, and from a session to the pieces a test looks at."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from tests.log_builder.builder import LogBuilder
from unspool.agents.claude_code import ClaudeCode
from unspool.agents.lines import read_entries
from unspool.model import (
    Block,
    Entry,
    Event,
    LogFile,
    Notice,
    Plan,
    Prompt,
    Questionnaire,
    Session,
    Text,
    Todos,
    ToolCall,
    Transcript,
    Turn,
)
from unspool.reading.assemble import assemble_session
from unspool.store.library import Library

FORMAT = ClaudeCode()


def stream(data: bytes) -> BinaryIO:
    """The bytes of a log as an open file gives them."""
    return cast("BinaryIO", io.BufferedReader(io.BytesIO(data)))


def entries(data: bytes) -> list[Entry]:
    """Every entry of the bytes of a log."""
    return list(read_entries(stream(data)))


def transcript(data: bytes) -> Transcript:
    """The bytes of a log, read."""
    events = FORMAT.events(stream(data))
    read = list(events)
    return Transcript(read, events.facts, LogFile("log.jsonl", events.size), events.blank)


def session(log: LogBuilder | bytes) -> Session:
    """The session of one log by itself, without companions."""
    data = log if isinstance(log, bytes) else log.to_bytes()
    main = transcript(data)
    return assemble_session(main, [], FORMAT.dialect(None, main.facts), "session")


def library(root: Path, *logs: LogBuilder) -> Library:
    """A library of logs written below `root`, with their subagents and companions."""
    for log in logs:
        log.write(root)
    return Library([root])


def opened(root: Path, log: LogBuilder, *others: LogBuilder) -> Session:
    """The session of a log that was written to disk, other logs beside it."""
    return library(root, log, *others).open(log.session_id)


def jsonl(*lines: dict[str, Any]) -> bytes:
    """Lines of a log, written by hand."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def event(line: dict[str, Any]) -> Event:
    """What the format says of one line."""
    (found,) = transcript(jsonl(line)).events
    return found


def all_turns(read: Session) -> Iterator[Turn]:
    """Turns of the live path, then those of every branch."""
    yield from read.turns
    for branch in read.branches:
        yield from branch.turns


def blocks(read: Session) -> list[Block]:
    return [block for turn in all_turns(read) for block in turn.blocks]


def prompts(read: Session) -> list[Prompt]:
    return [turn.prompt for turn in all_turns(read) if turn.prompt is not None]


def said(turns: tuple[Turn, ...]) -> list[str]:
    """What was typed in some turns; an opening turn, which nobody typed, is empty."""
    return [turn.prompt.text if turn.prompt is not None else "" for turn in turns]


def texts(read: Session) -> list[str]:
    return [block.text for block in blocks(read) if isinstance(block, Text)]


def calls(read: Session) -> list[ToolCall]:
    return [block for block in blocks(read) if isinstance(block, ToolCall)]


def call(read: Session, name: str) -> ToolCall:
    """The only call of a tool."""
    (found,) = [one for one in calls(read) if one.name == name]
    return found


def notices(read: Session, kind: str = "") -> list[Notice]:
    return [block for block in blocks(read) if isinstance(block, Notice) and kind in ("", block.kind)]


def plans(read: Session) -> list[Plan]:
    """Every plan a call put forward."""
    return [one.meaning for one in calls(read) if isinstance(one.meaning, Plan)]


def asked(read: Session) -> Questionnaire:
    """The only questions."""
    (found,) = [one.meaning for one in calls(read) if isinstance(one.meaning, Questionnaire)]
    return found


def todos(read: Session) -> list[list[tuple[str, str]]]:
    """The todo list after each call that changed it."""
    lists = [one.meaning for one in calls(read) if isinstance(one.meaning, Todos)]
    return [[(item.text, item.status) for item in found.items] for found in lists]
