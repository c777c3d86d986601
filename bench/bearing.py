"""What a server bears: list, session pages and search under load, beside a peer's; and the memory that ours then has.

Ours answers with whole pages, the peer with the JSON that its page is made of in the browser.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from bench import agentsview, corpus
from bench.agentsview import Installed
from bench.load import Load, load
from bench.opening import LIST, PEER, listed, served, synced
from bench.queries import questions
from bench.serving import Server, free_port, ours, started
from bench.table import Row

PEAK_MB = 200
_SESSIONS, _SEARCHES = 20, 50
_LOOKED_AT = ("/", "/sessions", "/projects", "/stats", "/live", "/files", "/settings")

Pages = Mapping[str, Sequence[str]]
"""Addresses to ask for in turn, by what they show."""


def rows(what: str, archive: Path, peer: Installed, seed: int) -> Iterator[Row]:
    """Each server alone on the machine. `archive` and the peer's home are up to date with the peer's source."""
    words = [one.plain for one in questions(peer.source, seed, 10 * _SEARCHES) if one.kind.endswith("word")]
    port = free_port()
    with started(ours(archive, peer.source, port), port) as server:
        if synced(server) is None:
            yield Row(f"app: under load, {what}", f"never came up: {server.last_words}", met=False)
            return
        keys, largest = _keys(server), corpus.largest(peer.source).stem
        mine = {name: load(server, paths) for name, paths in _pages(keys, words[:_SEARCHES]).items()}
        unanswered = [page for page in _walk(largest, words[:_SEARCHES]) if server.get(page) is None]
        memory = server.memory
    theirs = _theirs(peer, keys, words[:_SEARCHES]) if agentsview.program() else {}
    for name, own in mine.items():
        yield _row(f"app: {name}, {what}", own, theirs.get(name, Load(failed="not installed")))
    told = f"server {memory.own / 1e6:.0f} MB; {memory.told}"
    failed = f"no answer: {', '.join(unanswered[:3])}" if unanswered else ""
    met = not failed and memory.own <= PEAK_MB * corpus.MB
    yield Row(f"app: memory of the server, {what}", failed or told, aim=f"<= {PEAK_MB} MB", met=met)


def _keys(server: Server) -> list[str]:
    """Some sessions, from the newest to the oldest."""
    first = json.loads(server.get("/api/sessions?limit=1") or b"{}")
    total = first.get("total", 0)
    places = sorted({number * total // _SESSIONS for number in range(_SESSIONS)}) if total else []
    answers = [json.loads(server.get(f"/api/sessions?limit=1&offset={place}") or b"{}") for place in places]
    return [one["key"] for answer in answers for one in answer.get("sessions", ())]


def _pages(keys: Sequence[str], words: Sequence[str]) -> Pages:
    pages = [f"/s/{quote(key, safe='')}/" for key in keys]
    return {
        "list": ["/sessions"],
        "one session": pages[:1],
        f"{len(pages)} sessions in turn": pages,
        f"{len(words)} searches in turn": [f"/search?q={quote(word)}" for word in words],
    }


def _walk(largest: str, words: Sequence[str]) -> list[str]:
    """What a person looks at: every screen, some searches, and the largest session with the end of it."""
    session = f"/s/{quote(largest, safe='')}"
    searches = [f"/search?q={quote(word)}" for word in words[:5]]
    return [*_LOOKED_AT, *searches, f"{session}/", f"{session}/ready", f"{session}/present", *_LOOKED_AT]


def _theirs(peer: Installed, keys: Sequence[str], words: Sequence[str]) -> dict[str, Load]:
    """The same of the peer, under the same names."""
    messages = [f"/api/v1/sessions/{quote(key, safe='')}/messages?limit=100" for key in keys]
    paths = [[LIST], messages[:1], messages, [f"/api/v1/search?q={quote(word)}" for word in words]]
    with served(peer) as server:
        if listed(server) is None:
            return {}
        return {name: load(server, one) for name, one in zip(_pages(keys, words), paths, strict=True)}


def _row(what: str, mine: Load, theirs: Load) -> Row:
    both = not mine.failed and not theirs.failed and theirs.rate
    return Row(what, mine.told, f"{PEER}: {theirs.told}", f"{mine.rate / theirs.rate:.2f}x the rate" if both else "")
