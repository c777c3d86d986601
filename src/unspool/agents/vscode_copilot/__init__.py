"""Copilot Chat in VS Code: chats as documents or logs of changes, transcripts, traces. Only `agents` imports it."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from unspool.agents.context_files import ContextFiles, patterns
from unspool.agents.copilot import REPOSITORY_FILES
from unspool.agents.lines import line_entries
from unspool.agents.places import editor_folders
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
    row_as_json,
)
from unspool.agents.values import first_bytes, mapping, plain_bytes, read_small_json, text
from unspool.agents.vscode_copilot.parse import ROLES, ChatParser
from unspool.agents.vscode_copilot.replay import Replay
from unspool.model import Json

_USERS = ("", "User/", "Code/User/", "data/User/", "user-data/User/")
_CHATS = ("workspaceStorage/*/chatSessions/*.json*", "globalStorage/emptyWindowChatSessions/*.json*")
_TRANSCRIPTS = "workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl"
_TRACES = "globalStorage/github.copilot-chat/agent-traces.db"
_INDEX = "chat.ChatSessionStore.index"
_MARKS = (b'"kind":0,"v":{"version"', b'"requesterUsername"', b'"responderUsername"', b'"initialLocation"')


class VSCodeCopilot(StoreAgent):
    id = "vscode-copilot"
    name = "VS Code Copilot Chat"
    context_files = ContextFiles(project=(*REPOSITORY_FILES, *patterns(settings=".vscode/mcp.json")))
    speaker = "Copilot"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return editor_folders(environment, home, editors=("Code", "Code - Insiders", "VSCodium"))

    def role(self, tool: str) -> str:
        return ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> ChatParser:
        return ChatParser(found.session_id if found is not None else "")

    def recognises(self, data: dict[str, Json]) -> bool:
        chat = mapping(data.get("v")) if data.get("kind") == 0 else data
        return super().recognises(data) or (
            isinstance(chat.get("requests"), list) and ("responderUsername" in chat or "creationDate" in chat)
        )

    def fingerprint(self, root: Path) -> str:
        traces = [file for path in _below(root, _TRACES) for file in database_files(path)]
        return file_states((*_chats(root), *_transcripts(root), *traces))

    def discover(self, root: Path) -> Iterator[FoundLog]:
        yield from super().discover(root)
        yield from self._files(root, "*.json*", _chat_alone)

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        spans = _spans(root, problems)
        known: set[str] = set()
        titles = _Titles(problems)
        for path in _chats(root):
            replay = read_chat(path)
            name = (text(replay.head.get("sessionId")) or path.stem) if replay is not None else ""
            if replay is None or not replay.live or name in known:
                continue
            known.add(name)
            used = spans.get(name, {})
            state = f"{file_states([path])} {len(used)} {hashlib.sha256(b''.join(used.values())).hexdigest()}"
            session = StoredSession(name, state, path.stat().st_mtime)
            yield (
                session,
                lambda name=name, path=path, replay=replay, used=used: (  # type: ignore[misc]
                    _records(name, replay, {**_place(path, name, titles, replay.head)}, used)
                ),
            )
        for path in _transcripts(root):
            name = path.stem
            if name not in known:  # a chat tells all that its transcript does
                known.add(name)
                used = spans.get(name, {})
                session = StoredSession(name, f"{file_states([path])} {len(used)}", path.stat().st_mtime)
                yield session, lambda path=path, used=used: _lines(path, used)  # type: ignore[misc]


def _chat_alone(path: Path) -> str:
    head = first_bytes(path, 2000).replace(b" ", b"")
    return path.stem if path.suffix in (".json", ".jsonl") and any(mark in head for mark in _MARKS) else ""


def _below(root: Path, place: str) -> list[Path]:
    found = (path for user in _USERS for path in sorted(root.glob(user + place)) if path.is_file())
    return list(dict.fromkeys(found))


def _chats(root: Path) -> list[Path]:
    """The files of chats; of a document and the log of changes that replaced it, the log."""
    named = [path for place in _CHATS for path in _below(root, place)]
    logs = {path.with_suffix("") for path in named if path.suffix == ".jsonl"}
    return [
        path
        for path in named
        if path.suffix == ".jsonl" or (path.suffix == ".json" and path.with_suffix("") not in logs)
    ]


def _transcripts(root: Path) -> list[Path]:
    return _below(root, _TRANSCRIPTS)


def read_chat(path: Path) -> Replay | None:
    """A chat as it stands, of a document or a log of changes; None where it cannot be read."""
    replay = Replay()
    if path.suffix == ".json":
        data = read_small_json(path)
        if data is None or not isinstance(data.get("requests"), list):
            return None
        replay.apply({"kind": 0, "v": data})
        return replay
    try:
        lines = plain_bytes(path).splitlines()
    except OSError:
        return None
    for line in lines:
        for entry in line_entries(line):
            if entry.data is not None:
                replay.apply(entry.data)
    return replay


class _Titles:
    """The titles that an editor's own list has, of each project once."""

    def __init__(self, problems: list[str]) -> None:
        self._problems = problems
        self._known: dict[Path, dict[str, Json]] = {}

    def title(self, database: Path, session: str) -> str:
        if database not in self._known:
            self._known[database] = self._read(database) if database.is_file() else {}
        return text(mapping(self._known[database].get(session)).get("title"))

    def _read(self, database: Path) -> dict[str, Json]:
        try:
            with database_snapshot(database) as db:
                row = db.execute("SELECT value FROM ItemTable WHERE key = ?", (_INDEX,)).fetchone()
            return mapping(mapping(msgspec.json.decode(as_json(row[0]))).get("entries")) if row is not None else {}
        except database_errors() as error:
            self._problems.append(f"Cannot read {database}: {error}.")
            return {}


