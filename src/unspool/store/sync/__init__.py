"""Sources to archive to index: the only writer of both."""

from unspool.store.sync.run import SyncReport, sync

__all__ = ["SyncReport", "sync"]
