"""From the bytes of an agent's logs to events: one folder an agent, listed in AGENTS. Imports reading,
for the tree of a conversation, and what stands below it."""

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from unspool.agents.aider import Aider
from unspool.agents.amp import Amp
from unspool.agents.atif import Atif
from unspool.agents.base import CodingAgent
from unspool.agents.claude_code import ClaudeCode
from unspool.agents.cline import Cline, RooCode
from unspool.agents.codex import Codex
from unspool.agents.continue_ import Continue
from unspool.agents.copilot import Copilot
from unspool.agents.cursor import CursorAgent
from unspool.agents.droid import Droid
from unspool.agents.gemini import Gemini
from unspool.agents.goose import Goose
from unspool.agents.iflow import IFlow
from unspool.agents.kimi import Kimi
from unspool.agents.kiro import Kiro
from unspool.agents.openai_messages import OpenAIMessages
from unspool.agents.opencode import OpenCode
from unspool.agents.pi import Pi
from unspool.agents.qwen import Qwen
from unspool.agents.records import Companion, Detail, FoundAgent, FoundLog
from unspool.agents.values import first_bytes
from unspool.agents.vscode_copilot import VSCodeCopilot
from unspool.agents.windsurf import Windsurf
from unspool.agents.zed import Zed
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.agents.writing import LogWriter

GROUP = "unspool.agents"
"""The entry points by which other packages bring agents: classes or objects that are a CodingAgent."""


def installed_agents() -> list[CodingAgent]:
    """The agents that other packages bring. One that cannot be used is warned of: it must keep nobody from his logs."""
    mark = f"[{GROUP}]".encode()
    folders = (Path(folder) for folder in sys.path if folder.endswith("-packages"))
    points = (point for folder in folders for point in folder.glob("*.dist-info/entry_points.txt"))
    if not any(mark in first_bytes(point, 1 << 16) for point in points):
        return []  # importlib.metadata alone would take longer than all else here
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=GROUP):
        try:
            loaded = point.load()
            agent = loaded() if isinstance(loaded, type) else loaded
            why = "" if isinstance(agent, CodingAgent) else "it is no CodingAgent"
        except (ImportError, AttributeError, TypeError, ValueError, LookupError, RuntimeError, OSError) as problem:
            why = str(problem) or type(problem).__name__
        if why:
            warnings.warn(f"the agent {point.name} ({point.value}) is left out: {why}", stacklevel=2)
        else:
            found.append(agent)
    return found


AGENTS: list[CodingAgent] = [
    ClaudeCode(),
    Codex(),
    Pi(),
    OpenCode(),
    Copilot(),
    Gemini(),
    Qwen(),
    Droid(),
    Amp(),
    IFlow(),
    CursorAgent(),
    VSCodeCopilot(),
    Kimi(),
    Cline(),
    RooCode(),
    Goose(),
    Zed(),
    Continue(),
    Kiro(),
    Aider(),
    Windsurf(),
    Atif(),
    OpenAIMessages(),
]
AGENTS += (agent for agent in installed_agents() if agent.id not in {known.id for known in AGENTS})


AGENTS_OFF, AGENT_FOLDERS = "_UNSPOOL_AGENTS_OFF", "_UNSPOOL_AGENT_FOLDERS"
"""Variables that hand on what the settings say, to other processes too: the ids of agents that are left out, and
id=folder for those that keep their sessions elsewhere."""


def chosen_roots(agent: CodingAgent, environment: Mapping[str, str], home: Path) -> list[Path]:
    """Where sessions of an agent are looked for: nowhere where it is left out, in the folders that were named for it,
    else where it keeps them by itself."""
    if agent.id in environment.get(AGENTS_OFF, "").split():
        return []
    named = (one.partition("=") for one in environment.get(AGENT_FOLDERS, "").split(os.pathsep))
    chosen = [Path(folder.strip()).expanduser() for name, _, folder in named if name.strip() == agent.id and folder]
    return chosen or agent.roots(environment, home)


def by_id(name: str) -> CodingAgent:
    return next(agent for agent in AGENTS if agent.id == name)


def is_known(name: str) -> bool:
    """Whether there is an agent with that id: an archive may hold files of one that only a newer version knows."""
    return any(agent.id == name for agent in AGENTS)


def split_session_name(name: str) -> tuple[str, str]:
    """The agent and the id that a session's name says; no agent where it is an id alone."""
    agent, colon, session_id = name.partition(":")
    return (agent, session_id) if colon and is_known(agent) else ("", name)


def agent_name(agent_id: str) -> str:
    """What an agent is called; its id where only a newer version knows it."""
    return by_id(agent_id).name if is_known(agent_id) else agent_id


def speaker_name(agent_id: str) -> str:
    """Who answers in a session of an agent."""
    named = by_id(agent_id).speaker if is_known(agent_id) else ""
    return named or agent_name(agent_id).partition(" ")[0]


def agent_named(name: str) -> CodingAgent:
    """The agent that a person means by its id, its name, or a piece of either that only one has."""
    wanted = name.casefold()
    exact = [agent for agent in AGENTS if wanted in (agent.id, agent.name.casefold())]
    fits = exact or [agent for agent in AGENTS if wanted and (wanted in agent.id or wanted in agent.name.casefold())]
    if len(fits) != 1:
        known = ", ".join(agent.id for agent in fits or AGENTS)
        raise UsageProblem(f"{'Several agents are' if fits else 'There is no agent'} called {name}; known are {known}.")
    return fits[0]


def writer_of(agent: CodingAgent) -> "LogWriter":
    """What writes the agent's logs; UsageProblem for an agent whose logs are only read."""
    writer = agent.writer
    if writer is None:
        raise UsageProblem(f"Sessions of {agent.name} can only be read: unspool does not write them.")
    return writer


def resume_command(agent_id: str, session_id: str, cwd: str) -> str:
    """The shell command that goes on with a session in its agent; empty for an agent that has none."""
    resuming = by_id(agent_id).resuming if is_known(agent_id) else None
    return resuming.resume(session_id, cwd) if resuming is not None else ""


__all__ = [
    "AGENTS",
    "AGENTS_OFF",
    "AGENT_FOLDERS",
    "ClaudeCode",
    "CodingAgent",
    "Companion",
    "Detail",
    "FoundAgent",
    "FoundLog",
    "agent_name",
    "agent_named",
    "by_id",
    "chosen_roots",
    "is_known",
    "resume_command",
    "speaker_name",
    "writer_of",
]
