"""What a log of changes comes to: a chat of VS Code as it stands."""

import operator
from typing import Any

from unspool.agents.values import items, mapping, text
from unspool.model import Json, Place


class Replay:
    """A chat as the changes of its log leave it, with the requests that some of them took away."""

    def __init__(self) -> None:
        self.head: dict[str, Json] = {}
        self.live: list[Json] = []
        self.gone: list[Json] = []
        self.places: dict[int, Place] = {}
        """By the identity of a request, where it was told."""

    def apply(self, change: dict[str, Json], place: Place | None = None) -> None:
        """Begin with a whole chat (0), set a value (1), cut a list and add to it (2), or delete a value (3)."""
        kind, path, value = change.get("kind"), change.get("k"), change.get("v")
        before = list(self.live)
        chat: dict[str, Any] = {**self.head, "requests": self.live}
        if kind == 0 and isinstance(value, dict):
            chat = dict(value)
        elif isinstance(path, list) and path:
            _change(chat, path, change)
        self.live, self.head = items(chat.pop("requests", [])), chat
        if len(before) == len(self.live) and all(map(operator.is_, before, self.live)):
            return
        now = {_name(one) for one in self.live}
        self.gone = [one for one in (*self.gone, *before) if one is not None and _name(one) not in now]
        if place is not None:
            for one in self.live:
                self.places.setdefault(id(one), place)


def _name(request: Json) -> Json:
    return text(mapping(request).get("requestId")) or id(request)


def _change(chat: dict[str, Any], path: list[Any], change: dict[str, Any]) -> None:
    """One change at a path of names and numbers; one that leads nowhere changes nothing."""
    within: Any = chat
    for key in path[:-1]:
        if isinstance(within, dict) and isinstance(key, str):
            within = within.setdefault(key, {})
        elif isinstance(within, list) and type(key) is int and 0 <= key < len(within):
            within = within[key]
        else:
            return
    last, kind = path[-1], change.get("kind")
    if isinstance(within, list) and type(last) is int and 0 <= last < len(within) + (kind == 1):
        held = within[last] if last < len(within) else None
        within[last : last + 1] = [_changed(held, change)]
    elif isinstance(within, dict) and isinstance(last, str):
        within[last] = _changed(within.get(last), change)
        if kind == 3:
            del within[last]


def _changed(held: Json, change: dict[str, Any]) -> Json:
    match change.get("kind"):
        case 1:
            return change.get("v")
        case 2:
            return _pushed(held, change)
        case 3:
            return None
    return held


def _pushed(held: Json, change: dict[str, Any]) -> list[Any]:
    kept, end = items(held), change.get("i")
    return [*(kept[:end] if type(end) is int and end >= 0 else kept), *items(change.get("v"))]
