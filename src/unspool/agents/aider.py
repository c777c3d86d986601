"""Aider: a history in Markdown a repository; each start of the program is a session. Only `agents` imports it."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path

import msgspec

from unspool.agents.base import ResumeCommand
from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_result,
    as_unknown,
    called,
    said,
    thought,
)
from unspool.agents.records import Detail, FoundLog
from unspool.agents.stores import GetRecords, StoreAgent, StoredRecord, StoredSession, file_states
from unspool.agents.values import mapping, moment, plain_bytes, text
from unspool.agents.whole_logs import Chain, WholeLogParser, last_states
from unspool.model import Block, Entry, Event, Json, Part, Place

_NAME = ".aider.chat.history.md"
_START = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t]*$", re.MULTILINE)
_THOUGHTS = re.compile(r"^<(think(?:ing-content-[0-9a-f]{8,64})?)>[ \t]*$", re.MULTILINE)
_MODEL = re.compile(r"(?:Main model|Model): (\S+) with")
_VERSION = re.compile(r"Aider v(\S+)")
_APPLIED = re.compile(r"Applied edit to (.+)")
_RUNNING = re.compile(r"Running (.+)")
_FAILED = re.compile(r"litellm\.\w+Error|\w+ API (?:provider|error)|The API provider")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = ("```", "~~~")
_ROLES = {"shell": "shell", "edit": "edit", "write": "write"}


class Aider(StoreAgent):
    id = "aider"
    name = "Aider"
    logs_tokens = False
    resuming = ResumeCommand("aider --restore-chat-history")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Histories lie in repositories, which nobody lists: the one that is worked in is looked at."""
        named, here = environment.get("AIDER_CHAT_HISTORY_FILE"), environment.get("PWD")
        found = [Path(named).expanduser().parent] if named and Path(named).name == _NAME else []
        above = (Path(here), *Path(here).parents) if here else ()
        found += [folder for folder in above if folder != home and (folder / _NAME).is_file()][:1]
        return [*found, home / ".aider"]

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()

    def watched_paths(self, root: Path) -> list[Path]:
        return [root / _NAME]

    def fingerprint(self, root: Path) -> str:
        return file_states(_histories(root))

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        for path in _histories(root):
            try:
                words, modified = plain_bytes(path).decode(errors="replace"), path.stat().st_mtime
            except OSError as error:
                problems.append(f"Cannot read {path}: {error}.")
                continue
            folder = os.path.realpath(path.parent)
            place = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
            parts = _START.split(words)
            known: dict[str, int] = {}
            sections = [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
            for number, (started, section) in enumerate(sections):
                if not started and not section.strip():
                    continue
                stem = re.sub(r"\D", "", started) or "before"
                known[stem] = known.get(stem, 0) + 1
                name = f"{stem}-{place}" + (f"-{known[stem]}" if known[stem] > 1 else "")
                time = _local(started)
                last = modified if number == len(sections) - 1 or time is None else time.timestamp()
                state = hashlib.sha256(section.encode()).hexdigest()
                yield (
                    StoredSession(name, state, last),
                    lambda name=name, section=section, time=time, folder=folder: (  # type: ignore[misc]
                        _records(name, section, time, folder)
                    ),
                )


def _histories(root: Path) -> list[Path]:
    found = (root / _NAME, *sorted(root.glob(f"*/{_NAME}")))
    return [path for path in found if path.is_file()]


def _local(started: str) -> datetime | None:
    """A time of this machine's clock."""
    try:
        return datetime.fromisoformat(started).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _records(name: str, section: str, time: datetime | None, folder: str) -> Iterator[StoredRecord]:
    """The lines of a session as runs of one kind: all of them, so that nothing of the history is missing."""
    place = {"folder": folder, "started": time.isoformat() if time is not None else ""}
    yield StoredRecord("place", name, msgspec.json.encode(place))
    runs = [(kind, "".join(lines)) for kind, lines in groupby(_LINES.findall(section), _kind)]
    pieces: list[tuple[str, str]] = []
    for kind, words in runs:
        if kind == "blank" and pieces:
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + words)
        elif pieces and kind == pieces[-1][0]:
            pieces[-1] = (kind, pieces[-1][1] + words)
        else:
            pieces.append((kind, words))
    for number, (kind, words) in enumerate(pieces):
        yield StoredRecord(kind, str(number), msgspec.json.encode(words))


def _kind(line: str) -> str:
    if line.startswith("#### ") or line.rstrip() == "####":
        return "typed"
    if line.startswith("> ") or line.rstrip() == ">":
        return "told"
    return "answer" if line.strip() else "blank"


