"""The session that a copy is made of, and where the copy goes."""

import gc
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from msgspec.structs import replace

from unspool.agents import FORMATS, FoundLog, by_id
from unspool.agents.lines import starts_document
from unspool.agents.writing import LogWriter
from unspool.copies.original import OriginalLog, read_original
from unspool.errors import Unreadable, UsageProblem
from unspool.files import scratch_folder
from unspool.store.library import Library
from unspool.store.library.inputs import is_url
from unspool.store.library.inputs import open_log as opened_log

_HEAD = 4096


class CopySource(NamedTuple):
    """A log to copy, and where it belongs."""

    log: OriginalLog
    home: Path
    """The agent's folder that copies go to."""
    folder: Path | None
    """The folder among the agent's that it lies in; None where it lies elsewhere."""


@contextmanager
def open_source(library: Library, name: str | FoundLog) -> Iterator[CopySource]:
    """What a person's name for a session means, read whole; what goes along with it is there while the `with` lasts."""
    found = library.resolve(name) if isinstance(name, str) else name
    gc.disable()  # lines hold no cycles, and looking for them takes a fifth of the time
    try:
        if isinstance(found, str):
            with _fetched(found) as here:
                yield CopySource(read_original(here, found), own_home(), None)
        else:
            with library.located(found) as here:
                there = bool(found.root) and Path(found.root).is_dir()
                home = Path(found.root) if there else own_home()
                yield CopySource(read_original(here, found.path), home, Path(found.path).parent if there else None)
    finally:
        gc.enable()


@contextmanager
def _fetched(name: str) -> Iterator[FoundLog]:
    """A log that lies by itself; what can be read only once is kept for a while."""
    found = _alone(name)
    if name != "-" and not is_url(name):
        yield found
        return
    with scratch_folder() as folder, opened_log(name) as stream:
        path = folder / "log.jsonl"
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        yield replace(found, path=str(path))


@contextmanager
def open_lines(library: Library, name: str | FoundLog) -> Iterator[tuple[BinaryIO, LogWriter]]:
    """The lines of the log that a person's name means, and who knows what such lines must be."""
    found = library.resolve(name) if isinstance(name, str) else name
    if isinstance(found, str):
        found = _alone(found)
    with library.located(found) as here, opened_log(here.path) as stream:
        if isinstance(stream, io.BufferedReader) and starts_document(stream.peek(_HEAD)[:_HEAD]):
            raise Unreadable(f"{found.path} is one document, not a log of lines, and cannot be resumed.")
        yield stream, by_id(found.format).writer()


def copy_target(source: CopySource, session: str, cwd: str) -> Path:
    """Where a copy goes whose session runs in `cwd`: into the same folder, unless that is another session's."""
    if source.folder is not None and cwd == source.log.facts.cwd:
        return source.folder / f"{session}.jsonl"
    if not cwd:
        raise UsageProblem(f"{source.log.path} names no working folder to put a copy to; -o says where it goes.")
    return source.log.format.writer().place(source.home, cwd, session)


def _alone(name: str) -> FoundLog:
    """A log that lies by itself: standard input, an address, a file elsewhere."""
    stem = "stdin" if name == "-" else name.rstrip("/").rsplit("/", 1)[-1].split(".")[0]
    if not is_url(name) and name != "-" and Path(name).is_dir():
        raise UsageProblem(f"{name} is a folder; name a session.")
    return FoundLog(name, stem, FORMATS[0].id, 0, 0.0)


def own_home() -> Path:
    """The user's own folder of the agent."""
    roots = FORMATS[0].roots(os.environ, Path.home())
    return FORMATS[0].home(roots[0]) or roots[0]
