"""Rollouts made from others, as Codex itself would resume them. Ids of turns, items and calls stay, as they do where
Codex forks a thread: only the thread is another."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents.codex.discover import LOG_NAME, NAMES
from unspool.agents.codex.editing import RecordEdit, typed_words
from unspool.agents.codex.items import is_injected
from unspool.agents.codex.outputs import is_end
from unspool.agents.codex.soundness import lint_rollout, mend_rollout
from unspool.agents.events import words_of
from unspool.agents.handed import id_by_time
from unspool.agents.lines import line_entries, sound_value
from unspool.agents.renaming import path_renames, rename_in_file, rename_in_line
from unspool.agents.values import items, mapping, text
from unspool.agents.writing import CopiedLine, CopyIdentity, Cuts, LineLink, ListedCopy, RepairedLog
from unspool.files import write_atomically

_THREADS = ("thread_id", "session_id", "sender_thread_id")
_NOTHING: dict[str, Any] = {}


class CodexWriter:
    relocated = staticmethod(rename_in_file)
    moves = staticmethod(path_renames)
    new_session = staticmethod(id_by_time)
    lint = staticmethod(lint_rollout)

    @staticmethod
    def edited(raw: bytes, line: str, cuts: Cuts) -> bytes | None:
        return RecordEdit(line, cuts).made(raw)

    @staticmethod
    def renewed(raw: bytes, identity: CopyIdentity, link: LineLink) -> bytes:
        return _renewed(raw, identity)

    @staticmethod
    def beside(raw: bytes, identity: CopyIdentity) -> bytes | None:
        data = sound_value(raw)
        said = mapping(data.get("payload"))
        item = mapping(said.get("item")) or said
        call = text(item.get("call_id")) or text(item.get("callId")) or text(item.get("id"))
        return None if call in identity.cut and is_end(text(item.get("type"))) else _renewed(raw, identity)

    @staticmethod
    def sequenced(lines: Iterable[CopiedLine], identity: CopyIdentity) -> Iterator[bytes]:
        """The lines turn by turn: of a turn that nothing is left of nothing stays, and nothing says again what is
        not there."""
        number: int | None = None
        for group in _turns(sorted(lines, key=lambda line: line.at)):
            for data in group:
                if "ordinal" in data:
                    number = _first_ordinal(data) if number is None else number + 1
                    data["ordinal"] = number
                yield msgspec.json.encode(data) + b"\n"

    @staticmethod
    def closing(identity: CopyIdentity, title: str) -> Iterator[bytes]:
        said = {"type": "thread_name_updated", "thread_id": identity.session, "thread_name": title}
        data: dict[str, Any] = {"timestamp": identity.now, "type": "event_msg", "payload": said}
        yield msgspec.json.encode(data) + b"\n"

    @staticmethod
    def leans(parts: Iterable[object]) -> bool:
        """Whether an answer made tools known that later calls need."""
        return any(isinstance(part, dict) and part.get("type") in ("namespace", "function") for part in parts)

    @staticmethod
    def is_request_record(raw: bytes) -> bool:
        return False

    @staticmethod
    def is_header(raw: bytes) -> bool:
        return False  # it holds what the user told Codex to do always

    @staticmethod
    def is_local_record(raw: bytes) -> bool:
        return False

    @staticmethod
    def binds(model: str) -> bool:
        """Nobody has told what the provider takes, so that reasoning behind changed words is left out."""
        return True

    @staticmethod
    def place(home: Path, cwd: str, session: str) -> Path:
        """By the local time at which the thread was made, which its id holds."""
        try:
            made = datetime.fromtimestamp(int(session.replace("-", "")[:12], 16) / 1000).astimezone()
        except (ValueError, OverflowError, OSError):
            made = datetime.now().astimezone()
        return home / f"sessions/{made:%Y/%m/%d}" / f"rollout-{made:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"

    @staticmethod
    def agent_place(folder: Path, name: str) -> Path:
        return folder / "subagents" / name

    @staticmethod
    def register(log: Path, copy: ListedCopy) -> None:
        """Tell the list of names what the copy is called."""
        home, named = _home(log), LOG_NAME.search(log.name)
        if home is None or named is None:
            return
        entry = {"id": named[1], "thread_name": copy.title, "updated_at": copy.made}
        try:
            with (home / NAMES).open("ab") as file:
                file.write(msgspec.json.encode(entry) + b"\n")
        except OSError:
            return  # a hint for the agent: the rollout says the same

    @staticmethod
    def unregister(log: Path) -> None:
        home, named = _home(log), LOG_NAME.search(log.name)
        if home is None or named is None:
            return
        try:
            lines = (home / NAMES).read_bytes().splitlines(keepends=True)
            left = [line for line in lines if not _names(line, named[1])]
            if not left:
                (home / NAMES).unlink()
            elif len(left) < len(lines):
                write_atomically(home / NAMES, left)
        except OSError:
            return

    @staticmethod
    def mended(lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]]) -> RepairedLog:
        return mend_rollout(lines)


def _home(log: Path) -> Path | None:
    """The agent's folder above a rollout that lies in its place."""
    if not log.name.startswith("rollout-") or len(log.parents) < 5:
        return None
    return log.parents[4] if log.parents[3].name == "sessions" else None


