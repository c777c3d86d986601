"""Cursor: chats of its editor and its command line in databases, transcripts of both. Only `agents` imports it."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import msgspec

from unspool.agents.base import ResumeCommand
from unspool.agents.context_files import ContextFiles, patterns
from unspool.agents.cursor.parse import ROLES, CursorParser
from unspool.agents.places import config_folder
from unspool.agents.records import Detail, FoundLog
from unspool.agents.stores import (
    GetRecords,
    StoreAgent,
    StoredRecord,
    StoredSession,
    as_json,
    columns,
    database_errors,
    database_files,
    database_snapshot,
    file_states,
)
from unspool.agents.values import first_bytes, items, mapping, plain_bytes, read_small_json, text, whole
from unspool.model import Json

if TYPE_CHECKING:
    from unspool.agents.stores import Database

_EDITOR = tuple(f"{above}globalStorage/state.vscdb" for above in ("", "User/", "Cursor/User/"))
_WORKSPACES = tuple(f"{above}workspaceStorage/*/state.vscdb" for above in ("", "User/", "Cursor/User/"))
_TABS = "workbench.panel.aichat.view.aichat.chatdata"
"""What the database of a project calls the chats of the first versions."""
_CHATS = ("chats/*/*/store.db", ".cursor/chats/*/*/store.db")
_TRANSCRIPTS = tuple(
    f"{above}agent-transcripts/{name}"
    for above in ("", "projects/", "projects/*/", ".cursor/projects/", ".cursor/projects/*/")
    for name in ("*.jsonl", "*.txt", "*/*.jsonl", "*/*.txt", "*/subagents/*.jsonl")
)
_LINE = re.compile(rb'\s*\{\s*"role"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:\s*\{\s*"content"')
_PATH = re.compile(rb'(?:/|[A-Za-z]:(?:\\\\|/))[^"\n<>|*?\x00]{2,400}')
_COMPOSER = re.compile(r"(?:aichat\.view|composer)\.([0-9a-f-]{36})")
_ENDS = "/\\ '`,:)"
"""What a folder's name may end before, in a text."""
_DEEPEST = 8
"""How many index nodes of a chat may lie below one another."""


_DEFINED = {"skill": "skills/**", "agent": "agents/*.md", "command": "commands/**/*.md"}
_CONTEXT_FILES = ContextFiles(
    home=patterns(settings="mcp.json", plan="plans/*.md", instructions="rules/**/*.mdc", **_DEFINED),
    project=patterns(
        instructions="AGENTS.md .cursorrules .cursor/rules/**/*.mdc .cursor/rules/**/*.md",
        settings=".cursor/mcp.json",
        plan=".cursor/plans/*.md",
        **{kind: f".cursor/{place}" for kind, place in _DEFINED.items()},
    ),
    elsewhere=lambda _, home: [home / ".cursor"],
)


class CursorAgent(StoreAgent):
    id = "cursor"
    name = "Cursor"
    context_files = _CONTEXT_FILES
    logs_tokens = False
    resuming = ResumeCommand("cursor-agent --resume {id}")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [config_folder(environment, home) / "Cursor" / "User", home / ".cursor"]

    def role(self, tool: str) -> str:
        return ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> CursorParser:
        return CursorParser(found.session_id if found is not None else "")

    def recognises(self, data: dict[str, Json]) -> bool:
        line = data.get("role") in ("user", "assistant") and {*data} <= {"role", "message", "timestamp"}
        return super().recognises(data) or (line and isinstance(mapping(data.get("message")).get("content"), list))

    def fingerprint(self, root: Path) -> str:
        databases = [*_found(root, _EDITOR), *_found(root, _WORKSPACES), *_found(root, _CHATS)]
        files = [file for path in databases for file in database_files(path)]
        state = file_states((*files, *_transcripts(root)))
        known = "\n".join(sorted(self._known_elsewhere(root))) if state else ""
        return f"{state}\n{hashlib.sha256(known.encode()).hexdigest()}" if known else state

    def discover(self, root: Path) -> Iterator[FoundLog]:
        yield from super().discover(root)
        if root.name != "agent-transcripts":
            yield from self._files(root, "*.jsonl", lambda path: path.stem if _LINE.match(first_bytes(path)) else "")

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        known: set[str] = set()
        for path in _found(root, _EDITOR):
            try:
                with database_snapshot(path) as db:
                    for session, records in _in_editor(db, path.parent.parent, problems):
                        known.add(session.id)
                        yield session, records
            except database_errors() as error:
                problems.append(f"Cannot read {path}: {error}.")
        for session, records in _in_tabs(_found(root, _WORKSPACES), problems):
            if session.id not in known:
                known.add(session.id)
                yield session, records
        for path in _found(root, _CHATS):
            if path.parent.name not in known:
                known.add(path.parent.name)
                state = file_states(database_files(path))
                session = StoredSession(path.parent.name, state, path.stat().st_mtime)
                yield session, lambda path=path: _in_chat(path)  # type: ignore[misc]
        known |= self._known_elsewhere(root)  # a transcript tells less than a database
        for path in _transcripts(root):
            if path.stem not in known:
                known.add(path.stem)
                yield _transcript_session(path, root), lambda path=path: _in_transcript(path)  # type: ignore[misc]

    def _known_elsewhere(self, root: Path) -> set[str]:
        """The sessions that the editor's own database holds, where these are the transcripts beside it."""
        if root.name != ".cursor":
            return set()
        others = (other for other in self.roots(os.environ, root.parent) if other != root)
        return {path.stem for other in others for path in self._folder(other).glob("*.jsonl")}


