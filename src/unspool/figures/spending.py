"""Where the tokens and the money of a session went, call by call and turn by turn, and what the cache lost.

Every request that `figures` counts stands here once, with the turn that made it: what subagents used counts in the
turn that started them, and an abandoned branch in the turn that it leaves from. So the sums are the session's own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from unspool.figures import all_turns, calls_of, family, family_ledger
from unspool.figures.context_window import RequestWindow
from unspool.figures.tokens import LEAST, CachedRequest, cached_instead, estimate_tokens, find_rewrites
from unspool.model import Agent, Call, Notice, Session, ToolCall, Usage
from unspool.model.usage import CAUSES
from unspool.prices import Cost, PriceParts, PriceTable, priced_call
from unspool.reading.ledger import CallLedger, stable_hash
from unspool.tools import describe

_Ids = tuple[int, int]


class CacheLoss(msgspec.Struct, frozen=True):
    """What a request wrote to the cache again, and why the cache did not hold."""

    cause: str
    """One of CAUSES."""
    tokens: int
    cost: Decimal | None
    """Dollars more than reading the same would have cost; None where a price is not known."""


class CallSpending(msgspec.Struct, frozen=True):
    """One request: what it used and cost."""

    turn: int | None
    """The turn of the live conversation that it counts in; None where only another version of the session made it."""
    message: str
    """The answer's id; empty where the session does not show it."""
    agent: str
    """The id of the subagent that made it; empty for the session itself."""
    model: str
    time: datetime | None
    usage: Usage
    parts: PriceParts | None
    """What it cost, by what was paid for; None where its price is not known."""
    lost: CacheLoss | None = None
    compacted: bool = False
    """Whether a compaction of the session came just before it."""


class TurnSpending(msgspec.Struct, frozen=True):
    """What a turn used and cost, with its subagents and the branches that leave from it."""

    turn: int | None
    calls: int
    usage: Usage
    cost: Cost
    parts: PriceParts
    """Of what has a price."""
    lost: tuple[CacheLoss, ...] = ()
    compactions: int = 0

    def __add__(self, other: "TurnSpending") -> "TurnSpending":
        return TurnSpending(
            self.turn,
            self.calls + other.calls,
            self.usage + other.usage,
            self.cost + other.cost,
            self.parts + other.parts,
            (*self.lost, *other.lost),
            self.compactions + other.compactions,
        )

    @property
    def lost_tokens(self) -> int:
        return sum(one.tokens for one in self.lost)

    @property
    def lost_cost(self) -> Decimal:
        return sum((one.cost or Decimal(0) for one in self.lost), Decimal(0))


class RepeatedAnswer(msgspec.Struct, frozen=True):
    """What a tool answered more than once, word for word."""

    name: str
    what: str
    times: int
    tokens: int
    """Of all but the first, estimated."""
    turns: tuple[int, ...]
    """Those that had it again."""


class SessionSpending(msgspec.Struct, frozen=True):
    """The whole session: its calls in order, and the same by turn; what no turn made is last."""

    calls: tuple[CallSpending, ...]
    turns: tuple[TurnSpending, ...]
    repeated: tuple[RepeatedAnswer, ...]
    """The most tokens first."""

    @property
    def total(self) -> TurnSpending:
        return sum_calls(None, self.calls)

    @property
    def lost(self) -> tuple[CacheLoss, ...]:
        """Each cause, the most tokens first."""
        sums: dict[str, CacheLoss] = {}
        for call in self.calls:
            if (one := call.lost) is not None:
                before = sums.get(one.cause, CacheLoss(one.cause, 0, Decimal(0)))
                cost = None if before.cost is None or one.cost is None else before.cost + one.cost
                sums[one.cause] = CacheLoss(one.cause, before.tokens + one.tokens, cost)
        return tuple(sorted(sums.values(), key=lambda one: (-one.tokens, one.cause)))


def session_spending(session: Session, prices: PriceTable) -> SessionSpending:
    owners = _Owners(session)
    ledger = family_ledger(session)
    lost = dict(_losses(session, ledger, prices))
    calls, fresh = [], _fresh(session)
    for message, request, time, terms, figures, final in ledger.rows():
        moment = None if time is None else datetime.fromtimestamp(time, UTC)
        usage = Usage(*figures, floor=not final)
        parts = prices.price_parts(priced_call(terms, time, usage))
        turn, name, agent = owners.of(message)
        again, cut = lost.get((message, request)), message in fresh
        calls.append(CallSpending(turn, name, agent, terms[0], moment, usage, parts, again, cut))
    turns = tuple(_by_turn(session, calls))
    return SessionSpending(tuple(calls), turns, tuple(_repeated(session)))


