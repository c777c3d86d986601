"""Lines beside the conversation: titles, queue, snapshots, links. What they say of the session is kept in its facts."""

from collections.abc import Callable

from unspool.formats.claude_code.values import items, mapping, moment, text
from unspool.model import Facts, Json, Place

_GENERIC = frozenset({"Claude Code CLI Session Start", "Conversation Cleared"})


def learn(data: dict[str, Json], place: Place, facts: Facts) -> None:
    """Take what a side line says of its session into the facts."""
    teach = _LESSONS.get(text(data.get("type")))
    if teach is not None:
        teach(data, place, facts)


def _summary(data: dict[str, Json], _: Place, facts: Facts) -> None:
    words = text(data.get("summary")).strip()
    if words and words not in _GENERIC:
        facts.summaries[text(data.get("leafUuid"))] = words


def _custom_title(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.custom_title = text(data.get("customTitle")).strip() or facts.custom_title


def _ai_title(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.generated_title = text(data.get("aiTitle")).strip() or facts.generated_title


def _agent_name(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.agent_name = text(data.get("agentName")).strip() or facts.agent_name


def _queue(data: dict[str, Json], place: Place, facts: Facts) -> None:
    said = data.get("content")
    words = text(said) or "\n".join(text(mapping(block).get("text")) for block in items(said))
    facts.queue.append((text(data.get("operation")), words, place, moment(data.get("timestamp"))))


def _pr_link(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.links.append(
        {
            "number": data.get("prNumber"),
            "url": text(data.get("prUrl")),
            "repository": text(data.get("prRepository")),
            "time": moment(data.get("timestamp")),
        }
    )


def _worktree(data: dict[str, Json], _: Place, facts: Facts) -> None:
    state = mapping(data.get("worktreeSession"))
    facts.worktree_of = text(state.get("originalCwd")) or facts.worktree_of


def _relocated(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.relocated = text(data.get("relocatedCwd")) or facts.relocated


def _continued(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.moved_to = text(data.get("continuedInSessionId")) or facts.moved_to


def _cost(data: dict[str, Json], _: Place, facts: Facts) -> None:
    said = data.get("totalCostUSD", data.get("total_cost_usd"))
    if isinstance(said, int | float) and not isinstance(said, bool):
        facts.reported_cost = str(said)


_LESSONS: dict[str, Callable[[dict[str, Json], Place, Facts], None]] = {
    "summary": _summary,
    "custom-title": _custom_title,
    "ai-title": _ai_title,
    "agent-name": _agent_name,
    "queue-operation": _queue,
    "pr-link": _pr_link,
    "worktree-state": _worktree,
    "relocated": _relocated,
    "continued-in": _continued,
    "cost-state": _cost,
    "result": _cost,
}
