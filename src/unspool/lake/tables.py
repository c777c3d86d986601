"""The tables of a lake, declared once: names, types and meaning of their columns.

A column may be added at the end of a table. Any other change is a new `version` of the table: a lake of another version
is written anew.
"""

from typing import Literal, NamedTuple

ColumnType = Literal["text", "word", "number", "flag", "time", "dollars"]
"""A text is any string, a word one that recurs. A number has 64 bits, a time microseconds in UTC, and dollars are exact
to the 12th digit after the point. Where a log tells nothing, or an empty text, all of them are NULL."""


class TableColumn(NamedTuple):
    name: str
    type: ColumnType
    meaning: str


class LakeTable(NamedTuple):
    name: str
    meaning: str
    columns: tuple[TableColumn, ...]
    version: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


PARTITIONS = (
    TableColumn("agent", "word", "The coding agent that wrote the log, by its id."),
    TableColumn("month", "word", "The month that the session began in, in UTC: 2026-10; `unknown` where no log tells."),
)
"""Columns of every table that stand in the names of folders."""

_SESSION = TableColumn("session", "word", "The session's id.")
_SUBAGENT = TableColumn("subagent", "word", "The id of the subagent that did it; NULL for the session itself.")
_COPIED = TableColumn("copied", "flag", "Whether it is another session's, whose history this one began with.")
_BRANCH = TableColumn("branch", "number", "The branch of the conversation: 0 is the live one, others were left.")
_TURN = TableColumn("turn", "number", "The turn, as `show --turn` takes it; 0 is before the first prompt.")
_LOG = TableColumn("log", "word", "The log, as it lay when it was read.")
_LINE = TableColumn("line", "number", "Its line in the log, as `show --line` takes it; NULL where no line tells.")
_OFFSET = TableColumn("byte", "number", "The byte that the line begins with.")
_PLACE = (_LOG, _LINE, _OFFSET)
_WHERE = (_SESSION, _SUBAGENT, _BRANCH, _TURN, _COPIED)
_CALL = TableColumn("call", "text", "The id of the tool call.")
_MODEL = TableColumn("model", "word", "The model.")
_TIME = TableColumn("time", "time", "When.")


def _tokens(of: str) -> tuple[TableColumn, ...]:
    return (
        TableColumn("input", "number", f"Tokens that {of} sent, without those from or to the cache."),
        TableColumn("output", "number", f"Tokens that {of} got."),
        TableColumn("cache_read", "number", "Tokens sent that came from the cache."),
        TableColumn("cache_write", "number", "Tokens sent that were written to the cache."),
    )


SESSIONS = LakeTable(
    "sessions",
    "One row a session, as `unspool list` tells it: without what it copied from another, unless it says so.",
    (
        _SESSION,
        TableColumn("title", "text", "What lists call it."),
        TableColumn("kind", "word", "interactive, planning, implementation, headless, background, subagent, ..."),
        TableColumn("listed", "flag", "Whether lists show it unasked; not empty ones and those whose log is gone."),
        TableColumn("project", "word", "The folder of its project."),
        TableColumn("cwd", "word", "The folder that it began in."),
        TableColumn("git_branch", "word", "The git branch that it began on."),
        TableColumn("repository", "word", "The repository, owner/name or an address, where that is known."),
        TableColumn("slug", "word", "The agent's own name for it."),
        TableColumn("agent_version", "word", "The version of the agent that wrote the first line."),
        TableColumn("entrypoint", "word", "How the agent was started, where the log tells."),
        TableColumn("started", "time", "Its first line."),
        TableColumn("ended", "time", "Its last line."),
        TableColumn("turns", "number", "Prompts, abandoned branches and copied ones included."),
        TableColumn("copied_turns", "number", "Of these, prompts of the session that it copied its history from."),
        TableColumn("messages", "number", "Answers of models, copied ones included; subagents' apart."),
        TableColumn("tool_calls", "number", "Tool calls, copied ones included; subagents' apart."),
        TableColumn("tool_errors", "number", "Of these, calls that ran and failed."),
        TableColumn("tool_refusals", "number", "Calls that a person or a rule did not let run."),
        TableColumn("tool_interruptions", "number", "Calls that were broken off."),
        TableColumn("tool_unanswered", "number", "Calls without a result."),
        TableColumn("subagents", "number", "Subagents, nested ones included."),
        TableColumn("compactions", "number", "How often the conversation was compacted."),
        TableColumn("problems", "number", "Lines that could not be read, or only after a repair."),
        TableColumn("lines", "number", "Lines of its log."),
        TableColumn("size", "number", "Bytes of its logs, its subagents' included."),
        TableColumn("models", "text", "The models of its requests, with commas."),
        TableColumn("requests", "number", "Its own requests to models, its subagents' included."),
        *_tokens("its own requests"),
        TableColumn("cost", "dollars", "What its own requests cost at list prices, as far as prices are known."),
        TableColumn("unpriced", "number", "Its own requests without a known price."),
        TableColumn("not_final", "number", "Its own requests without final figures: sums are lower bounds."),
        TableColumn("reported_cost", "dollars", "What the agent itself said it cost."),
        TableColumn("copied_from", "word", "The session that it copied its history from."),
        TableColumn("copied_cost", "dollars", "What the copied requests cost, in the session that made them."),
        TableColumn("continues", "word", "The session whose plan or work it carries on."),
        TableColumn("kept", "flag", "Whether only an archive still had its log."),
        _LOG,
    ),
)

