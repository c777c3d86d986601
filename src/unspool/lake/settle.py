"""What only all sessions of a lake together tell: who owns history that several hold, titles, plans carried out
elsewhere. For that every session is remembered as a list counts it, so that none has to be read again."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from hashlib import sha256
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from unspool.agents import FoundLog
from unspool.agents.checkout import worktree_name
from unspool.lake.manifest import KNOWN
from unspool.lake.parquet import arrow_schema, arrow_table, read_parts
from unspool.lake.rows import ConversationFacts, Row, session_row
from unspool.lake.storage import LakeStorage
from unspool.lake.tables import LakeTable, TableColumn
from unspool.model import Overview, Session, SharedHistory, Usage
from unspool.prices import BilledCall, PriceTable
from unspool.reading.ledger import CallLedger
from unspool.store.library.chains import source_id
from unspool.store.library.history import CountedLog, DividedLog, mark_copied
from unspool.store.library.listing import link_logs

KNOWN_TABLE = LakeTable(
    KNOWN,
    "What is remembered of every session.",
    (
        TableColumn("agent", "word", "The coding agent."),
        TableColumn("session", "text", "The session's id."),
        TableColumn("state", "text", "A digest of all that its rows were made of."),
        TableColumn("shared", "text", "A digest of what other sessions told when its rows were made."),
        TableColumn("month", "word", "The month that its rows stand in."),
        TableColumn("folder", "word", "The folder that its log lies in."),
        TableColumn("source", "text", "The session that it says it continues."),
        TableColumn("project", "word", "The folder of its project; of a work tree none, for that may be another's."),
        TableColumn("slug", "text", "The agent's own name for it."),
    ),
)
"""Besides these columns, `messages` (64 bits of the id of each that was paid) and `counted` (a SessionMemo)."""
_BINARY = (pa.field("messages", pa.binary()), pa.field("counted", pa.binary()))
LakeKey = tuple[str, str]
"""Agent and session."""


class SessionMemo(msgspec.Struct, frozen=True, array_like=True):
    """A session as a list counts it, before other sessions are asked."""

    found: FoundLog
    overview: Overview | None
    ids: bytes
    prompts: bytes
    requests: list[BilledCall]
    facts: ConversationFacts
    plan: str = ""
    """The plan that its first prompt carries out."""
    failure: str = ""


class SharedFacts(msgspec.Struct, frozen=True, array_like=True):
    """What other sessions tell of one: what it copied, what is its own, and which of its plans they carry out."""

    copied_from: str = ""
    copied_lines: bytes = b""
    own: list[BilledCall] = []
    copied: list[BilledCall] = []
    plans: list[tuple[str, str]] = []

    @property
    def digest(self) -> str:
        """Empty where they tell nothing."""
        return "" if self == SharedFacts() else sha256(msgspec.msgpack.encode(self)).hexdigest()[:32]

    def applied(self, session: Session, counted: CountedLog) -> tuple[Session, DividedLog]:
        """A session with what it copied marked, and what is its own told apart."""
        if self == SharedFacts():
            return session, DividedLog(counted, counted.ledger)
        lines = frozenset(array("Q", self.copied_lines))
        copied = ledger_of(self.copied) if self.copied else None
        source = counted.found.agent_id, self.copied_from
        divided = DividedLog(counted, ledger_of(self.own), source, lines, copied)
        if not lines and copied is None:
            return session, divided
        return mark_copied(session, divided, SharedHistory(self.copied_from)), divided


def ledger_of(requests: Iterable[BilledCall]) -> CallLedger:
    ledger = CallLedger()
    for message, request, time, terms, figures, final in requests:
        ledger.enter((message, request), Usage(*figures, floor=not final), time, terms)
    return ledger


def memo_of(session: Session, counted: CountedLog, facts: ConversationFacts) -> SessionMemo:
    found = msgspec.structs.replace(counted.found, agents=(), versions=())
    plan = next((turn.prompt.plan for turn in session.turns if turn.prompt is not None), None)
    return SessionMemo(
        found, counted.overview, array("Q", counted.ids).tobytes(), array("Q", counted.prompts).tobytes(),
        list(counted.ledger.rows()), facts, plan.text if plan is not None else "",
    )  # fmt: skip


class KnownRow(NamedTuple):
    """One row of what is remembered."""

    agent: str
    session: str
    state: str
    shared: str
    month: str
    memo: SessionMemo

    @property
    def messages(self) -> bytes:
        return array("Q", sorted({message for message, *_ in self.memo.requests})).tobytes()


@cache
def known_schema() -> pa.Schema:
    plain = arrow_schema(KNOWN_TABLE)
    return pa.schema([*plain, *_BINARY], metadata=plain.metadata)


def known_table(rows: list[KnownRow]) -> pa.Table:
    plain = arrow_table(KNOWN_TABLE, [_plain(row) for row in rows])
    encode = msgspec.msgpack.Encoder().encode
    columns = [[row.messages for row in rows], [encode(row.memo) for row in rows]]
    arrays = [pa.array(values, pa.binary()) for values in columns]
    return pa.Table.from_arrays([*plain.columns, *arrays], schema=known_schema())


def _plain(row: KnownRow) -> Row:
    one, log = row.memo.overview, row.memo.found.path
    told = ("", "", "")
    if one is not None:
        project = "" if worktree_name(one.cwd) else one.project
        told = (source_id(one.source) if one.source else "", project, one.slug)
    return (row.agent, row.session, row.state, row.shared, row.month, log.rpartition("/")[0], *told)


class Settlement(NamedTuple):
    """What changes in a lake because some of its sessions did."""

    sessions: dict[LakeKey, Row]
    """Rows of sessions that are to be written anew."""
    shared: dict[LakeKey, SharedFacts]
    """Sessions whose other rows are too, and what other sessions tell of them by now."""


_LOT = 20_000
"""Sessions that are looked at together, unless more of them have to be."""


class _Ties:
    """Which of many numbers hang together."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def top(self, number: int) -> int:
        """The same one for all that hang together."""
        while self._above[number] != number:
            self._above[number] = number = self._above[self._above[number]]
        return number

    def tie(self, one: int, other: int) -> None:
        self._above[self.top(one)] = self.top(other)


