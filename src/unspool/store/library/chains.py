"""Sessions that continue one another, their projects, and plans that another session settles."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from unspool.agents.checkout import main_checkout, worktree_name
from unspool.model import ChainLink, Overview, Plan, Session, Titles, ToolCall, Turn
from unspool.reading.ledger import line_hash
from unspool.reading.prompts import plan_title, plans_in_order, plans_of
from unspool.store.library.history import SessionName, history_order, name_of

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ChainMember(NamedTuple):
    """An overview with the ids of its lines."""

    overview: Overview
    ids: Sequence[int]


def source_id(path: str) -> str:
    """The session a transcript path names."""
    name = re.split(r"[\\/]", path)[-1]
    return name.removesuffix(".jsonl")


def link_sessions(skimmed: Sequence[ChainMember]) -> list[Overview]:
    """The overviews with their links, and with titles and kinds that only other sessions can tell."""
    overviews = {name_of(one.overview): one.overview for one in skimmed}
    pairs = _continuations(list(overviews.values()))
    titled, planned = _foreign_summaries(skimmed), dict[SessionName, list[Overview]]()
    for later, (earlier, _) in sorted(pairs.items(), key=lambda pair: overviews[pair[0]].started or _LONG_AGO):
        planned.setdefault(earlier, []).append(overviews[later])
    overviews = {name: _told(one, titled.get(name, ""), planned.get(name, ())) for name, one in overviews.items()}
    links: dict[SessionName, list[ChainLink]] = {}
    for later, (earlier, by) in pairs.items():
        _join(links, overviews[earlier], overviews[later], by)
    for copy, original in _copies(skimmed).items():
        if original[1] not in {link.session for link in links.get(copy, ())}:
            links.setdefault(copy, []).append(chain_link(overviews[original], "copied-from", "uuid"))
            links.setdefault(original, []).append(chain_link(overviews[copy], "copied-to", "uuid"))
    return [_linked(overviews[name_of(one.overview)], links) for one in skimmed]


def _join(links: dict[SessionName, list[ChainLink]], earlier: Overview, later: Overview, by: str) -> None:
    links.setdefault(name_of(later), []).append(chain_link(earlier, "source", by))
    links.setdefault(name_of(earlier), []).append(chain_link(later, "follow-up", by))


def chain_link(other: Overview, relation: str, by: str) -> ChainLink:
    """A link to a session, by the title that a list gives it."""
    return ChainLink(other.id, relation, by, other.title, other.titles.prompt)  # type: ignore[arg-type]


class KnownChains:
    """What must be known of a session to tell which one it continues."""

    def __init__(
        self,
        id: str,  # noqa: A002
        slug: str,
        source: str,
        started: datetime | None,
        accepted: int,
        offered: Callable[[], tuple[int, ...]],
    ) -> None:
        self.id, self.slug, self.source, self.accepted, self.offered = id, slug, source, accepted, offered
        self.started = started or _LONG_AGO
        self.implements = bool(accepted)


def source_of(one: KnownChains, others: Sequence[KnownChains]) -> tuple[str, str]:
    """The session that one continues and how that is known: by the path it names, else by slug, else by plan."""
    if one.source and one.source != one.id and any(other.id == one.source for other in others):
        return one.source, "path"
    if not one.implements:
        return "", ""
    before = [other for other in others if other.id != one.id and other.started <= one.started]
    before.sort(key=lambda other: other.started, reverse=True)
    for other in before:
        if one.slug and other.slug == one.slug:
            return other.id, "slug"
    for other in before:
        if one.accepted in other.offered():
            return other.id, "plan"
    return "", ""


def _continuations(overviews: list[Overview]) -> dict[SessionName, tuple[SessionName, str]]:
    """The session each one continues, of its agent's that lie in the same folder or that it names."""
    known = {name_of(overview): _known(overview) for overview in overviews}
    folders: dict[tuple[str, str], list[KnownChains]] = {}
    for overview in overviews:
        folders.setdefault((overview.agent, _folder(overview)), []).append(known[name_of(overview)])
    found: dict[SessionName, tuple[SessionName, str]] = {}
    for overview in overviews:
        agent, one = overview.agent, known[name_of(overview)]
        if one.source or one.implements:
            beside, named = folders[agent, _folder(overview)], known.get((agent, one.source))
            source, by = source_of(one, beside if named is None else [*beside, named])
            if source:
                found[name_of(overview)] = (agent, source), by
    return found


def _known(overview: Overview) -> KnownChains:
    source = source_id(overview.source) if overview.source else ""
    return KnownChains(
        overview.id, overview.slug, source, overview.started, overview.accepted, lambda: overview.offered
    )


def _folder(overview: Overview) -> str:
    return re.split(r"[\\/](?=[^\\/]*$)", overview.log.path)[0]


def _copies(skimmed: Sequence[ChainMember]) -> dict[SessionName, SessionName]:
    """The session whose history each copy holds: the one that owns the last line it has in common."""
    owner: dict[int, SessionName] = {}
    found: dict[SessionName, SessionName] = {}
    for one in sorted(skimmed, key=lambda one: history_order(one.overview)):
        name = name_of(one.overview)
        for identity in one.ids:
            first = owner.setdefault(identity, name)
            if first != name:
                found[name] = first
    return found


def _foreign_summaries(skimmed: Sequence[ChainMember]) -> dict[SessionName, str]:
    """Summaries written in one log that describe another's session, by that session."""
    wanted = {line_hash(leaf): said for one in skimmed for leaf, said in one.overview.summaries.items()}
    if not wanted:
        return {}
    return {name_of(one.overview): wanted[identity] for one in skimmed for identity in one.ids if identity in wanted}


