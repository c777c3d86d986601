"""The hub's tables and its full text."""

from unspool.errors import UsageProblem
from unspool.hub.store.database import Database, get_setting, set_setting

_FIRST = """
CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- People. `kind` is person, service, or owner for the first one; `quota` is bytes, empty for the hub's usual one.
CREATE TABLE person(
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, admin SMALLINT NOT NULL,
  quota BIGINT, created BIGINT NOT NULL, ended BIGINT
);
-- What lets a person in. `kind` is token (given to programs) or browser (a cookie); only digests are kept.
-- `scope` is all, read or push.
CREATE TABLE token(
  id TEXT PRIMARY KEY, person TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, scope TEXT NOT NULL,
  label TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT, used BIGINT, ended BIGINT
);
CREATE INDEX token_person ON token(person);
CREATE TABLE invitation(
  digest TEXT PRIMARY KEY, made_by TEXT NOT NULL, name TEXT NOT NULL, team TEXT, admin SMALLINT NOT NULL,
  created BIGINT NOT NULL, expires BIGINT NOT NULL, taken BIGINT, ended BIGINT
);
CREATE TABLE team(id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created BIGINT NOT NULL);
CREATE TABLE member(team TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY(team, person));
CREATE INDEX member_person ON member(person);

-- Projects of the team archive. `policy` is JSON, empty for the hub's own.
CREATE TABLE project(id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, policy TEXT NOT NULL, created BIGINT NOT NULL);
-- Who may what: `kind` is person or team; `level` 0 none, 1 read, 2 write, 3 own.
CREATE TABLE permit(
  project TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, level SMALLINT NOT NULL,
  PRIMARY KEY(project, kind, subject)
);
CREATE INDEX permit_subject ON permit(kind, subject);

-- Contents by digest, of what they are when unpacked. `encoding` is how the object is packed: zstd, gzip or nothing;
-- `key` is its own in the object store, never used for another one; `created` is when it was last sent, `unused` since
-- when it is known that nothing refers to it.
CREATE TABLE blob(
  digest TEXT PRIMARY KEY, size BIGINT NOT NULL, stored BIGINT NOT NULL, encoding TEXT NOT NULL, key TEXT NOT NULL,
  created BIGINT NOT NULL, unused BIGINT
);
CREATE INDEX blob_created ON blob(created);
-- Who sent a content: only they are told that it is here.
CREATE TABLE sent(person TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY(person, digest));

-- Shares. `version` counts updates in place; `facts` is JSON for lists and previews.
CREATE TABLE share(
  address TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, password TEXT NOT NULL,
  raw SMALLINT NOT NULL, listed SMALLINT NOT NULL, version BIGINT NOT NULL, size BIGINT NOT NULL, facts TEXT NOT NULL,
  created BIGINT NOT NULL, updated BIGINT NOT NULL, expires BIGINT, ended BIGINT
);
CREATE INDEX share_owner ON share(owner, created);
CREATE INDEX share_expires ON share(expires);
-- The files of a share's present version: its pages and, as bundle.tar.gz, what was sent.
CREATE TABLE share_file(
  address TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY(address, name)
);
CREATE INDEX share_file_digest ON share_file(digest);

-- Sessions of the team archive. `key` is the session's own id, `state` the digest of its manifest,
-- `made` what its pages were made by, `source` the key of the session it goes on from.
-- `finished` is 0 where no line tells a time.
CREATE TABLE session(
  id TEXT PRIMARY KEY, project TEXT NOT NULL, person TEXT NOT NULL, key TEXT NOT NULL, agent TEXT NOT NULL,
  title TEXT NOT NULL, kind TEXT NOT NULL, branch TEXT NOT NULL, slug TEXT NOT NULL, source TEXT NOT NULL,
  started BIGINT, finished BIGINT NOT NULL, turns BIGINT NOT NULL, messages BIGINT NOT NULL, calls BIGINT NOT NULL,
  errors BIGINT NOT NULL, tokens BIGINT NOT NULL, cost BIGINT NOT NULL, unpriced BIGINT NOT NULL,
  models TEXT NOT NULL, size BIGINT NOT NULL, state TEXT NOT NULL, made TEXT NOT NULL,
  created BIGINT NOT NULL, updated BIGINT NOT NULL, UNIQUE(project, person, key)
);
CREATE INDEX session_finished ON session(project, finished, id);
CREATE INDEX session_newest ON session(finished, id);
CREATE INDEX session_person ON session(person, finished, id);
CREATE INDEX session_key ON session(key);
CREATE INDEX session_source ON session(source);
CREATE INDEX session_slug ON session(slug);
-- The files of a session as they were sent, each the sum of its pieces.
CREATE TABLE piece(
  session TEXT NOT NULL, name TEXT NOT NULL, position BIGINT NOT NULL, digest TEXT NOT NULL, size BIGINT NOT NULL,
  PRIMARY KEY(session, name, position)
);
CREATE INDEX piece_digest ON piece(digest);
CREATE TABLE session_page(
  session TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY(session, name)
);
CREATE INDEX session_page_digest ON session_page(digest);

-- Billed requests. `shared` is 1 where another session holds the same one: of those, each is counted once among
-- whatever sessions one may see. `day` is of UTC, empty where the time is not known; `final` is 0 where the figures are
-- a lower bound; no cost is no known price.
CREATE TABLE request(
  session TEXT NOT NULL, number BIGINT NOT NULL, identity TEXT NOT NULL, shared SMALLINT NOT NULL, day TEXT NOT NULL,
  model TEXT NOT NULL, input BIGINT NOT NULL, output BIGINT NOT NULL, cache_read BIGINT NOT NULL,
  cache_write BIGINT NOT NULL, final SMALLINT NOT NULL, cost BIGINT, PRIMARY KEY(session, number)
);
CREATE INDEX request_identity ON request(identity);
CREATE INDEX request_shared ON request(identity) WHERE shared = 1;

-- Who did what to what. Rows are sealed in order soon after: `seq` and a digest that covers the row before, so that a
-- change anywhere shows.
CREATE TABLE audit(
  id TEXT PRIMARY KEY, at BIGINT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, what TEXT NOT NULL,
  target TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, seq BIGINT UNIQUE, digest TEXT
);
CREATE INDEX audit_at ON audit(at);
CREATE INDEX audit_target ON audit(target);
CREATE INDEX audit_person ON audit(person);
-- Legal holds on a share, session, project or person.
CREATE TABLE hold(
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, target TEXT NOT NULL, made_by TEXT NOT NULL, reason TEXT NOT NULL,
  created BIGINT NOT NULL, ended BIGINT
);
CREATE INDEX hold_target ON hold(kind, target);
-- What was erased: the digests of what it was, never more.
CREATE TABLE tombstone(
  kind TEXT NOT NULL, target TEXT NOT NULL, made_by TEXT NOT NULL, at BIGINT NOT NULL, proof TEXT NOT NULL,
  PRIMARY KEY(kind, target)
);
-- How much somebody did in a span of time.
CREATE TABLE pace(who TEXT NOT NULL, span BIGINT NOT NULL, amount BIGINT NOT NULL, PRIMARY KEY(who, span));
"""