class PricedRequest(msgspec.Struct, frozen=True):
    """One request as it was billed, with what its price depends on."""

    id: str
    """Tells it from others of its message; empty where the log does not."""
    model: str
    usage: Usage
    time: datetime | None
    cost: Decimal | None
    """None where its price is not known."""
    speed: str = ""
    tier: str = ""
    geo: str = ""


def requests_by_message(session: Session, prices: PriceTable) -> dict[tuple[str, str], list[PricedRequest]]:
    """Every request that `figures` counts, once, by the subagent and the message that it is of; the session itself has
    an empty name."""
    homes: dict[int, tuple[str, str]] = {}
    names: dict[_Ids, str] = {}
    for member, message, call in _named_calls(session):
        before, _, request = call.key.rpartition(":")
        home = homes.setdefault(stable_hash(before), (member, message or before))
        names.setdefault((stable_hash(before), stable_hash(request)), call.key.removeprefix(f"{home[1]}:"))
    found: dict[tuple[str, str], list[PricedRequest]] = {}
    for message_hash, request_hash, time, terms, figures, final in family_ledger(session).rows():
        usage, ids = Usage(*figures, floor=not final), (message_hash, request_hash)
        priced = priced_call(terms, time, usage)
        made = PricedRequest(names.get(ids, ""), terms[0], usage, priced.time, prices.price_of(priced), *terms[1:])
        found.setdefault(homes[message_hash], []).append(made)
    return found


def _named_calls(session: Session) -> Iterator[tuple[str, str, Call]]:
    """The subagent, the message and the call of every request; what only other versions hold names no message."""
    for member in family(session):
        for message in member.messages:
            for call in message.calls if not message.copied else ():
                yield "" if member is session else member.id, message.id, call
        if member is session:
            yield from (("", "", call) for call in session.elsewhere)


def sum_calls(turn: int | None, calls: Iterable[CallSpending], compactions: int = 0) -> TurnSpending:
    """What calls used and cost together."""
    usage, parts, number, floor = Usage(), PriceParts(), 0, False
    unpriced: Counter[str] = Counter()
    lost = []
    for call in calls:
        number, usage, floor = number + 1, usage + call.usage, floor or call.usage.floor
        if call.parts is None:
            unpriced[call.model] += 1
        else:
            parts += call.parts
        if call.lost is not None:
            lost.append(call.lost)
    cost = Cost(parts.total, tuple(sorted(unpriced.items())), floor)
    return TurnSpending(turn, number, usage, cost, parts, tuple(lost), compactions)


def _by_turn(session: Session, calls: list[CallSpending]) -> Iterator[TurnSpending]:
    """Every turn of the live conversation, whether it spent anything or not."""
    of: dict[int | None, list[CallSpending]] = {turn.number: [] for turn in session.turns}
    for call in calls:
        of.setdefault(call.turn, []).append(call)
    beside = of.pop(None, [])
    compactions = {
        turn.number: sum(isinstance(one, Notice) and one.kind == "compaction" for one in turn.blocks)
        for turn in session.turns
    }
    for number, made in of.items():
        yield sum_calls(number, made, compactions.get(number or 0, 0))
    if beside:
        yield sum_calls(None, beside)


class _Owners:
    """The turn, message and subagent that a request is of, by the digest of its message's id."""

    def __init__(self, session: Session) -> None:
        self._known: dict[int, tuple[int, str, str]] = {}
        self._last = session.turns[-1].number if session.turns else 0
        self._started: dict[str, int] = {}
        """The live turn in which a tool call or a message stands."""
        live = [(turn.number, turn) for turn in session.turns]
        left = [(self._live_turn(session, branch.number), turn) for branch in session.branches for turn in branch.turns]
        for number, turn in (*live, *left):
            for block in turn.blocks:
                self._started.setdefault(getattr(block, "message", ""), number)
                if isinstance(block, ToolCall):
                    self._started.setdefault(block.call_id, number)
        self._started.pop("", None)
        self._turns = [(turn.started, turn.number) for turn in session.turns if turn.started is not None]
        self._add(session, "", None)
        waiting: list[tuple[Agent, int | None]] = [(agent, None) for agent in session.agents]
        while waiting:
            agent, above = waiting.pop()
            of = above if above is not None else self._started.get(agent.call_id, self._at(agent.session.started))
            self._add(agent.session, agent.id, of)
            waiting.extend((inner, of) for inner in agent.session.agents)

    def of(self, message: int) -> tuple[int | None, str, str]:
        return self._known.get(message, (None, "", ""))

    def _add(self, session: Session, agent: str, turn: int | None) -> None:
        for message in session.messages:
            if message.copied:
                continue
            number = self._started.get(message.id, self._at(message.time)) if turn is None else turn
            for call in message.calls:
                self._known.setdefault(stable_hash(call.key.rpartition(":")[0]), (number, message.id, agent))

    def _at(self, time: datetime | None) -> int:
        """The turn that was going on, for what no block names."""
        if time is None:
            return self._last
        return next((number for began, number in reversed(self._turns) if began <= time), self._first)

    @property
    def _first(self) -> int:
        return self._turns[0][1] if self._turns else self._last

    def _live_turn(self, session: Session, branch: int) -> int:
        """The live turn that a branch leaves from, or the branch that it leaves from does."""
        known = {one.number: one for one in session.branches}
        for _ in known:
            one = known.get(branch)
            if one is None:
                break
            if one.parent not in known:
                return min(one.after, self._last)
            branch = one.parent
        return self._last


