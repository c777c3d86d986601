"""The file in a form that a browser or a script sent (multipart/form-data), taken out on the disk."""

import mmap
import re
from email.message import Message
from pathlib import Path

from unspool.hub.trouble import Unfit

_FIELD = "file"
_HEAD, _PARTS = 16 * 1024, 100
"""Bytes in front of a part, and parts of a form."""
_MISSING = "Missing file in form data"
_BOUNDARY = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{1,70}")
_CHUNK = 1024 * 1024


def file_of(form: Path, kind: str, to: Path) -> Path:
    """The field `file` of a form, as a file of its own; Unfit where there is none."""
    edge = _edge(kind)
    if form.stat().st_size == 0:
        raise Unfit(_MISSING)
    with form.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, end = _extent(data, edge)
        with to.open("xb") as out:
            for at in range(start, end, _CHUNK):
                out.write(data[at : min(at + _CHUNK, end)])
    return to


def _edge(kind: str) -> bytes:
    """What stands between parts."""
    said = Message()
    said["Content-Type"] = kind
    boundary = said.get_param("boundary")
    raw = boundary.encode("latin-1", "replace") if isinstance(boundary, str) else b""
    if not _BOUNDARY.fullmatch(raw):
        raise Unfit("The form does not say where its parts end.")
    return b"--" + raw


def _extent(data: mmap.mmap, edge: bytes) -> tuple[int, int]:
    """From where to where the file lies."""
    at = data.find(edge)
    for _ in range(_PARTS):
        head = data.find(b"\r\n\r\n", at, at + _HEAD) if at >= 0 else -1
        if head < 0:
            break
        end = data.find(b"\r\n" + edge, head + 2)
        if end < 0:
            raise Unfit("The form breaks off.")
        if _name(data[at + len(edge) : head]) == _FIELD:
            return head + 4, max(end, head + 4)
        at = end + 2
    raise Unfit(_MISSING)


def _name(head: bytes) -> str:
    """The name of a part's field."""
    for line in head.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            said = Message()
            said["Content-Disposition"] = value.strip()
            found = said.get_param("name", header="content-disposition")
            return found if isinstance(found, str) else ""
    return ""