_WORDS = {
    "sqlite": """
CREATE TABLE passage(
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, turn BIGINT NOT NULL, kind TEXT NOT NULL, link TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX passage_session ON passage(session);
CREATE VIRTUAL TABLE words USING fts5(
  body, content='passage', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);
INSERT INTO words(words, rank) VALUES('secure-delete', 1);
CREATE TRIGGER passage_in AFTER INSERT ON passage BEGIN
  INSERT INTO words(rowid, body) VALUES(new.id, new.body);
END;
CREATE TRIGGER passage_out AFTER DELETE ON passage BEGIN
  INSERT INTO words(words, rowid, body) VALUES('delete', old.id, old.body);
END;
""",
    "postgresql": """
CREATE TABLE passage(
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session TEXT NOT NULL, turn BIGINT NOT NULL, kind TEXT NOT NULL,
  link TEXT NOT NULL, body TEXT NOT NULL, words TSVECTOR NOT NULL
);
CREATE INDEX passage_session ON passage(session);
CREATE INDEX passage_words ON passage USING gin(words);
""",
}
"""The texts of sessions and their full text as they were until texts moved to the object store (`texts`)."""

MARK = "copying"
"""The setting of a hub that is being made as a copy of another one, and is none yet."""

_PARENTS = """
-- `parent` is the id of the token or browser that something was made with, and ends with: empty where it was made with
-- none, as at the command line, and NULL where that was not written down.
ALTER TABLE token ADD COLUMN parent TEXT;
ALTER TABLE invitation ADD COLUMN parent TEXT;
CREATE INDEX token_parent ON token(parent);
"""

