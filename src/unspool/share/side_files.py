"""Files that are shared beside a log: subagents' logs, spilled tool output and pictures, without hidden answers."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from unspool.agents import FoundAgent, FoundLog, by_id, writer_of
from unspool.agents.stores import AGENTS_FOLDER
from unspool.agents.writing import CopyIdentity, Cut, Cuts, LineLink, LogWriter
from unspool.copies.conversation import has_block
from unspool.copies.original import OriginalLog, read_original
from unspool.copies.treatment import is_news
from unspool.model import Event, Image, Notice, Result, Thinking, ToolCall
from unspool.share.choices import ShareChoices


def hidden_answers(
    events: Iterable[Event], writer: LogWriter, choices: ShareChoices, agents: Iterable[FoundAgent] = ()
) -> dict[str, Cut]:
    """The calls of which nothing is told of what they answered; `agents` are the session's subagents."""
    blocks = [block for event in events for block in event.blocks if isinstance(block, ToolCall | Result)]
    leant = {block.call_id for block in blocks if isinstance(block, Result) and writer.leans(block.parts)}
    if not choices.tools:
        return {block.call_id: "hide" for block in blocks if block.call_id not in leant}
    if choices.subagents:
        return {}
    ids = {agent.id for agent in agents}
    return {block.call_id: "hide" for block in blocks if isinstance(block, ToolCall) and _asks(block, ids)}


def _asks(call: ToolCall, agents: set[str]) -> bool:
    """Whether a call starts a subagent, or asks by its name what it found."""
    given = call.input.values() if isinstance(call.input, dict) else ()
    return call.role == "agent" or any(isinstance(one, str) and one in agents for one in given)


def hidden_notices(events: Iterable[Event], choices: ShareChoices) -> Iterator[str]:
    """The lines that tell what something in the background found, where that is left out."""
    if not (choices.tools and choices.subagents):
        yield from (event.id for event in events if is_news(event))


FileKind = Literal["log", "json", "text", "picture"]
"""A picture is called by the path that a log names."""


class FileToShare(NamedTuple):
    """A file of a share, at its place below the folder of the agent's project."""

    name: str
    kind: FileKind
    path: Path


def agent_file_place(found: FoundLog, path: Path) -> Path:
    """Where a subagent's file goes below the folder of its session; older versions laid them elsewhere."""
    if path.is_relative_to(found.home):
        return path.relative_to(found.home)
    writer = by_id(found.agent_id).writer
    return Path(AGENTS_FOLDER) / path.name if writer is None else writer.agent_place(Path(), path.name)


