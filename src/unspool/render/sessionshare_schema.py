"""The words of session-share's normalised document, schema version 1: ten types of entries and what frames them.

Fields without a value are left out. `diffData` of its file entries is not among ours: it is the inner form of one
version of a JavaScript library, and is optional to readers.
"""

from typing import Final, Literal

import msgspec

from unspool.model import Json

VERSION: Final = "1"


class _Plain(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A part of the document."""


class EntryPicture(_Plain, frozen=True):
    """An image in base64."""

    data: str
    mime_type: str
    label: str = ""


class EntryAuthor(_Plain, frozen=True):
    """Who answered."""

    model: str = ""


class BaseEntry(_Plain, frozen=True, tag_field="type", kw_only=True):
    """What every entry may have; an id stands once, further entries of its line name it as their parent."""

    id: str = ""
    created_at: str = ""
    parent_id: str = ""


class MessageEntry(BaseEntry, frozen=True, tag="message"):
    """Words of a person, of the model, or of the agent around them (system)."""

    role: Literal["user", "assistant", "system"]
    content: tuple[str, ...]
    images: tuple[EntryPicture, ...] = ()
    meta: EntryAuthor | None = None


class ThinkingEntry(BaseEntry, frozen=True, tag="thinking"):
    """Reasoning that the log kept."""

    content: tuple[str, ...]
    description: str = ""
    meta: EntryAuthor | None = None


class TextResult(_Plain, frozen=True, tag_field="type", tag="text"):
    """An answer in words."""

    text: str


class JsonResult(_Plain, frozen=True, tag_field="type", tag="json"):
    """An answer as data."""

    data: Json


class ErrorResult(_Plain, frozen=True, tag_field="type", tag="error"):
    """An answer that says why not."""

    message: str
    data: Json = None


class ToolCallEntry(BaseEntry, frozen=True, tag="tool_call"):
    """A tool used; without `result` where none was given."""

    name: str
    input: Json
    description: str = ""
    result: TextResult | JsonResult | ErrorResult | None = None
    issued_by: Literal["assistant", "user"] | None = None


class SummaryEntry(BaseEntry, frozen=True, tag="summary"):
    """What a compaction left."""

    content: str


class WriteFileEntry(BaseEntry, frozen=True, tag="write_file"):
    """A file written whole."""

    path: str
    content: str


class EditFileEntry(BaseEntry, frozen=True, tag="edit_file"):
    """A piece of a file replaced by another."""

    path: str
    old_content: str
    new_content: str


class TodoItem(_Plain, frozen=True):
    """One thing to do."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class TodoListEntry(BaseEntry, frozen=True, tag="todo_list"):
    """The whole list as it stood."""

    todos: tuple[TodoItem, ...]


class TaskEntry(BaseEntry, frozen=True, tag="task"):
    """Subagents of one kind started one after the other: what each was for, and the calls that started them."""

    name: str
    content: tuple[str, ...]
    tool_calls: tuple[ToolCallEntry, ...] = ()


class PlanEntry(BaseEntry, frozen=True, tag="plan"):
    """A plan and what became of it."""

    status: Literal["pending", "approved", "rejected"]
    title: str
    content: str
    feedback: str = ""


class AnsweredQuestion(_Plain, frozen=True):
    """A question; without `answer` where none was given."""

    question: str
    answer: str | None = None


class QuestionnaireEntry(BaseEntry, frozen=True, tag="questionnaire"):
    """Questions put to the user together."""

    questions: tuple[AnsweredQuestion, ...]


Entry = (
    MessageEntry
    | ThinkingEntry
    | ToolCallEntry
    | SummaryEntry
    | WriteFileEntry
    | EditFileEntry
    | TodoListEntry
    | TaskEntry
    | PlanEntry
    | QuestionnaireEntry
)


class SessionEnvironment(_Plain, frozen=True):
    """Where the session worked."""

    cwd: str = ""
    repo: str = ""
    git_branch: str = ""


class SessionMeta(_Plain, frozen=True):
    """What is known of the session as a whole."""

    id: str
    title: str = ""
    started_at: str = ""
    models: tuple[str, ...] = ()
    environment: SessionEnvironment | None = None


class WritingAgent(_Plain, frozen=True):
    """The agent that wrote the log."""

    name: str = ""
    version: str = ""


class SessionShareDocument(_Plain, frozen=True):
    """A session as session-share's viewers read it."""

    schema_version: Literal["1"]
    agent: WritingAgent
    meta: SessionMeta
    entries: tuple[Entry, ...]
