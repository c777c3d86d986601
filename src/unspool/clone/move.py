"""A session in another folder, of another user or on another machine: every path in it rewritten alike."""

import os
from pathlib import Path

from unspool.clone import titles
from unspool.clone.draught import Draught, Wish, drawn
from unspool.clone.original import Original
from unspool.clone.treatment import PRESETS
from unspool.errors import UsageProblem

Paths = tuple[tuple[str, str], ...]


class Move:
    """Where a session goes: the working folder, the agent's folder, and what else is renamed on the way."""

    def __init__(self, to: Path, home: Path, renamed: Paths = ()) -> None:
        self.cwd = os.path.realpath(to.expanduser())
        self.home = home
        self._renamed = renamed

    def paths(self, log: Original) -> Paths:
        """What is renamed in a session, the longest first."""
        writer, found = log.format.writer(), log.found
        old = log.facts.cwd
        if not old:
            raise UsageProblem(f"{log.path} names no working folder that could be rewritten.")
        pairs = dict(writer.moves(old, self.cwd, (found.root, str(self.home)))) | dict(self._renamed)
        return tuple(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair)))

    def drawn(self, log: Original, title: str = "", command: str = "move") -> Draught:
        """The session as it will be there."""
        options: dict[str, object] = {"to": self.cwd, "renamed": [list(pair) for pair in self._renamed]}
        title = title or titles.marked(log, "moved" if command == "move" else "imported")
        wish = Wish(command, title, paths=self.paths(log), options=options)
        return drawn(log, PRESETS["none"], wish)


def renamed(pairs: tuple[str, ...]) -> Paths:
    """OLD=NEW, several times."""
    made = []
    for pair in pairs:
        old, sign, new = pair.partition("=")
        if not (old and sign and new):
            raise UsageProblem(f"“{pair}” renames nothing; /old/path=/new/path does.")
        made.append((old.rstrip("/"), new.rstrip("/")))
    return tuple(made)