class SideFileWriter:
    """Writes the files that go along; where lines are missing, `told` is what is left, and only what is spoken of in
    it goes along."""

    def __init__(self, log: OriginalLog, choices: ShareChoices, folder: Path, told: bytes | None) -> None:
        self._log, self._choices, self._folder = log, choices, folder
        self._told = None if told is None else [told]
        self.agents_gone = self.files_gone = 0

    def files(self) -> list[FileToShare]:
        """All of them, written; those of subagents first, because they speak of others."""
        agents = list(self._log.found.agents)
        made: list[FileToShare] = []
        while self._choices.subagents and (spoken := [one for one in agents if self._spoken_of(one.id)]):
            for one in spoken:
                made += self._agent(one)
            agents = [one for one in agents if one not in spoken]
        self.agents_gone = len(agents)
        return [*made, *self._spilled()]

    def _spoken_of(self, name: str) -> bool:
        return self._told is None or any(name.encode() in piece for piece in self._told)

    def _agent(self, agent: FoundAgent) -> Iterator[FileToShare]:
        data = b"".join(self._lines(agent))
        if self._told is not None:
            self._told.append(data)
        yield self._put(agent_file_place(self._log.found, Path(agent.path)), "log", data)
        sidecar = Path(agent.sidecar)
        if agent.sidecar and not sidecar.is_symlink():
            yield self._put(agent_file_place(self._log.found, sidecar), "json", sidecar.read_bytes())

    def _lines(self, agent: FoundAgent) -> Iterator[bytes]:
        """A subagent's log, every line of it that could be read, once, as the choices leave it."""
        log = read_original(msgspec.structs.replace(self._log.found, path=agent.path))
        events = {event.id: event for event in log.events if event.id and event.kind != "problem"}
        writer = writer_of(log.agent)
        cuts = _cuts(list(events.values()), writer, self._choices)
        identity = CopyIdentity(self._log.session, self._log.session, {line: line for line in events}, {}, {}, "")
        gone: dict[str, str | None] = {}
        for event in events.values():
            parent = gone.get(event.parent, event.parent) if event.parent else event.parent
            raw = log.raw(event)
            after = None if writer.is_local_record(raw) else writer.edited(raw, event.id, cuts)
            if after is None:
                gone[event.id] = parent
            else:
                yield writer.renewed(after, identity, LineLink(event.id, parent))

    def _spilled(self) -> Iterator[FileToShare]:
        """Answers of tools in files of their own."""
        found = self._log.found
        for path in () if found.home.is_symlink() else self._log.agent.files.spilled(found):
            data = path.read_bytes()
            if self._choices.tools and self._spoken_of(path.stem) and _is_text(data):
                yield self._put(path.relative_to(found.home), "text", data)
            else:
                self.files_gone += 1

    def _put(self, name: Path, kind: FileKind, data: bytes) -> FileToShare:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return FileToShare(f"{self._folder.name}/{name.as_posix()}", kind, path)


def _cuts(events: Sequence[Event], writer: LogWriter, choices: ShareChoices) -> Cuts:
    """What the choices take from lines of a subagent."""
    cuts = Cuts(calls=hidden_answers(events, writer, choices), untold=set(hidden_notices(events, choices)))
    for event in events:
        if not choices.thinking and has_block(event, Thinking):
            cuts.thinking.add(event.id)
        if not choices.images:
            cuts.images.add(event.id)
    return cuts


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


FOLDER = "images"
_FLAT = "pictures"
"""Where they lie by number before they have a name that may be told."""
_MOST, _LARGEST = 500, 32 * 1024**2


def copy_pictures(log: OriginalLog, logs: Iterable[FileToShare], folder: Path) -> Iterator[FileToShare]:
    """The session's own pictures that logs show by their path, kept below a folder; each is called `images/` and its
    whole path. The first of the logs is the session's own."""
    main, *others = [file.path for file in logs if file.kind == "log"]
    whole = any(any(_pictures(event)) for event in log.events)  # what is shared of it shows none that it does not
    shown = dict.fromkeys(path for one in ([main] if whole else []) + others for path in _shown(log, one))
    for number, path in enumerate([path for path in shown if _is_whole(path)][:_MOST]):
        found = log.agent.files.picture(log.found, path)
        if found is not None and len(found[1]) <= _LARGEST:
            place = folder / _FLAT / str(number)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(found[1])
            yield FileToShare(f"{folder.name}/{FOLDER}/{path.lstrip('/')}", "picture", place)


def _is_whole(path: str) -> bool:
    return path.startswith("/") and "\0" not in path and os.path.normpath(path) == path


def _shown(log: OriginalLog, path: Path) -> Iterator[str]:
    """The paths of pictures that readers of a log are shown; other fields may name any."""
    with path.open("rb") as lines:
        for event in log.agent.events(lines):
            yield from _pictures(event)


def _pictures(event: Event) -> Iterator[str]:
    """The paths of pictures that readers of a line are shown."""
    images = [block for block in event.blocks if isinstance(block, Image)]
    images += event.prompt.images if event.prompt is not None else ()
    for block in event.blocks:
        images += block.images if isinstance(block, Result | Notice) else ()
    yield from (image.path for image in images if image.path and not image.data)
