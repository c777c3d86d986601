"""The pages of a session: its turns, spread over as many pages as they need."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

from unspool import human
from unspool.figures import Figures
from unspool.model import Session
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.view import turns_and_forks
from unspool.site import page_template
from unspool.site.address import INDEX, Addresses, Chapter, Leaf, agent_anchor
from unspool.site.build.disk import encode_html, write_if_changed
from unspool.site.long_notices import NOTICES, long_notices_body
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, HtmlPage, PageTemplate
from unspool.site.search_files import inline_records, session_files
from unspool.site.search_records import session_records
from unspool.site.session_head import session_chain
from unspool.site.session_index import index_body
from unspool.site.session_navigation import branch_switcher, pagers, prompt_rail
from unspool.site.session_view import SessionView
from unspool.site.turn_layout import (
    TurnRenderer,
    agent_leftovers,
    agent_summary,
    agent_title,
    agent_turns,
    copied_runs,
    fold_copied,
    fold_earlier,
    render_agent,
)


def _chapter_body(chapter: Chapter, leaf: Leaf, view: SessionView) -> str:
    """A page of a chapter: its head, its turns, and the way to other pages above and below."""
    agent, branch = chapter.agent, chapter.branch
    if agent is not None:
        turns = agent_turns(agent, leaf.turns, view)
        turns += agent_leftovers(agent, view) if leaf.path == chapter.first else ""
        head, turns = html.agent_page(agent_anchor(agent), agent_title(agent), agent_summary(agent, view), turns)
    else:
        name = f"Branch {branch.number}: {prompt_range(leaf)}" if branch else prompt_range(leaf)
        head = elements.page_title(view.name, name)
        head += page_template.fill_template("chain.html", chain=tuple(session_chain(view)))
        head += branch_switcher(view, branch.parent, branch.after, branch.number) if branch else ""
        turns = "".join(render_turns(chapter, leaf, view, TurnRenderer(view, chapter.prefix)))
    above, below = pagers(chapter, leaf.path)
    return f"{head}{above}{turns}{below}"


def prompt_range(leaf: Leaf) -> str:
    """Which prompts a page holds."""
    numbers = [turn.number for turn in leaf.turns if turn.prompt is not None]
    if not numbers:
        return "Conversation"
    first, last = numbers[0], numbers[-1]
    return f"Prompts {first} to {last}" if last > first else f"Prompt {first}"


def render_turns(chapter: Chapter, leaf: Leaf, view: SessionView, renderer: TurnRenderer) -> Iterator[str]:
    """The turns of a page, and where branches leave them, the ways to go on."""
    own = chapter.branch.number if chapter.branch is not None else 0
    following = {page.path: after.turns[0].number for page, after in pairwise(chapter.leaves)}
    first = leaf.turns[0].number if leaf.turns and leaf.path != chapter.first else 0
    afters = {branch.after for branch in view.leaving[own] if branch.after >= first}
    if leaf.path in following:
        afters = {after for after in afters if after < following[leaf.path]}
    if chapter is view.addresses.live and leaf.path == chapter.first:
        yield from fold_earlier(view)
    for copied, run in copied_runs(turns_and_forks(leaf.turns, afters)):
        made = (branch_switcher(view, own, step, own) if isinstance(step, int) else renderer.turn(step) for step in run)
        if copied:
            yield fold_copied(copied, view, "".join(made))
        else:
            yield from made


def _single_page_body(view: SessionView) -> Iterator[str]:
    """All turns of a single page: the live conversation, branches, subagents that no call accounts for."""
    (leaf,) = view.addresses.live.leaves
    yield elements.label("Conversation", "conversation")
    yield from render_turns(view.addresses.live, leaf, view, TurnRenderer(view))
    for number, chapter in view.addresses.branches.items():
        (leaf,) = chapter.leaves
        turns = "".join(render_turns(chapter, leaf, view, TurnRenderer(view, chapter.prefix)))
        summary = f"Branch {number} · {human.count(len(leaf.turns), 'prompt')}"
        yield elements.card(summary, turns, anchor=f"branch-{number}")
    waiting = list(view.untied)
    while waiting or view.late:
        agent = waiting.pop(0) if waiting else view.late.pop(0)
        yield html.agent_card(agent_anchor(agent), agent_title(agent), render_agent(agent, view))


def session_pages(
    session: Session, counted: Figures, options: SiteOptions, frame: Frame, addresses: Addresses | None = None
) -> Iterator[HtmlPage]:
    """Every page of a session, one at a time; paths are relative to the session's folder. The index comes last.

    `addresses` are the session's under these options, where somebody has them already.
    """
    view = SessionView(session, counted, options, frame, addresses)
    for chapter in () if options.single_page else _chapters(view):
        for leaf in chapter.leaves:
            yield _chapter_page(chapter, leaf, view)
    long = None if options.single_page else _long_notices_page(view)
    if long is not None:
        yield long
    yield _index(view)


def session_page(view: SessionView, path: str) -> HtmlPage | None:
    """The page of that name alone, the same as among all; None where the session has none so called."""
    if path == INDEX:
        return _index(view)
    if path == NOTICES:
        return _long_notices_page(view)
    for chapter in _chapters(view):
        for leaf in chapter.leaves:
            if leaf.path == path:
                return _chapter_page(chapter, leaf, view)
    return None


def _chapters(view: SessionView) -> Iterator[Chapter]:
    """The chapters that have pages of their own."""
    for chapter in view.addresses.chapters():
        if chapter.agent is None or "agents" not in view.options.hide:
            yield chapter


def _index(view: SessionView) -> HtmlPage:
    body, found = index_body(view), ""
    if view.options.single_page:
        body += "".join(_single_page_body(view))
    if view.options.self_contained:  # without files beside it, it carries what can be searched
        found = inline_records(session_records(view.session, view.addresses, view.options.hide))
    template = PageTemplate(view.options, view.frame, view.session.id)
    rail = prompt_rail(view.addresses.live, INDEX, view.counted.turns)
    return HtmlPage(INDEX, template.page(view.name, body, rail=rail, found=found))


def _chapter_page(chapter: Chapter, leaf: Leaf, view: SessionView) -> HtmlPage:
    if chapter.agent is not None:
        here = agent_title(chapter.agent)
    else:
        here = f"Branch {chapter.branch.number}" if chapter.branch is not None else prompt_range(leaf)
    total = view.counted.turns if chapter.agent is None else 0
    body, rail = _chapter_body(chapter, leaf, view), prompt_rail(chapter, leaf.path, total)
    template = PageTemplate(view.options, view.frame, view.session.id)
    up = Crumb(view.name, INDEX)
    return HtmlPage(leaf.path, template.page(f"{here} · {view.name}", body, rail=rail, up=up, here=here))


def _long_notices_page(view: SessionView) -> HtmlPage | None:
    """The page of what pages only begin; None where they begin nothing."""
    body = long_notices_body(view)
    if not body:
        return None
    name = "Long notices"
    template = PageTemplate(view.options, view.frame, view.session.id)
    body = elements.page_title(view.name, name) + body
    page = template.page(f"{name} · {view.name}", body, up=Crumb(view.name, INDEX), here=name)
    return HtmlPage(NOTICES, page)


def session_folder(
    session: Session, counted: Figures, options: SiteOptions, frame: Frame
) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file of a session's folder; its first page comes last."""
    addresses = Addresses(session, options)
    if not options.self_contained or frame.search:
        yield from search_files(session, options, addresses)
    for page in session_pages(session, counted, options, frame, addresses):
        yield page.path, encode_html(page.html)


def search_files(session: Session, options: SiteOptions, addresses: Addresses) -> Iterator[tuple[str, bytes]]:
    """What the search of a session's pages loads."""
    if options.self_contained:  # found from other pages too, so linked by page
        addresses = Addresses(session, msgspec.structs.replace(options, self_contained=False))
    return session_files(session_records(session, addresses, options.hide))


def write_folder(session: Session, counted: Figures, options: SiteOptions, folder: Path) -> Path:
    """Put the pages into a folder, which may hold other things; gives the first page."""
    for name, data in () if options.self_contained else page_template.site_assets():
        write_if_changed(folder / name, data)
    for name, data in session_folder(session, counted, options, Frame()):
        write_if_changed(folder / name, data)
    return folder / INDEX


def write_file(session: Session, counted: Figures, options: SiteOptions, file: Path) -> Path:
    """Write the session as one file, which needs nothing beside it."""
    (page,) = session_pages(session, counted, options, Frame())
    write_if_changed(file, encode_html(page.html))
    return file
