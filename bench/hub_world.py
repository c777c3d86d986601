"""A hub with something in it: many made rows to list and search, and sessions really pushed and shared to look at."""

import random
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from bench.hub_running import Hubs
from bench.hub_scale import fill
from bench.hub_sending import Crowd, Ready, Sending, logs_only, push, share, view
from unspool.hub.people.tokens import create_token

WHO, PROJECT = "p7", "j7"
"""Somebody of those that `fill` makes, who may read five projects of fifty, and one that they may write to."""
_SEARCHES = 60


class World(NamedTuple):
    """What is there, and who asks."""

    token: str
    pages: list[str]
    """Of pushed sessions."""
    shares: list[str]
    pushed: Sending
    shared: Sending

    def paths(self) -> dict[str, list[str]]:
        """What is asked for in turn, by what it is."""
        asked = [f"/api/search?q={quote(word)}" for word in words()]
        return {
            "view, share": [f"/{address}/" for address in self.shares],
            "view, session": [f"/sessions/{session}/" for session in self.pages],
            "list, page": ["/sessions"],
            "list, JSON": ["/api/archive"],
            "search, JSON": asked,
        }

    def mixed(self) -> list[str]:
        """As people use it: mostly looking, some listing, some searching."""
        paths, rng = self.paths(), random.Random(8)
        shares = {"view, share": 3, "view, session": 4, "list, page": 1, "list, JSON": 1, "search, JSON": 1}
        return [rng.choice(paths[name]) for _ in range(100) for name, times in shares.items() for _ in range(times)]


def words() -> list[str]:
    """What is searched for: common words and rare ones, two at a time, phrases, beginnings; one is nowhere."""
    rng = random.Random(9)
    one = [
        f"w{rng.randrange(*bounds)}" for bounds in ((20, 100), (100, 900), (2000, 19000)) for _ in range(_SEARCHES // 5)
    ]
    two = [f"w{rng.randrange(1, 30)} w{rng.randrange(100, 900)}" for _ in range(_SEARCHES // 5)]
    phrases = [f'"w{rng.randrange(20, 90)} w{rng.randrange(90, 900)}"' for _ in range(_SEARCHES // 10)]
    return [*one, *two, *phrases, *(f"w{rng.randrange(100, 999)}*" for _ in range(_SEARCHES // 10)), "nowhere"]


def crowd(hubs: Hubs, sessions: int) -> tuple[str, Crowd]:
    """Fill a hub that has nobody in it with made sessions; the token of somebody of it, and people who send."""
    fill(hubs.store, sessions)
    token = create_token(hubs.store.db, WHO, "bench")
    return token, Crowd(hubs, token)


def begin(there: Crowd, hubs: Hubs, real: Sequence[Ready]) -> None:
    """Have the processes that make pages started, which takes as long as many sessions."""
    there.send(share, list(logs_only(real[: 2 * len(hubs.servers)])))


def pushed(there: Crowd, real: Sequence[Ready]) -> tuple[list[str], Sending]:
    """Push sessions; their ids."""
    return there.send(lambda client, one: push(client, PROJECT, one), real)


def shared(there: Crowd, real: Sequence[Ready]) -> tuple[list[str], Sending]:
    """Share sessions; their addresses."""
    return there.send(share, list(logs_only(real)))


def world(hubs: Hubs, sessions: int, real: Sequence[Ready]) -> World:
    """A hub with so many made sessions, and some that are real."""
    token, there = crowd(hubs, sessions)
    begin(there, hubs, real)
    pages, sent = pushed(there, real)
    there.ask(view, pages)  # what is measured is not the first view, which makes the pages
    addresses, shown = shared(there, real)
    return World(token, pages, addresses, sent, shown)
