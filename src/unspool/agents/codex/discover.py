"""Where Codex keeps rollouts, what threads they are of, what these are called, and the prompts that were typed."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unspool.agents.base import PromptList
from unspool.agents.lines import read_entries
from unspool.agents.records import FoundAgent, FoundLog, PromptMention, TypedPrompt
from unspool.agents.values import first_bytes, is_small_file, mapping, moment, text

ID = "codex"
_THREAD = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
LOG_NAME = re.compile(rf"({_THREAD})(?:_{_THREAD})?\.jsonl(?:\.zst)?$")
"""A rollout of a thread; one that goes on from a state before has an id of its own behind the thread's."""
_DAY = "[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]/"
_PLACES = ("", _DAY, f"sessions/{_DAY}", "archived_sessions/", "*-*-*-*-*/subagents/")
"""Where rollouts lie below a source, in a share the last; nowhere else is looked: a source may be a large folder."""
_HEAD = 4096
_PARENT = re.compile(rf'"parent_thread_id"\s*:\s*"({_THREAD})"'.encode())
_SUBAGENT = re.compile(rb'"source"\s*:\s*\{\s*"subagent"')
_INSTRUCTIONS = re.compile(rb'"(?:base_)?instructions"')
NAMES = "session_index.jsonl"
PROMPTS = "history.jsonl"
_LARGEST_LIST = 1 << 30


class _Rollout(NamedTuple):
    path: str
    thread: str
    parent: str
    """The thread whose subagent it is; empty where it is none's."""
    size: int
    modified: float


def discover(root: Path) -> Iterator[FoundLog]:
    """The threads below a folder, each with the subagents that it and they started."""
    found = list(_rollouts(root))
    threads = {one.thread: one for one in found}
    below: dict[str, list[FoundAgent]] = {}
    for one in found:
        top = _top(one, threads)
        if top != one.thread:
            below.setdefault(top, []).append(FoundAgent(one.path, one.thread))
    for one in found:
        top = _top(one, threads)
        if top == one.thread:
            gone = one.parent if one.parent not in threads else ""
            yield FoundLog(one.path, one.thread, ID, one.size, one.modified, root=str(root),
                           agents=tuple(below.get(one.thread, ())), owner=gone)  # fmt: skip


def _top(one: _Rollout, threads: dict[str, _Rollout]) -> str:
    """The thread that a subagent's are listed below; its own where the first of them is gone."""
    seen = {one.thread}
    while one.parent in threads and one.parent not in seen:
        one = threads[one.parent]
        seen.add(one.thread)
    return one.thread if one.parent not in seen else min(seen)


def _rollouts(root: Path) -> Iterator[_Rollout]:
    alone = [path for path in root.glob("*.jsonl") if b'"session_meta"' in first_bytes(path)]
    paths = {*alone, *(path for place in _PLACES for path in root.glob(f"{place}rollout-*.jsonl*"))}
    for path in sorted(paths):
        named = LOG_NAME.search(path.name)
        if named is None or (path.suffix == ".zst" and path.with_suffix("") in paths):
            continue
        try:
            status = path.stat()
            if path.is_file():
                yield _Rollout(
                    str(path), named[1], _parent(str(path), status.st_mtime_ns), status.st_size, status.st_mtime
                )
        except OSError:
            continue  # it was packed or moved while the folder was looked through


@lru_cache(1 << 16)
def _parent(path: str, modified: int) -> str:
    """The thread that started the one of a rollout, as its first line tells."""
    head = _packed_head(path) if path.endswith(".zst") else first_bytes(Path(path), _HEAD)
    head = _INSTRUCTIONS.split(head.partition(b"\n")[0], maxsplit=1)[0]
    named = _PARENT.search(head)
    return named[1].decode() if named is not None and (_SUBAGENT.search(head) or b'"subagent"' in head) else ""


def _packed_head(path: str) -> bytes:
    import zstandard

    try:
        with open(path, "rb") as stream:  # noqa: PTH123  hot
            return zstandard.ZstdDecompressor().stream_reader(stream).read(_HEAD)
    except (OSError, zstandard.ZstdError):
        return b""


def thread_name(found: FoundLog) -> str | None:
    """What the user called a thread, empty where he took the name back; None where the list does not have it."""
    if not found.root:
        return None
    path = Path(found.root) / NAMES
    try:
        status = path.stat()
    except OSError:
        return None
    return _names(str(path), status.st_mtime_ns, status.st_size).get(found.session_id)


@lru_cache(8)
def _names(path: str, modified: int, size: int) -> dict[str, str]:
    """The names of threads; the last that a thread was given counts."""
    if not is_small_file(Path(path), _LARGEST_LIST):
        return {}
    try:
        with open(path, "rb") as stream:  # noqa: PTH123  hot
            said = (mapping(entry.data) for entry in read_entries(stream))
            return {text(one.get("id")): text(one.get("thread_name")).strip() for one in said if text(one.get("id"))}
    except OSError:
        return {}


class CodexPrompts(PromptList):
    """Every prompt that was typed into the terminal, whether its rollout is still there or not."""

    name = PROMPTS

    def prompts(self, home: Path) -> Iterator[TypedPrompt]:
        path = home / PROMPTS
        if not is_small_file(path, _LARGEST_LIST):
            return
        try:
            with path.open("rb") as stream:
                yield from self.prompts_in(stream, lambda _: None)
        except OSError:
            return

    def prompts_in(
        self, lines: Iterable[bytes], pasted: Callable[[str], bytes | None], known: Collection[str] = ()
    ) -> Iterator[TypedPrompt]:
        for entry in read_entries(lines):
            said = mapping(entry.data)
            words = text(said.get("text")).strip()
            if words:
                session, time = text(said.get("session_id")), moment(said.get("ts"))
                command = words.startswith("/") and "/" not in words.split()[0][1:]
                yield TypedPrompt(words, time, "", session, entry.place.offset, command)

    def mentions(self, line: bytes) -> PromptMention:
        try:
            said: Any = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            named = re.findall(rb'"session_id"\s*:\s*"([^"\\]{1,200})"', line)
            sessions = frozenset(name.decode(errors="replace") for name in named)
            return PromptMention(sessions, whole=line.endswith(b"\n"))
        session = text(mapping(said).get("session_id"))
        return PromptMention(frozenset({session} - {""}))


def list_files(home: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The lists of prompts and of names that lie beside the rollouts."""
    for name in (PROMPTS, NAMES):
        path = home / name
        if is_small_file(path, _LARGEST_LIST):
            yield str(path), path.lstat()
