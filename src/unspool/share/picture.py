"""A picture of a session for programs that show a link: its title and what it adds up to, and nothing else."""

from base64 import b64encode

from unspool import human
from unspool.export.html.escape import visible
from unspool.figures import Figures
from unspool.formats import by_id
from unspool.model import Session
from unspool.share.lettering import set_in
from unspool.site.brief import flat
from unspool.site.sheet import render

_ROOM = 1040
"""Units that a line may be wide."""
_SIZES = ((84, 2), (60, 3))
"""How high letters are, and how many lines of them there are at most: a short title is written large."""


def picture(session: Session, counted: Figures) -> bytes:
    """An SVG of 1200 by 630."""
    title = visible(flat(session.title, 200)) or "Untitled session"
    large, small = ((size, set_in(title, _ROOM / size, lines)) for size, lines in _SIZES)
    size, laid = large if "".join(large[1].lines).replace(" ", "") == "".join(title.split()) else small
    drawn = render(
        "preview.svg",
        title=title,
        lines=laid.lines,
        leftward=laid.leftward,
        size=size,
        kicker=f"A session of {by_id(session.agent).name}",
        facts=facts(counted),
    )
    return drawn.encode("utf-8", "replace")


def facts(counted: Figures) -> list[str]:
    """What the session adds up to, in two lines at most."""
    calls, changed = counted.tool_calls, sum(bool(file.writes) for file in counted.files)
    done = human.joined(
        human.count(calls, "tool call") if calls else "",
        human.count(changed, "file") + " changed" if changed else "",
        human.count(len(counted.commits), "commit") if counted.commits else "",
    )
    return [line for line in (human.count(counted.turns, "turn"), done) if line]


def described(counted: Figures) -> str:
    """The same on one line."""
    return human.joined(*facts(counted))


def inside(svg: bytes) -> str:
    """The picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
