"""One session from its logs: found in a source, or lying by itself."""

import os
import re
from typing import TYPE_CHECKING

import msgspec

from unspool.errors import NotFound, UnspoolError
from unspool.formats import Found, by_id
from unspool.library.inputs import opened
from unspool.library.read import Reader, log_file, sniffed, transcript
from unspool.model import AgentSource, Place, Problem, Session, Transcript
from unspool.turns.assemble import assemble

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions


def read_session(found: Found, kept: "KeptSessions | None" = None) -> Session:
    """The session of a found log with its subagents, before its neighbours are asked; `kept` has what is gone."""
    if not found.origin or kept is None:
        return _read(found)
    with kept.lent(found) as here:
        lent = here.path.removesuffix(os.path.relpath(found.path, found.root))
        return _at(_read(here), lent, f"{found.root}{os.sep}")


def _at(session: Session, lent: str, root: str) -> Session:
    """A session that was read below one folder, and its subagents, as of another."""
    agents = tuple(msgspec.structs.replace(one, session=_at(one.session, lent, root)) for one in session.agents)
    path = f"{root}{session.log.path.removeprefix(lent)}"
    return msgspec.structs.replace(session, agents=agents, log=msgspec.structs.replace(session.log, path=path))


def _read(found: Found) -> Session:
    format_ = by_id(found.format)
    main = transcript(found.path, format_, found)
    agents: list[AgentSource] = []
    problems: list[Problem] = []
    for agent in found.agents:
        try:
            agents.append(format_.agent(agent, transcript(agent.path, format_, found)))
        except (UnspoolError, OSError) as error:
            problems.append(
                Problem(Place(0, 0, 0), f"a subagent's log could not be read: {error}", b"", log=agent.path)
            )
    session = assemble(main, agents, format_.dialect(found, main.facts), found.session_id)
    project = format_.project(main.facts, found.folder)
    return msgspec.structs.replace(session, project=project, problems=(*session.problems, *problems))


def read_stream(name: str) -> Session:
    """The session of a log that lies by itself: standard input, a URL, a file elsewhere."""
    reader = Reader()
    with opened(name) as stream:
        entries = list(reader.entries(stream))
    if not entries:
        raise NotFound(f"{name} holds no log lines.")
    format_ = sniffed(entries)
    parser = format_.parser(None)
    events = [parser.event(entry) for entry in entries]
    main = Transcript(events, parser.facts, log_file(name, reader.size), reader.blank)
    identity = parser.facts.session or ("stdin" if name == "-" else re.split(r"[\\/]", name)[-1].split(".")[0])
    session = assemble(main, [], format_.dialect(None, parser.facts), identity)
    return msgspec.structs.replace(session, project=format_.project(parser.facts, ""))
