"""Logs that stopped growing while their sessions went on.

An agent can lose the file it writes its log to and go on as if nothing were: prompts are still listed, files still
saved beside the log. Waiting is no such sign: a session that is only open, or busy with a long call, writes nothing.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from unspool import human
from unspool.formats import Found
from unspool.formats.traces import Belonging, Running
from unspool.library.heads import last_active
from unspool.sync.finding import Finding
from unspool.sync.scene import Agent, Scene

NAME = "stalled"
PATIENCE = 10 * 60.0
"""Seconds that a log may lie behind."""
_GRACE = 60.0
"""Seconds that a prompt may take to reach its log."""
_LONG_CALL = 2 * 3600.0
"""Seconds that a subagent may work before its session should have said something itself."""
_BESIDE = ("tool-result", "workflow", "subagent", "file-history", "task", "todos")


class Signs(NamedTuple):
    """What tells that a session went on, by when it last did; 0 where nothing does."""

    prompt: float = 0.0
    beside: float = 0.0
    """The last file beside its logs."""
    agents: float = 0.0
    """The last line of a subagent's log."""


def stalled(scene: Scene) -> Iterator[Finding]:
    """Sessions that run without their log, and logs that ended before their sessions did."""
    logs = {log.session_id: log for log in scene.logs}
    count = 0
    for agent in scene.agents:
        signs = _signs(scene, agent)
        running = {one.session_id: one for one in agent.format.running(agent.home) if one.alive is not False}
        for session, one in running.items():
            finding = _now(scene, one, logs.get(session), signs.get(session, Signs()))
            if finding is not None:
                yield finding
        count += len(running)
        yield from _before({name: sign for name, sign in signs.items() if name not in running}, logs)
    if count:
        yield Finding("ok", NAME, f"{human.count(count, 'session runs', 'sessions run')} now.")


def _signs(scene: Scene, agent: Agent) -> dict[str, Signs]:
    found: dict[str, Signs] = {}
    for prompt in agent.format.remembered(agent.home):
        if prompt.session_id and prompt.time is not None and not prompt.command:
            sign = found.get(prompt.session_id, Signs())
            found[prompt.session_id] = sign._replace(prompt=max(sign.prompt, prompt.time.timestamp()))
    for one in scene.belongings:
        if one.session_id and one.kind in _BESIDE:
            found[one.session_id] = _with(found.get(one.session_id, Signs()), one)
    return found


def _with(sign: Signs, one: Belonging) -> Signs:
    if one.kind == "subagent" and one.path.endswith(".jsonl"):
        return sign._replace(agents=max(sign.agents, one.modified))
    return sign._replace(beside=max(sign.beside, one.modified))


def _now(scene: Scene, one: Running, log: Found | None, sign: Signs) -> Finding | None:
    """A session that is open and whose log does not follow it."""
    if log is None:
        lags = any(sign) and _passed(scene, _seconds(one.started), PATIENCE) and _passed(scene, sign.prompt, _GRACE)
        what = "has no log"
    else:
        spoken = last_active(log)
        lags = _lags(scene, one, spoken, sign)
        what = f"wrote its log last {human.duration(scene.now - spoken)} ago and goes on"
    if not lags:
        return None
    return Finding(
        "bad",
        NAME,
        f"The session {one.session_id[:8]} (process {one.pid}) {what}: what it holds is in its memory alone.",
        (log.path if log is not None else one.cwd,),
        "Have the session write its conversation to a file before you close it, then start the agent anew.",
    )


def _lags(scene: Scene, one: Running, spoken: float, sign: Signs) -> bool:
    """Whether anything happened after the last line that should have left one."""
    asked = [sign.prompt, _seconds(one.active) if one.status == "busy" else 0.0]
    if any(at > spoken + PATIENCE and _passed(scene, at, _GRACE) for at in asked):
        return True
    return sign.beside > max(spoken, sign.agents) + PATIENCE or sign.agents > spoken + _LONG_CALL


def _passed(scene: Scene, since: float, seconds: float) -> bool:
    return scene.now - since > seconds


def _before(signs: dict[str, Signs], logs: dict[str, Found]) -> Iterator[Finding]:
    """Logs of sessions that are closed, and that end before the last prompt or the last file of theirs."""
    short = [
        logs[session].path
        for session, sign in signs.items()
        if session in logs and sign.prompt > logs[session].modified + PATIENCE
    ]
    if short:
        what = f"{human.count(len(short), 'log ends', 'logs end')} before the last prompt of the session"
        yield Finding("warn", NAME, f"{what}: the agent did not write it all.", tuple(sorted(short)), _KEEP)


_KEEP = "The rest is lost, but its prompts: `unspool search` finds them. Newer versions of the agent may write it all."


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time is not None else 0.0
