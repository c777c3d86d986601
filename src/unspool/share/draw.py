"""The files of a session as the choices leave them, in a private folder; nothing in them is redacted yet."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec

from unspool.clone import titles
from unspool.clone.draught import Draught, Wish, drawn
from unspool.clone.fork import Fork
from unspool.clone.original import Original
from unspool.clone.treatment import Treatment
from unspool.library import read_session
from unspool.model import Event, Session
from unspool.share.act import acts
from unspool.share.beside import Beside, File
from unspool.share.choices import Choices
from unspool.share.hidden import hidden, news
from unspool.share.pictures import pictures


class Gone(msgspec.Struct, frozen=True):
    """How much was left out."""

    turns: int = 0
    branches: int = 0
    subagents: int = 0
    files: int = 0
    """Files beside the log that are no text, or that nothing shared speaks of."""
    problems: int = 0
    """Lines that could not be read, and so could not be looked through either."""
    kinds: tuple[str, ...] = ()

    def __add__(self, other: "Gone") -> "Gone":
        counts = ("turns", "branches", "subagents", "files", "problems")
        return msgspec.structs.replace(self, **{name: getattr(self, name) + getattr(other, name) for name in counts})


class Drawn(NamedTuple):
    """A session's files, the log first."""

    session: str
    files: list[File]
    gone: Gone


def draw(log: Original, choices: Choices, folder: Path, title: str = "") -> Drawn:
    """Write what is to be shared of a session to a folder; NotFound where a turn is to be left out that is none."""
    whole = read_session(log.found)
    fork = Fork(log, whole)
    if choices.without:
        fork.leave_out(choices.without)
    if choices.without or choices.left_out():
        log.beside.clear()  # nobody knows what of the conversation they tell
    draught = _drawn(fork, log, choices, title)
    session = named(log.session)
    name = f"{session}.jsonl"
    main = File(name, "log", _written(folder / name, draught.copy.chunks()))
    cut = len(draught.copy.lines) < len(draught.lines)
    beside = Beside(log, choices, folder / session, main.path.read_bytes() if cut else None)
    files = [main, *beside.files()]
    files += pictures(files, folder / session) if choices.images and log.at_home else ()
    return Drawn(session, files, _gone(whole, draught, beside, choices))


def named(session: str) -> str:
    """What the files of a session are called: its id where an agent made that, else one that tells nothing."""
    try:
        return str(UUID(session))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, f"unspool:{session}"))


def _drawn(fork: Fork, log: Original, choices: Choices, title: str) -> Draught:
    turns = fork.material.conversation.turns()
    act = acts(turns)
    without = fork.without | act.lines
    lines = fork.material.conversation.lines
    calls = hidden(lines, fork.material.writer, choices, log.found.agents)
    calls |= dict.fromkeys(act.calls, "remove")
    strands = fork.material.conversation.strands.values()
    untold = frozenset(news([*lines, *(event for strand in strands for event in strand)], choices))
    treatment = Treatment(
        strip_thinking=0 if choices.thinking else 100,
        drop_images=not choices.images,
        drop_snapshots=True,
        drop_side=bool(choices.left_out()),
    )
    title = title or _title(log, [event for turn in turns for event in turn if event.id not in without])
    wish = Wish("share", title, fork.leaf, frozenset(without), calls=calls, untold=untold, shown=True)
    return drawn(fork.material, treatment, wish)


def _title(log: Original, shared: list[Event]) -> str:
    """The session's title, told by nothing that is left out."""
    facts = log.facts
    if facts.custom_title or facts.generated_title or facts.agent_name:
        return titles.base(log)
    said = (titles.words(event.prompt) for event in shared if event.prompt is not None)
    return " ".join(next((text for text in said if text.strip()), "Session").split())[:200]


def _written(path: Path, chunks: Iterator[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(chunks)
    return path


def _gone(whole: Session, draught: Draught, beside: Beside, choices: Choices) -> Gone:
    return Gone(
        turns=draught.before.turns - draught.after.turns,
        branches=len(whole.branches),
        subagents=beside.agents_gone,
        files=beside.files_gone,
        problems=sum(not problem.mended for problem in whole.problems),
        kinds=tuple(choices.left_out()),
    )