def _distinct(links: tuple[ChainLink, ...]) -> tuple[ChainLink, ...]:
    """One link a session and relation: the log's own word comes first."""
    return tuple({(link.session, link.relation): link for link in reversed(links)}.values())[::-1]


def _linked(overview: Overview, links: dict[SessionName, list[ChainLink]]) -> Overview:
    return msgspec.structs.replace(overview, links=_distinct((*overview.links, *links.get(name_of(overview), ()))))


def _told(overview: Overview, summary: str, later: Sequence[Overview]) -> Overview:
    """The overview with the title, the kind and the ends of plans that only other sessions tell; those that are `later`
    carry out its plans."""
    kind = overview.kind
    if later and kind == "interactive" and later[0].kind == "implementation":
        kind = "planning"
    plan = later[0].titles.plan if later and overview.plan_open else ""
    accepted = {one.accepted for one in later}
    ended = overview.ends - Counter(end for key, end in overview.open_plans if key and key in accepted)
    return msgspec.structs.replace(
        overview,
        titles=told_titles(overview.titles, plan, summary),
        kind=kind,
        tool_errors=ended["failed"],
        tool_refusals=ended["refused"],
        tool_interruptions=ended["interrupted"],
        tool_unanswered=ended["unanswered"],
        open_plans=tuple(one for one in overview.open_plans if one[0] not in accepted),
    )


def told_titles(titles: Titles, plan: str, summary: str) -> Titles:
    """The titles of a session with what only others tell: the title of its plan as the session has it that carries it
    out, where none was approved before, and a summary where it has none of its own."""
    return msgspec.structs.replace(titles, plan=plan or titles.plan, summary=titles.summary or summary)


def open_plans(session: Session) -> list[Plan]:
    """Plans whose answer may be found in another session."""
    return [plan for plan in plans_of(session.turns) if plan.status != "approved" and plan.text.strip()]


def settle_plans(session: Session, accepted: Iterable[tuple[str, str]]) -> Session:
    """The session with every plan approved that one of `accepted`, (plan text, session id), implements."""
    known = [(text.strip(), by) for text, by in accepted]
    turns = tuple(_turn(turn, known) for turn in session.turns)
    branches = tuple(
        msgspec.structs.replace(branch, turns=tuple(_turn(turn, known) for turn in branch.turns))
        for branch in session.branches
    )
    if (turns, branches) == (session.turns, session.branches):
        return session
    every = (*turns, *(turn for branch in branches for turn in branch.turns))
    titles = msgspec.structs.replace(session.titles, plan=plan_title(plans_in_order(every)))
    kind = "planning" if session.kind == "interactive" else session.kind
    return msgspec.structs.replace(session, turns=turns, branches=branches, titles=titles, kind=kind)


def _turn(turn: Turn, known: list[tuple[str, str]]) -> Turn:
    blocks = tuple(_call(block, known) if isinstance(block, ToolCall) else block for block in turn.blocks)
    return turn if blocks == turn.blocks else msgspec.structs.replace(turn, blocks=blocks)


def _call(call: ToolCall, known: list[tuple[str, str]]) -> ToolCall:
    plan = call.meaning
    if not isinstance(plan, Plan) or plan.status == "approved" or not plan.text.strip():
        return call
    for text, by in known:
        if text.startswith(plan.text.strip()) or plan.text.strip().startswith(text):
            meaning = Plan(plan.title, plan.text, "approved", edited=plan.edited, path=plan.path, settled_by=by)
            return msgspec.structs.replace(call, meaning=meaning)
    return call


def unify_projects(overviews: Iterable[tuple[str, Overview]], known: Iterable[str] = ()) -> list[Overview]:
    """The overviews, each with its project's path settled; the text beside each is the folder it lies in.

    A work tree whose path tells no more than the name of its project belongs to the one project of that name, of these
    and of those that are `known` besides.
    """
    listed = list(overviews)
    by_folder: dict[str, list[Overview]] = {}
    for folder, overview in listed:
        by_folder.setdefault(folder, []).append(overview)
    settled = {folder: _path(folder, group) for folder, group in by_folder.items() if folder}
    found = [_in(overview, settled.get(folder, "")) for folder, overview in listed]
    projects = {*known, *(overview.project for overview in found if not worktree_name(overview.cwd))}
    return [_in(overview, _project_of_name(worktree_name(overview.cwd), overview, projects)) for overview in found]


def _project_of_name(name: str, overview: Overview, projects: Iterable[str]) -> str:
    if not name or overview.project != main_checkout(overview.cwd):
        return ""
    fits = {path for path in projects if re.split(r"[\\/]", path)[-1] == name} - {overview.project}
    return fits.pop() if len(fits) == 1 else ""


def _in(overview: Overview, project: str) -> Overview:
    return (
        overview if not project or project == overview.project else msgspec.structs.replace(overview, project=project)
    )


def _path(folder: str, group: list[Overview]) -> str:
    """The path the folder is named after, if a session names it; else the newest session's."""
    named = [overview for overview in group if overview.cwd]
    newest = max(named or group, key=lambda overview: overview.ended or _LONG_AGO)
    return project_named_after(folder, (overview.project for overview in named)) or newest.project


def project_named_after(folder: str, paths: Iterable[str]) -> str:
    """Which of the paths a project's log folder is named after; empty where it is none of them."""
    name = _letters(folder.rsplit("/", 1)[-1])
    return next((path for path in paths if _letters(path) == name), "")


def _letters(path: str) -> str:
    return re.sub(r"[^a-z0-9]", "", path.lower())
