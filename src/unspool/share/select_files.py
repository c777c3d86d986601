"""Copies what the choices leave of a session to a private folder, without the prompts that asked to share it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec

from unspool.copies import material
from unspool.copies.copy_plan import CopyPlan, CopyRequest, plan_copy
from unspool.copies.fork import Fork
from unspool.copies.original import OriginalLog
from unspool.copies.treatment import Treatment
from unspool.model import Event, Session, Text, ToolCall
from unspool.redact.replacements import SecretMatch
from unspool.share.choices import ShareChoices
from unspool.share.side_files import FileToShare, SideFileWriter, copy_pictures, hidden_answers, hidden_notices
from unspool.store.library import read_session

MARKER = "<!--unspool-share-->"
"""What an answer that tells of a share ends with, so that it is known again."""
_MARKERS = (MARKER, "<!--session-share-->")
_COMMANDS = frozenset(
    {"unspool:share", "share-session:share", "session-share:share", "cc-session-share:share", "share-session"}
)
_SHELL = re.compile(
    r"(?:^|[;&|(`\n]|\b(?:uvx|run|env|exec|time)\s)\s*(?:\S*/)?(?:unspool\s+share\b|share-session\.sh\b)"
)
_ASKED = re.compile(r"(?i)\bshar(?:e|ing)\b")


class SharingTraces(NamedTuple):
    """What of a conversation only told of sharing it."""

    lines: frozenset[str]
    calls: frozenset[str]


def find_sharing_traces(turns: Sequence[Sequence[Event]]) -> SharingTraces:
    """The lines and calls of a conversation, cut at its prompts, that go."""
    lines: set[str] = set()
    calls: set[str] = set()
    before = False
    for turn in turns:
        gone = _gone(turn, talked=before)
        before = bool(gone) and len(gone) == len(turn)
        lines.update(event.id for event in gone)
        calls.update(call.call_id for call in _calls(turn) if _shares(call))
    return SharingTraces(frozenset(lines), frozenset(calls))


def _gone(turn: Sequence[Event], *, talked: bool) -> Sequence[Event]:
    """The lines of a turn that go: all, those from the act on, or the answers that are marked.

    `talked`: the turn before went whole, so that this one's prompt goes on with it.
    """
    prompt = turn[0].prompt if turn else None
    if prompt is not None and prompt.command.lstrip("/") in _COMMANDS:
        return turn
    at = next((index for index, event in enumerate(turn) if any(map(_shares, _calls([event])))), None)
    if at is None or not all(map(_shares, _calls(turn[at:]))):
        return [event for event in turn if _marked(event)]
    asked = prompt is not None and (talked or bool(_ASKED.search(prompt.text)))
    return turn if asked and not any(_calls(turn[:at])) else turn[at:]


def _calls(lines: Sequence[Event]) -> Iterator[ToolCall]:
    return (block for event in lines for block in event.blocks if isinstance(block, ToolCall))


def _shares(call: ToolCall) -> bool:
    """Whether a call shares a session: as a command of a shell, or by the name of a plugin's command."""
    fields = call.input.values() if isinstance(call.input, dict) else ()
    given = [text for text in fields if isinstance(text, str)]
    if call.role == "shell":
        return any("share" in text and _SHELL.search(text) for text in given)
    return any(text.lstrip("/") in _COMMANDS for text in given)


def _marked(event: Event) -> bool:
    return any(isinstance(block, Text) and any(mark in block.text for mark in _MARKERS) for block in event.blocks)


class LeftOutCounts(msgspec.Struct, frozen=True):
    """How much was left out."""

    turns: int = 0
    branches: int = 0
    subagents: int = 0
    files: int = 0
    """Files beside the log that are no text, or that nothing shared speaks of."""
    problems: int = 0
    """Lines that could not be read, and so could not be looked through either."""
    pictures: int = 0
    """Pictures that are shared, whose pixels nothing looked at."""
    kinds: tuple[str, ...] = ()

    def __add__(self, other: "LeftOutCounts") -> "LeftOutCounts":
        counts = ("turns", "branches", "subagents", "files", "problems", "pictures")
        return msgspec.structs.replace(self, **{name: getattr(self, name) + getattr(other, name) for name in counts})


class SelectedFiles(NamedTuple):
    """A session's files, the log first."""

    session: str
    files: list[FileToShare]
    gone: LeftOutCounts
    told: tuple[SecretMatch, ...] = ()
    """What the whole session tells, also in what is not shared of it."""


def select_files(log: OriginalLog, choices: ShareChoices, folder: Path, title: str = "") -> SelectedFiles:
    """Write what is to be shared of a session to a folder; NotFound where a turn is to be left out that is none."""
    whole = read_session(log.found)
    fork = Fork(log, whole)
    if choices.without:
        fork.leave_out(choices.without)
    if choices.without or choices.left_out():
        is_header = fork.material.writer.is_header
        log.beside[:] = [event for event in log.beside if is_header(log.raw(event))]  # nobody knows what others tell
        fork.leave_unknown_out()
    draught = _drawn(fork, log, choices, title)
    session = file_stem(log.session)
    name = f"{session}.jsonl"
    main = FileToShare(name, "log", _written(folder / name, draught.copy.chunks()))
    cut = len(draught.copy.lines) < len(draught.lines)
    beside = SideFileWriter(log, choices, folder / session, main.path.read_bytes() if cut else None)
    files = [main, *beside.files()]
    files += copy_pictures(log, files, folder / session) if choices.images and log.at_home else ()
    return SelectedFiles(session, files, _count_left_out(whole, draught, beside, choices))


def file_stem(session: str) -> str:
    """What the files of a session are called: its id where an agent made that, else one that tells nothing."""
    try:
        return str(UUID(session))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, f"unspool:{session}"))


def _drawn(fork: Fork, log: OriginalLog, choices: ShareChoices, title: str) -> CopyPlan:
    turns = fork.material.conversation.turns()
    act = find_sharing_traces(turns)
    without = fork.without | act.lines
    lines = fork.material.conversation.lines
    calls = hidden_answers(lines, fork.material.writer, choices, log.found.agents)
    calls |= dict.fromkeys(act.calls, "remove")
    strands = fork.material.conversation.strands.values()
    untold = frozenset(hidden_notices([*lines, *(event for strand in strands for event in strand)], choices))
    treatment = Treatment(
        strip_thinking=0 if choices.thinking else 100,
        drop_images=not choices.images,
        drop_snapshots=True,
        drop_side=bool(choices.left_out()),
    )
    title = title or _title(log, [event for turn in turns for event in turn if event.id not in without])
    wish = CopyRequest("share", title, fork.leaf, frozenset(without), calls=calls, untold=untold, shown=True)
    return plan_copy(fork.material, treatment, wish)


def _title(log: OriginalLog, shared: list[Event]) -> str:
    """The session's title, told by nothing that is left out."""
    facts = log.facts
    if facts.custom_title or facts.generated_title or facts.agent_name:
        return material.base_title(log)
    said = (material.prompt_title(event.prompt) for event in shared if event.prompt is not None)
    return " ".join(next((text for text in said if text.strip()), "Session").split())[:200]


def _written(path: Path, chunks: Iterator[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(chunks)
    return path


def _count_left_out(whole: Session, draught: CopyPlan, beside: SideFileWriter, choices: ShareChoices) -> LeftOutCounts:
    return LeftOutCounts(
        turns=draught.before.turns - draught.after.turns,
        branches=len(whole.branches),
        subagents=beside.agents_gone,
        files=beside.files_gone,
        problems=sum(not problem.mended for problem in whole.problems),
        kinds=tuple(choices.left_out()),
    )
