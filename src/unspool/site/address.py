"""Addresses: the page and the anchor of everything in a session. Nothing else knows how they are made.

Anchors come from the log alone and never change between builds, whatever the options: `msg-{epoch-ms}` from the
time of a prompt or block, `line-{n}` where it has none; a second one of the same name gets `-2`, and so on in the
order of the log, first the session's own, then its subagents' by id. Turns are `turn-{n}` besides.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from unspool.figures import all_turns, family
from unspool.model import Agent, Block, Branch, Prompt, Session, Turn
from unspool.site.options import SiteOptions

INDEX = "index.html"
Item = Prompt | Block

HEAVY = 600_000
"""Bytes of log that a page of several prompts holds at most: as HTML they are rarely more, and mostly half of it."""

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def slug(text: str) -> str:
    """A text as part of a file's name and of an anchor: itself where it is plain, else its digest."""
    return text if _PLAIN.fullmatch(text) else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Leaf(NamedTuple):
    """One page and the turns on it."""

    path: str
    turns: tuple[Turn, ...]


class Chapter(NamedTuple):
    """Turns that are read one after the other: the live conversation, a branch, a subagent."""

    leaves: tuple[Leaf, ...]
    prefix: str = ""
    """What stands before `turn-{n}` in its anchors where one page holds several chapters."""
    branch: Branch | None = None
    agent: Agent | None = None

    @property
    def first(self) -> str:
        return self.leaves[0].path


class Addresses:
    """The addresses of one session's prompts, blocks, turns, branches and subagents."""

    def __init__(self, session: Session, options: SiteOptions, base: str = "") -> None:
        """`base` is what leads to the session's folder from where its addresses are used; nothing within it."""
        self._session = session  # kept, for items are told apart by identity while the session lives
        self._base = base
        self._single = options.single_page
        self._own = "" if options.single_page and options.self_contained else INDEX
        self._per_page = max(1, options.per_page)
        every = {agent.id: agent for member in reversed(list(family(session))) for agent in reversed(member.agents)}
        agents = [every[name] for name in sorted(every)]
        self._anchors = _anchors((session, *(agent.session for agent in agents)))
        self.live = self._chapter("page-", session.turns, session.log.size)
        self.branches = {
            one.number: self._aside(f"branch-{one.number}", one.turns, _end(one.turns))._replace(branch=one)
            for one in session.branches
        }
        self.agents = {
            one.id: self._aside(agent_anchor(one), one.session.turns, one.session.log.size)._replace(agent=one)
            for one in agents
        }
        self._homes: dict[int | None, dict[int, str]] = {}
        """The first page of each turn by its number, of branches by theirs and of the live conversation by None."""
        self._pages: dict[int, str] = {}
        for chapter in self.chapters():
            for leaf in chapter.leaves:
                self._pages.update((id(item), leaf.path) for item in _items(leaf.turns))
        for agent in agents:
            home = self.agents[agent.id].first
            for branch in agent.session.branches:
                self._pages.update((id(item), home) for item in _items(branch.turns))

    def chapters(self) -> Iterator[Chapter]:
        """The live conversation, then branches, then subagents."""
        yield self.live
        yield from self.branches.values()
        yield from self.agents.values()

    def anchor(self, item: Item) -> str:
        """The anchor of a prompt or block of the session, its branches or its subagents."""
        return self._anchors[id(item)]

    def page(self, item: Item) -> str:
        """The page a prompt or block has its home on; a subagent's blocks may be told in its caller's page too."""
        return self._pages[id(item)]

    def link(self, item: Item) -> str:
        """Page and anchor of a prompt or block."""
        return f"{self._href(self._pages[id(item)])}#{self._anchors[id(item)]}"

    def turn(self, number: int, branch: int = 0) -> str:
        """Page and anchor of a turn of the live conversation or of a branch; its chapter's page if it has none."""
        chapter = self.branches.get(branch, self.live)
        name = branch if branch in self.branches else None
        if name not in self._homes:
            last_first = reversed(chapter.leaves)
            self._homes[name] = {turn.number: leaf.path for leaf in last_first for turn in leaf.turns}
        home = self._homes[name].get(number)
        return chapter.first if home is None else f"{self._href(home)}#{chapter.prefix}turn-{number}"

    def _href(self, path: str) -> str:
        """How a page is linked; a page that is all there is may be called anything, and links within itself."""
        return self._own if path == INDEX else path

    def _chapter(self, name: str, turns: tuple[Turn, ...], end: int) -> Chapter:
        """`end` is where the last turn ends in its log."""
        if self._single:
            return Chapter((Leaf(INDEX, turns),))
        pages = enumerate(_cut(turns, self._per_page, end), 1)
        return Chapter(tuple(Leaf(f"{self._base}{name}{at:03}.html", page) for at, page in pages))

    def _aside(self, name: str, turns: tuple[Turn, ...], end: int) -> Chapter:
        """A chapter whose first page is called by its name alone; no slug has a dot."""
        first, *more = self._chapter(f"{name}.", turns, end).leaves
        opening = Leaf(INDEX if self._single else f"{self._base}{name}.html", first.turns)
        return Chapter((opening, *more), f"{name}.")


def chapter_turns(chapter: Chapter) -> Iterator[Turn]:
    """The turns whose home a chapter's pages are: those of a subagent's branches too."""
    for leaf in chapter.leaves:
        yield from leaf.turns
    for branch in chapter.agent.session.branches if chapter.agent else ():
        yield from branch.turns


def agent_anchor(agent: Agent) -> str:
    """The anchor of a subagent's transcript, wherever it is told."""
    return f"agent-{slug(agent.id)}"


def _cut(turns: tuple[Turn, ...], size: int, end: int) -> Iterator[tuple[Turn, ...]]:
    """Pages of so many prompts, of fewer where these are heavy; what came before the first prompt is with it.

    Where the prompts stand in the log is all that decides: whoever knows only that finds the same pages, and a log
    that grows changes none but the last.
    """
    opening = sum(turn.prompt is None for turn in turns[:1])
    bounds = [turn.prompt.place.offset if turn.prompt else 0 for turn in turns] + [end]
    first = opening
    for at in range(opening + 1, len(turns)):
        if at - first == size or bounds[at + 1] - bounds[first] > HEAVY:
            yield turns[first if first > opening else 0 : at]
            first = at
    yield turns[first if first > opening else 0 :]


def _end(turns: tuple[Turn, ...]) -> int:
    """Where turns end in their log."""
    return max((item.place.offset + item.place.size for item in _items(turns)), default=0)


def _items(turns: Iterable[Turn]) -> Iterator[Item]:
    for turn in turns:
        if turn.prompt is not None:
            yield turn.prompt
        yield from turn.blocks


def _anchors(sessions: Iterable[Session]) -> dict[int, str]:
    """Anchors by the identity of prompts and blocks."""
    found: dict[int, str] = {}
    taken: dict[str, int] = {}
    for session in sessions:
        for item in sorted(_items(all_turns(session)), key=lambda item: item.place.offset):
            name = f"msg-{round(item.time.timestamp() * 1000)}" if item.time else f"line-{item.place.line}"
            taken[name] = nth = taken.get(name, 0) + 1
            found[id(item)] = name if nth == 1 else f"{name}-{nth}"
    return found
