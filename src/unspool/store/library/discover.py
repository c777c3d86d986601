"""Finds logs: those of every agent below its folders or others, and whose a log is by its first lines."""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from unspool.agents import AGENTS, CodingAgent, FoundLog, chosen_roots
from unspool.agents.lines import read_entries
from unspool.errors import NotALog, NotFound, Unreadable, UnspoolError
from unspool.model import Entry
from unspool.store.library.inputs import open_log

RECOGNISED_BY = 200
"""How many entries at most tell whose a log is."""
_HEAD_BYTES = 256 * 1024


def usual_roots() -> list[Path]:
    """Where the agents keep their logs on this machine, whether anything is there or not."""
    return [root for agent in AGENTS for root in chosen_roots(agent, os.environ, Path.home())]


def discover_logs(sources: Sequence[Path]) -> list[FoundLog]:
    """Every session of the given folders, or of the default ones; newest first."""
    for source in sources:
        if not source.is_dir():
            raise NotFound(f"There is no folder {source}.")
    found: dict[str, FoundLog] = {}
    real_folder = cache(os.path.realpath)
    for agent, root in agent_roots(sources):
        try:
            for log in logs_below(root) if agent is None else agent.discover(root):
                folder, name = os.path.split(log.path)
                path = os.path.join(real_folder(folder), name)  # noqa: PTH118  of thousands of logs
                found.setdefault(os.path.realpath(path) if os.path.islink(path) else path, log)  # noqa: PTH114
        except PermissionError:
            raise Unreadable(f"No permission to read {root}.") from None
    return sorted(found.values(), key=lambda log: (-log.modified, log.path))


def agent_roots(sources: Sequence[Path]) -> list[tuple[CodingAgent | None, Path]]:
    """The folders named, of whichever agent; else every agent with those of its own folders that are there."""
    if sources:
        return [(None, source) for source in sources]
    return [(agent, root) for agent in AGENTS for root in chosen_roots(agent, os.environ, Path.home()) if root.is_dir()]


def watched_paths(root: Path) -> list[Path]:
    """The paths of a source that change while sessions go on, whether they are there yet or not."""
    owners = [
        agent
        for agent in AGENTS
        if agent.home(root) is not None or root in chosen_roots(agent, os.environ, Path.home())
    ]
    return list(dict.fromkeys(path for agent in owners or AGENTS for path in agent.watched_paths(root)))


def logs_below(root: Path) -> list[FoundLog]:
    """The logs of all agents below a folder; one that several take for theirs is that agent's whose lines it holds."""
    found: dict[str, FoundLog] = {}
    for agent in AGENTS:
        for log in agent.discover(root):
            other = found.setdefault(log.path, log)
            if other is not log and head_agent(log.path) is agent:
                found[log.path] = log
    agents: dict[str, set[str]] = {}
    for log in found.values():
        agents.setdefault(log.session_id, set()).add(log.agent_id)
    return [log for log in found.values() if not _is_written_out(log, agents[log.session_id] - {log.agent_id})]


def _is_written_out(log: FoundLog, others: set[str]) -> bool:
    """Whether a file is a session of another agent, which has found it too and written it out as a log."""
    return bool(others) and (agent := head_agent(log.path)) is not None and agent.id in others


def single_log(path: Path) -> FoundLog | None:
    """A log named by its path, with the companions that lie around it; None where it is no kept session."""
    try:
        beside = logs_below(path.parent)
    except OSError:
        return None
    wanted = os.path.realpath(path)
    return next((log for log in beside if os.path.realpath(log.path) == wanted), None)


def recognise_agent(entries: list[Entry]) -> CodingAgent | None:
    """The agent that wrote a log, by its first entries; None where it is none that is known."""
    for agent in AGENTS:
        if any(entry.data is not None and agent.recognises(entry.data) for entry in entries):
            return agent
    return None


def head_agent(path: str) -> CodingAgent | None:
    """The agent whose lines a log begins with; None where it cannot be read, or no agent that is known wrote it."""
    for most in (_HEAD_BYTES, None):  # a line may be longer than a usual head
        try:
            with open_log(path, most) as stream:
                agent = recognise_agent(list(islice(read_entries(stream), RECOGNISED_BY)))
        except (UnspoolError, OSError):
            continue
        if agent is not None:
            return agent
    return None


def recognise_lines(lines: Iterable[bytes], called: str) -> CodingAgent:
    """The agent that wrote these lines; NotALog, told of what is `called` so, where none that is known did."""
    agent = recognise_agent(list(islice(read_entries(lines), RECOGNISED_BY)))
    if agent is None:
        raise not_a_log(called)
    return agent


def not_a_log(called: str) -> NotALog:
    return NotALog(f"{called} holds no session of an agent that unspool knows; `unspool agents` lists them.")
