"""Sessions that were counted one by one, told as a list: linked to each other, each request counted once, priced."""

from collections.abc import Iterable
from itertools import chain

import msgspec

from unspool.agents import FoundLog, by_id
from unspool.model import Overview, Usage
from unspool.prices import Cost, PriceTable
from unspool.store.library.chains import ChainMember, link_sessions, unify_projects
from unspool.store.library.history import (
    CountedLog,
    DividedLog,
    divide_history,
    join_versions,
    name_of,
    priced_overview,
)


class SessionListing(msgspec.Struct, frozen=True):
    """Sessions newest first, with what they used together, each request counted once."""

    overviews: tuple[Overview, ...]
    usage: Usage
    cost: Cost
    failures: tuple[str, ...] = ()


def list_overviews(done: Iterable[CountedLog], prices: PriceTable) -> SessionListing:
    """A listing of sessions whose files were counted one by one."""
    logs = list(join_versions(done))
    divided = link_logs(logs, prices)
    usage = Usage()
    for one in divided:
        usage = usage + one.own.usage
    cost = prices.total(chain.from_iterable(one.own.rows() for one in divided))
    overviews = [one.log.overview for one in divided if one.log.overview is not None]
    failures = tuple(one.failure for one in logs if one.failure)
    return SessionListing(tuple(sorted(overviews, key=_newest)), usage, cost, failures)


def link_logs(logs: Iterable[CountedLog], prices: PriceTable, projects: Iterable[str] = ()) -> list[DividedLog]:
    """Sessions as they are among each other: what each owns and copied, and its overview with links and price.

    Those that could not be read are left out; `projects` are known besides.
    """
    named = [(_project_folder(one.found), one) for one in logs if one.overview is not None]
    settled = unify_projects(((folder, one.overview) for folder, one in named if one.overview is not None), projects)
    counted = [one for _, one in named]
    linked = link_sessions([ChainMember(overview, one.ids) for one, overview in zip(counted, settled, strict=True)])
    divided = divide_history(list(zip(counted, linked, strict=True)))
    titles = {name_of(overview): overview.title for overview in linked}
    overviews = [priced_overview(one, own, prices, titles) for one, own in zip(linked, divided, strict=True)]
    return [
        own._replace(log=own.log._replace(overview=overview)) for own, overview in zip(divided, overviews, strict=True)
    ]


def _project_folder(found: FoundLog) -> str:
    """The folder whose logs are all of one project; empty where the agent has none such."""
    return f"{found.root}/{found.folder}" if by_id(found.agent_id).filed_by_project else ""


def _newest(overview: Overview) -> tuple[float, str]:
    when = overview.ended or overview.log.modified
    return (-when.timestamp() if when is not None else 0.0, overview.id)
