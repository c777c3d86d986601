"""What a search gives. `unspool search --json` prints just this."""

import msgspec


class Snippet(msgspec.Struct, frozen=True):
    """A piece of a text, and where in it stands what was asked for: pairs of start and end, in characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    before: bool = False
    """Whether text was left out before it."""
    after: bool = False


class Hit(msgspec.Struct, frozen=True):
    """One place that was found."""

    kind: str
    """title, prompt, answer, thinking, call, result or notice."""
    snippet: Snippet
    turn: int | None
    """The turn of its log, in the order of the log; null where the whole session is meant, as by its title."""
    time: int | None = None
    """Milliseconds of the epoch; null where there is no turn."""
    anchor: str = ""
    """What its block is called on the pages of its session; of its turn, where the line has no time."""
    tool: str = ""
    error: bool = False
    agent: str = ""
    """The subagent that it was met in."""
    log: str = ""
    """The log, below its source, and the byte where the line begins."""
    place: int = 0
    link: str = ""
    """The command that opens it."""
    file: str = ""
    """The file that was touched, where files are asked for."""
    how: str = ""
    """What was done with it: read, write or edit."""


class FoundSession(msgspec.Struct, frozen=True):
    """A session, how often it was hit, and its best hits."""

    session: str
    title: str
    project: str
    kind: str
    branch: str
    started: float | None
    ended: float | None
    cost: float
    """Dollars at list prices."""
    score: float
    """Greater is better; 0 where nothing was weighed and the newest comes first."""
    count: int
    """How many places were hit."""
    hits: tuple[Hit, ...]
    resume: str = ""
    """The command that goes on with it in its agent."""


class Results(msgspec.Struct, frozen=True):
    """Sessions, the best first."""

    sessions: tuple[FoundSession, ...]
    sessions_found: int | None
    """How many there are in all; null where the search stopped when it had enough."""
    hits_found: int | None
    notes: tuple[str, ...] = ()
    """What was mended in the question or left out of it, a sentence each."""

    def noting(self, notes: tuple[str, ...]) -> "Results":
        """The same, with more notes."""
        return msgspec.structs.replace(self, notes=(*notes, *self.notes)) if notes else self
