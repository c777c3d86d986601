"""Which sessions a list is asked for, as an address says it: anything that means nothing is as if not said."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from urllib.parse import urlencode

import msgspec

from unspool.index.periods import day_start
from unspool.index.when import ago

SORTS = {
    "newest": "Newest",
    "oldest": "Oldest",
    "title": "Title",
    "cost": "Cost",
    "turns": "Prompts",
    "calls": "Tool calls",
    "errors": "Errors",
    "longest": "Longest",
}
KINDS = ("interactive", "planning", "implementation", "background", "headless", "subagent", "ghost", "empty", "stub")
ANY = "any"
_LONGEST = 400
_DEEPEST = 10_000


class Wanted(msgspec.Struct, frozen=True):
    """The filters of a list of sessions; empty ones ask for nothing."""

    project: str = ""
    """A project's slug, or part of its path."""
    kind: str = ""
    """One of KINDS; `any` for those too that hold no conversation."""
    model: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    starred: str = ""
    tag: str = ""
    sort: str = ""
    page: int = 1

    @property
    def query(self) -> str:
        """The filters as they stand in an address, without the page."""
        return self.address()

    @property
    def filtered(self) -> bool:
        """Whether anything is left out by choice."""
        return self != Wanted(sort=self.sort, page=self.page)

    def address(self, **changes: object) -> str:
        """The filters as they stand in an address, some of them changed."""
        changed = msgspec.structs.replace(self, page=1, **changes)
        said = {name: value for name, value in msgspec.structs.asdict(changed).items() if value and value != 1}
        return urlencode(said, errors="replace")


def wanted(said: Mapping[str, str]) -> Wanted:
    """What the parameters of an address ask for."""
    texts = {name: _text(said.get(name, "")) for name in ("project", "kind", "model", "q", "since", "until", "tag")}
    kind = texts["kind"] if texts["kind"] in (*KINDS, ANY) else ""
    sort = said.get("sort", "")
    page = said.get("page", "")
    return Wanted(
        **{**texts, "kind": kind},
        starred="1" if said.get("starred", "") in ("1", "true", "on", "yes") else "",
        sort=sort if sort in SORTS and sort != "newest" else "",
        page=min(_DEEPEST, max(1, int(page))) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
    )


def moment(text: str, zone: tzinfo | None, after: int = 0) -> float | None:
    """The second a typed day or age means; `after` days later for a day. None where it means nothing."""
    before = ago(text)
    if before:
        return before.timestamp()
    try:
        if len(text) == len("2026-01-31"):
            return day_start(date.fromisoformat(text) + timedelta(days=after), zone)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _text(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "").strip()[:_LONGEST]
