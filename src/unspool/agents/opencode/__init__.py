"""OpenCode: sessions in a SQLite database, in a tree of small JSON files before that, or exported. Only `agents`
imports it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unspool.agents.base import ResumeCommand
from unspool.agents.context_files import ContextFiles, patterns
from unspool.agents.dialect import PlainDialect
from unspool.agents.opencode.parse import ROLES, OpenCodeParser
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
    topmost,
)
from unspool.agents.values import first_bytes, mapping, plain_bytes, read_small_json, text, whole
from unspool.model import Facts, Json, Questionnaire, ToolCall

if TYPE_CHECKING:
    from unspool.agents.handed import SessionTaker
    from unspool.agents.stores import Database

_TABLES = {
    "session": ("summary_diffs", "metadata", "revert", "permission", "model"),
    "message": ("data",),
    "part": ("data",),
    "todo": (),
    "session_message": ("data",),
}
"""The tables that hold sessions, with those of their columns that are JSON."""
_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"(ses_\w+)"')


_DEFINED = {
    "agent": "agent/**/*.md agents/**/*.md",
    "command": "command/**/*.md commands/**/*.md",
    "skill": "skill/** skills/**",
}
_CONTEXT_FILES = ContextFiles(
    home=patterns(instructions="AGENTS.md", settings="opencode.json opencode.jsonc config.json", **_DEFINED),
    project=patterns(
        instructions="AGENTS.md",
        settings="opencode.json opencode.jsonc .opencode/opencode.json .opencode/opencode.jsonc",
        **{kind: " ".join(f".opencode/{one}" for one in places.split()) for kind, places in _DEFINED.items()},
    ),
    elsewhere=lambda environment, home: [
        Path(environment.get("XDG_CONFIG_HOME") or home / ".config").expanduser() / "opencode"
    ],
)


class OpenCode(StoreAgent):
    id = "opencode"
    name = "OpenCode"
    context_files = _CONTEXT_FILES
    resuming = ResumeCommand("opencode --session {id}")

    @property
    def taker(self) -> "SessionTaker":
        from unspool.agents.opencode import take_over

        return take_over

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        data = environment.get("XDG_DATA_HOME")
        return [(Path(data).expanduser() if data else home / ".local" / "share") / "opencode"]

    def role(self, tool: str) -> str:
        return ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> OpenCodeParser:
        return OpenCodeParser()

    def dialect(self, found: FoundLog | None, facts: Facts) -> "_Dialect":
        return _Dialect(self.id)

    def recognises(self, data: dict[str, Json]) -> bool:
        info = mapping(data.get("info"))
        return super().recognises(data) or (text(info.get("id")).startswith("ses_") and "messages" in data)

    def fingerprint(self, root: Path) -> str:
        databases = [file for path in sorted(root.glob("opencode*.db")) for file in database_files(path)]
        tree = root / "storage"
        folders = (tree / "message", *tree.glob("session/*"), *tree.glob("message/*"), *tree.glob("part/*"))
        return file_states((*databases, *folders)) if databases or tree.is_dir() else ""

    def discover(self, root: Path) -> Iterator[FoundLog]:
        yield from super().discover(root)
        yield from self._files(root, "*.json", _exported)

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        known: set[str] = set()
        for path in sorted(root.glob("opencode*.db")):
            try:
                with database_snapshot(path) as db:
                    for session, records in _in_database(db):
                        if session.id not in known:
                            known.add(session.id)
                            yield session, records
            except database_errors() as error:
                problems.append(f"Cannot read {path}: {error}.")
        for session, records in _in_tree(root / "storage"):
            if session.id not in known:  # the database was filled from the tree, and goes on where it ended
                yield session, records


def _exported(path: Path) -> str:
    named = _EXPORT.match(first_bytes(path, 400))
    return named[1].decode() if named is not None else ""


class _Dialect(PlainDialect):
    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        named = text(mapping(call.result.detail).get("sessionId")) if call.result is not None else ""
        return (named,) if named else ()

    def questions(self, call: ToolCall) -> Questionnaire | None:
        return self.asked(call, mapping(call.result.detail).get("answers") if call.result is not None else None)


def _in_database(db: "Database") -> Iterator[tuple[StoredSession, GetRecords]]:
    tables = [table for table in _TABLES if columns(db, table)]
    if "session" not in tables:
        return
    states: dict[str, list[object]] = {}
    newest: dict[str, int] = {}
    for table in tables:
        key = "id" if table == "session" else "session_id"
        time = "max(time_updated)" if "time_updated" in columns(db, table) else "max(rowid)"
        for name, *state in db.execute(f"SELECT {key}, {time}, count(*) FROM {table} GROUP BY 1"):  # noqa: S608
            states.setdefault(name, []).append(state)
            if time == "max(time_updated)":
                newest[name] = max(newest.get(name, 0), whole(state[0]))
    rows = db.execute("SELECT * FROM session").fetchall()
    parents = {row["id"]: row["parent_id"] for row in rows} if "parent_id" in columns(db, "session") else {}
    for row in rows:
        name = row["id"]
        session = StoredSession(name, str(states.get(name)), newest.get(name, 0) / 1000, topmost(name, parents))
        yield session, lambda name=name: _rows(db, tables, name)  # type: ignore[misc]


def _rows(db: "Database", tables: Iterable[str], session: str) -> Iterator[StoredRecord]:
    for table in tables:
        has = columns(db, table)
        key = "id" if table == "session" else "session_id"
        order = ", ".join(name for name in ("seq", "time_created", "position", "id") if name in has)
        query = f"SELECT * FROM {table} WHERE {key} = ? ORDER BY {order}"  # noqa: S608
        for number, row in enumerate(db.execute(query, (session,)).fetchall()):
            name = str(row["id"]) if "id" in has else f"{session}/{number}"
            yield StoredRecord(table, name, row_as_json(row, _TABLES[table]))


def _in_tree(tree: Path) -> Iterator[tuple[StoredSession, GetRecords]]:
    paths = {path.stem: path for path in sorted(tree.glob("session/*/*.json"))}
    infos = {name: info for name, path in paths.items() if (info := read_small_json(path)) is not None}
    parents = {name: text(info.get("parentID")) for name, info in infos.items()}
    for name, path in paths.items():
        if name not in infos:
            continue
        files = [path, *sorted(tree.glob(f"message/{name}/*.json"))]
        files += [part for message in files[1:] for part in sorted(tree.glob(f"part/{message.stem}/*.json"))]
        files += [one for one in (tree / "todo" / f"{name}.json",) if one.is_file()]
        times = [file.stat().st_mtime for file in files]
        session = StoredSession(name, file_states(files), max(times), topmost(name, parents))
        yield session, lambda files=files: _files(files)  # type: ignore[misc]


def _files(files: Iterable[Path]) -> Iterator[StoredRecord]:
    for path in files:
        kind = "todo" if path.parent.name == "todo" else path.parent.parent.name
        try:
            data = plain_bytes(path)
        except OSError:
            continue  # deleted this very moment
        yield StoredRecord(kind, path.stem, msgspec.json.encode({"data": msgspec.Raw(as_json(data))}))
