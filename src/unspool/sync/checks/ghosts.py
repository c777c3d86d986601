"""Sessions that are gone already."""

from collections.abc import Iterator

from unspool import human
from unspool.sync.finding import Finding
from unspool.sync.ghosts import Ghost, Known
from unspool.sync.ghosts import ghosts as found_in
from unspool.sync.scene import Scene
from unspool.sync.spans import spans

NAME = "ghosts"


def ghosts(scene: Scene) -> Iterator[Finding]:
    """How many sessions only left traces, and how many prompts of theirs."""
    sessions = scene.holding.sessions if scene.holding is not None else frozenset[str]()
    known = Known(sessions, lambda: spans(scene.logs), scene.graves)
    for agent in scene.agents:
        found = found_in(agent.home, known)
        told = [ghost for ghost in found if ghost.prompts and not ghost.assumed]
        if told:
            message = (
                f"{_counted(told)} {_have(told)} no log any more: it was deleted before it was kept, or never written."
            )
            yield Finding("note", NAME, message, _listed(told), "unspool sync, then unspool search finds the prompts")
        assumed = [ghost for ghost in found if ghost.assumed]
        if assumed:
            count = sum(len(ghost.prompts) for ghost in assumed)
            message = (
                f"{human.count(count, 'prompt')} of versions that named no session {'is' if count == 1 else 'are'} "
                f"without a log, of an assumed {human.count(len(assumed), 'session')}."
            )
            yield Finding("note", NAME, message, _listed(assumed), "unspool sync, then unspool search finds them")
        traces = [ghost for ghost in found if not ghost.prompts]
        if traces:
            message = f"Of {human.count(len(traces), 'more session')} only files survive."
            yield Finding("note", NAME, message, _listed(traces), "unspool sync keeps them")


def _counted(found: list[Ghost]) -> str:
    prompts = human.count(sum(len(ghost.prompts) for ghost in found), "prompt")
    return f"{human.count(len(found), 'session')} with {prompts}"


def _have(found: list[Ghost]) -> str:
    return "has" if len(found) == 1 else "have"


def _listed(found: list[Ghost]) -> tuple[str, ...]:
    return tuple(human.joined(ghost.key, human.day(ghost.started), ghost.project) for ghost in found)
