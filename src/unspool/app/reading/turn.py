"""One turn as Markdown, to be pasted elsewhere."""

from unspool.errors import NotFound
from unspool.export.images import Album
from unspool.export.markdown import render
from unspool.model import Session, Turn
from unspool.transcript.blocks import Stage, turn_nodes
from unspool.transcript.cast import Cast
from unspool.transcript.view import View


def markdown(session: Session, number: int, branch: int = 0) -> str:
    """A turn of the live conversation, or of a branch; NotFound where there is none of that number."""
    turns = session.turns
    if branch:
        turns = next((one.turns for one in session.branches if one.number == branch), ())
    turn = next((one for one in turns if one.number == number), None)
    if turn is None:
        raise NotFound(f"The session has no turn {number}{f' on branch {branch}' if branch else ''}.")
    return _told(session, turn)


def _told(session: Session, turn: Turn) -> str:
    first, *rest = turn_nodes(turn, Stage(View(full=True, branches=False), Cast(session)))
    del first  # its heading is a place in a document that this is not
    return "".join(render(rest, Album("beside", None))).strip() + "\n"
