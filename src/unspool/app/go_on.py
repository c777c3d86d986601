"""Ways to go on with a session, as commands to be copied: resume, fork, a lighter copy, another agent."""

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from unspool import human
from unspool.agents import by_id, is_known
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession
from unspool.copies.hand_over import takers
from unspool.errors import UnspoolError

if TYPE_CHECKING:
    from unspool.copies.fit import TreatmentAdvice


class CommandChoice(NamedTuple):
    """A command that goes on with a session."""

    name: str
    command: str
    about: str = ""


def fork_command(opened: OpenSession) -> str:
    """The command that forks a session, to which `--at` is added; empty where its agent's logs are only read."""
    agent = opened.found.agent_id
    written = is_known(agent) and by_id(agent).writer is not None
    return f"unspool fork {quote(opened.key)}" if written and opened.session.turns else ""


def ways_to_go_on(opened: OpenSession) -> tuple[CommandChoice, ...]:
    """What there is besides resuming it; a lighter copy is told apart, for it takes a while."""
    session, agent = opened.session, opened.found.agent_id
    found = []
    if fork := fork_command(opened):
        found.append(CommandChoice("Fork", fork, "in a copy; each turn has a command of its own"))
    if session.turns:
        others = [one for one in takers() if one.id != agent]
        command = f"unspool hand-over {quote(opened.key)} --to "
        found += [CommandChoice(f"Hand over to {one.name}", f"{command}{quote(one.id)}") for one in others]
    return tuple(found)


class LighterCopies(NamedTuple):
    """What each lighter copy saves, as commands; why there is none."""

    full: str = ""
    choices: tuple[CommandChoice, ...] = ()
    reason: str = ""


def lighter_copies(context: AppContext, opened: OpenSession) -> LighterCopies:
    from unspool.copies.fit import advise, window_of
    from unspool.copies.material import CopyMaterial
    from unspool.copies.original import open_source

    try:
        with open_source(context.library(), opened.found) as source:
            given = advise(CopyMaterial(source.log), window_of(source.log))
    except (UnspoolError, OSError) as problem:
        return LighterCopies(reason=str(problem))
    return LighterCopies(
        f"{human.tokens(given.total)} tokens, {given.share:.0%} of the window",
        tuple(_choices(given, opened.key)),
        given.reason,
    )


def _choices(given: "TreatmentAdvice", key: str) -> list[CommandChoice]:
    """Those that save anything, the mildest first."""
    return [
        CommandChoice(
            one.name,
            f"unspool clone {quote(key)} {one.flags}",
            f"saves {human.tokens(one.gain)}, leaves {one.share:.0%}"
            + (" · recommended" if one.name == given.recommended else ""),
        )
        for one in given.choices
        if one.gain > 0
    ]
