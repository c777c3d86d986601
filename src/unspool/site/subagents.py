"""Subagents where they were called: a row that opens to their whole conversation, or leads to it."""

from collections.abc import Callable

from unspool import human
from unspool.export.html import told as html
from unspool.figures import calls_of
from unspool.model import Agent
from unspool.site.address import agent_anchor
from unspool.site.bill import money
from unspool.site.scene import Scene

Teller = Callable[[Agent], str | None]
"""Tells a subagent's conversation where it is called; None where it is to be told elsewhere."""


def title(agent: Agent) -> str:
    """What a subagent is called: its name, its kind, what it was to do."""
    what = " ".join(agent.description.split())[:200]
    return human.joined(agent.name, ": ".join(word for word in (agent.kind, what) if word)) or agent.id


def gist(agent: Agent, scene: Scene) -> str:
    """How it ended and what it took."""
    return human.joined(
        agent.status if agent.status != "completed" else "",
        "in the background" if agent.background else "",
        human.count(sum(1 for _ in calls_of(agent.session)), "call"),
        human.elapsed(agent.session.started, agent.session.ended),
        money(scene.bill.all_of(agent.session)),
    )


def agent_row(agent: Agent, scene: Scene, tell: Teller) -> str:
    """A subagent in a box of rows."""
    anchor, name, outcome = agent_anchor(agent), title(agent), gist(agent, scene)
    single, href = scene.options.single_page, scene.addresses.agents[agent.id].first
    told = tell(agent)
    if told is not None:
        return html.agent_row(anchor, name, outcome, "" if single else href, told)
    if single:  # it has its anchor where it is told, at the end of the page
        return html.agent_lead("", f"#{anchor}", name, outcome)
    return html.agent_lead(anchor, href, name, outcome)
