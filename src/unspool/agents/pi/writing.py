"""Sessions made from others, as pi itself would resume them. Ids of entries stay, as they do where pi forks: only the
session is another, and what followed something that is gone follows what stood before."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents.handed import id_by_time, stamp
from unspool.agents.lines import sound_value
from unspool.agents.pi.editing import EntryEdit
from unspool.agents.pi.soundness import lint_session, mend_session
from unspool.agents.renaming import path_renames, rename_in_file, rename_in_line
from unspool.agents.values import items, mapping, text
from unspool.agents.writing import CopiedLine, CopyIdentity, Cuts, LineLink, ListedCopy, RepairedLog

_VERSION = 3
_PARTS = re.compile(r"[/\\:\0]")
_LONGEST_NAME = 240
_HEADER = 500
"""Bytes of a header: of a longer one pi does not see that it is one."""


def folder_name(cwd: str) -> str:
    """The folder that pi keeps the sessions of a working folder in; one that no folder could be called, shortened."""
    path = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{_PARTS.sub('-', path)[:_LONGEST_NAME]}--"


def log_place(home: Path, cwd: str, session: str) -> Path:
    """Where the log of a session lies, named by the time at which it was made, which its id holds."""
    try:
        made = datetime.fromtimestamp(int(session.replace("-", "")[:12], 16) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        made = datetime.now(UTC)
    name = stamp(made).replace(":", "-").replace(".", "-")
    sessions = home if home.name == "sessions" else home / "sessions"
    return sessions / folder_name(cwd) / f"{name}_{session}.jsonl"


class _Names:
    """What the entries of one copy are called in its file, by the ids that unspool goes by."""

    def __init__(self, identity: CopyIdentity) -> None:
        self.identity = identity
        self.new: dict[str, str] = {}
        self.all: set[str] = set()
        for line, made in identity.ids.items():
            name = _name(line)
            self.new[made] = name = self.fresh() if name in self.all else name
            self.all.add(name)
        self.after = {_name(line): self.new.get(made, "") for line, made in identity.after.items()}
        """Of entries that the copy has not: the nearest one behind."""
        self.path: set[str] = set()
        """Those of the conversation, as they are made; the others hang from it."""

    def fresh(self) -> str:
        return next(name for number in count(len(self.all)) if (name := f"{number:08x}") not in self.all)


def _name(line: str) -> str:
    return line.rpartition("@")[0] or line


class PiWriter:
    relocated = staticmethod(rename_in_file)
    lint = staticmethod(lint_session)
    new_session = staticmethod(id_by_time)
    place = staticmethod(log_place)

    def __init__(self) -> None:
        self._names: _Names | None = None

    def _named(self, identity: CopyIdentity) -> _Names:
        if self._names is None or self._names.identity is not identity:
            self._names = _Names(identity)
        return self._names

    @staticmethod
    def edited(raw: bytes, line: str, cuts: Cuts) -> bytes | None:
        return EntryEdit(line, cuts).made(raw)

    def renewed(self, raw: bytes, identity: CopyIdentity, link: LineLink) -> bytes:
        names = self._named(identity)
        data = sound_value(rename_in_line(raw, identity.paths))
        own, parent = names.new[link.line], names.new.get(link.parent or "")
        if link.parent == link.logical:
            names.path.add(own)
        elif text(data.get("parentId")) in names.all:
            parent = data["parentId"]
        place = {"type": data.get("type"), "id": own, "parentId": parent}
        made = {**place, **{name: value for name, value in data.items() if name not in place}}
        _refer(made, names)
        if isinstance(made.get("message"), dict) and made["message"].get("role") == "hookMessage":
            made["message"]["role"] = "custom"
        return msgspec.json.encode(made) + b"\n"

    @staticmethod
    def beside(raw: bytes, identity: CopyIdentity) -> bytes | None:
        data = sound_value(rename_in_line(raw, identity.paths))
        kept = {name: value for name, value in data.items() if name not in ("branchedFrom", "parentSession")}
        head: dict[str, Any] = {"type": "session", "version": _VERSION, "id": identity.session}
        if identity.session == identity.source:
            return msgspec.json.encode(data | head) + b"\n"
        made = {**head, **kept, **head, "timestamp": identity.now}
        named = msgspec.json.encode({**made, "parentSession": identity.path})
        fits = Path(identity.path).is_absolute() and len(named) < _HEADER
        return (named if fits else msgspec.json.encode(made)) + b"\n"

    def sequenced(self, lines: Iterable[CopiedLine], identity: CopyIdentity) -> Iterator[bytes]:
        """The lines without those about entries that are not there, or not whole; the end follows the last."""
        names = self._named(identity)
        calls, whole = set[str](), set[str]()
        gone: dict[str, str | None] = {}
        tip: str | None = None
        behind = set[str | None]()
        begun = False
        for line in lines:
            data = sound_value(line.raw)
            if data.get("type") == "session":
                if not begun:
                    yield line.raw
                begun = True
                continue
            own = data["id"] = data["id"] or names.fresh()
            parent = data["parentId"] if own in names.all else tip
            while parent in gone:
                parent = gone[parent]
            data["parentId"] = parent
            if isinstance(data.get("targetId"), str) and data["targetId"] not in whole:
                gone[own] = parent
                continue
            if own in names.path:
                behind.clear()
            if own in names.path or parent in behind:
                behind.add(own)
                tip = own
            if not _paired(mapping(data.get("message")), calls) & identity.cut:
                whole.add(own)
            yield msgspec.json.encode(data) + b"\n"

    @staticmethod
    def closing(identity: CopyIdentity, title: str) -> Iterator[bytes]:
        place = {"type": "session_info", "id": "", "parentId": None, "timestamp": identity.now}
        yield msgspec.json.encode({**place, "name": title}) + b"\n"

    @staticmethod
    def moves(old: str, new: str, homes: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        folders = ((f"sessions{sign}{folder_name(old)}", f"sessions{sign}{folder_name(new)}") for sign in "/\\")
        return path_renames(old, new, homes, folders)

    @staticmethod
    def leans(parts: Iterable[object]) -> bool:
        return False

    @staticmethod
    def is_request_record(raw: bytes) -> bool:
        return False

    @staticmethod
    def is_header(raw: bytes) -> bool:
        return text(sound_value(raw).get("type")) == "session"

    @staticmethod
    def is_local_record(raw: bytes) -> bool:
        return text(mapping(sound_value(raw).get("message")).get("role")) == "system"

    @staticmethod
    def binds(model: str) -> bool:
        """Claude's is; other providers' stands for itself, and what came with it is not taken without it."""
        return "claude" in model.lower()

    @staticmethod
    def agent_place(folder: Path, name: str) -> Path:
        return folder / "subagents" / name

    @staticmethod
    def register(log: Path, copy: ListedCopy) -> None:
        """pi lists what lies in its folders."""

    @staticmethod
    def unregister(log: Path) -> None:
        return

    @staticmethod
    def mended(lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]]) -> RepairedLog:
        return mend_session(lines)


def _refer(data: dict[str, Any], names: _Names) -> None:
    """Let an entry name others of the copy alone."""
    if data["type"] == "compaction":
        index = data.pop("firstKeptEntryIndex", None)
        kept = f"{index:08x}" if isinstance(index, int) and index > 0 else text(data.get("firstKeptEntryId"))
        data["firstKeptEntryId"] = kept if kept in names.all else names.after.get(kept) or data["id"]
    elif data["type"] == "branch_summary" and data.get("fromId") not in names.all:
        data["fromId"] = data["parentId"] or "root"


def _paired(message: dict[str, Any], calls: set[str]) -> set[str]:
    """The calls that a message makes or answers. An answer names its call as that is called now."""
    made = [text(mapping(one).get("id")) for one in items(message.get("content")) if "arguments" in mapping(one)]
    calls.update(made)
    answered = text(message.get("toolCallId"))
    if answered and answered not in calls and (short := answered.partition("|")[0]) in calls:
        message["toolCallId"] = short
    return {*made, answered}