_NAMES = """
-- A name is sealed by `name_mark`, a digest of it and of `name_salt`: it is erased with the salt, and what was sealed
-- stays and tells nothing then. NULL in rows of before.
ALTER TABLE audit ADD COLUMN name_salt TEXT;
ALTER TABLE audit ADD COLUMN name_mark TEXT;
"""

_OPEN = """
-- Requests whose log never held the final figures: what the session cost is a lower bound where there are any.
ALTER TABLE session ADD COLUMN open BIGINT NOT NULL DEFAULT 0;
UPDATE session SET open = (SELECT count(*) FROM request WHERE request.session = session.id AND request.final = 0);
"""

_ENDS = """
-- How tool calls ended that neither went well nor failed. Sessions of before are counted when their pages are made
-- anew.
ALTER TABLE session ADD COLUMN refused BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN interrupted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN unanswered BIGINT NOT NULL DEFAULT 0;
"""

_HISTORY = """
-- The lines that turns begin with, by 64 bits of their ids; 0 in `passage` where there is none. A session that begins
-- turns with the same lines copied them, and they are found in the first of those that one may see. `forked` is 1 where
-- its log says itself that a session is a copy.
ALTER TABLE session ADD COLUMN forked SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE passage ADD COLUMN line BIGINT NOT NULL DEFAULT 0;
CREATE TABLE opening(session TEXT NOT NULL, line BIGINT NOT NULL, PRIMARY KEY(session, line));
CREATE INDEX opening_line ON opening(line);
"""

_WORK = """
-- What a session was asked first, cut short, and what came of it: commits, files changed, lines. Sessions of before are
-- counted when their pages are made anew.
ALTER TABLE session ADD COLUMN asked TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN commits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN files BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN added BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN removed BIGINT NOT NULL DEFAULT 0;
UPDATE session SET asked = coalesce((SELECT substr(passage.body, 1, 300) FROM passage WHERE passage.session = session.id
  AND passage.kind = 'prompt' ORDER BY passage.id + 0 LIMIT 1), '');
CREATE INDEX share_created ON share(created);
"""

_TEXTS = """
-- The texts of sessions lie in the object store, a content each; `month` is where their parts are.
CREATE TABLE session_text(session TEXT PRIMARY KEY, digest TEXT NOT NULL, month BIGINT NOT NULL);
CREATE INDEX session_text_digest ON session_text(digest);
"""
_PARTS = {
    "sqlite": """
-- A part of a session's texts: where its frame lies in the content, a digest of it, a bit for each kind of passage, and
-- its different words. They are cut already, so that full text has only spaces to mind.
CREATE TABLE text_part(
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, number BIGINT NOT NULL, month BIGINT NOT NULL, place BIGINT NOT NULL,
  size BIGINT NOT NULL, mark TEXT NOT NULL, kinds BIGINT NOT NULL, words TEXT NOT NULL
);
CREATE INDEX text_part_session ON text_part(session, number);
CREATE VIRTUAL TABLE words_of_part USING fts5(
  words, content='text_part', content_rowid='id', detail='none', columnsize=0, tokenize='ascii'
);
INSERT INTO words_of_part(words_of_part, rank) VALUES('secure-delete', 1);
CREATE TRIGGER text_part_in AFTER INSERT ON text_part BEGIN
  INSERT INTO words_of_part(rowid, words) VALUES(new.id, new.words);
END;
CREATE TRIGGER text_part_out AFTER DELETE ON text_part BEGIN
  INSERT INTO words_of_part(words_of_part, rowid, words) VALUES('delete', old.id, old.words);
END;
DROP TRIGGER passage_in;
DROP TRIGGER passage_out;
DROP TABLE words;
""",
    "postgresql": """
-- A part of a session's texts: where its frame lies in the content, a digest of it, a bit for each kind of passage, and
-- its different words. A month has a partition from the first session of it on; without a time they are in the last.
CREATE TABLE text_part(
  session TEXT NOT NULL, number BIGINT NOT NULL, month BIGINT NOT NULL, place BIGINT NOT NULL, size BIGINT NOT NULL,
  mark TEXT NOT NULL, kinds BIGINT NOT NULL, words TSVECTOR NOT NULL
) PARTITION BY RANGE(month);
CREATE INDEX text_part_session ON text_part(session, number);
CREATE INDEX text_part_words ON text_part USING gin(words) WITH (fastupdate = off);
CREATE TABLE text_part_other PARTITION OF text_part DEFAULT;
DROP INDEX passage_words;
""",
}
"""Words of parts as they were until they had numbers and signatures: full text in each database's own route."""

