"""What the doctor checks, in the order it tells. Adding a check is a file and a line here."""

from collections.abc import Callable, Iterator

from unspool.sync.checks.archive import archive
from unspool.sync.checks.cleanup import cleanup
from unspool.sync.checks.ghosts import ghosts
from unspool.sync.checks.index import index
from unspool.sync.checks.keeping import keeping
from unspool.sync.checks.reading import reading
from unspool.sync.checks.room import room
from unspool.sync.checks.sources import sources
from unspool.sync.checks.stalled import stalled
from unspool.sync.checks.watching import watching
from unspool.sync.finding import Finding
from unspool.sync.scene import Scene

Check = Callable[[Scene], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    sources, cleanup, keeping, stalled, reading, archive, index, room, watching, ghosts,
)  # fmt: skip