class _Parser(WholeLogParser):
    def __init__(self) -> None:
        super().__init__()
        self._follow = Chain().follow
        self._model, self._answer, self._asked = "", "", False

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        for record in last_states(entries):
            place, words = record.entry.place, text(record.data)
            event = Event("notice", place, f"{self.facts.session}/{record.id}")
            match record.kind:
                case "place":
                    self._place(record.id, record.data)
                    continue
                case "typed":
                    self._asked = True
                    yield self._follow(_typed(event, words), removed=record.removed)
                case "answer":
                    yield self._follow(self._said(event, words), removed=record.removed)
                case "told":
                    for one in self._told(event, words):
                        yield self._follow(one, removed=record.removed)
                case kind if kind not in ("store", "blank"):
                    yield self._follow(as_unknown(event, kind, record.data))

    def _place(self, name: str, value: Json) -> None:
        self.facts.session, self.facts.cwd = name, text(mapping(value).get("folder"))
        self.note_time(moment(mapping(value).get("started")))

    def _said(self, event: Event, words: str) -> Event:
        if not self._asked:  # the rest of the command that began the session
            return as_notice(event, "info", words.strip())
        self._answer = words
        blocks: list[Block] = []
        at = 0
        while (begun := _THOUGHTS.search(words, at)) is not None:
            end = words.find(f"</{begun[1]}>", begun.end())
            end = len(words) if end < 0 else end
            if before := words[at : begun.start()].strip():
                blocks.append(said(event, event.id, before))
            blocks.append(thought(event, event.id, words[begun.end() : end].strip()))
            at = end + len(begun[1]) + 3
        if rest := words[at:].strip():
            blocks.append(said(event, event.id, rest))
        return as_message(event, Part(event.id, "", self._model, None, "end"), blocks)

    def _told(self, event: Event, words: str) -> Iterator[Event]:
        """What the program said: how it was started, what it ran and changed, what it counted."""
        lines = [line.removeprefix(">").strip() for line in words.split("\n") if line.strip()]
        told = "\n".join(lines)
        if (model := _MODEL.search(told)) is not None:
            self._model = model[1]
        if (version := _VERSION.search(told)) is not None:
            self.facts.versions |= {version[1]: None}
        kind = "api-error" if _FAILED.search(told) else "usage" if told.startswith("Tokens:") else "info"
        yield as_notice(event, kind, told)
        edits = _edits_in(self._answer) if _APPLIED.search(told) else {}
        for number, line in enumerate(lines):
            if (applied := _APPLIED.fullmatch(line)) is not None:
                unseen: tuple[str, Json] = "edit", {"file_path": applied[1]}
                yield from self._call(event.place, f"{event.id}:{number}", edits.get(applied[1], unseen), line)
            elif (ran := _RUNNING.fullmatch(line)) is not None and number:
                given = "shell", {"command": ran[1]}
                yield from self._call(event.place, f"{event.id}:{number}", given, "\n".join(lines[number + 1 :]))

    def _call(self, place: Place, name: str, made: tuple[str, Json], words: str) -> Iterator[Event]:
        event = Event("notice", place, name)
        tool, given = made
        block = called(event, name, name, tool, given, _ROLES[tool])
        yield as_message(event, Part(name, "", self._model, None, "end"), [block])
        after = Event("notice", place, f"{name}=")
        yield as_result(after, answered(after, name, words))


def _typed(event: Event, words: str) -> Event:
    lines = (line.removeprefix("####").removeprefix(" ").rstrip() for line in words.split("\n") if line.strip())
    typed = "\n".join(lines).strip()
    if typed.startswith(("/run ", "/git ", "/test ", "!")):
        return as_prompt(event, typed.removeprefix("!"), kind="bash")
    return as_prompt(event, typed, kind="command" if typed.startswith("/") else "text")


def _edits_in(answer: str) -> dict[str, tuple[str, Json]]:
    """By file, the edit that an answer proposes: what to search and replace, or all of it."""
    found: dict[str, tuple[str, Json]] = {}
    path, before = "", ""
    block: list[str] | None = None
    for line in answer.split("\n"):
        if not line.startswith(_FENCE):
            before = line if line.strip() and block is None else before
            if block is not None:
                block.append(line)
        elif block is None:
            path, block = before.strip().strip("`*:# "), []
        else:
            words = "\n".join(block)
            held = mapping(found.get(path, ("", None))[1]).get("diff")
            if " SEARCH" in words:
                found[path] = "edit", {"file_path": path, "diff": f"{held}\n{words}" if held else words}
            else:
                found[path] = "write", {"file_path": path, "content": f"{words}\n"}
            block = None
    return found
