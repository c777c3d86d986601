"""Chapters as bodies of pages: turns with the ways around them, and all of a session one after the other."""

from collections.abc import Iterator

from unspool import human
from unspool.export.html import bits
from unspool.export.html import told as html
from unspool.model import Agent
from unspool.site import rail as ways
from unspool.site.address import Chapter, Leaf, agent_anchor
from unspool.site.scene import Scene
from unspool.site.subagents import gist, title
from unspool.site.turns import Narrator, agent_turns, asides, told


def named(chapter: Chapter, leaf: Leaf) -> str:
    """What a page of a chapter is called."""
    if chapter.agent is not None:
        return title(chapter.agent)
    return f"Branch {chapter.branch.number}" if chapter.branch is not None else spanned(leaf)


def body(chapter: Chapter, leaf: Leaf, scene: Scene, narrator: Narrator) -> str:
    """A page of a chapter: its head, its turns, and the way to other pages above and below."""
    if chapter.agent is not None:
        return _agent(chapter, leaf, chapter.agent, scene)
    what, switch = spanned(leaf), ""
    if chapter.branch is not None:
        what = f"Branch {chapter.branch.number}: {what}"
        switch = ways.switcher(scene, chapter.branch.parent, chapter.branch.after, chapter.branch.number)
    return framed(bits.title(scene.name, what) + switch, chapter, leaf, "".join(tell(chapter, leaf, scene, narrator)))


def _agent(chapter: Chapter, leaf: Leaf, agent: Agent, scene: Scene) -> str:
    turns = agent_turns(agent, leaf.turns, scene) + (asides(agent, scene) if leaf == chapter.leaves[0] else "")
    head, inside = html.agent_page(agent_anchor(agent), title(agent), gist(agent, scene), turns)
    return framed(head, chapter, leaf, inside)


def framed(head: str, chapter: Chapter, leaf: Leaf, turns: str) -> str:
    """A page of turns, with the way to the others above and below."""
    above, below = ways.pagers(chapter, leaf.path)
    return f"{head}{above}{turns}{below}"


def spanned(leaf: Leaf) -> str:
    """Which prompts a page holds."""
    numbers = [turn.number for turn in leaf.turns if turn.prompt is not None]
    if not numbers:
        return "Conversation"
    first, last = numbers[0], numbers[-1]
    return f"Prompts {first} to {last}" if last > first else f"Prompt {first}"


def tell(chapter: Chapter, leaf: Leaf, scene: Scene, narrator: Narrator) -> Iterator[str]:
    """The turns of a page, and where branches leave them, the ways to go on."""
    own = chapter.branch.number if chapter.branch is not None else 0
    first_page, last_page = leaf == chapter.leaves[0], leaf == chapter.leaves[-1]
    numbers = [turn.number for turn in leaf.turns]
    afters = sorted({branch.after for branch in scene.leaving[own]})
    if first_page:
        yield from (ways.switcher(scene, own, after, own) for after in afters if not numbers or after < numbers[0])
    for turn in leaf.turns:
        yield narrator.turn(turn)
        if turn.number in afters:
            yield ways.switcher(scene, own, turn.number, own)
    if last_page and numbers:
        yield from (ways.switcher(scene, own, after, own) for after in afters if after > numbers[-1])


def everything(scene: Scene) -> Iterator[str]:
    """All turns of a single page: the live conversation, branches, subagents that no call accounts for."""
    (leaf,) = scene.addresses.live.leaves
    yield bits.label("Conversation", "conversation")
    yield from tell(scene.addresses.live, leaf, scene, Narrator(scene))
    for number, chapter in scene.addresses.branches.items():
        (leaf,) = chapter.leaves
        turns = "".join(tell(chapter, leaf, scene, Narrator(scene, chapter.prefix)))
        summary = f"Branch {number} · {human.count(len(leaf.turns), 'turn')}"
        yield bits.card(summary, turns, anchor=f"branch-{number}")
    waiting = list(scene.untied) if "agents" not in scene.options.hide else []
    while waiting or scene.late:
        agent = waiting.pop(0) if waiting else scene.late.pop(0)
        yield html.agent_card(agent_anchor(agent), title(agent), told(agent, scene))
