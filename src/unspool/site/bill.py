"""What each turn cost: every request priced once, in the first turn that holds words of its message."""

from functools import cache

from unspool import human
from unspool.figures import all_turns, family
from unspool.model import Session, Turn
from unspool.prices import Cost, PriceTable, Spend


@cache
def list_prices() -> PriceTable:
    """The built-in prices."""
    return PriceTable.load()


class Bill:
    """The cost of the turns and subagents of a session."""

    def __init__(self, session: Session, prices: PriceTable) -> None:
        self._session = session  # kept, for turns are told apart by identity while the session lives
        self._prices = prices
        self._turns: dict[int, Cost] = {}
        self._seen: set[str] = set()
        for member in family(session):
            self._count(member)

    def _count(self, member: Session) -> None:
        messages = {message.id: message for message in member.messages}
        for turn in all_turns(member):
            spend = Spend(self._prices)
            for name in dict.fromkeys(getattr(block, "message", "") for block in turn.blocks):
                message = messages.pop(name, None)
                for call in message.calls if message else ():
                    if call.key not in self._seen:
                        self._seen.add(call.key)
                        spend.add(call)
            self._turns[id(turn)] = spend.total()

    def of(self, turn: Turn) -> Cost:
        """What a turn of the session, a branch or a subagent cost, without the subagents it started."""
        return self._turns.get(id(turn), Cost())

    def all_of(self, session: Session) -> Cost:
        """What the turns of a subagent's session cost together."""
        return sum((self.of(turn) for turn in all_turns(session)), Cost())


def money(cost: Cost) -> str:
    """$4.12; $0.003 where cents would say nothing; with ≥ where it is a lower bound; empty for nothing known."""
    if not cost.amount:
        return ""
    return human.money(cost.amount, floor=not cost.known)
