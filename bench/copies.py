"""A large source made of copies of a small one, each with names of its own, as fast as the disk takes them."""

import re
from pathlib import Path

_MARK = b"\0"
"""Stands where the number of a copy belongs; no log holds it, since JSON writes it otherwise."""
NAMES = re.compile(
    rb'(["/][0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{5})[0-9a-f]{7}\b'  # sessions and lines; the last digits go
    rb'|"(?:msg|req|toolu)_\w+'
    rb'|"slug":"[\w-]+'
    rb"|/home/\w+/(?:work/)?[\w-]+|/-home-\w+-[\w-]+"  # projects, as folders and as the agent writes them
)
"""What must differ in each copy, lest copies count as one."""


def copy(template: Path, folder: Path, mb: float) -> None:
    """Fill `folder` with copies of the files of `template`, as many as come nearest to `mb` MB; one at least."""
    files = [path for path in sorted(template.rglob("*")) if path.is_file()]
    times = max(1, round(mb * 1_000_000 / sum(path.stat().st_size for path in files)))
    for path in files:
        name = _marked(f"/{path.relative_to(template).as_posix()}".encode())[1:]
        text = _marked(path.read_bytes())
        for number in range(1, times + 1):
            own = b"%07x" % number
            target = folder / name.replace(_MARK, own).decode()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.replace(_MARK, own))


def _marked(text: bytes) -> bytes:
    return NAMES.sub(lambda found: (found[1] or found[0]) + _MARK, text)
