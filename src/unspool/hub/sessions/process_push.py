"""All that the hub makes of a pushed session, in a process of its own: its facts, words, requests and pages.

What is large is left in files of a folder, in which nothing but this session lies.
"""

import gzip
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.agents import FoundLog
from unspool.figures import figures
from unspool.hub.errors import BadRequest, PolicyViolation
from unspool.hub.policy import RedactionPolicy, findings_sentence, is_packed, policy_findings
from unspool.hub.sessions.session_rows import Passage, RequestRow, SessionColumns, passages, requests, session_columns
from unspool.model import Session
from unspool.site.address import Addresses
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame
from unspool.site.session_pages import session_folder
from unspool.store.library import Library
from unspool.store.sync.extract import ExtractJob, extract_rows

SENT, MADE = "projects/pushed", "made"
"""Folders: what was sent, and what is made of it."""
_KINDS = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".css": "text/css"}
_OPTIONS = SiteOptions()
_FRAME = Frame(root="../../", crumbs=(Crumb("Sessions", "sessions"),))


class MadePage(NamedTuple):
    """A page that was made; it lies packed in the file of its number."""

    name: str
    kind: str
    digest: str
    size: int


class MadeSession(NamedTuple):
    """What was made; passages and requests lie in files."""

    facts: SessionColumns
    pages: tuple[MadePage, ...]


def make_session(folder: Path, key: str, dialect: str, policy: RedactionPolicy | None) -> MadeSession:
    """Everything of a session whose files lie in a folder, for a database; Unwanted where policy keeps it out."""
    found = _found(folder, key)
    if any(is_packed(name, path) for name, path in _files(folder / SENT)):
        raise BadRequest("A log is packed; send plain lines.")
    if policy is not None and (findings := policy_findings(_files(folder / SENT), policy)):
        raise PolicyViolation(findings_sentence(findings))
    (folder / MADE).mkdir()
    library = Library((folder / "projects",))
    rows = extract_rows(ExtractJob(found, {}, library.prices))
    if isinstance(rows, str):
        raise BadRequest("The log cannot be read.")
    session = _placeless(library.open(found))
    addresses = Addresses(session, _OPTIONS)
    _write(folder / MADE / "passages", passages(rows, session, addresses, dialect))
    _write(folder / MADE / "requests", requests(rows))
    return MadeSession(session_columns(rows), tuple(_pages(session, library, folder / MADE)))


def remake_pages(folder: Path, key: str) -> tuple[MadePage, ...]:
    """Only the pages, as this version of the program makes them."""
    found = _found(folder, key)
    (folder / MADE).mkdir()
    library = Library((folder / "projects",))
    return tuple(_pages(_placeless(library.open(found)), library, folder / MADE))


def read_passages(folder: Path) -> Iterator[Passage]:
    """The passages that were made."""
    return _read(folder / MADE / "passages", Passage)


def read_requests(folder: Path) -> Iterator[RequestRow]:
    """The requests that were made."""
    return _read(folder / MADE / "requests", RequestRow)


def page_file(folder: Path, number: int) -> Path:
    """Where a page lies, packed."""
    return folder / MADE / f"page-{number}"


def _found(folder: Path, key: str) -> FoundLog:
    path = str(folder / SENT / f"{key}.jsonl")
    found = next((log for log in Library((folder / "projects",)).logs() if log.path == path), None)
    if found is None:
        raise BadRequest("What was sent is no log of an agent that is known here.")
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def _pages(session: Session, library: Library, folder: Path) -> Iterator[MadePage]:
    counted = figures(session, library.prices)
    frame = replace(_FRAME, prices=library.prices)
    for number, (name, data) in enumerate(session_folder(session, counted, _OPTIONS, frame)):
        page_file(folder.parent, number).write_bytes(gzip.compress(data, 6, mtime=0))
        kind = _KINDS.get(Path(name).suffix, "application/octet-stream")
        yield MadePage(name, kind, sha256(data).hexdigest(), len(data))


def _placeless(session: Session) -> Session:
    """The session without a place of this machine."""
    agents = tuple(replace(one, session=_placeless(one.session)) for one in session.agents)
    return replace(session, log=replace(session.log, path=Path(session.log.path).name, modified=None), agents=agents)


def _write(path: Path, rows: Iterable[NamedTuple]) -> None:
    with path.open("wb") as file:
        file.writelines(chain.from_iterable((msgspec.json.encode(row), b"\n") for row in rows))


def _read(path: Path, kind: Any) -> Iterator[Any]:
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for line in file:
            yield decoder.decode(line)
