"""A session in figures: the tiles, badges and facts at its head, and the sessions it belongs with."""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from unspool import human
from unspool.figures import Figures, reported_cost, tell_ends
from unspool.model import Session
from unspool.render.html import elements
from unspool.render.html.elements import time_tag
from unspool.render.transcript import RELATIONS
from unspool.scanners import SCANNERS
from unspool.site.page_template import as_markup, fill_template
from unspool.site.session_view import SessionView, format_cost
from unspool.site.summaries import model_name, shorten_line


class Tile(NamedTuple):
    name: str
    value: str
    note: str = ""
    exact: str = ""


class Badge(NamedTuple):
    text: str
    tone: str = ""
    href: str = ""
    about: str = ""


class ChainEntry(NamedTuple):
    """Another session of the chain, or this one."""

    relation: str
    title: str
    href: str = ""
    prompt: str = ""
    here: bool = False


def render_head(view: SessionView) -> str:
    """Title, badges, facts, tiles and chain."""
    return fill_template(
        "index.html",
        title=shorten_line(view.session.title, 200) or "Untitled session",
        badges=tuple(session_badges(view)),
        facts=tuple(session_facts(view.session)),
        tiles=tuple(session_tiles(view.session, view.counted)),
        chain=tuple(session_chain(view)),
    )


def session_badges(view: SessionView) -> Iterator[Badge]:
    """What kind of session it is, where it was, who spoke, what is wrong with it."""
    session = view.session
    if session.kind not in ("interactive", ""):
        yield Badge(session.kind, "plan")
    if session.branch:
        yield Badge(session.branch, about="git branch")
    for model in dict.fromkeys(message.model for message in session.messages if not message.synthetic):
        if model:
            yield Badge(model_name(model), about=model)
    if session.versions:
        span = (session.versions[0], session.versions[-1]) if len(session.versions) > 1 else session.versions
        yield Badge(" – ".join(span), about=f"version of {session.agent}")
    for flag in view.flags:
        badge = next(one.badge for one in SCANNERS if one.name == flag.scanner)
        yield Badge(badge, "warn", view.addresses.turn(flag.turn), f"{flag.why}: {flag.quote}")
    if view.counted.problems:
        yield Badge(f"{human.count(view.counted.problems, 'line')} not read", "bad", "#problems")


def session_facts(session: Session) -> Iterator[Markup]:
    """When and where, as markup."""
    if session.started:
        took = human.elapsed(session.started, session.ended)
        yield as_markup(time_tag(session.started) + (f" for {elements.strong(took)}" if took else ""))
    for name in (session.cwd or session.project, session.id):
        if name:
            yield as_markup(elements.span("mono", name))


def session_tiles(session: Session, counted: Figures) -> Iterator[Tile]:
    """The figures that say something."""
    left = f"{counted.abandoned_turns} on other branches" if counted.abandoned_turns else ""
    yield Tile(_named(counted.turns, "Prompt"), f"{counted.turns:,}", left)
    yield Tile(
        _named(counted.messages, "Message"),
        f"{counted.messages:,}",
        f"{counted.thinking:,} with thinking" if counted.thinking else "",
    )
    yield Tile(_named(counted.tool_calls, "Tool call"), f"{counted.tool_calls:,}", tell_ends(counted.ends))
    yield from _tokens(session, counted)
    yield from _made(counted)
    if took := human.elapsed(session.started, session.ended):
        yield Tile("Duration", took)
    if counted.agents:
        yield Tile(
            _named(counted.agents, "Subagent"),
            f"{counted.agents:,}",
            human.count(counted.agent_tool_calls, "tool call"),
        )
    if counted.compactions:
        yield Tile(_named(counted.compactions, "Compaction"), f"{counted.compactions:,}")


def _named(number: int, name: str) -> str:
    return name if number == 1 else f"{name}s"


def _tokens(session: Session, counted: Figures) -> Iterator[Tile]:
    used = counted.usage + counted.agents_usage
    if used.total:
        cached = f"{used.cache_read / used.context:.0%} from cache" if used.cache_read and used.context else ""
        yield Tile("Tokens", human.tokens(used.total), cached, f"{used.total:,}")
    cost, history, said = counted.cost, session.history, reported_cost(session)
    if said and (cost.unpriced or not cost.amount):
        yield Tile("Cost", format_cost(cost) or "unknown", f"{said} as the agent says")
    elif cost.amount or cost.unpriced:
        note = f"without {', '.join(name for name, _ in cost.unpriced)}" if cost.unpriced else "at list prices"
        if history is not None and history.cost:
            note = f"its own; {human.money(history.cost, floor=history.usage.floor)} copied"
        if counted.elsewhere.amount:
            note = f"{format_cost(counted.elsewhere)} of it in other versions"
        yield Tile("Cost", format_cost(cost) or "unknown", note, f"${cost.amount:f}")


def _made(counted: Figures) -> Iterator[Tile]:
    if counted.commits:
        pushed = sum(push.kind == "push" for push in counted.pushes)
        yield Tile("Commits", f"{len(counted.commits):,}", human.count(pushed, "push", "pushes") if pushed else "")
    changed = [file for file in counted.files if file.writes]
    if changed:
        added, removed = sum(file.added for file in changed), sum(file.removed for file in changed)
        yield Tile("Files changed", f"{len(changed):,}", f"+{added:,} −{removed:,}")


def session_chain(view: SessionView) -> Iterator[ChainEntry]:
    """The sessions before, this one, the sessions after; nothing where it stands alone."""
    links = view.session.links
    if not links:
        return
    entries: dict[bool, list[ChainEntry]] = {True: [], False: []}
    for link in links:
        title = shorten_line(link.title or link.prompt, 120) or link.session
        prompt = shorten_line(link.prompt, 300)
        relation, href = RELATIONS.get(link.relation, link.relation).lower(), view.session_href(link.session)
        earlier = link.relation in ("source", "copied-from")
        entries[earlier].append(ChainEntry(relation, title, href, prompt if prompt != title else ""))
    yield from entries[True]
    yield ChainEntry("this session", shorten_line(view.session.title, 120), here=True)
    yield from entries[False]
