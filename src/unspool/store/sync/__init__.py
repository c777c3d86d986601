"""Sources to archive to index: the only writer of both. Imports the rest of the store."""

from unspool.store.sync.run import SyncChoices, SyncReport, sync

__all__ = ["SyncChoices", "SyncReport", "sync"]
