"""A session as lists show it: small, and able to be kept, so that an archive can list sessions whose logs are gone."""

from datetime import datetime
from decimal import Decimal

import msgspec

from unspool.figures import Figures
from unspool.model import Session
from unspool.prices import Cost
from unspool.site import brief
from unspool.site.models import model_name


class Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """One session of a list."""

    id: str
    title: str
    kind: str = ""
    prompt: str = ""
    """How it began."""
    started: datetime | None = None
    ended: datetime | None = None
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    commits: int = 0
    agents: int = 0
    compactions: int = 0
    problems: int = 0
    tokens: int = 0
    amount: Decimal = Decimal(0)
    """Dollars at list prices."""
    known: bool = True
    """False where more was spent than is known."""
    models: tuple[str, ...] = ()
    size: int = 0
    """Bytes of the log."""
    kept: bool = False
    """Whether only an archive still has its log."""

    @property
    def cost(self) -> Cost:
        return Cost(self.amount, floor=not self.known)


def card(session: Session, counted: Figures) -> Card:
    """What a list shows of a session."""
    first = next((turn.prompt for turn in session.turns if turn.prompt is not None), None)
    used = counted.usage + counted.agents_usage
    models = dict.fromkeys(model_name(message.model) for message in session.messages if not message.synthetic)
    return Card(
        session.id,
        brief.flat(session.title, 160),
        session.kind,
        brief.line(first, 200) if first else "",
        session.started,
        session.ended,
        counted.turns,
        counted.tool_calls,
        counted.tool_errors,
        len(counted.commits),
        counted.agents,
        counted.compactions,
        counted.problems,
        used.total,
        counted.cost.amount,
        counted.cost.known,
        tuple(model for model in models if model),
        session.log.size,
    )
