"""Blocks one after the other: who speaks, rows gathered into boxes, quiet things folded away, subagents in place."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from unspool.doc import Prose
from unspool.export.html import Paint, bits, fragment, when
from unspool.export.html import told as html
from unspool.model import Block, Text, ToolCall
from unspool.site.blocks import TODOS, Piece, outcomes, piece, wanted
from unspool.site.models import model_name
from unspool.site.scene import Scene
from unspool.site.subagents import Teller, agent_row
from unspool.transcript.notices import run_summary


def flow(blocks: Iterable[Block], scene: Scene, paint: Paint, tell: Teller) -> str:
    """The blocks of a turn."""
    pieces = _last_open(list(_pieces(blocks, scene, paint, tell)))
    parts: list[str] = []
    for loose, group in groupby(pieces, key=lambda one: one.place == "loose"):
        run = list(group)
        if loose:
            parts.extend(one.html for one in run)
        elif any(one.place == "row" for one in run):
            parts.append(html.rows("".join(_rows(run))))
        else:
            parts.append(_hushed(run))
    return "".join(parts)


def _rows(run: list[Piece]) -> Iterator[str]:
    """Rows of a box, with the quiet things between them folded."""
    for place, group in groupby(run, key=lambda one: one.place):
        if place == "hush":
            yield _hushed(list(group))
        else:
            yield from (one.html for one in group)


def _pieces(blocks: Iterable[Block], scene: Scene, paint: Paint, tell: Teller) -> Iterator[Piece]:
    speaking = ""
    for block in blocks:
        if not wanted(block, scene.options.hide):
            continue
        if isinstance(block, Text) and block.message not in scene.cast.retracted:
            model = scene.cast.models.get(block.message, "")
            yield Piece(_answer(block, scene, paint, model if model != speaking or not speaking else ""))
            speaking = model or speaking or "?"
            continue
        yield piece(block, scene, paint)
        if isinstance(block, ToolCall):
            yield from (Piece(agent_row(agent, scene, tell), "row") for agent in scene.started(block))
            made = outcomes(block, scene, paint)
            if made:
                yield Piece(made)


def _answer(block: Text, scene: Scene, paint: Paint, model: str) -> str:
    anchor = scene.addresses.anchor(block)
    said = _who(block, scene, model) + fragment((Prose(block.text),), paint)
    return html.answer(anchor, said)


def _who(block: Text, scene: Scene, model: str) -> str:
    """Who speaks, where that is new."""
    if not model:
        return ""
    link = bits.around(f"#{scene.addresses.anchor(block)}", when(block.time, "clock")) if block.time else ""
    return html.speaker(scene.speaker, model_name(model), link)


def _hushed(run: list[Piece]) -> str:
    """What few people read, behind one line that says what it is."""
    inside = "".join([one.html for one in run])
    if all(one.bare for one in run):
        return html.hush(inside)
    return html.notices(run_summary(one.name for one in run), inside)


def _last_open(pieces: list[Piece]) -> list[Piece]:
    """The last todo list of a turn stands open: it is how things then were."""
    for at in range(len(pieces) - 1, -1, -1):
        if pieces[at].name == TODOS:
            pieces[at] = pieces[at]._replace(html=bits.stand_open(pieces[at].html))
            break
    return pieces
