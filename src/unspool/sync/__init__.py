"""Sources to archive to index: the only writer of both."""

from unspool.sync.report import Report
from unspool.sync.run import sync

__all__ = ["Report", "sync"]
