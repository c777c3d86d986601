"""Do the tokens of other agents' sessions agree with what peers read from the same real logs? Where not, what decides.

Figures are input without cache, output with what was thought, read from the cache, written to it. A difference is no
miss where the log's own record says which reader is right: `DECIDED` names that record.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from bench import agentsview
from bench.answers import UNSPOOL
from bench.measure import run
from bench.table import Row
from bench.usage import OURS, THEIRS, Four

_PLACES = {
    "agents/codex": ".codex", "codex": ".codex/sessions/2026/04/29", "agents/pi": ".pi", "agents/copilot": ".copilot",
    "agents/gemini": ".gemini", "agents/droid": ".factory", "agents/amp": ".local/share/amp",
    "agents/opencode": ".local/share/opencode", "agents/iflow": ".iflow", "agents/vscode-copilot/Code": ".config/Code",
    "agents/kiro-cli": ".kiro/sessions/cli",
}  # fmt: skip
"""Where each folder of the corpora belongs below a home."""
_COLUMNS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CCUSAGE = ("codex", "opencode", "pi", "amp", "copilot", "gemini", "droid")
_BESIDE = "`tokens.total` holds what was thought beside `output`; it is left out there"
_COMPACTION = "`tokenDetails` of `session.shutdown` hold the compaction's request, its `usage` does not"
_TOTALS = f"a `session.shutdown` is of everything since the beginning, and added up there; {_COMPACTION}"
_GROWN = "`tokens` of a message are of its request, as its `total` says; there input is what it grew by"
_UNREAD = "`promptTokens` and `outputTokens` of a request's result; none are taken there"
DECIDED = {
    ("agentsview", "copilot"): (_TOTALS, OURS),
    ("agentsview", "gemini"): (_GROWN, ("input", "cache_read")),
    ("agentsview", "opencode"): (_BESIDE, ("output",)),
    ("agentsview", "vscode-copilot"): (_UNREAD, ("input", "output")),
    ("ccusage", "copilot"): (_COMPACTION, OURS),
    ("ccusage", "gemini"): (_BESIDE, ("output",)),
    ("ccusage", "opencode"): (_BESIDE, ("output",)),
}
"""By peer and agent, the record that says that ours is right, and the figures that it decides."""

Sessions = dict[str, Four]


def rows(shared: Path, home: Path) -> Iterator[Row]:
    """A row for each peer and agent that both read."""
    _lay_out(shared / "corpora", home)
    env = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "XDG_DATA_HOME": str(home / ".local" / "share")}
    done = run([UNSPOOL, "list", "--all", "--limit", "0", "--json"], env)
    if done.failed:
        yield Row("tokens of agents", done.failed, aim="equal", met=False)
        return
    ours: dict[str, Sessions] = {}
    for one in json.loads(done.output)["sessions"]:
        ours.setdefault(one["agent"], {})[one["id"]] = tuple(one["usage"].get(name, 0) for name in OURS)
    for peer, theirs in (("agentsview", _in_agentsview(home)), ("ccusage", _in_ccusage(env))):
        for agent, sessions in theirs.items():
            if agent in ours:
                yield _agreement(peer, agent, ours[agent], sessions)


def _lay_out(corpora: Path, home: Path) -> None:
    for place, below in _PLACES.items():
        for path in sorted((corpora / place).rglob("*")):
            name = path.relative_to(corpora / place)
            if place == "codex":  # these lie there under the names of their threads alone
                name = Path(f"rollout-2026-04-29T22-33-39-{path.name}")
            elif place == "agents/kiro-cli":  # and these in a folder each
                name = Path(f"{path.parent.name}{path.suffix}")
            if path.is_file():
                (home / below / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, home / below / name)


def _in_agentsview(home: Path) -> dict[str, Sessions]:
    if agentsview.program() is None or run([agentsview.program() or "", "sync"], agentsview.quiet(home)).failed:
        return {}
    found: dict[str, Sessions] = {}
    with closing(sqlite3.connect(home / ".agentsview" / "sessions.db")) as db:
        told = db.execute("SELECT session_id, token_usage FROM messages WHERE token_usage <> ''").fetchall()
        used = [(session, json.loads(usage)) for session, usage in told]
        events = db.execute(f"SELECT session_id, {', '.join(_COLUMNS)} FROM usage_events").fetchall()  # noqa: S608
        used += [(session, dict(zip(_COLUMNS, figures, strict=True))) for session, *figures in events]
        sums: dict[str, Four] = {}
        for session, usage in used:
            before = sums.get(session, (0, 0, 0, 0))
            sums[session] = tuple(one + int(usage.get(name) or 0) for one, name in zip(before, _COLUMNS, strict=True))
        for session, agent in db.execute("SELECT id, agent FROM sessions").fetchall():
            found.setdefault(agent, {})[session.rpartition(":")[2]] = sums.get(session, (0, 0, 0, 0))
    return found


def _in_ccusage(env: Mapping[str, str]) -> dict[str, Sessions]:
    program, found = os.environ.get("UNSPOOL_CCUSAGE"), dict[str, Sessions]()
    for agent in _CCUSAGE if program else ():
        done = run([program or "", agent, "session", "--json", "--offline"], dict(env))
        if not done.failed:
            listed = json.loads(done.output)["sessions"]
            found[agent] = {one["sessionId"]: tuple(int(one.get(name, 0)) for name in THEIRS) for one in listed}
    return found


def _agreement(peer: str, agent: str, ours: Sessions, theirs: Sessions) -> Row:
    both, differing = 0, dict[str, tuple[str, set[str]]]()
    for session, figures in theirs.items():
        mine = max((one for one in ours if one in session or session in one), key=len, default="")
        if not mine:
            continue
        both += 1
        if apart := {name for name, own, other in zip(OURS, ours[mine], figures, strict=True) if own != other}:
            differing[mine] = (f"{mine[:12]} {ours[mine]} beside {figures}", apart)
    why, decided = DECIDED.get((peer, agent), ("", ()))
    open_ = [words for words, apart in differing.values() if not apart <= {*decided}]
    told = f"{len(differing)} differ: {'; '.join(open_) or why}" if differing else ""
    equal = f"{peer}: {both - len(differing)} equal"
    what = f"tokens of {agent}, {both} sessions that both read"
    return Row(what, told, equal, aim="equal or decided by the log", met=not open_)
