"""The tables of `archive.db`, and how an archive of an earlier version becomes one of this."""

APPLICATION = 0x756E7370
"""`unsp`, so that the file says what it is."""
VERSION = 1

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A place that files came from: whose, on which machine.
CREATE TABLE origin(
  id INTEGER PRIMARY KEY,
  machine TEXT NOT NULL, user TEXT NOT NULL, root TEXT NOT NULL, agent TEXT NOT NULL,
  UNIQUE(machine, user, root)
);

CREATE TABLE file(
  id INTEGER PRIMARY KEY,
  origin INTEGER NOT NULL REFERENCES origin,
  path TEXT NOT NULL,                 -- below the root, with slashes
  UNIQUE(origin, path)
);

-- What a file held. A file that grew is the same generation; one that was rewritten or shrank begins a new one.
CREATE TABLE generation(
  id INTEGER PRIMARY KEY,
  file INTEGER NOT NULL REFERENCES file,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,          -- nanoseconds
  changed INTEGER NOT NULL,           -- nanoseconds of the last change of its inode; 0 where it must be looked at again
  inode INTEGER NOT NULL,
  seen REAL NOT NULL,                 -- when it was first kept
  gone REAL,                          -- when it was first missed at its origin
  chain BLOB NOT NULL,                -- digest over where it came from, the generation before it, and every piece
  UNIQUE(file, number)
);

-- Bytes of a generation, in order, as a slice of a pack.
CREATE TABLE piece(
  generation INTEGER NOT NULL REFERENCES generation,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  pack INTEGER NOT NULL REFERENCES pack,
  place INTEGER NOT NULL,             -- byte offset in the unpacked pack
  digest BLOB NOT NULL,               -- SHA-256 of the bytes
  PRIMARY KEY(generation, start)
) WITHOUT ROWID;
CREATE INDEX piece_digest ON piece(digest);
CREATE INDEX piece_pack ON piece(pack);

-- Bytes of many files together, compressed with zstd; `base` is a pack that they are compressed against.
CREATE TABLE pack(
  id INTEGER PRIMARY KEY,
  size INTEGER NOT NULL,              -- unpacked
  base INTEGER REFERENCES pack,
  data BLOB NOT NULL
);

-- Ids that packs hold, a few of them, for finding the pack that new content resembles.
CREATE TABLE trait(hash INTEGER PRIMARY KEY, pack INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX trait_pack ON trait(pack);

-- Files that were removed for good and must not come back, by a digest of their name alone.
CREATE TABLE tombstone(name BLOB PRIMARY KEY, time REAL NOT NULL) WITHOUT ROWID;
"""

MIGRATIONS: dict[int, str] = {}
"""SQL that brings an archive of a version to the next."""
