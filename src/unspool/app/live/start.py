"""Where the reading of a long session that goes on begins: at a turn, with what the log said before it.

Whoever follows a session sees its last turns. They are read by themselves, so that a look costs what came since, not
what there is.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from unspool.app.reading.told import Reading
from unspool.figures import all_turns
from unspool.formats import by_id
from unspool.formats.lines import Cursor
from unspool.model import Dialect, Facts, Plan, Questionnaire, Result, Session, Titles, Todo, Todos, ToolCall
from unspool.site.options import SiteOptions

LONG = 1024 * 1024
"""Bytes of a log from which on its last turns are read by themselves."""


class Start(NamedTuple):
    """A turn that begins a page, and what is known from before it."""

    number: int
    cursor: Cursor
    time: datetime | None
    dialect: Dialect
    titles: Titles
    cwd: str
    repository: str


def start(told: Reading, options: SiteOptions, first: int) -> Start | None:
    """The turn that begins the page of a turn; None where the log is short, or no such turn is there to begin at."""
    session, scene = told.session, told.scene(options)
    if session.log.size < LONG or not told.found.path.endswith(".jsonl"):
        return None
    leaves = (leaf.turns for leaf in scene.addresses.live.leaves)
    turn = next((turns[0] for turns in leaves if any(turn.number == first for turn in turns)), None)
    if turn is None or turn.prompt is None or not turn.prompt.id or turn.number < 2:
        return None
    place = turn.prompt.place
    cursor = Cursor(place.offset, place.line)
    dialect = _primed(told, session, cursor)
    return Start(turn.number, cursor, turn.started, dialect, session.titles, session.cwd, scene.repository)


def _primed(told: Reading, session: Session, cursor: Cursor) -> Dialect:
    """The dialect as it is at a place: todo lists and plan files of before are known to it."""
    inner = by_id(told.found.format).dialect(told.found, Facts(slug=session.slug))
    tasks: dict[str, Todo] = {}
    for call in sorted(_before(session, cursor.offset), key=lambda call: call.place.offset):
        if call.role == "todos":
            inner.todos(call, tasks)
        else:
            inner.note(call)
    return _Continued(inner, tasks)


def _before(session: Session, offset: int) -> Iterator[ToolCall]:
    """The calls that matter to later ones, whichever branch they stand on."""
    for turn in all_turns(session):
        for block in turn.blocks:
            if isinstance(block, ToolCall) and block.role in ("write", "edit", "todos") and block.place.offset < offset:
                yield block


class _Continued:
    """A dialect whose todo lists begin with those of before."""

    def __init__(self, inner: Dialect, tasks: dict[str, Todo]) -> None:
        self._inner, self._tasks = inner, tasks
        self.agent, self.named = inner.agent, inner.named

    def note(self, call: ToolCall) -> None:
        self._inner.note(call)

    def plan(self, call: ToolCall) -> Plan | None:
        return self._inner.plan(call)

    def questions(self, call: ToolCall) -> Questionnaire | None:
        return self._inner.questions(call)

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        if not before:
            before.update(self._tasks)
        return self._inner.todos(call, before)

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        return self._inner.agent_ids(call)

    def agent_prompt(self, call: ToolCall) -> str:
        return self._inner.agent_prompt(call)

    def state(self, result: Result) -> str:
        return self._inner.state(result)
