"""Ways through a session: the rail of prompts beside a page, the pages above and below it, and its branches."""

from collections.abc import Iterable, Iterator

from unspool import human
from unspool.model import Branch, Turn
from unspool.render.html import conversation
from unspool.site import summaries
from unspool.site.address import INDEX, Addresses, Chapter
from unspool.site.session_view import SessionView

RAIL_NEARBY = 12
"""Prompts of other pages that a rail shows before and after those of its own page."""


def prompt_rail(chapter: Chapter, path: str) -> str:
    """The prompts of a page, with those near it."""
    found = [(leaf.path, turn) for leaf in chapter.leaves for turn in leaf.turns if turn.prompt is not None]
    if not found:
        return ""
    own = [at for at, (page, _) in enumerate(found) if page == path] or [0]
    first, last = max(0, own[0] - RAIL_NEARBY), min(len(found), own[-1] + RAIL_NEARBY + 1)
    stops = [_stop(turn, page, path, chapter.prefix) for page, turn in found[first:last]]
    return conversation.rail(human.count(len(found), "prompt"), stops, first, len(found) - last)


def _stop(turn: Turn, page: str, path: str, prefix: str) -> str:
    href = f"{'' if page == path else page}#{prefix}turn-{turn.number}"
    return conversation.rail_stop(href, turn.number, summaries.prompt_line(turn.prompt))


def pagers(chapter: Chapter, path: str) -> tuple[str, str]:
    """Index, previous, numbers, next: above a page's turns, and below them."""
    paths = [leaf.path for leaf in chapter.leaves]
    if path == INDEX:
        return "", ""
    at = paths.index(path) if path in paths else 0
    parts = [
        conversation.pager_step(INDEX, "Index", "up"),
        conversation.pager_step(_path(paths, at - 1), conversation.PREVIOUS, "prev"),
    ]
    parts += [_number(paths, number, at) for number in _numbers(len(paths), at)]
    parts.append(conversation.pager_step(_path(paths, at + 1), conversation.NEXT, "next"))
    return conversation.pager(parts), conversation.pager(parts, below=True)


def pager_links(chapter: Chapter) -> str:
    """The pages of a conversation, for its index."""
    paths = [leaf.path for leaf in chapter.leaves]
    links = [conversation.pager_step(paths[0], "Read from the start →", "next")]
    links += [_number(paths, number, -1) for number in _numbers(len(paths), 0)] if len(paths) > 1 else []
    return conversation.pager(links)


def _numbers(count: int, at: int) -> Iterator[int]:
    """The first, the last and those around; -1 for a gap."""
    shown = [number for number in range(count) if number in (0, count - 1) or abs(number - at) <= 2]
    before = -1
    for number in shown:
        if number - before > 1:
            yield -1
        yield number
        before = number


def _number(paths: list[str], number: int, at: int) -> str:
    return (
        conversation.pager_gap()
        if number < 0
        else conversation.pager_number(paths[number], number + 1, here=number == at)
    )


def _path(paths: list[str], at: int) -> str:
    return paths[at] if 0 <= at < len(paths) else ""


def branch_switcher(scene: SessionView, parent: int, after: int, here: int) -> str:
    """The ways a conversation goes on from a turn; `here` is the branch that is being read."""
    left = [branch for branch in scene.leaving[parent] if branch.after == after]
    return conversation.branch_links(
        [_stay(scene, parent, after, here), *(_leave(branch, scene.addresses, here) for branch in left)]
    )


def _stay(scene: SessionView, parent: int, after: int, here: int) -> str:
    """The way that was not left."""
    turns: Iterable[Turn] = scene.session.turns
    if parent in scene.addresses.branches:
        turns = (turn for leaf in scene.addresses.branches[parent].leaves for turn in leaf.turns)
    following = next((turn for turn in turns if turn.number > after), None)
    words = summaries.prompt_line(following.prompt, 60) if following else "ends here"
    href = scene.addresses.turn(following.number if following else after, parent)
    name = f"branch {parent}" if parent else "the live conversation"
    return conversation.branch_link(href, f"{name}: {words}", here=parent == here)


def _leave(branch: Branch, addresses: Addresses, here: int) -> str:
    first = branch.turns[0].prompt if branch.turns else None
    words = f"branch {branch.number}: {summaries.prompt_line(first, 60)} · {human.count(len(branch.turns), 'turn')}"
    chapter = addresses.branches[branch.number]
    href = f"#{chapter.prefix.rstrip('.')}" if chapter.first == INDEX else chapter.first
    return conversation.branch_link(href, words, here=branch.number == here)