def _losses(session: Session, ledger: CallLedger, prices: PriceTable) -> Iterator[tuple[_Ids, CacheLoss]]:
    """What requests wrote again, each conversation by itself; copied ones are only what others come after."""
    billed = {(message, request): (time, terms, figures) for message, request, time, terms, figures, _ in ledger.rows()}
    counted: set[_Ids] = set()
    for member in family(session):
        own = CallLedger()
        own.add(call for message in member.messages for call in message.own_calls)
        fresh, rows = _fresh(member), list(own.rows())
        sent = (
            CachedRequest(terms[0], time, figures[0], figures[2], figures[3], figures[4], message in fresh)
            for message, _, time, terms, figures, _ in rows
        )
        for (message, request, *_), again in zip(rows, find_rewrites(sent), strict=True):
            ids = message, request
            if again is None or ids not in billed or ids in counted:
                continue
            counted.add(ids)
            time, terms, figures = billed[ids]
            paid, instead = (
                prices.price_of(priced_call(terms, time, Usage(*one)))
                for one in (figures, cached_instead(figures, again))
            )
            cost = None if paid is None or instead is None else max(Decimal(0), paid - instead)
            yield ids, CacheLoss(CAUSES[again.cause], again.tokens, cost)


def _fresh(session: Session) -> set[int]:
    """Messages that came first after a compaction, as `stable_hash` gives them."""
    cuts = sorted(
        block.place.line
        for turn in all_turns(session)
        for block in turn.blocks
        if isinstance(block, Notice) and block.kind == "compaction"
    )
    begun = sorted((min(one.lines), one.id) for one in session.messages if one.lines and one.own_calls)
    found = set()
    for cut in cuts:
        after = next((name for line, name in begun if line > cut), None)
        if after is not None:
            found.add(stable_hash(after))
    return found


def _repeated(session: Session) -> Iterator[RepeatedAnswer]:
    """Answers of tools that came more than once, word for word, and are long enough to matter."""
    turns = {id(block): turn.number for turn in session.turns for block in turn.blocks}
    same: dict[str, list[ToolCall]] = {}
    for call in calls_of(session):
        if id(call) in turns and call.result is not None and len(call.result.text) >= LEAST:
            same.setdefault(call.result.text, []).append(call)
    found = []
    for text, calls in same.items():
        if len(calls) > 1:
            again, first = calls[1:], calls[0]
            at = tuple(dict.fromkeys(turns[id(call)] for call in again))
            what = describe(first).summary
            found.append(RepeatedAnswer(first.name, what, len(calls), estimate_tokens(text) * len(again), at))
    return iter(sorted(found, key=lambda one: (-one.tokens, one.name, one.what)))


class KindCost(msgspec.Struct, frozen=True):
    """What one kind took over all requests: each sends it again."""

    name: str
    tokens: int
    cost: Decimal


def input_costs(session: Session, sent: Sequence[RequestWindow], prices: PriceTable) -> tuple[KindCost, ...]:
    """What each kind cost as input, the dearest first: of requests that are kept whole and have a known price.

    A request's cost, but for its answer, is shared out by what was in its window.
    """
    calls = {message.id: message.own_calls for message in session.messages}
    tokens: Counter[str] = Counter()
    costs: dict[str, Decimal] = {}
    for request in sent:
        asked = [replace(call, usage=replace(call.usage, output=0)) for call in calls.get(request.message, ())]
        cost = prices.cost(asked)
        if not request.exact or not request.measured or cost.unpriced:
            continue
        for name, number in request.kinds.items():
            tokens[name] += number
            costs[name] = costs.get(name, Decimal(0)) + cost.amount * number / request.measured
    found = (KindCost(name, tokens[name], cost) for name, cost in costs.items())
    return tuple(sorted(found, key=lambda one: (-one.cost, one.name)))