class RememberedSessions:
    """What is remembered of all sessions of a lake. What takes room is loaded when it is asked for."""

    def __init__(self, light: pa.Table, heavy: Callable[[], pa.Table]) -> None:
        self._light, self._load = light, heavy
        keys = zip(light["agent"].to_pylist(), light["session"].to_pylist(), strict=True)
        self._rows: dict[LakeKey, int] = {key: number for number, key in enumerate(keys)}

    @classmethod
    def load(cls, storage: LakeStorage, paths: Sequence[str]) -> "RememberedSessions":
        """Those that files tell of."""
        schema, heavy = known_schema(), [field.name for field in _BINARY]
        light = read_parts(storage, paths, schema, KNOWN_TABLE.names)
        return cls(light, lambda: read_parts(storage, paths, schema, heavy))

    def replaced(self, gone: Collection[LakeKey], others: "RememberedSessions") -> "RememberedSessions":
        """The same without some sessions, and with others."""
        kept = pa.array([number for key, number in self._rows.items() if key not in gone], pa.int64())
        light = pa.concat_tables([self._light.take(kept), others._light])
        return RememberedSessions(light, lambda: pa.concat_tables([self._heavy.take(kept), others._heavy]))

    @cached_property
    def _heavy(self) -> pa.Table:
        return self._load()

    @property
    def keys(self) -> Collection[LakeKey]:
        return self._rows.keys()

    def told(self, key: LakeKey, column: str) -> str:
        """What one of the plain columns says of a session; empty where it is not known."""
        number = self._rows.get(key)
        return "" if number is None else self._light[column][number].as_py() or ""

    def memo(self, key: LakeKey) -> SessionMemo | None:
        """None of a session that could not be read, or that another version of unspool remembered."""
        try:
            found = msgspec.msgpack.decode(self._heavy["counted"][self._rows[key]].as_py(), type=SessionMemo)
        except msgspec.DecodeError:
            return None
        return found if found.overview is not None else None

    def around(self, keys: Collection[LakeKey]) -> set[LakeKey]:
        """These sessions, as far as they are known, and all that may tell something of them or of each other: what
        holds the same messages, lies in the same folder, or names one of them."""
        found: set[LakeKey] = set()
        fresh = {key for key in keys if key in self._rows}
        while fresh:
            found |= fresh
            fresh = (self._beside(fresh) | self._sharing(fresh)) - found
        return found

    def _sharing(self, keys: Collection[LakeKey]) -> set[LakeKey]:
        """Sessions that hold messages of these."""
        messages, owners = self._messages
        mine = pa.array(sorted(self._rows[key] for key in keys), pa.uint32())
        held = messages.filter(pc.is_in(owners, value_set=mine)).unique()
        holders = set(owners.filter(pc.is_in(messages, value_set=held)).unique().to_pylist())
        return {key for key, number in self._rows.items() if number in holders}

    def _beside(self, keys: Collection[LakeKey]) -> set[LakeKey]:
        columns = (self._light[name].to_pylist() for name in ("agent", "session", "folder", "source"))
        rows = list(zip(*columns, strict=True))
        mine = [row for row in rows if row[:2] in keys]
        folders, names = {(row[0], row[2]) for row in mine}, {row[1] for row in mine}
        named = {row[3] for row in mine if row[3]}
        return {
            (agent, session)
            for agent, session, folder, source in rows
            if (agent, folder) in folders or session in named or source in names
        }

    @cached_property
    def _messages(self) -> tuple[pa.Array, pa.Array]:
        """Every message that was paid, and the row that it is of."""
        column = self._heavy["messages"].to_pylist()
        owners = array("I", (number for number, some in enumerate(column) for _ in range(len(some) // 8)))
        data = b"".join(column)
        return (
            pa.Array.from_buffers(pa.uint64(), len(data) // 8, [None, pa.py_buffer(data)]),
            pa.Array.from_buffers(pa.uint32(), len(owners), [None, pa.py_buffer(owners.tobytes())]),
        )

    def _shared_messages(self) -> tuple[pa.Array, pa.Array]:
        """Messages that several sessions hold, and the row that each is of."""
        messages, owners = self._messages
        groups = pa.table({"message": messages, "owner": owners}).group_by("message", use_threads=False)
        ends = groups.aggregate([("owner", "min"), ("owner", "max")])
        several = ends.filter(pc.not_equal(ends["owner_min"], ends["owner_max"]))["message"]
        wanted = pc.is_in(messages, value_set=several.combine_chunks())
        return messages.filter(wanted), owners.filter(wanted)

    def _sharers(self) -> set[LakeKey]:
        """Sessions that hold messages of others."""
        numbers = set(self._shared_messages()[1].unique().to_pylist())
        return {key for key, number in self._rows.items() if number in numbers}

    def settle(self, touched: Collection[LakeKey], prices: PriceTable) -> Iterator[Settlement]:
        """What these sessions are among each other, a lot of them at a time; all that are around them must be among
        them."""
        sharers = self._sharers()
        for lot in self._lots(touched):
            yield self._settle_lot(lot, sharers, prices)

    def _lots(self, touched: Collection[LakeKey]) -> Iterator[list[LakeKey]]:
        """Sessions in lots of which none tells anything of another, as `around` has it."""
        ties = _Ties(len(self._rows))
        columns = (self._light[name].to_pylist() for name in ("agent", "session", "folder", "source"))
        first: dict[tuple[str, ...], int] = {}
        for number, (agent, session, folder, source) in enumerate(zip(*columns, strict=True)):
            for name in (("folder", agent, folder), ("session", session), *([("session", source)] if source else [])):
                ties.tie(first.setdefault(name, number), number)
        messages, owners = self._shared_messages()
        holder: dict[int, int] = {}
        for message, owner in zip(messages.to_pylist(), owners.to_pylist(), strict=True):
            ties.tie(holder.setdefault(message, owner), owner)
        together: dict[int, list[LakeKey]] = {}
        for key in touched:
            if key in self._rows:
                together.setdefault(ties.top(self._rows[key]), []).append(key)
        lot: list[LakeKey] = []
        for some in together.values():
            lot += some
            if len(lot) >= _LOT:
                yield lot
                lot = []
        if lot:
            yield lot

    def _settle_lot(self, lot: Sequence[LakeKey], sharers: Collection[LakeKey], prices: PriceTable) -> Settlement:
        memos = {key: memo for key in lot if (memo := self.memo(key)) is not None}
        alone = set(memos) - set(sharers)
        if any(memo.overview is not None and memo.overview.summaries for memo in memos.values()):
            alone = set()  # a summary is of the session that holds a certain line
        projects = [project for project in pc.unique(self._light["project"]).to_pylist() if project]
        price, found = prices.picodollars, Settlement({}, {})
        for agent in {agent for agent, _ in memos}:  # an id is its agent's own
            logs = [_counted(memo, lines=key not in alone) for key, memo in memos.items() if key[0] == agent]
            for divided in link_logs(logs, prices, projects):
                key = (agent, divided.log.found.session_id)
                found.sessions[key] = session_row(divided, memos[key].facts, price)
                shared = _shared(divided, memos[key], memos)
                if shared.digest != self.told(key, "shared"):
                    found.shared[key] = shared
        return found


def _counted(memo: SessionMemo, *, lines: bool) -> CountedLog:
    """A session as it was counted; without the ids of its lines where nobody asks for them."""
    ids, prompts = array("Q", memo.ids if lines else b""), array("Q", memo.prompts)
    return CountedLog(memo.found, memo.overview, ids, prompts, ledger_of(memo.requests))


def _shared(divided: DividedLog, memo: SessionMemo, memos: Mapping[LakeKey, SessionMemo]) -> SharedFacts:
    one, before = divided.log.overview, memo.overview
    plans: list[tuple[str, str]] = []
    if one is not None and before is not None and (before.open_plans or before.plan_open):
        later = {link.session for link in one.links if link.relation == "follow-up"}
        agent = divided.log.found.agent_id
        plans = [(memos[agent, name].plan, name) for name in sorted(later) if (agent, name) in memos]
    own = list(divided.own.rows())
    copied = list(divided.copied.rows()) if divided.copied is not None else []
    lines = array("Q", sorted(divided.copied_lines)).tobytes()
    plans = [(text, name) for text, name in plans if text]
    if not copied and not lines and not plans and own == memo.requests:
        return SharedFacts()
    return SharedFacts(divided.copied_from, lines, own, copied, plans)