def _found(root: Path, places: Iterable[str]) -> list[Path]:
    return [path for place in places for path in sorted(root.glob(place)) if path.is_file()]


def _transcripts(root: Path) -> list[Path]:
    """Transcripts, those of sessions before those of their subagents."""
    return sorted(dict.fromkeys(_found(root, _TRANSCRIPTS)), key=lambda path: path.parent.name == "subagents")


def _in_editor(db: "Database", user: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
    if not columns(db, "cursorDiskKV"):
        return
    name = "substr(key, 10, instr(substr(key, 10), ':') - 1)"
    counted = db.execute(f"SELECT {name}, count(*), max(rowid) {_between('bubbleId')} GROUP BY 1")
    states = {row[0]: tuple(row)[1:] for row in counted}
    folders: dict[str, str] | None = None
    for key, value in db.execute(f"SELECT key, value {_between('composerData')}").fetchall():
        composer = key.partition(":")[2]
        data = _object(value)
        if not composer or not (states.get(composer) or data.get("conversation")):
            continue  # opened, and nothing typed
        place = mapping(mapping(data.get("workspaceIdentifier")).get("uri"))
        folder = text(place.get("fsPath")) or text(place.get("path"))
        if not folder:
            folders = _folders_of(user, problems) if folders is None else folders
            folder = folders.get(composer, "")
        raw = as_json(value)
        state = f"{hashlib.sha256(raw).hexdigest()} {states.get(composer)} {folder}"
        modified = whole(data.get("lastUpdatedAt")) or whole(data.get("createdAt"))
        session = StoredSession(composer, state, min(modified / 1000, 1e10))
        yield session, lambda name=composer, raw=raw, folder=folder: _composer(db, name, raw, folder)  # type: ignore[misc]


def _between(kind: str) -> str:
    """The rows of a kind, by the index of keys."""
    return f"FROM cursorDiskKV WHERE key >= '{kind}:' AND key < '{kind};'"


def _composer(db: "Database", name: str, raw: bytes, folder: str) -> Iterator[StoredRecord]:
    yield StoredRecord("place", name, msgspec.json.encode({"folder": folder}))
    yield StoredRecord("composer", name, raw)
    low, high = f"bubbleId:{name}:", f"bubbleId:{name};"
    rows = db.execute("SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid", (low, high))
    for key, value in rows.fetchall():
        yield StoredRecord("bubble", key.removeprefix(low), as_json(value))


def _folders_of(user: Path, problems: list[str]) -> dict[str, str]:
    """The project of each chat that the databases of projects name."""
    found: dict[str, str] = {}
    for path in sorted(user.glob("workspaceStorage/*/state.vscdb")):
        folder = _project(path)
        if not folder:
            continue
        try:
            with database_snapshot(path) as db:
                query = "SELECT key, value FROM ItemTable WHERE key LIKE ? OR key LIKE ?"
                for key, value in db.execute(query, ("composer.composerData", "workbench.panel.composerChatView%")):
                    data = _object(value)
                    listed = [mapping(one).get("composerId") for one in items(data.get("allComposers"))]
                    named = [*listed, *items(data.get("selectedComposerIds")), *_COMPOSER.findall(f"{key} {value!r}")]
                    found |= {one: folder for one in named if isinstance(one, str) and one not in found}
        except database_errors() as error:
            problems.append(f"Cannot read {path}: {error}.")
    return found


def _project(path: Path) -> str:
    """The project whose database this is."""
    place = read_small_json(path.with_name("workspace.json")) or {}
    return unquote(urlsplit(text(place.get("folder")) or text(place.get("workspace"))).path)


def _in_tabs(paths: Iterable[Path], problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
    """Chats of the first versions, which the databases of projects hold; the global one has those that came over."""
    for path in paths:
        try:
            with database_snapshot(path) as db:
                found = columns(db, "ItemTable") and db.execute("SELECT value FROM ItemTable WHERE key = ?", (_TABS,))
                held = [_object(value) for (value,) in found or ()]
        except database_errors() as error:
            problems.append(f"Cannot read {path}: {error}.")
            continue
        folder = _project(path) if held else ""
        for tab in (mapping(tab) for one in held for tab in items(one.get("tabs"))):
            name, raw = text(tab.get("tabId")) or text(tab.get("id")), msgspec.json.encode(tab)
            if name and items(tab.get("bubbles")):
                state = f"{hashlib.sha256(raw).hexdigest()} {folder}"
                session = StoredSession(name, state, min(whole(tab.get("lastSendTime")) / 1000, 1e10))
                place = StoredRecord("place", name, msgspec.json.encode({"folder": folder}))
                held_tab = StoredRecord("tab", name, raw)
                yield session, lambda place=place, tab=held_tab: iter((place, tab))  # type: ignore[misc]


def _object(value: object) -> dict[str, Json]:
    try:
        return mapping(msgspec.json.decode(value)) if isinstance(value, str | bytes) else {}
    except (ValueError, RecursionError):
        return {}


def _in_chat(path: Path) -> Iterator[StoredRecord]:
    """A chat of the command line: its messages, and the order in which its last index names them."""
    name, hashed = path.parent.name, path.parent.parent.name
    try:
        with database_snapshot(path) as db:
            heads = {row[0]: _hex(row[1]) for row in db.execute("SELECT key, value FROM meta")}
            blobs = {row[0]: _bytes(row[1]) for row in db.execute("SELECT id, data FROM blobs ORDER BY rowid")}
    except database_errors() as error:
        problem = {"problem": f"Cannot read {path}: {error}."}
        yield StoredRecord("place", name, msgspec.json.encode(problem))
        return
    said = {key: data for key, data in blobs.items() if data.lstrip()[:1] == b"{"}
    folder = _folder_in(
        said.values(), lambda one: hashlib.md5(one.encode(), usedforsecurity=False).hexdigest() == hashed
    )
    yield StoredRecord("place", name, msgspec.json.encode({"folder": folder}))
    for key, head in heads.items():
        yield StoredRecord("meta", key, as_json(head))
    last = text(_object(heads.get("0")).get("latestRootBlobId"))
    order = list(_references(last, blobs, {}))
    if last in blobs:
        index = {"order": order, "index": msgspec.Raw(as_json({} if last in said else _base64(blobs[last])))}
        yield StoredRecord("order", "0", msgspec.json.encode(index))
    for key, data in said.items():
        yield StoredRecord("blob", key, as_json(data))


def _bytes(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def _hex(value: object) -> str:
    """What is written as hexadecimal digits; anything else as it is."""
    told = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    try:
        return bytes.fromhex(told).decode(errors="replace")
    except ValueError:
        return told


def _references(name: str, blobs: dict[str, bytes], seen: dict[str, None], depth: int = 0) -> Iterator[str]:
    """The messages that an index names, in order: 32 bytes each behind 0a 20; an index may name others."""
    data = blobs.get(name, b"")
    if name in seen or depth > _DEEPEST:
        return
    seen[name] = None
    if data.lstrip()[:1] == b"{":
        yield name
        return
    at = data.find(b"\x0a\x20")
    while at >= 0:
        inner = data[at + 2 : at + 34].hex()
        if inner in blobs:
            yield from _references(inner, blobs, seen, depth + 1)
            at += 32
        at = data.find(b"\x0a\x20", at + 2)


def _transcript_session(path: Path, root: Path) -> StoredSession:
    state = path.stat()
    above = path.parent.parent.name if path.parent.name == "subagents" else ""
    main = path.parent.parent / f"{above}.jsonl"
    return StoredSession(
        path.stem, f"{state.st_size} {state.st_mtime_ns}", state.st_mtime, above if main.is_file() else ""
    )


def _in_transcript(path: Path) -> Iterator[StoredRecord]:
    try:
        data, modified = plain_bytes(path), path.stat().st_mtime
    except OSError:
        return  # deleted this very moment
    project = next((one.parent.name for one in path.parents if one.name == "agent-transcripts"), "")
    folder = _folder_in([data], lambda one: re.sub(r"[^A-Za-z0-9]+", "-", one).strip("-") == project)
    plain = f"/{project.replace('-', '/')}"
    folder = folder or (plain if project not in ("", "projects") and Path(plain).is_dir() else "")
    place = {"folder": folder, "modified": modified, "lossy": True}
    yield StoredRecord("place", path.stem, msgspec.json.encode(place))
    if path.suffix == ".txt":
        yield StoredRecord("text", path.stem, msgspec.json.encode(data.decode(errors="replace")))
        return
    for number, line in enumerate(data.splitlines()):
        if line.strip():
            yield StoredRecord("line", str(number), as_json(line))


def _folder_in(texts: Iterable[bytes], fits: Callable[[str], bool]) -> str:
    """The folder that fits among those that some texts name; the agent keeps only what became of its name."""
    tried: set[str] = set()
    for one in texts:
        for named in _PATH.findall(one):
            path: str = named.decode(errors="replace").replace("\\\\", "\\").rstrip("\\/ ")
            while len(path) > 2 and path not in tried and len(tried) < 100_000:
                tried.add(path)
                if fits(path):
                    return path
                path = path[: max(0, *map(path.rfind, _ENDS))]
    return ""
