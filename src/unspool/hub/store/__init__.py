"""Where a hub keeps things: records in a database (`database`: SQLite or PostgreSQL), contents by their digest in an
object store (`blobs`: a folder or S3). Imports nothing else of the hub.

`schema` has the tables, `connect` opens both by address, `copy` moves and saves a whole hub, `verify` proves and
tidies it.
"""
