"""Derived tables over the archive: search, usage, statistics. Disposable."""