def _names(line: bytes, thread: str) -> bool:
    entry = next(line_entries(line), None)
    return entry is not None and mapping(entry.data).get("id") == thread


def _renewed(raw: bytes, identity: CopyIdentity) -> bytes:
    """A record of the original as one of the copy."""
    data = sound_value(rename_in_line(raw, identity.paths))
    said = data.get("payload")
    if data.get("type") == "session_meta" and isinstance(said, dict) and said.get("id") == identity.source:
        said["id"] = identity.session
        if identity.session != identity.source:
            said["forked_from_id"], said["timestamp"] = identity.source, identity.now
    for held in (said, mapping(said).get("item")):
        if isinstance(held, dict):
            held |= {name: identity.session for name in _THREADS if held.get(name) == identity.source}
    return msgspec.json.encode(data) + b"\n"


def _first_ordinal(data: dict[str, Any]) -> int:
    """Where the records of a rollout begin to be counted: behind those that it goes on from."""
    base = mapping(mapping(data.get("payload")).get("history_base")).get("end_ordinal_exclusive")
    return base if isinstance(base, int) and not isinstance(base, bool) else 0


_Group = list[tuple[dict[str, Any], bool]]


def _turns(lines: Iterable[CopiedLine]) -> Iterator[list[dict[str, Any]]]:
    """The records of a copy, cut where turns begin, each piece without what tells of lines that are gone."""
    group: _Group = []
    first = True
    for line in lines:
        data = sound_value(line.raw)
        if _kind(data) in ("task_started", "turn_started"):
            yield _kept(group, always=first)
            group, first = [], False
        group.append((data, line.spoken))
    yield _kept(group, always=first)


def _kept(group: _Group, *, always: bool) -> list[dict[str, Any]]:
    if not always and not any(spoken for _, spoken in group):
        return [data for data, _ in group if data.get("type") == "session_meta" or _kind(data) == "thread_name_updated"]
    typed = [typed_words(data) for data, spoken in group if spoken and _kind(data) in ("user_message", "UserMessage")]
    said = {words_of(_payload(data).get("content")).strip() for data, spoken in group if spoken}
    found: list[dict[str, Any]] = []
    for data, spoken in group:
        kind = _kind(data)
        if spoken and kind in ("user_message", "UserMessage") and typed:
            found += _with_item(data, found)
            continue
        if not spoken and not _is_true(data, kind, typed, said):
            continue
        if (
            kind in ("task_complete", "turn_complete")
            and text(_payload(data).get("last_agent_message")).strip() not in said
        ):
            _payload(data)["last_agent_message"] = None
        found.append(data)
    return found


def _is_true(data: dict[str, Any], kind: str, typed: list[str], said: set[str]) -> bool:
    """Whether a record that says again what others say has them in the copy."""
    if kind in ("agent_message", "AgentMessage") and data.get("type") == "event_msg":
        item = mapping(_payload(data).get("item"))
        return (text(_payload(data).get("message")) or words_of(item.get("content"))).strip() in said
    words = words_of(_payload(data).get("content"))
    if kind == "message" and _payload(data).get("role") == "user" and not is_injected(words):
        return any(one and one in words for one in typed)
    return True


def _with_item(data: dict[str, Any], before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A prompt, behind the item that has the model hear it: where none says the same any more, a new one."""
    words = typed_words(data)
    pictured = bool(items(_payload(data).get("images")) or items(_payload(data).get("local_images")))
    pictured = pictured or any("image" in text(mapping(one).get("type")) for one in items(_item(data).get("content")))
    for one in reversed(before):
        payload = _payload(one)
        if _kind(one) == "message" and payload.get("role") == "user" and words in words_of(payload.get("content")):
            if not pictured:
                payload["content"] = [
                    part for part in items(payload.get("content")) if "image_url" not in mapping(part)
                ]
            return [data]
    if not words:
        return [data]
    content = [{"type": "input_text", "text": words}]
    item = {"type": "message", "role": "user", "content": content}
    head: dict[str, Any] = {name: data[name] for name in ("timestamp", "ordinal") if name in data}
    return [{**head, "type": "response_item", "payload": item}, data]


def _payload(data: dict[str, Any]) -> dict[str, Any]:
    held = data.get("payload")
    return held if isinstance(held, dict) else _NOTHING


def _item(data: dict[str, Any]) -> dict[str, Any]:
    return mapping(_payload(data).get("item"))


def _kind(data: dict[str, Any]) -> str:
    """What a record tells of: the type of its payload, of a completed item the item's."""
    return text(_item(data).get("type")) or text(_payload(data).get("type"))
