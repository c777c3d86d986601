"""Bundles as people send them, good and hostile, and persons who send them."""

import gzip
import io
import json
import tarfile
from collections.abc import Iterable

from tests.log_builder.builder import LogBuilder
from unspool.hub.people.tokens import create_token
from unspool.hub.people.users import add_user
from unspool.hub.store.connect import Store

SESSION = "0b5e7a11-5e55-4a1e-9a7e-000000000001"
GZIP = {"Content-Type": "application/gzip"}


def log(said: str = "The tide table is ready.", session: str = SESSION) -> LogBuilder:
    """A session of two turns."""
    one = LogBuilder(session_id=session, cwd="/home/user/tidewater")
    one.prompt("Make a tide table").assistant(one.text(said))
    return one.prompt("Thank you").assistant(one.text("Gladly."))


def lines(one: LogBuilder | None = None) -> bytes:
    """A session's log."""
    (data,) = [data for name, data in (one or log()).tree().items() if name.endswith(".jsonl")]
    return data


def bundle(one: LogBuilder | None = None, **more: bytes) -> bytes:
    """A session as session-share's script packs it; `more` are further members, by their names."""
    meta = f"BUNDLE_VERSION=1\nSESSION_ID={SESSION}\nAGENT=CC\n".encode()
    return packed({"metadata.txt": meta, "session.jsonl": lines(one), **more}.items())


def packed(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A gzipped tar of some files."""
    return gzip.compress(tarred([(named(name, len(data)), data) for name, data in members]), 1)


def tarred(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A tar of some members, whatever they are."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def named(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    """A member's head."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info


def form(field: str, data: bytes, edge: str = "the-edge") -> tuple[bytes, dict[str, str]]:
    """A form with one file beside another field, and its headers."""
    parts = (
        f'--{edge}\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n'
        f'--{edge}\r\nContent-Disposition: form-data; name="{field}"; filename="s.tar.gz"\r\n'
        "Content-Type: application/gzip\r\n\r\n"
    )
    body = parts.encode() + data + f"\r\n--{edge}--\r\n".encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={edge}"}


def token(store: Store, name: str, scope: str = "all", *, admin: bool = False) -> str:
    """A new person's token."""
    person = add_user(store.db, name, "person", admin=admin)
    return create_token(store.db, person, "test", scope=scope)


def counts(store: Store) -> dict[str, int]:
    """How many rows there are of what an upload leaves."""
    found = {}
    for table in ("share", "share_file", "blob"):
        (row,) = store.db.rows(f"SELECT count(*) FROM {table}")  # noqa: S608
        found[table] = row[0]
    return found


def ndjson(*rows: object) -> bytes:
    """Lines of JSON."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