TURNS = LakeTable(
    "turns",
    "One row a turn: a prompt and all that followed it until the next, of sessions and subagents.",
    (
        *_WHERE,
        TableColumn("started", "time", "Its first line."),
        TableColumn("ended", "time", "Its last line."),
        TableColumn("prompt", "word", "The kind of its prompt; NULL for the turn before the first."),
        _MODEL,
        TableColumn("texts", "number", "Texts of the assistant."),
        TableColumn("tool_calls", "number", "Tool calls."),
        TableColumn("tool_errors", "number", "Of these, calls that ran and failed."),
        *_tokens("its requests"),
        TableColumn("context", "number", "Tokens in the window at its last request."),
        *_PLACE,
    ),
)

PROMPTS = LakeTable(
    "prompts",
    "One row a prompt that a person typed, or that a subagent was given.",
    (
        *_WHERE,
        TableColumn("id", "text", "The id of its line."),
        _TIME,
        TableColumn("kind", "word", "text, command, bash, memory, queued, plan."),
        TableColumn("text", "text", "What it says."),
        TableColumn("command", "word", "The slash command."),
        TableColumn("arguments", "text", "What stands after the command."),
        TableColumn("images", "number", "Pictures that came with it."),
        TableColumn("mode", "word", "The permission mode that it was sent in."),
        TableColumn("origin", "word", "How it came: typed, queued, sdk, ..."),
        *_PLACE,
    ),
)

MESSAGES = LakeTable(
    "messages",
    "One row an answer of a model, joined from all lines that carry it.",
    (
        _SESSION,
        _SUBAGENT,
        _COPIED,
        TableColumn("message", "text", "Its id."),
        _MODEL,
        _TIME,
        TableColumn("ended", "time", "Its last line."),
        TableColumn("stop", "word", "Why it ended, in the model's words."),
        TableColumn("effort", "word", "How hard the model was asked to think, where the log tells."),
        TableColumn("synthetic", "flag", "Whether the agent wrote it, not a model."),
        TableColumn("retracted", "flag", "Whether it was taken back."),
        TableColumn("aborted", "flag", "Whether it was broken off."),
        TableColumn("live", "flag", "Whether it stands on the live branch."),
        TableColumn("requests", "number", "Requests that it answers."),
        *_tokens("its requests"),
        _LOG,
        _LINE,
    ),
)

