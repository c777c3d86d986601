"""Derived tables over the archive: search, usage, statistics; thrown away and made anew at will. Imports the archive
and the model."""
