"""A session as a document: how title, facts, turns, subagents, branches and problems are laid out.

Nothing of a session is left out unless the `View` says so; what is cut says how much was cut.
"""

from collections import deque
from collections.abc import Iterator

from unspool.doc import Heading, Node
from unspool.model import Session, Turn
from unspool.transcript.blocks import Stage, agent_nodes, turn_nodes
from unspool.transcript.branches import Leaving, follow
from unspool.transcript.cast import Cast
from unspool.transcript.facts import head
from unspool.transcript.remains import tail
from unspool.transcript.view import View

__all__ = ["View", "nodes"]


def nodes(session: Session, view: View | None = None) -> Iterator[Node]:
    """The session's document, node by node, in reading order; NotFound where the view's branch is not there."""
    view = view or View()
    turns, leaving = follow(session, view.branch)
    return _document(session, Stage(view, Cast(session)), turns, leaving)


def _document(session: Session, stage: Stage, turns: tuple[Turn, ...], leaving: Leaving) -> Iterator[Node]:
    yield from head(session, stage.view)
    mentions = deque(sorted(item for item in leaving.items() if stage.view.branches and stage.view.has_turn(item[0])))
    for turn in turns:
        while mentions and mentions[0][0] < turn.number:
            yield from mentions.popleft()[1]
        if stage.view.has_turn(turn.number):
            yield from turn_nodes(turn, stage)
    for _, folds in mentions:
        yield from folds
    yield from _loose_agents(stage)
    yield from tail(session, stage.view)


def _loose_agents(stage: Stage) -> Iterator[Node]:
    """Subagents that no call accounts for, and those that were nested too deep to be told in place."""
    untied = stage.cast.untied()
    if untied:
        yield Heading("agents", 2, "Subagents that no call accounts for")
    for agent in untied:
        yield from agent_nodes(agent, stage)
    while stage.cast.late:
        yield from agent_nodes(stage.cast.recall(), stage)
