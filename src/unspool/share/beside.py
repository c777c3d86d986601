"""What lies beside a log and is shared with it: subagents' logs and answers of tools that were too long for it."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from unspool.clone.original import Original, original
from unspool.formats import FoundAgent
from unspool.formats.writing import Cuts, Identity, Link, Writer
from unspool.model import Event, Thinking
from unspool.share.choices import Choices
from unspool.share.hidden import hidden, news

_SPILLED = "tool-results"


FileKind = Literal["log", "json", "text", "picture", "drawing"]
"""A picture has pixels, a drawing is text; both are called by the path that a log names."""


class File(NamedTuple):
    """A file of a share, at its place below the folder of the agent's project."""

    name: str
    kind: FileKind
    path: Path


class Beside:
    """Writes the files that go along; where lines are missing, `told` is what is left, and only what is spoken of in
    it goes along."""

    def __init__(self, log: Original, choices: Choices, folder: Path, told: bytes | None) -> None:
        self._log, self._choices, self._folder = log, choices, folder
        self._told = None if told is None else [told]
        self.agents_gone = self.files_gone = 0

    def files(self) -> list[File]:
        """All of them, written; those of subagents first, because they speak of others."""
        agents = list(self._log.found.agents)
        made: list[File] = []
        while self._choices.subagents and (spoken := [one for one in agents if self._spoken_of(one.id)]):
            for one in spoken:
                made += self._agent(one)
            agents = [one for one in agents if one not in spoken]
        self.agents_gone = len(agents)
        return [*made, *self._spilled()]

    def _spoken_of(self, name: str) -> bool:
        return self._told is None or any(name.encode() in piece for piece in self._told)

    def _agent(self, agent: FoundAgent) -> Iterator[File]:
        data = b"".join(self._lines(agent))
        if self._told is not None:
            self._told.append(data)
        yield self._put(self._place(Path(agent.path)), "log", data)
        sidecar = Path(agent.sidecar)
        if agent.sidecar and not sidecar.is_symlink():
            yield self._put(self._place(sidecar), "json", sidecar.read_bytes())

    def _place(self, path: Path) -> Path:
        """Where a subagent's file goes; older versions laid them elsewhere."""
        home = self._log.found.home
        if path.is_relative_to(home):
            return path.relative_to(home)
        return self._log.format.writer().agent_place(Path(), path.name)

    def _lines(self, agent: FoundAgent) -> Iterator[bytes]:
        """A subagent's log, every line of it that could be read, once, as the choices leave it."""
        log = original(msgspec.structs.replace(self._log.found, path=agent.path))
        events = {event.id: event for event in log.events if event.id and event.kind != "problem"}
        writer = log.format.writer()
        cuts = _cuts(list(events.values()), writer, self._choices)
        identity = Identity(self._log.session, self._log.session, {line: line for line in events}, {}, {}, "")
        gone: dict[str, str | None] = {}
        for event in events.values():
            parent = gone.get(event.parent, event.parent) if event.parent else event.parent
            raw = log.raw(event)
            after = None if writer.is_local_record(raw) else writer.edited(raw, event.id, cuts)
            if after is None:
                gone[event.id] = parent
            else:
                yield writer.renewed(after, identity, Link(event.id, parent))

    def _spilled(self) -> Iterator[File]:
        """Answers of tools in files of their own."""
        folder = self._log.found.home / _SPILLED
        for path in _plain_files(folder):
            name = Path(_SPILLED, path.relative_to(folder))
            data = path.read_bytes()
            if self._choices.tools and self._spoken_of(path.stem) and _is_text(data):
                yield self._put(name, "text", data)
            else:
                self.files_gone += 1

    def _put(self, name: Path, kind: FileKind, data: bytes) -> File:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return File(f"{self._folder.name}/{name.as_posix()}", kind, path)


def _cuts(events: Sequence[Event], writer: Writer, choices: Choices) -> Cuts:
    """What the choices take from lines of a subagent."""
    cuts = Cuts(calls=hidden(events, writer, choices), untold=set(news(events, choices)))
    for event in events:
        if not choices.thinking and any(isinstance(block, Thinking) for block in event.blocks):
            cuts.thinking.add(event.id)
        if not choices.images:
            cuts.images.add(event.id)
    return cuts


def _plain_files(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links lead anywhere, and are not followed."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file() and not path.is_symlink())


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False