UNMADE = -1
"""The year of a session whose texts lie in the object store, and whose parts are still to be made."""
_SIGNATURES = """
-- `year` is where a session's parts are, -1 where they are still to be made of its texts.
ALTER TABLE session_text RENAME COLUMN month TO year;
UPDATE session_text SET year = -1;
CREATE INDEX session_text_unmade ON session_text(session) WHERE year = -1;
DROP TABLE text_part;
"""
_SIGNED_PARTS = {
    "sqlite": """
DROP TABLE words_of_part;
-- A part of a session's texts: where its frame lies in the content, a digest of it, its signature (`signature.py`), and
-- the numbers of its words and of how they begin (`words.py`), as words of letters and digits.
CREATE TABLE text_part(
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, number BIGINT NOT NULL, year BIGINT NOT NULL, place BIGINT NOT NULL,
  size BIGINT NOT NULL, mark TEXT NOT NULL, signature BLOB NOT NULL, words TEXT NOT NULL
);
CREATE INDEX text_part_session ON text_part(session, number);
CREATE VIRTUAL TABLE words_of_part USING fts5(
  words, content='text_part', content_rowid='id', detail='none', columnsize=0, tokenize='ascii'
);
INSERT INTO words_of_part(words_of_part, rank) VALUES('secure-delete', 1);
CREATE TRIGGER text_part_in AFTER INSERT ON text_part BEGIN
  INSERT INTO words_of_part(rowid, words) VALUES(new.id, new.words);
END;
CREATE TRIGGER text_part_out AFTER DELETE ON text_part BEGIN
  INSERT INTO words_of_part(words_of_part, rowid, words) VALUES('delete', old.id, old.words);
END;
""",
    "postgresql": """
-- A part of a session's texts: where its frame lies in the content, a digest of it, its signature (`signature.py`), and
-- the numbers of its words and of how they begin (`words.py`). A year has a partition from the first session of it
-- on; without a time they are in the last. Neither signatures nor numbers can be packed.
CREATE TABLE text_part(
  session TEXT NOT NULL, number BIGINT NOT NULL, year BIGINT NOT NULL, place BIGINT NOT NULL, size BIGINT NOT NULL,
  mark TEXT NOT NULL, signature BYTEA NOT NULL, words INTEGER[] NOT NULL
) PARTITION BY RANGE(year);
ALTER TABLE text_part ALTER signature SET STORAGE EXTERNAL, ALTER words SET STORAGE EXTERNAL;
CREATE INDEX text_part_session ON text_part(session, number);
CREATE INDEX text_part_words ON text_part USING gin(words) WITH (fastupdate = off);
CREATE TABLE text_part_other PARTITION OF text_part DEFAULT;
""",
}

