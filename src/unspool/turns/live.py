"""The lines the agent itself would load on resume: the strict path, with what parallel calls left beside it.

Each call's result hangs from its own line, so a path through a message with several calls meets only one of
them; the other lines of that message and their results are put back behind its last line on the path.
"""

from collections.abc import Sequence

from unspool.model import Event, Result, ToolCall
from unspool.turns.tree import Tree


class Live:
    """What the agent loads of a tree, for any tip of it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._members, self._owners, self._answers = _index(tree.events)

    def ids(self, leaf: int | None) -> tuple[str, ...]:
        """Ids of the visible lines, in order. Lines that have no id of their own are not among them."""
        if leaf is None:
            return ()
        events = self._tree.events
        return tuple(events[step].id for step in self.loaded(leaf) if _visible(events[step]))

    def loaded(self, leaf: int) -> list[int]:
        """Positions of all lines from the root to `leaf` and of those put back, in order."""
        path = self._tree.path(leaf, self._tree.strict)
        put_back = self._recovered(path, set(path))
        return [step for index in path for step in (index, *put_back.get(index, ()))]

    def _recovered(self, path: list[int], on_path: set[int]) -> dict[int, list[int]]:
        """Lines to put back, by the position on the path that they follow."""
        events = self._tree.events
        anchors = {part.message: index for index in path if (part := events[index].part) and _named(events[index])}
        answered = {call for index in path for call in _answers(events[index])}
        found: dict[int, list[int]] = {}
        for message, anchor in anchors.items():
            members = self._members.get(message, [])
            mates = [index for index in members if index not in on_path]
            results = _results(events, members, self._answers, (on_path, self._owners, answered))
            extra = sorted(mates, key=lambda i: _when(events[i])) + sorted(results, key=lambda i: _when(events[i]))
            if extra:
                on_path.update(extra)
                found[anchor] = extra
        return found


def _visible(event: Event) -> bool:
    return event.turn and not (event.meta or event.sidechain or event.team) and not event.id.startswith("line-")


def _named(event: Event) -> bool:
    return event.part is not None and event.part.message != event.id


def _index(events: Sequence[Event]) -> tuple[dict[str, list[int]], dict[str, int], dict[str, list[int]]]:
    """(lines of each message, the line of each call, results by the id of the line they may answer)."""
    members: dict[str, list[int]] = {}
    owners: dict[str, int] = {}
    for index, event in enumerate(events):
        if event.part is not None and not event.id.startswith("line-"):
            members.setdefault(event.part.message, []).append(index)
            for block in event.blocks:
                if isinstance(block, ToolCall):
                    owners[block.call_id] = index
    answers: dict[str, list[int]] = {}
    for index, event in enumerate(events):
        for line in _answered_lines(event, events, owners):
            answers.setdefault(line, []).append(index)
    return members, owners, answers


def _answered_lines(event: Event, events: Sequence[Event], owners: dict[str, int]) -> set[str]:
    if event.part is not None or not event.parent:
        return set()
    calls = _answers(event)
    if not calls:
        return set()
    lines = {events[owners[call]].id for call in calls if call in owners and _same(event, events[owners[call]])}
    return lines | {event.parent} | ({event.answers} if event.answers else set())


def _same(one: Event, other: Event) -> bool:
    return one.sidechain == other.sidechain and one.agent == other.agent


def _answers(event: Event) -> list[str]:
    return [block.call_id for block in event.blocks if isinstance(block, Result)] if event.part is None else []


def _results(
    events: Sequence[Event],
    members: list[int],
    answers: dict[str, list[int]],
    state: tuple[set[int], dict[str, int], set[str]],
) -> list[int]:
    on_path, owners, answered = state
    lines = {events[index].id for index in members}
    near: list[int] = []
    stray: list[int] = []
    for line in (events[index].id for index in members):
        for result in answers.get(line, ()):
            if result in on_path or result in near or result in stray:
                continue
            (near if events[result].parent in lines else stray).append(result)
    known = {call for index in near for call in _answers(events[index])}  # apart: `answered` is as long as the log
    for result in sorted(stray):
        given = [call for call in _answers(events[result]) if call not in known and call not in answered]
        if any(owners.get(call) in members for call in given):
            known.update(_answers(events[result]))
            near.append(result)
    return near


def _when(event: Event) -> str:
    return event.time.isoformat(timespec="microseconds") if event.time is not None else ""
