"""Checks of the sources: readable, about to be deleted, kept, stalled, understood."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from unspool import human
from unspool.agents import FoundLog, by_id
from unspool.agents.base import AgentFile, Retention, RunningSession, Survey, UnknownSighting
from unspool.errors import UnspoolError
from unspool.store.library.inputs import open_log
from unspool.store.library.neighbours import last_active
from unspool.store.library.usage_from_logs import cost_of
from unspool.store.sync.doctor_scene import DAY, AgentFolder, DoctorFinding, DoctorScene, Level
from unspool.store.sync.scan import SyncPlace

SOURCES_CHECK = "sources"


def check_sources(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """Folders that are missing, and files and folders that may not be read."""
    yield from (_missing(root) for root in scene.sources if not root.is_dir())
    if not scene.roots and not scene.sources:
        places = " or ".join(str(root) for root in scene.usual)
        yield DoctorFinding(
            "warn", SOURCES_CHECK, f"No agent has kept anything under {places}.", remedy="Name a folder: --source DIR"
        )
        return
    closed = [path for path, mode in _looked_at(scene) if not os.access(path, mode)]
    if closed:
        yield DoctorFinding(
            "bad",
            SOURCES_CHECK,
            f"{human.count(len(closed), 'folder or file', 'folders and files')} may not be read.",
            tuple(closed),
            "Give yourself the right to read them: chmod -R u+rwX PATH",
        )
    elif scene.roots:
        found = human.count(len(scene.logs), "session")
        yield DoctorFinding("ok", SOURCES_CHECK, f"{found} can be read.", tuple(map(str, scene.roots)))


def _missing(root: Path) -> DoctorFinding:
    why = "is no folder" if root.exists() else "is not there"
    return DoctorFinding(
        "bad",
        SOURCES_CHECK,
        f"The source {root} {why}.",
        (str(root),),
        "Name a folder that holds projects/, or is one.",
    )


def _looked_at(scene: DoctorScene) -> Iterator[tuple[str, int]]:
    """The folders of projects and every file of a session, each with what it must allow."""
    for place in scene.places:
        yield from ((str(folder), os.R_OK | os.X_OK) for folder in _folders(place))
    yield from ((one.path, os.R_OK) for one in scene.belongings)


def _folders(place: SyncPlace) -> Iterator[Path]:
    yield place.source
    projects = place.root / "projects"
    if place.source == place.root and projects.is_dir():
        yield projects
    if place.source in (place.root, projects):
        yield from sorted(path for path in projects.glob("*") if path.is_dir())


CLEANUP_CHECK = "cleanup"
SOON = 7
"""Days that are looked ahead."""
_LONG = 365


def check_cleanup(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """The setting of each agent, and what it deletes at its next start and in the days after."""
    for agent in scene.agents:
        retention = agent.format.files.retention(agent.home)
        if retention is None:
            yield DoctorFinding("ok", CLEANUP_CHECK, f"{agent.format.name} deletes nothing by itself.")
            continue
        yield _setting(agent, retention)
        swept = [one for one in scene.belongings if one.swept and _below(one, agent)]
        ends = scene.now - retention.days * DAY
        due = [one for one in swept if one.modified <= ends]
        soon = [one for one in swept if ends < one.modified <= ends + SOON * DAY]
        who = agent.format.name
        yield _deleted(scene, due, f"When it starts next, {who} deletes")
        yield _deleted(scene, soon, f"Within {SOON} days, {who} deletes")


def _below(one: AgentFile, agent: AgentFolder) -> bool:
    return Path(one.path).is_relative_to(agent.home)


def _setting(agent: AgentFolder, retention: Retention) -> DoctorFinding:
    where = f"as {retention.told_by} says" if retention.told_by else "its default"
    days = human.count(retention.days, "day")
    message = f"{agent.format.name} deletes files {days} after they were last written ({where})."
    if retention.last is not None:
        message += f" It last did so on {_day(retention.last)}."
    level = _level(retention)
    return DoctorFinding(level, CLEANUP_CHECK, message, retention.problems, "" if level == "ok" else retention.remedy)


def _level(retention: Retention) -> Level:
    if retention.harmful:
        return "bad"
    if retention.problems:
        return "warn"
    return "ok" if retention.days >= _LONG else "note"


def _deleted(scene: DoctorScene, files: Sequence[AgentFile], beginning: str) -> DoctorFinding:
    """One finding of files that go at one time."""
    if not files:
        return DoctorFinding("ok", CLEANUP_CHECK, f"{beginning} nothing.")
    message = f"{beginning} {_counted(files)}, the oldest of {_day(min(one.modified for one in files))}"
    if scene.holding is not None and scene.holding.trouble:
        return DoctorFinding(
            "warn", CLEANUP_CHECK, f"{message}; whether it is kept cannot be told.", _by_age(files), "unspool sync"
        )
    lost = [one for one in files if not scene.is_kept(one)]
    if not lost:
        return DoctorFinding("note", CLEANUP_CHECK, f"{message}; all of it is kept.")
    what = "none of it is kept yet" if len(lost) == len(files) else f"{_counted(lost)} of it are not kept yet"
    return DoctorFinding("bad", CLEANUP_CHECK, f"{message}; {what}.", _by_age(lost), "unspool sync")


def _by_age(files: Sequence[AgentFile]) -> tuple[str, ...]:
    return tuple(one.path for one in sorted(files, key=lambda one: one.modified))


def _counted(files: Sequence[AgentFile]) -> str:
    """12 sessions (340 files, 21 MB)."""
    sessions = human.count(len({one.session_id for one in files if one.kind == "log"}), "session")
    return f"{sessions} ({human.count(len(files), 'file')}, {human.size(sum(one.size for one in files))})"


def _day(seconds: float) -> str:
    try:
        return human.day(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return "an unknown day"


KEEPING_CHECK = "keeping"


def check_keeping(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """Files that are not kept at all, and those that changed since."""
    if scene.holding is None or scene.holding.trouble:
        return
    known = [one for one in scene.belongings if scene.kept(one) is not None]
    new = [one for one in scene.belongings if scene.kept(one) is None]
    changed = [one for one in known if not scene.is_kept(one)]
    if new:
        yield _lacking(scene, new, "not kept yet")
    if changed:
        yield _lacking(scene, changed, "kept only as they were before: they changed since")
    if known and not new and not changed:
        size = human.size(sum(one.size for one in known))
        yield DoctorFinding("ok", KEEPING_CHECK, f"All is kept: {human.count(len(known), 'file')}, {size}.")


def _lacking(scene: DoctorScene, files: Sequence[AgentFile], what: str) -> DoctorFinding:
    """What is written right now is always ahead of the archive; what has lain for a day should not be."""
    late = any(one.modified < scene.now - DAY for one in files)
    sessions = len({one.session_id for one in files if one.session_id})
    of = f" of {human.count(sessions, 'session')}" if sessions else ""
    size = human.size(sum(one.size for one in files))
    message = f"{human.count(len(files), 'file')}{of} ({size}) {'is' if len(files) == 1 else 'are'} {what}."
    return DoctorFinding(
        "warn" if late else "note", KEEPING_CHECK, message, tuple(one.path for one in files), "unspool sync"
    )


STALLED_CHECK = "stalled"
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


def check_stalled(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """Sessions that run without their log, and logs that ended before their sessions did."""
    logs = {log.session_id: log for log in scene.logs}
    count = 0
    for agent in scene.agents:
        signs = _signs(scene, agent)
        running = {one.session_id: one for one in agent.format.files.running(agent.home) if one.alive is not False}
        for session, one in running.items():
            finding = _now(scene, one, logs.get(session), signs.get(session, Signs()))
            if finding is not None:
                yield finding
        count += len(running)
        yield from _before({name: sign for name, sign in signs.items() if name not in running}, logs)
    if count:
        yield DoctorFinding("ok", STALLED_CHECK, f"{human.count(count, 'session runs', 'sessions run')} now.")


def _signs(scene: DoctorScene, agent: AgentFolder) -> dict[str, Signs]:
    found: dict[str, Signs] = {}
    for prompt in agent.format.prompt_list.prompts(agent.home):
        if prompt.session_id and prompt.time is not None and not prompt.command:
            sign = found.get(prompt.session_id, Signs())
            found[prompt.session_id] = sign._replace(prompt=max(sign.prompt, prompt.time.timestamp()))
    for one in scene.belongings:
        if one.session_id and one.kind in _BESIDE:
            found[one.session_id] = _with(found.get(one.session_id, Signs()), one)
    return found


def _with(sign: Signs, one: AgentFile) -> Signs:
    if one.kind == "subagent" and one.path.endswith(".jsonl"):
        return sign._replace(agents=max(sign.agents, one.modified))
    return sign._replace(beside=max(sign.beside, one.modified))


def _now(scene: DoctorScene, one: RunningSession, log: FoundLog | None, sign: Signs) -> DoctorFinding | None:
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
    return DoctorFinding(
        "bad",
        STALLED_CHECK,
        f"The session {one.session_id[:8]} (process {one.pid}) {what}: what it holds is in its memory alone.",
        (log.path if log is not None else one.cwd,),
        "Have the session write its conversation to a file before you close it, then start the agent anew.",
    )


def _lags(scene: DoctorScene, one: RunningSession, spoken: float, sign: Signs) -> bool:
    """Whether anything happened after the last line that should have left one."""
    asked = [sign.prompt, _seconds(one.active) if one.status == "busy" else 0.0]
    if any(at > spoken + PATIENCE and _passed(scene, at, _GRACE) for at in asked):
        return True
    return sign.beside > max(spoken, sign.agents) + PATIENCE or sign.agents > spoken + _LONG_CALL


def _passed(scene: DoctorScene, since: float, seconds: float) -> bool:
    return scene.now - since > seconds


def _before(signs: dict[str, Signs], logs: dict[str, FoundLog]) -> Iterator[DoctorFinding]:
    """Logs of sessions that are closed, and that end before the last prompt or the last file of theirs."""
    short = [
        logs[session].path
        for session, sign in signs.items()
        if session in logs and sign.prompt > logs[session].modified + PATIENCE
    ]
    if short:
        what = f"{human.count(len(short), 'log ends', 'logs end')} before the last prompt of the session"
        yield DoctorFinding(
            "warn", STALLED_CHECK, f"{what}: the agent did not write it all.", tuple(sorted(short)), _KEEP
        )


_KEEP = "The rest is lost, but its prompts: `unspool search` finds them. Newer versions of the agent may write it all."


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time is not None else 0.0


READING_CHECK = "reading"
_MOST = 100_000_000
"""Bytes of logs that are looked at, the newest first: what is new is in them."""
_APART, _SHARE = 0.01, 0.02
"""Dollars, and the share of all, by which two accounts must differ to be worth a word."""


def check_reading(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """Unknown types and fields with an example each; sessions whose cost is not what the agent says."""
    seen: dict[str, tuple[UnknownSighting, str]] = {}
    apart: list[str] = []
    left = _MOST
    for log in sorted(scene.logs, key=lambda log: -log.modified):
        if left <= 0:
            break
        left -= log.size
        surveys = list(_surveys(log))
        for path, survey in surveys:
            for name, sighting in survey.unknown.items():
                if name in seen:
                    seen[name][0].count += sighting.count
                else:
                    seen[name] = sighting, path
        if surveys:
            apart += _difference(log, surveys)
    yield from _unknown(seen)
    if apart:
        message = f"{human.count(len(apart), 'session')} cost something else than the agent says."
        yield DoctorFinding("note", READING_CHECK, message, tuple(apart))


def _surveys(log: FoundLog) -> Iterator[tuple[str, Survey]]:
    """The log and its subagents' logs; one that cannot be read is another check's affair."""
    for path in (log.path, *(agent.path for agent in log.agents)):
        try:
            with open_log(path) as stream:
                yield path, by_id(log.format).survey(stream)
        except (UnspoolError, OSError):
            continue


def _unknown(seen: dict[str, tuple[UnknownSighting, str]]) -> Iterator[DoctorFinding]:
    if not seen:
        yield DoctorFinding("ok", READING_CHECK, "Every line of the newest logs is of a known kind.")
        return
    details = tuple(
        f"{name}: {human.count(one.count, 'line')}, version {one.version or 'unknown'}, for example {path}:{one.line}"
        for name, (one, path) in sorted(seen.items())
    )
    message = f"{human.count(len(seen), 'kind')} of line or field that this version does not know; nothing is lost."
    remedy = "Look for a newer unspool; if there is none, tell its makers the names below (no content is needed)."
    yield DoctorFinding("note", READING_CHECK, message, details, remedy)


def _difference(log: FoundLog, surveys: list[tuple[str, Survey]]) -> Iterator[str]:
    """One line where the agent's account of a session and the sum of its requests are not the same."""
    reported = surveys[0][1].reported_cost
    ours = cost_of(log) if reported is not None else None
    if reported is None or ours is None or abs(reported - ours) <= max(_APART, _SHARE * max(reported, ours)):
        return
    unbilled = [purpose for _, survey in surveys for purpose in survey.unbilled]
    why = f"; the log does not say what {human.count(len(unbilled), 'request')} used" if unbilled else ""
    yield f"{log.session_id}: {human.money(ours)} by its requests, {human.money(reported)} by the agent{why}"