_AGENTS = {
    "sqlite": """
-- One person may push sessions of two agents that have one id; each is a session of its own.
CREATE TABLE session_of_agent(
  id TEXT PRIMARY KEY, project TEXT NOT NULL, person TEXT NOT NULL, key TEXT NOT NULL, agent TEXT NOT NULL,
  title TEXT NOT NULL, kind TEXT NOT NULL, branch TEXT NOT NULL, slug TEXT NOT NULL, source TEXT NOT NULL,
  started BIGINT, finished BIGINT NOT NULL, turns BIGINT NOT NULL, messages BIGINT NOT NULL, calls BIGINT NOT NULL,
  errors BIGINT NOT NULL, tokens BIGINT NOT NULL, cost BIGINT NOT NULL, unpriced BIGINT NOT NULL,
  models TEXT NOT NULL, size BIGINT NOT NULL, state TEXT NOT NULL, made TEXT NOT NULL,
  created BIGINT NOT NULL, updated BIGINT NOT NULL, open BIGINT NOT NULL DEFAULT 0,
  refused BIGINT NOT NULL DEFAULT 0, interrupted BIGINT NOT NULL DEFAULT 0, unanswered BIGINT NOT NULL DEFAULT 0,
  forked SMALLINT NOT NULL DEFAULT 0, asked TEXT NOT NULL DEFAULT '', commits BIGINT NOT NULL DEFAULT 0,
  files BIGINT NOT NULL DEFAULT 0, added BIGINT NOT NULL DEFAULT 0, removed BIGINT NOT NULL DEFAULT 0
);
INSERT INTO session_of_agent SELECT id, project, person, key, agent, title, kind, branch, slug, source, started,
  finished, turns, messages, calls, errors, tokens, cost, unpriced, models, size, state, made, created, updated, open,
  refused, interrupted, unanswered, forked, asked, commits, files, added, removed FROM session;
DROP TABLE session;
ALTER TABLE session_of_agent RENAME TO session;
CREATE INDEX session_finished ON session(project, finished, id);
CREATE INDEX session_newest ON session(finished, id);
CREATE INDEX session_person ON session(person, finished, id);
CREATE INDEX session_key ON session(key);
CREATE INDEX session_source ON session(source);
CREATE INDEX session_slug ON session(slug);
CREATE INDEX session_state ON session(project, person, state);
""",
    "postgresql": """
-- One person may push sessions of two agents that have one id; each is a session of its own.
ALTER TABLE session DROP CONSTRAINT session_project_person_key_key;
CREATE INDEX session_state ON session(project, person, state);
""",
}

STEPS: tuple[dict[str, str], ...] = (
    {name: _FIRST + words for name, words in _WORDS.items()},
    dict.fromkeys(_WORDS, _PARENTS),
    dict.fromkeys(_WORDS, _NAMES),
    dict.fromkeys(_WORDS, _OPEN),
    dict.fromkeys(_WORDS, _ENDS),
    dict.fromkeys(_WORDS, _HISTORY),
    dict.fromkeys(_WORDS, _WORK),
    {name: _TEXTS + parts for name, parts in _PARTS.items()},
    {name: _SIGNATURES + parts for name, parts in _SIGNED_PARTS.items()},
    _AGENTS,
)
"""What makes version n + 1 of version n, for each dialect. A step that is released never changes."""


def schema_version(db: Database) -> int:
    """The version of the tables; 0 where there are none."""
    return int(get_setting(db, "version") or 0) if table_exists(db, "setting") else 0


def table_exists(db: Database, name: str) -> bool:
    there = {
        "sqlite": "SELECT 1 FROM sqlite_master WHERE name = ?",
        "postgresql": "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
    }[db.dialect]
    return db.row(there, name) is not None


def drop_moved_passages(db: Database) -> None:
    """Inside a transaction: have no table any more of the texts that have all moved to the object store."""
    if (
        table_exists(db, "passage")
        and table_exists(db, "text_part")
        and db.row("SELECT 1 FROM passage WHERE session <> '' LIMIT 1") is None
    ):
        db.script("DROP TABLE passage")


def without_timeout(db: Database) -> None:
    """Inside a transaction: it takes what time it takes, and others wait for it."""
    if db.dialect == "postgresql":
        db.script(
            "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;"
            "SET LOCAL idle_in_transaction_session_timeout = 0"
        )


def migrate(db: Database) -> int:
    """Bring the tables to this version, whoever else tries at the same time; the version they were of."""
    if schema_version(db) == len(STEPS):
        return len(STEPS)
    with db.transaction():
        without_timeout(db)
        db.alone("migrate")
        was = schema_version(db)
        if was > len(STEPS):
            raise UsageProblem(f"The hub's database was written by a newer unspool (version {was}); upgrade to use it.")
        for step in STEPS[was:]:
            db.script(step[db.dialect])
        if was < len(STEPS):
            set_setting(db, "version", str(len(STEPS)))
            drop_moved_passages(db)
    return was