BLOCKS = LakeTable(
    "blocks",
    "One row a piece of a turn, in order: text, thinking, tool call, picture, notice, or what is not known yet.",
    (
        *_WHERE,
        TableColumn("number", "number", "Its place in the turn, from 1."),
        TableColumn("kind", "word", "text, thinking, tool, image, notice, unknown."),
        TableColumn("name", "word", "Of a call its tool, of a notice its kind, of a picture its media type."),
        TableColumn("id", "text", "The id of its line."),
        TableColumn("message", "text", "The message that it is of."),
        _CALL,
        _TIME,
        TableColumn("text", "text", "Its words; those of calls stand in `calls`, and pictures have none."),
        TableColumn("data", "text", "What else a notice tells, or all of what is not known yet, as JSON."),
        *_PLACE,
    ),
)

CALLS = LakeTable(
    "calls",
    "One row a tool call, with its result.",
    (
        *_WHERE,
        _CALL,
        TableColumn("tool", "word", "The tool, in the agent's words."),
        TableColumn("role", "word", "What the tool is for: shell, read, write, edit, search, agent, plan, ..."),
        TableColumn("state", "word", "ok, error, rejected, denied, interrupted, cancelled, unanswered, orphan, ..."),
        TableColumn("outcome", "word", "How it ended: ok, failed, refused, interrupted, unanswered."),
        TableColumn("started", "time", "The call."),
        TableColumn("ended", "time", "Its result."),
        TableColumn("duration", "number", "Milliseconds between the two."),
        TableColumn("arguments", "text", "What the tool was given, as JSON."),
        TableColumn("shell", "text", "What a shell was told to run."),
        TableColumn("file", "text", "The first file that it names."),
        TableColumn("added", "number", "Lines that it added, in all files."),
        TableColumn("removed", "number", "Lines that it removed."),
        TableColumn("result", "text", "What it answered; NULL in a lake without results."),
        TableColumn("result_size", "number", "Characters of the answer."),
        TableColumn("denial", "word", "Why it never ran."),
        TableColumn("feedback", "text", "What the user said when refusing."),
        TableColumn("permission", "word", "Who let it run, or did not: user, rule, mode, hook."),
        TableColumn("server", "flag", "Whether the model's provider ran it."),
        TableColumn("message", "text", "The message that made it."),
        *_PLACE,
        TableColumn("result_line", "number", "The line of its result."),
    ),
)

USAGE = LakeTable(
    "usage",
    "One row a billed request. Sums over rows that are `counted` are what `unspool usage` says.",
    (
        _SESSION,
        _SUBAGENT,
        TableColumn("counted", "flag", "Whether it counts here: a request that several sessions hold counts in one."),
        TableColumn("message", "text", "The message that answered it; 16 digits where only its digest is known."),
        TableColumn("request", "text", "The digest of the request's id; zeros where the log names none."),
        _TIME,
        _MODEL,
        TableColumn("speed", "word", "Its speed, where the log tells."),
        TableColumn("tier", "word", "Its service tier, where the log tells."),
        TableColumn("geo", "word", "Where it was served, where the log tells."),
        *_tokens("it"),
        TableColumn("cache_write_1h", "number", "The part of cache_write that lives an hour."),
        TableColumn("web_searches", "number", "Searches that the provider ran."),
        TableColumn("web_fetches", "number", "Pages that the provider fetched."),
        TableColumn("reasoning", "number", "The part of the output that was thought, where the log tells it apart."),
        TableColumn("final", "flag", "Whether the figures are final; else they are a lower bound."),
        TableColumn("cost", "dollars", "What it cost at list prices; NULL where its price is not known."),
        _LOG,
        _LINE,
    ),
)

FILES = LakeTable(
    "files",
    "One row a file that a call read or changed.",
    (
        *_WHERE,
        _CALL,
        TableColumn("path", "word", "The file; a whole path as far as the log tells."),
        TableColumn("how", "word", "read, write, edit."),
        _TIME,
        TableColumn("added", "number", "Lines added; NULL where the log does not tell."),
        TableColumn("removed", "number", "Lines removed."),
        *_PLACE,
    ),
)

COMMITS = LakeTable(
    "commits",
    "One row a commit that a session made.",
    (
        *_WHERE,
        TableColumn("hash", "text", "Its hash, as git printed it."),
        TableColumn("git_branch", "word", "The git branch that it was made on."),
        TableColumn("message", "text", "The first line of its message."),
        TableColumn("root", "flag", "Whether it is the first of its repository."),
        _TIME,
        _CALL,
        *_PLACE,
    ),
)

