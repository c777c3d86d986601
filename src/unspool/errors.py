"""What can go wrong with an operation. Bad data in a log is never one of these: it is a value.

    UnspoolError            1   anything below
    ├── UsageProblem        2   the command line asks for something impossible
    ├── NotFound            3   no such session, project, file or address
    ├── Ambiguous           4   several sessions fit; the candidates are listed
    ├── Unreadable          5   there, but cannot be read (permission, not a log, too large)
    ├── FetchFailed         6   a URL did not give a log
    ├── AlreadyRunning      7   another process does this already
    ├── Busy                8   another process works on the archive for longer than is waited for
    ├── NoRoom              9   the disk is full; what was safe before still is
    ├── Exists             10   files of other content are where some should go
    ├── Unsound            11   a copy failed its own check, or a log cannot be made sound; nothing was written
    ├── NotAllowed         12   a hub does not know who asks, or does not let them
    ├── Declined           13   a hub took nothing of what was sent: its policy or its limits are against it
    └── NotALog            14   a file holds no session of an agent that is known

Each class carries the exit code that the command line ends with.
"""


class UnspoolError(Exception):
    """An operation failed; the message is one sentence for the user."""

    exit_code = 1


class UsageProblem(UnspoolError):
    """The request contradicts itself or names something that cannot be."""

    exit_code = 2


class NotFound(UnspoolError):
    """Nothing by that name."""

    exit_code = 3


class Ambiguous(UnspoolError):
    """Several things by that name; `candidates` lists them, one line each."""

    exit_code = 4

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(f"  {line}" for line in self.candidates)])


class Unreadable(UnspoolError):
    """It exists but cannot be read."""

    exit_code = 5


class FetchFailed(UnspoolError):
    """A URL did not give a log within the limits."""

    exit_code = 6


class AlreadyRunning(UnspoolError):
    """Another process does this already, and one is enough."""

    exit_code = 7


class Busy(UnspoolError):
    """Another process works on the archive for longer than is waited for."""

    exit_code = 8


class NoRoom(UnspoolError):
    """The disk is full; what was safe before still is."""

    exit_code = 9


class Exists(UnspoolError):
    """Files of other content are where some should go."""

    exit_code = 10


class Unsound(UnspoolError):
    """A copy failed its own check, or a log cannot be made sound; nothing was written."""

    exit_code = 11


class NotAllowed(UnspoolError):
    """A hub does not know who asks, or does not let them."""

    exit_code = 12


class Declined(UnspoolError):
    """A hub took nothing of what was sent; the message says why, in the hub's words."""

    exit_code = 13


class NotALog(UnspoolError):
    """A file holds no session of an agent that is known."""

    exit_code = 14
