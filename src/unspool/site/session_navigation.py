"""Navigation through a session: the rail of prompts beside a page, the pages above and below it, and its branches."""

from unspool import human
from unspool.render.html import conversation
from unspool.site import summaries
from unspool.site.address import INDEX, Chapter
from unspool.site.session_view import SessionView

_PAGES = 24
"""Pages whose numbers are all shown."""
RAIL_NEARBY = 12
"""Prompts of other pages that a rail shows before and after those of its own page."""


def prompt_rail(chapter: Chapter, path: str, total: int) -> str:
    """The prompts of a page, with those near it. `total` counts those of all chapters that this one is read among: the
    rail says of how many it shows some."""
    found = [(leaf.path, turn) for leaf in chapter.leaves for turn in leaf.turns if turn.prompt is not None]
    if not found:
        return ""
    own = [at for at, (page, _) in enumerate(found) if page == path] or [0]
    first, last = max(0, own[0] - RAIL_NEARBY), min(len(found), own[-1] + RAIL_NEARBY + 1)
    stops = (
        (
            f"{'' if page == path else page}#{chapter.prefix}turn-{turn.number}",
            turn.number,
            summaries.turn_line(turn),
        )
        for page, turn in found[first:last]
    )
    name = human.count(len(found), "prompt") if len(found) >= total else f"{len(found):,} of {total:,} prompts"
    return conversation.rail(name, stops, first, len(found) - last)


def pagers(chapter: Chapter, path: str) -> tuple[str, str]:
    """Index, previous, numbers, next: above a page's turns, and below them."""
    paths = [leaf.path for leaf in chapter.leaves]
    if path == INDEX:
        return "", ""
    at = paths.index(path) if path in paths else 0
    around = ["", *paths, ""]
    links = [
        conversation.pager_step(INDEX, "Index", "up"),
        conversation.pager_step(around[at], "← Prev", "prev"),
        *_page_numbers(paths, at, at),
        conversation.pager_step(around[at + 2], "Next →", "next"),
    ]
    return conversation.pager(links), conversation.pager(links, below=True)


def pager_links(chapter: Chapter) -> str:
    """The pages of a conversation, for its index."""
    paths = [leaf.path for leaf in chapter.leaves]
    links = [conversation.pager_step(paths[0], "Read from the start →", "next")]
    return conversation.pager(links + (_page_numbers(paths, 0, -1) if len(paths) > 1 else []))


def _page_numbers(paths: list[str], around: int, here: int) -> list[str]:
    """Links to all pages; of very many to the first, the last and those around one, with a gap for those left out."""
    links: list[str] = []
    before = -1
    for number, path in enumerate(paths):
        if len(paths) <= _PAGES or number in (0, len(paths) - 1) or abs(number - around) <= 3:
            if number - before > 1:
                links.append(conversation.pager_number("", 0, here=False))
            links.append(conversation.pager_number(path, number + 1, here=number == here))
            before = number
    return links


def branch_switcher(view: SessionView, parent: int, after: int, here: int) -> str:
    """The ways a conversation goes on from a turn; `here` is the branch that is being read."""
    turns = view.session.turns
    if parent in view.addresses.branches:
        turns = tuple(turn for leaf in view.addresses.branches[parent].leaves for turn in leaf.turns)
    following = next((turn for turn in turns if turn.number > after), None)
    words = summaries.turn_line(following, 60) if following else "ends here"
    href = view.addresses.turn(following.number if following else after, parent)
    choices = [(href, f"{f'branch {parent}' if parent else 'the live conversation'}: {words}", parent == here)]
    for branch in view.leaving[parent]:
        if branch.after == after:
            first = summaries.turn_line(branch.turns[0], 60) if branch.turns else "nothing more"
            words = f"branch {branch.number}: {first} · {human.count(len(branch.turns), 'prompt')}"
            chapter = view.addresses.branches[branch.number]
            href = f"#{chapter.prefix.rstrip('.')}" if chapter.first == INDEX else chapter.first
            choices.append((href, words, branch.number == here))
    return conversation.branch_links(choices)
