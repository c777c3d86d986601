"""What a list shows of a session."""

from datetime import datetime
from decimal import Decimal

import msgspec

from unspool.model.session import ChainLink, LogFile, SessionKind, Titles
from unspool.model.usage import Call, Usage


class Overview(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a list shows of a session, read in one pass without keeping the log in memory."""

    id: str
    agent: str
    kind: SessionKind
    log: LogFile
    titles: Titles
    project: str = ""
    cwd: str = ""
    branch: str = ""
    slug: str = ""
    versions: tuple[str, ...] = ()
    started: datetime | None = None
    ended: datetime | None = None
    turns: int = 0
    """Prompts of every kind, abandoned branches included."""
    messages: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    agents: int = 0
    compactions: int = 0
    problems: int = 0
    lines: int = 0
    calls: tuple[Call, ...] = ()
    """Billed requests summed by model, tier and speed; subagents included, each counted once."""
    cost: Decimal = Decimal(0)
    """Dollars at list prices, of the requests whose model has a price."""
    unpriced: tuple[str, ...] = ()
    """Models without a known price that were used."""
    offered: tuple[int, ...] = ()
    """Keys of the plans put forward here."""
    plan_open: bool = False
    """True where plans were put forward and none approved, as far as this log tells."""
    accepted: int = 0
    """Key of the plan that the first prompt implements."""
    summaries: dict[str, str] = {}
    """Summaries that describe other sessions, by the id of a line of theirs."""
    source: str = ""
    links: tuple[ChainLink, ...] = ()
    size: int = 0
    kept: bool = False
    """Whether only an archive still has its log."""
    """Bytes of the log and its subagents' logs."""

    @property
    def title(self) -> str:
        return self.titles.best or self.id

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(call.model for call in self.calls if call.model))

    @property
    def usage(self) -> Usage:
        total = Usage()
        for call in self.calls:
            total = total + call.usage
        return total