def _place(path: Path, session: str, titles: _Titles, head: dict[str, Json]) -> dict[str, str]:
    """The project's folder, and the title where the chat itself has none."""
    above = path.parent.parent
    place = read_small_json(above / "workspace.json") or {}
    folder = unquote(urlsplit(text(place.get("folder")) or text(place.get("workspace"))).path)
    folder = str(Path(folder).parent) if folder.endswith(".code-workspace") else folder
    title = "" if text(head.get("customTitle")) else titles.title(above / "state.vscdb", session)
    return {"folder": folder, "title": title}


def _records(session: str, replay: Replay, place: dict[str, str], used: dict[str, bytes]) -> Iterator[StoredRecord]:
    yield StoredRecord("place", session, msgspec.json.encode(place))
    yield StoredRecord("session", session, msgspec.json.encode(replay.head))
    for kind, requests in (("gone", replay.gone), ("request", replay.live)):
        for number, one in enumerate(requests):
            name = text(mapping(one).get("requestId")) or f"{kind} {number}"
            yield StoredRecord(kind, name, msgspec.json.encode(one))
    yield from (StoredRecord("span", name, row) for name, row in used.items())


def _lines(path: Path, used: dict[str, bytes]) -> Iterator[StoredRecord]:
    place = read_small_json(path.parents[2] / "workspace.json") or {}
    folder = unquote(urlsplit(text(place.get("folder"))).path)
    yield StoredRecord("place", path.stem, msgspec.json.encode({"folder": folder}))
    try:
        lines = plain_bytes(path).splitlines()
    except OSError:
        return  # deleted this very moment
    for number, line in enumerate(lines):
        if line.strip():
            yield StoredRecord("event", str(number), as_json(line))
    yield from (StoredRecord("span", name, row) for name, row in used.items())


def _spans(root: Path, problems: list[str]) -> dict[str, dict[str, bytes]]:
    """By chat, the requests that the extension traced; it keeps them for a while only."""
    found: dict[str, dict[str, bytes]] = {}
    for path in _below(root, _TRACES):
        try:
            with database_snapshot(path) as db:
                if columns(db, "spans"):
                    chat = "SELECT coalesce(chat_session_id, conversation_id) AS chat, * FROM spans"
                    for row in db.execute(f"{chat} WHERE operation_name = 'chat' ORDER BY start_time_ms"):
                        if isinstance(row["chat"], str):
                            found.setdefault(row["chat"], {})[str(row["span_id"])] = row_as_json(row)
        except database_errors() as error:
            problems.append(f"Cannot read {path}: {error}.")
    return found
