"""Commands that an agent runs for us when something happens to a session, as an edit of its settings."""

from pathlib import Path
from typing import NamedTuple

MARK = "unspool-hook"
"""A word of every such command, by which it is known again."""


class Edit(NamedTuple):
    """A file as it is and as it would be; nothing is written yet."""

    path: Path
    before: bytes
    """Empty where the file is not there."""
    after: bytes

    @property
    def changes(self) -> bool:
        return self.before != self.after
