"""Who wrote each line of a file, for its page: by the file as it lies there, where it is in a repository on this
machine; else by the logs alone. A log may name any file of the machine, so nothing else is read for it."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import apsw
from markupsafe import Markup

from unspool import human
from unspool.agents.checkout import repository_top
from unspool.agents.context_files import is_secret
from unspool.app.context import AppContext
from unspool.app.open_session import get_session
from unspool.app.render import session_href
from unspool.app.search_results import block_href
from unspool.errors import UnspoolError
from unspool.figures.line_owners import LineOwner
from unspool.render.html.elements import visible
from unspool.render.html.panels import source_lines
from unspool.site.summaries import shorten_line
from unspool.store.library.blame import Blame, BlamedLine, BlameSources, blame_file
from unspool.store.library.file_history import AskedChange, AskedLines, FileHistory
from unspool.tools.summary import language

SHOWN = 400_000
"""Characters of a file that a page shows; all of it can be had as a file."""
_SURE = {"moved": "moved or laid out anew since", "content": "by the same words elsewhere"}


class OwnedRun(NamedTuple):
    """Lines one after the other of one owner."""

    how: str
    words: str
    href: str
    about: str
    time: datetime | None
    code: Markup = Markup()


class FileOwners(NamedTuple):
    """The lines of a file by their owners."""

    runs: list[OwnedRun]
    known: bool = True
    """Whether any of them can be told."""
    here: bool = False
    """Whether it is the file as it lies on this machine."""
    left: int = 0
    """Sessions that changed it and were not read."""
    later: int = 0
    """Changes after this state, of which the logs do not tell what they made of it."""


def owned_lines(context: AppContext, db: apsw.Connection, history: FileHistory) -> FileOwners:
    """Who wrote each line of the file that a history is of."""
    place = Path(history.path)
    try:
        if _is_source(place):
            sources = BlameSources(db, history.open_session, context.library().companions)
            return _of_blame(context, blame_file(sources, place))
    except (UnspoolError, OSError):
        pass  # it went, or may not be read: the logs tell all the same
    asked = history.asked_lines()
    pairs = zip(asked.owners, asked.lines or (), strict=True)
    runs = (
        ([line for _, line in group], _logged(owner, asked)) for owner, group in groupby(pairs, key=lambda one: one[0])
    )
    return FileOwners(list(_with_code(history.path, runs)), asked.lines is not None, left=asked.left, later=asked.later)


def _is_source(place: Path) -> bool:
    """Whether a path is that of a file in a repository, and of none that lets somebody in or leads elsewhere."""
    plain = place.is_file() and not place.is_symlink() and not is_secret(place.name)
    return plain and place.stat().st_size <= SHOWN and bool(repository_top(str(place.resolve())))


def _with_code(path: str, runs: Iterator[tuple[list[str], OwnedRun]]) -> Iterator[OwnedRun]:
    """Each run with its lines as code, as far as a page shows them."""
    start, room = 1, SHOWN
    for lines, run in runs:
        if room <= 0:
            return
        text = "\n".join(lines)[:room]
        yield run._replace(code=Markup(source_lines(text, language(path), start)))  # noqa: S704  a writer's markup
        start, room = start + len(lines), room - len(text) - 1


def _of_blame(context: AppContext, found: Blame) -> FileOwners:
    groups = groupby(found.lines, key=lambda line: (line.change, line.commit, line.who, line.sure))
    runs = ((lines, _blamed(context, found, lines[0])) for _, group in groups if (lines := list(group)))
    told = (([line.text for line in lines], run) for lines, run in runs)
    return FileOwners(list(_with_code(found.path, told)), here=True, left=found.left)


def _blamed(context: AppContext, found: Blame, line: BlamedLine) -> OwnedRun:
    if line.change is not None:
        one = found.changes[line.change]
        about = human.joined(shorten_line(visible(one.title), 90), _SURE.get(line.sure, ""))
        words = shorten_line(visible(one.prompt), 90) or "before the first prompt"
        opened = get_session(context, one.session)
        href = session_href(one.session) + opened.addresses(context.options).turn(one.turn)
        return OwnedRun("change", words, href, about, one.time)
    if line.commit is not None:
        commit = found.commits[line.commit]
        about = human.joined(shorten_line(visible(commit.author), 40), commit.hash[:10])
        return OwnedRun("outside", shorten_line(visible(commit.subject), 90), "", about, commit.time)
    words = "By hand, a command or another program" if line.who == "person" else "Not known"
    return OwnedRun("outside" if line.who == "person" else "before", words, "", "not committed yet", None)


def _logged(owner: LineOwner, asked: AskedLines) -> OwnedRun:
    one = asked.changes[owner.step]
    if owner.how == "change":
        about = shorten_line(visible(one.title), 90)
        words = shorten_line(visible(one.prompt), 90) or "before the first prompt"
        return OwnedRun("change", words, turn_href(one), about, one.time)
    if owner.how != "before":
        words = "By hand, a command or another program" if owner.how == "outside" else "By a change not told in full"
        return OwnedRun(owner.how, words, "", "some time before", one.time)
    earlier = f"Before the last {human.count(len({one.key for one in asked.changes}), 'session')}"
    return OwnedRun("before", earlier if asked.left else "Before the first session", "", "", None)


def turn_href(one: AskedChange) -> str:
    """The prompt that led to a change."""
    prompt = one.origin.turn.prompt
    if prompt is None or prompt.time is None:
        return session_href(one.key)
    return block_href(one.key, f"msg-{round(prompt.time.timestamp() * 1000)}", "", prompt.place.offset)
