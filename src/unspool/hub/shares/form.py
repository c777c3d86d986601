"""The file in a form that a browser or a script sent (multipart/form-data), taken out on the disk."""

import mmap
import re
from pathlib import Path

from unspool.hub.trouble import Unfit

_FIELD = "file"
_HEAD, _PARTS = 16 * 1024, 100
"""Bytes in front of a part, and parts of a form."""
_MISSING = "Missing file in form data"
_BOUNDARY = re.compile(
    r""";[ \t]*boundary=(?:"([0-9A-Za-z'()+_,./:=? -]{1,70})"|([0-9A-Za-z'+_.-]{1,70}))[ \t]*(?:;|$)""", re.IGNORECASE
)
_NAME = re.compile(
    r"""^content-disposition:[^;\r\n]*(?:;[^;\r\n]*)*?;[ \t]*name=(?:"([^"\r\n]*)"|([^\s;"]+))""",
    re.IGNORECASE | re.MULTILINE,
)
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
    found = _BOUNDARY.search(kind)
    if found is None:
        raise Unfit("The form does not say where its parts end.")
    return b"--" + (found[1] or found[2]).encode()


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
    found = _NAME.search(head.decode("utf-8", "replace"))
    return (found[1] or found[2] or "") if found is not None else ""
