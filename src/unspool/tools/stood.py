"""A file as it stood before and after a call, as far as the log lets it be known."""

from typing import NamedTuple

from unspool.doc import Hunk


class Stood(NamedTuple):
    """All of a file before and after a call; None where that is not known. A file that was not there is empty."""

    before: str | None = None
    after: str | None = None


def patched(text: str, hunks: tuple[Hunk, ...]) -> str | None:
    """The text with a patch applied; None where the patch is of another text."""
    lines = text.split("\n")
    made: list[str] = []
    at = 0
    for hunk in hunks:
        old = [line[1:] for line in hunk.lines if line[:1] in " -"]
        start = max(hunk.old_start - 1, 0) if old else hunk.old_start
        if start < at or lines[start : start + len(old)] != old:
            return None
        made += lines[at:start]
        made += [line[1:] for line in hunk.lines if line[:1] in " +"]
        at = start + len(old)
    return "\n".join(made + lines[at:])
