"""What the agent will delete by itself, when, and whether it is kept."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from unspool import human
from unspool.formats.traces import Belonging, Retention
from unspool.sync.finding import Finding, Level
from unspool.sync.scene import DAY, Agent, Scene

NAME = "cleanup"
SOON = 7
"""Days that are looked ahead."""
_LONG = 365


def cleanup(scene: Scene) -> Iterator[Finding]:
    """The setting of each agent, and what it deletes at its next start and in the days after."""
    for agent in scene.agents:
        retention = agent.format.retention(agent.home)
        yield _setting(agent, retention)
        swept = [one for one in scene.belongings if one.swept and _below(one, agent)]
        ends = scene.now - retention.days * DAY
        due = [one for one in swept if one.modified <= ends]
        soon = [one for one in swept if ends < one.modified <= ends + SOON * DAY]
        who = agent.format.name
        yield _deleted(scene, due, f"When it starts next, {who} deletes")
        yield _deleted(scene, soon, f"Within {SOON} days, {who} deletes")


def _below(one: Belonging, agent: Agent) -> bool:
    return Path(one.path).is_relative_to(agent.home)


def _setting(agent: Agent, retention: Retention) -> Finding:
    where = f"as {retention.told_by} says" if retention.told_by else "its default"
    days = human.count(retention.days, "day")
    message = f"{agent.format.name} deletes files {days} after they were last written ({where})."
    if retention.last is not None:
        message += f" It last did so on {_day(retention.last)}."
    level = _level(retention)
    return Finding(level, NAME, message, retention.problems, "" if level == "ok" else retention.remedy)


def _level(retention: Retention) -> Level:
    if retention.harmful:
        return "bad"
    if retention.problems:
        return "warn"
    return "ok" if retention.days >= _LONG else "note"


def _deleted(scene: Scene, files: Sequence[Belonging], beginning: str) -> Finding:
    """One finding of files that go at one time."""
    if not files:
        return Finding("ok", NAME, f"{beginning} nothing.")
    message = f"{beginning} {_counted(files)}, the oldest of {_day(min(one.modified for one in files))}"
    if scene.holding is not None and scene.holding.trouble:
        return Finding("warn", NAME, f"{message}; whether it is kept cannot be told.", _by_age(files), "unspool sync")
    lost = [one for one in files if not scene.is_kept(one)]
    if not lost:
        return Finding("note", NAME, f"{message}; all of it is kept.")
    what = "none of it is kept yet" if len(lost) == len(files) else f"{_counted(lost)} of it are not kept yet"
    return Finding("bad", NAME, f"{message}; {what}.", _by_age(lost), "unspool sync")


def _by_age(files: Sequence[Belonging]) -> tuple[str, ...]:
    """Paths, the oldest first."""
    return tuple(one.path for one in sorted(files, key=lambda one: one.modified))


def _counted(files: Sequence[Belonging]) -> str:
    """12 sessions (340 files, 21 MB)."""
    sessions = human.count(len({one.session_id for one in files if one.kind == "log"}), "session")
    return f"{sessions} ({human.count(len(files), 'file')}, {human.size(sum(one.size for one in files))})"


def _day(seconds: float) -> str:
    try:
        return human.day(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return "an unknown day"
