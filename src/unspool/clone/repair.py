"""A damaged session, mended before it is copied like any other."""

import io

from unspool.clone.bridge import Bridge
from unspool.clone.original import Original
from unspool.formats.findings import Mended


def mended(log: Original) -> tuple[Original, Mended]:
    """The log as it can be resumed, and what was done to it."""
    done = log.format.writer().mended(io.BytesIO(log.data + log.unfinished), Bridge(log).parents)
    return Original(b"".join(done.lines), log.found, log.path) if done.deeds else log, done
