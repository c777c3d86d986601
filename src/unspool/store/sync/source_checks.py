"""Checks of the sources: readable, about to be deleted, kept, stalled, understood."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from unspool import human
from unspool.agents import FoundLog, by_id
from unspool.agents.records import AgentFile, Retention, RunningSession, Survey, UnknownSighting
from unspool.errors import UnspoolError
from unspool.store.index.times import utc_time
from unspool.store.library.inputs import open_log
from unspool.store.library.neighbours import last_active
from unspool.store.library.usage_from_logs import cost_of
from unspool.store.sync.doctor_scene import DAY, AgentFolder, DoctorScene, Finding, Level
from unspool.store.sync.scan import SyncPlace


def check_sources(scene: DoctorScene) -> Iterator[Finding]:
    """Folders that are missing, and files and folders that may not be read."""
    for root in scene.sources:
        if not root.is_dir():
            why = "is no folder" if root.exists() else "is not there"
            remedy = "Name a folder that holds projects/, or is one."
            yield Finding("bad", f"The source {root} {why}.", (root,), remedy)
    if not scene.roots and not scene.sources:
        message = "No agent has kept anything in its own folder; `unspool agents` lists where each is looked for."
        yield Finding("warn", message, remedy="Name a folder: --source DIR")
        return
    for place in scene.agents:
        for problem in place.agent.problems(place.home):
            yield Finding("bad", problem)
    folders = [str(folder) for place in scene.places for folder in _project_folders(place)]
    closed = [folder for folder in folders if not os.access(folder, os.R_OK | os.X_OK)]
    closed += [one.path for one in scene.belongings if not os.access(one.path, os.R_OK)]
    if closed:
        message = f"{human.count(len(closed), 'folder or file', 'folders and files')} may not be read."
        yield Finding("bad", message, closed, "Give yourself the right to read them: chmod -R u+rwX PATH")
    elif scene.roots:
        yield Finding("ok", f"{human.count(len(scene.logs), 'session')} can be read.", scene.roots)


def _project_folders(place: SyncPlace) -> Iterator[Path]:
    yield place.source
    projects = place.root / "projects"
    if place.source == place.root and projects.is_dir():
        yield projects
    if place.source in (place.root, projects):
        yield from sorted(path for path in projects.glob("*") if path.is_dir())


SOON = 7
"""Days that are looked ahead."""


def check_cleanup(scene: DoctorScene) -> Iterator[Finding]:
    """The setting of each agent, and what it deletes at its next start and in the days after."""
    for folder in scene.agents:
        retention = folder.agent.files.retention(folder.home)
        if retention is None:
            yield Finding("ok", f"{folder.agent.name} deletes nothing by itself.")
            continue
        yield _setting(folder, retention)
        swept = [one for one in scene.belongings if one.swept and Path(one.path).is_relative_to(folder.home)]
        ends = scene.now - retention.days * DAY
        due = [one for one in swept if one.modified <= ends]
        soon = [one for one in swept if ends < one.modified <= ends + SOON * DAY]
        who = folder.agent.name
        yield _deleted(scene, due, f"When it starts next, {who} deletes")
        yield _deleted(scene, soon, f"Within {SOON} days, {who} deletes")


def _setting(folder: AgentFolder, retention: Retention) -> Finding:
    where = f"as {retention.told_by} says" if retention.told_by else "its default"
    days = human.count(retention.days, "day")
    message = f"{folder.agent.name} deletes files {days} after they were last written ({where})."
    if retention.last is not None:
        message += f" It last did so on {_day(retention.last)}."
    if not retention.deletes and not retention.problems:
        return Finding("ok", message)
    level: Level = "bad" if retention.harmful else "warn" if retention.problems else "note"
    return Finding(level, message, retention.problems, retention.remedy)


def _deleted(scene: DoctorScene, files: Sequence[AgentFile], beginning: str) -> Finding:
    """One finding of files that go at one time."""
    if not files:
        return Finding("ok", f"{beginning} nothing.")
    files = sorted(files, key=lambda one: one.modified)
    message = f"{beginning} {_counted(files)}, the oldest of {_day(files[0].modified)}"
    if scene.holding is not None and scene.holding.trouble:
        message += "; whether it is kept cannot be told."
        return Finding("warn", message, [one.path for one in files], "unspool sync")
    lost = [one for one in files if not scene.is_kept(one)]
    if not lost:
        return Finding("note", f"{message}; all of it is kept.")
    what = "none of it is kept yet" if len(lost) == len(files) else f"{_counted(lost)} of it are not kept yet"
    return Finding("bad", f"{message}; {what}.", [one.path for one in lost], "unspool sync")


def _counted(files: Sequence[AgentFile]) -> str:
    """12 sessions (340 files, 21 MB)."""
    sessions = human.count(len({one.session_id for one in files if one.kind == "log"}), "session")
    return f"{sessions} ({human.count(len(files), 'file')}, {_size(files)})"


def _size(files: Sequence[AgentFile]) -> str:
    return human.size(sum(one.size for one in files))


def _day(seconds: float) -> str:
    return human.day(utc_time(seconds)) or "an unknown day"


def check_keeping(scene: DoctorScene) -> Iterator[Finding]:
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
        yield Finding("ok", f"All is kept: {human.count(len(known), 'file')}, {_size(known)}.")


def _lacking(scene: DoctorScene, files: Sequence[AgentFile], what: str) -> Finding:
    """What is written right now is always ahead of the archive; what has lain for a day should not be."""
    late = any(one.modified < scene.now - DAY for one in files)
    sessions = len({one.session_id for one in files if one.session_id})
    of = f" of {human.count(sessions, 'session')}" if sessions else ""
    message = f"{human.count(len(files), 'file')}{of} ({_size(files)}) {'is' if len(files) == 1 else 'are'} {what}."
    return Finding("warn" if late else "note", message, [one.path for one in files], "unspool sync")


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


def check_stalled(scene: DoctorScene) -> Iterator[Finding]:
    """Sessions that run without their log, and logs that ended before their sessions did."""
    count = 0
    for folder in scene.agents:
        logs = {log.session_id: log for log in scene.logs if log.agent_id == folder.agent.id}
        signs = _signs(scene, folder)
        running = {one.session_id: one for one in folder.agent.files.running(folder.home) if one.alive is not False}
        for session, one in running.items():
            yield from _running(scene, one, logs.get(session), signs.pop(session, Signs()))
        count += len(running)
        yield from _closed(signs, logs)
    if count:
        yield Finding("ok", f"{human.count(count, 'session runs', 'sessions run')} now.")


def _signs(scene: DoctorScene, folder: AgentFolder) -> dict[str, Signs]:
    found: defaultdict[str, Signs] = defaultdict(Signs)
    for prompt in folder.agent.prompt_list.prompts(folder.home):
        if prompt.session_id and prompt.time is not None and not prompt.command:
            sign = found[prompt.session_id]
            found[prompt.session_id] = sign._replace(prompt=max(sign.prompt, prompt.time.timestamp()))
    for one in scene.belongings:
        if one.session_id and one.kind in _BESIDE:
            sign = found[one.session_id]
            if one.kind == "subagent" and one.path.endswith(".jsonl"):
                found[one.session_id] = sign._replace(agents=max(sign.agents, one.modified))
            else:
                found[one.session_id] = sign._replace(beside=max(sign.beside, one.modified))
    return found


def _running(scene: DoctorScene, one: RunningSession, log: FoundLog | None, sign: Signs) -> Iterator[Finding]:
    """A session that is open and whose log does not follow it."""
    if log is None:
        lags = any(sign) and _passed(scene, _seconds(one.started), PATIENCE) and _passed(scene, sign.prompt, _GRACE)
        what = "has no log"
    else:
        spoken = last_active(log)
        lags = _lags(scene, one, spoken, sign)
        what = f"wrote its log last {human.duration(scene.now - spoken)} ago and goes on"
    if lags:
        name = f"The session {one.session_id[:8]} (process {one.pid})"
        message = f"{name} {what}: what it holds is in its memory alone."
        remedy = "Have the session write its conversation to a file before you close it, then start the agent anew."
        yield Finding("bad", message, (one.cwd if log is None else log.path,), remedy)


def _lags(scene: DoctorScene, one: RunningSession, spoken: float, sign: Signs) -> bool:
    """Whether anything happened after the last line that should have left one."""
    asked = [sign.prompt, _seconds(one.active) if one.status == "busy" else 0.0]
    if any(at > spoken + PATIENCE and _passed(scene, at, _GRACE) for at in asked):
        return True
    return sign.beside > max(spoken, sign.agents) + PATIENCE or sign.agents > spoken + _LONG_CALL


def _passed(scene: DoctorScene, since: float, seconds: float) -> bool:
    return scene.now - since > seconds


def _closed(signs: dict[str, Signs], logs: dict[str, FoundLog]) -> Iterator[Finding]:
    """Logs of sessions that are closed, and that end before the last prompt or the last file of theirs."""
    short = [
        logs[session].path
        for session, sign in signs.items()
        if session in logs and sign.prompt > logs[session].modified + PATIENCE
    ]
    if short:
        what = f"{human.count(len(short), 'log ends', 'logs end')} before the last prompt of the session"
        yield Finding("warn", f"{what}: the agent did not write it all.", sorted(short), _KEEP)


_KEEP = "The rest is lost, but its prompts: `unspool search` finds them. Newer versions of the agent may write it all."


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time is not None else 0.0


_MOST = 100_000_000
"""Bytes of logs that are looked at, the newest first: what is new is in them."""
_APART, _SHARE = 0.01, 0.02
"""Dollars, and the share of all, by which two accounts must differ to be worth a word."""


def check_reading(scene: DoctorScene) -> Iterator[Finding]:
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
        yield Finding("note", message, apart)


def _surveys(log: FoundLog) -> Iterator[tuple[str, Survey]]:
    """The log and its subagents' logs; one that cannot be read is another check's affair."""
    for path in (log.path, *(agent.path for agent in log.agents)):
        try:
            with open_log(path) as stream:
                yield path, by_id(log.agent_id).survey(stream)
        except (UnspoolError, OSError):
            continue


def _unknown(seen: dict[str, tuple[UnknownSighting, str]]) -> Iterator[Finding]:
    if not seen:
        yield Finding("ok", "Every line of the newest logs is of a known kind.")
        return
    details = [
        f"{name}: {human.count(one.count, 'line')}, version {one.version or 'unknown'}, for example {path}:{one.line}"
        for name, (one, path) in sorted(seen.items())
    ]
    message = f"{human.count(len(seen), 'kind')} of line or field that this version does not know; nothing is lost."
    remedy = "Look for a newer unspool; if there is none, tell its makers the names below (no content is needed)."
    yield Finding("note", message, details, remedy)


def _difference(log: FoundLog, surveys: list[tuple[str, Survey]]) -> Iterator[str]:
    """One line where the agent's account of a session and the sum of its requests are not the same."""
    reported = surveys[0][1].reported_cost
    ours = cost_of(log) if reported is not None else None
    if reported is None or ours is None or abs(reported - ours) <= max(_APART, _SHARE * max(reported, ours)):
        return
    unbilled = [purpose for _, survey in surveys for purpose in survey.unbilled]
    why = f"; the log does not say what {human.count(len(unbilled), 'request')} used" if unbilled else ""
    yield f"{log.session_id}: {human.money(ours)} by its requests, {human.money(reported)} by the agent{why}"
