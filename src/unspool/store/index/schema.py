"""The tables of `index.db`. Everything in it is derived from the archive: delete it and the next sync makes it anew.

Numbers that repeat are kept small: names of models and tools, and paths of files, are kept once and meant by
number; money is whole picodollars (10^-12 of a dollar), so that sums are exact; times are seconds of the epoch, but
those of turns, which are milliseconds, for addresses are made of them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unspool.model.blocks import CallEnd
    from unspool.prices import PriceTable

VERSION = 14
"""Another figure in the file, and it is made anew."""


def index_salt(prices: "PriceTable") -> str:
    """What all rows depend on besides the logs: another one, and every session is read anew."""
    return f"{VERSION} {prices.digest}"


PICO = 10**12
"""Picodollars of a dollar."""

KINDS = ("title", "prompt", "answer", "thinking", "call", "result", "notice")
"""What a document is, by its number."""

ROLES = {"user": ("prompt",), "assistant": ("answer", "thinking", "call"), "tool": ("result",)}
"""Who said it."""

TOUCHES = ("read", "write", "edit")
"""What was done with a file, by its number."""

CALL_ENDS: "tuple[CallEnd, ...]" = ("failed", "refused", "interrupted", "unanswered")
"""The ends of calls that have columns, in their order; `failed` is called `errors`."""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- One row a session. `state` tells what it was derived from: unequal to the archive's, it is derived anew.
CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,                 -- its id; with its agent and a colon before it where another agent has that id too
  session_id TEXT NOT NULL,          -- its id, as its agent knows it
  agent TEXT NOT NULL,               -- the id of the agent that it is of
  origin INTEGER NOT NULL,           -- the archive's number of the place it came from
  path TEXT NOT NULL,                -- of its log, below that place
  state BLOB NOT NULL,
  named TEXT NOT NULL,               -- files of several sessions that it depends on too, a line each
  project TEXT NOT NULL,
  cwd TEXT NOT NULL,                 -- the folder that it worked in
  slug TEXT NOT NULL,                -- the name that its agent made for it
  title TEXT NOT NULL,
  kind TEXT NOT NULL,                -- as in the model; `ghost` where only traces of it survive
  branch TEXT NOT NULL,
  started REAL, ended REAL,
  turns INTEGER NOT NULL, messages INTEGER NOT NULL, calls INTEGER NOT NULL,
  -- Calls that did not go well, by how they ended: `errors` failed.
  errors INTEGER NOT NULL, refused INTEGER NOT NULL, interrupted INTEGER NOT NULL, unanswered INTEGER NOT NULL,
  -- Of its own requests, subagents included; what it copied from another session was paid there.
  cost INTEGER NOT NULL,             -- picodollars of what has a price
  unpriced INTEGER NOT NULL,         -- requests whose model has no known price
  open INTEGER NOT NULL,             -- requests without final figures
  forked INTEGER NOT NULL,           -- 1 where its log says itself that it is a copy
  version_of INTEGER,                -- the row of the same session that is shown, where this is another file of it
  history INTEGER,                   -- the row of the session that it copied its history from
  copied INTEGER NOT NULL DEFAULT 0, -- prompts that stand there too
  overview BLOB NOT NULL,            -- the whole Overview, in msgpack; empty for a ghost
  ids BLOB NOT NULL,                 -- 64 bits of its lines' ids, for telling copies; empty for a ghost
  prompts BLOB NOT NULL,             -- the same of its prompts alone
  UNIQUE(origin, path)
);
CREATE INDEX session_key ON session(key);
CREATE INDEX session_own_id ON session(session_id, agent);

-- The logs of a session: its own (number 0) and its subagents'.
CREATE TABLE log(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  number INTEGER NOT NULL,
  path TEXT NOT NULL,                -- below the session's origin
  agent TEXT NOT NULL,               -- the subagent's id; empty for the session's own log
  generation INTEGER NOT NULL,       -- of the archive
  size INTEGER NOT NULL              -- bytes of that generation that were read
);
CREATE INDEX log_session ON log(session);

CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE file(id INTEGER PRIMARY KEY, path TEXT NOT NULL);

-- A prompt and what followed it in its log. Number 0: what stands before the first prompt. On the live branch, 0, the
-- number is what `show --turn` takes; on one that was left, turns go on counting from where it was.
CREATE TABLE turn(
  id INTEGER PRIMARY KEY,
  log INTEGER NOT NULL,
  number INTEGER NOT NULL,
  branch INTEGER NOT NULL,
  time INTEGER,                      -- milliseconds
  place INTEGER NOT NULL,            -- byte offset of its first line
  model INTEGER,                     -- name of the model that answered first
  doc INTEGER NOT NULL,              -- its first document
  docs INTEGER NOT NULL,             -- how many it has: their ids follow one another
  line INTEGER NOT NULL,             -- 64 bits of the id of its first line
  copied INTEGER NOT NULL            -- 1 where another session owns it, so that it is found and counted there
);
CREATE INDEX turn_log ON turn(log);

-- A document: one searchable piece of a turn. Its text is in `words` under the same id, and in the archive at `place`.
CREATE TABLE doc(
  id INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL,
  kind INTEGER NOT NULL,             -- KINDS
  place INTEGER NOT NULL,            -- byte offset of its line
  tool INTEGER,                      -- name of the tool, of calls and results
  error INTEGER                      -- 1 where a result says it failed
);

CREATE VIRTUAL TABLE words USING fts5(
  text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);

CREATE TABLE touch(
  turn INTEGER NOT NULL,
  file INTEGER NOT NULL,
  how INTEGER NOT NULL,              -- TOUCHES
  time REAL,
  doc INTEGER NOT NULL,              -- the call
  added INTEGER, removed INTEGER     -- lines; unknown where the log does not tell
);
CREATE INDEX touch_file ON touch(file);
CREATE INDEX touch_turn ON touch(turn);

CREATE TABLE git_commit(
  turn INTEGER NOT NULL, hash TEXT NOT NULL, branch TEXT NOT NULL, message TEXT NOT NULL, time REAL
);
CREATE INDEX git_commit_turn ON git_commit(turn);
-- Branches that were pushed, and pull requests that were opened or spoken of.
CREATE TABLE push(
  session INTEGER NOT NULL,
  kind TEXT NOT NULL,                -- as in the model
  branch TEXT NOT NULL, url TEXT NOT NULL, repository TEXT NOT NULL, number INTEGER NOT NULL, time REAL
);
CREATE INDEX push_session ON push(session);
CREATE TABLE plan(turn INTEGER NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL);
CREATE INDEX plan_turn ON plan(turn);
CREATE TABLE todo(session INTEGER NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL);
CREATE INDEX todo_session ON todo(session);

-- Tool calls, counted, and how those ended that did not go well.
CREATE TABLE tally(
  turn INTEGER NOT NULL, tool INTEGER NOT NULL, calls INTEGER NOT NULL,
  errors INTEGER NOT NULL, refused INTEGER NOT NULL, interrupted INTEGER NOT NULL, unanswered INTEGER NOT NULL
);
CREATE INDEX tally_turn ON tally(turn);

-- Billed requests. Copies of one request in several sessions: `counts` is 1 on the row of the session that began
-- first, which then holds the larger of each figure; sums over rows with counts = 1 are exact.
CREATE TABLE request(
  session INTEGER NOT NULL,
  message INTEGER NOT NULL, request INTEGER NOT NULL, -- 64 bits of their ids
  time REAL,
  terms INTEGER NOT NULL,            -- what the price depends on besides the figures
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, web_searches INTEGER NOT NULL, web_fetches INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,        -- the part of the output that was thought, where the log tells it apart
  final INTEGER NOT NULL,            -- 0 where the figures are a lower bound
  agent INTEGER,                     -- log of the subagent that made it
  counts INTEGER NOT NULL,
  cost INTEGER                       -- picodollars; unknown where its model has no price
);
CREATE INDEX request_message ON request(message);
CREATE INDEX request_session ON request(session);
-- What a session's own log says of a request, where its row in `request` holds more because a copy elsewhere says more.
CREATE TABLE own(
  session INTEGER NOT NULL, message INTEGER NOT NULL, request INTEGER NOT NULL, time REAL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, web_searches INTEGER NOT NULL, web_fetches INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,        -- the part of the output that was thought, where the log tells it apart
  final INTEGER NOT NULL, cost INTEGER,
  PRIMARY KEY(session, message, request)
) WITHOUT ROWID;
-- What requests wrote to the cache although it had been there. Those count whose row in `request` counts.
CREATE TABLE rewrite(
  session INTEGER NOT NULL, message INTEGER NOT NULL, request INTEGER NOT NULL,
  cause INTEGER NOT NULL,            -- CAUSES of model.window
  tokens INTEGER NOT NULL,
  cost INTEGER                       -- picodollars more than reading them would have cost
);
CREATE INDEX rewrite_session ON rewrite(session);
-- What was put into the windows of a session and its subagents, estimated.
CREATE TABLE filled(
  session INTEGER NOT NULL,
  kind INTEGER NOT NULL,             -- KINDS of model.window; one more for what no log holds
  tool INTEGER,                      -- name of the tool, where it was one's input or output
  tokens INTEGER NOT NULL
);
CREATE INDEX filled_session ON filled(session);
-- Context files: what sessions ran under or left beside their logs.
CREATE TABLE context_file(
  id INTEGER PRIMARY KEY,
  origin INTEGER NOT NULL,           -- the archive's number of the place it came from
  path TEXT NOT NULL,                -- below that place
  place TEXT NOT NULL,               -- its whole path
  kind TEXT NOT NULL,                -- CONTEXT_KINDS of the agents
  agents TEXT NOT NULL,              -- ids of those whose sessions run under it, with spaces around each
  folder TEXT NOT NULL,              -- of a project: sessions that work there or below it run under it
  project TEXT NOT NULL,             -- empty where it holds for all
  UNIQUE(origin, path)
);
-- What it held, a row for each generation of the archive; its words are in `context_text` under the same id.
CREATE TABLE context_version(
  id INTEGER PRIMARY KEY,
  file INTEGER NOT NULL,
  number INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  size INTEGER NOT NULL,
  time REAL NOT NULL,                -- since when it was so, as far as that is known
  until REAL,                        -- since when it is so no longer
  kept REAL NOT NULL,                -- when it was first kept
  digest TEXT NOT NULL               -- of its words; empty where it holds none
);
CREATE INDEX context_version_file ON context_version(file);
CREATE VIRTUAL TABLE context_text USING fts5(
  text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
-- Context files that a session's logs say were loaded, and the folders of files that it touched.
CREATE TABLE loaded(session INTEGER NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL);
CREATE INDEX loaded_session ON loaded(session);
CREATE INDEX loaded_path ON loaded(path);
CREATE TABLE worked(session INTEGER NOT NULL, folder TEXT NOT NULL);
CREATE INDEX worked_session ON worked(session);
CREATE INDEX worked_folder ON worked(folder);
CREATE TABLE terms(
  id INTEGER PRIMARY KEY, model TEXT NOT NULL, speed TEXT NOT NULL, tier TEXT NOT NULL, geo TEXT NOT NULL,
  UNIQUE(model, speed, tier, geo)
);
"""