PUSHES = LakeTable(
    "pushes",
    "One row a branch that was pushed or a pull request that was opened, each address once a session.",
    (
        _SESSION,
        TableColumn("kind", "word", "push or pull-request."),
        TableColumn("git_branch", "word", "The branch that was pushed."),
        TableColumn("url", "text", "Where it went."),
        TableColumn("repository", "word", "owner/name, where that is known."),
        TableColumn("number", "number", "Of a pull request."),
        _TIME,
        _CALL,
        _LOG,
    ),
)

PLANS = LakeTable(
    "plans",
    "One row a plan that was put forward.",
    (
        _SESSION,
        _BRANCH,
        _TURN,
        _COPIED,
        TableColumn("title", "text", "Its title."),
        TableColumn("text", "text", "The plan."),
        TableColumn("status", "word", "approved, rejected, pending; also where only another session tells."),
        TableColumn("feedback", "text", "What the user said to it."),
        TableColumn("edited", "flag", "Whether the user changed it."),
        TableColumn("path", "text", "The file that it was kept in."),
        TableColumn("settled_by", "word", "The session that carries it out, where only that one tells."),
        *_PLACE,
    ),
)

TODOS = LakeTable(
    "todos",
    "One row a thing to do, as the list stood at the end of the session.",
    (
        _SESSION,
        TableColumn("position", "number", "Its place in the list, from 1."),
        TableColumn("id", "text", "Its id, where it has one."),
        TableColumn("text", "text", "What is to be done."),
        TableColumn("status", "word", "As the agent has it: pending, in_progress, completed, ..."),
        TableColumn("owner", "word", "Who does it."),
        TableColumn("priority", "word", "How pressing it is."),
    ),
)

SUBAGENTS = LakeTable(
    "agents",
    "One row a subagent.",
    (
        _SESSION,
        TableColumn("subagent", "word", "Its id."),
        TableColumn("parent", "word", "The subagent that started it; NULL where the session itself did."),
        _COPIED,
        TableColumn("kind", "word", "What kind of subagent it is."),
        TableColumn("name", "word", "What it is called."),
        TableColumn("description", "text", "What it was started for."),
        _CALL,
        TableColumn("background", "flag", "Whether it worked in the background."),
        TableColumn("status", "word", "How it ended, where the log tells."),
        TableColumn("started", "time", "Its first line."),
        TableColumn("ended", "time", "Its last line."),
        TableColumn("messages", "number", "Answers of its model."),
        TableColumn("tool_calls", "number", "Its tool calls."),
        TableColumn("tool_errors", "number", "Of these, calls that ran and failed."),
        TableColumn("lines", "number", "Lines of its log."),
        _LOG,
    ),
)

FLAGS = LakeTable(
    "flags",
    "One row a place that a scanner says a person should look at.",
    (
        _SESSION,
        TableColumn("scanner", "word", "Which scanner."),
        TableColumn("why", "text", "In a few words."),
        _TURN,
        TableColumn("quote", "text", "The words that it goes by."),
        _LOG,
        _LINE,
    ),
)

PROBLEMS = LakeTable(
    "problems",
    "One row a line that could not be read, or only after a repair; and a log that could not be read at all.",
    (
        _SESSION,
        TableColumn("why", "text", "What is wrong."),
        TableColumn("mended", "flag", "Whether it could be read after a repair."),
        TableColumn("raw", "text", "How the line begins."),
        TableColumn("size", "number", "Bytes of the line."),
        *_PLACE,
    ),
)

TABLES: tuple[LakeTable, ...] = (
    SESSIONS, TURNS, PROMPTS, MESSAGES, BLOCKS, CALLS, USAGE, FILES, COMMITS, PUSHES, PLANS, TODOS, SUBAGENTS, FLAGS,
    PROBLEMS,
)  # fmt: skip
BY_NAME = {table.name: table for table in TABLES}
