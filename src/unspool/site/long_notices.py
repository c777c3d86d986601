"""What long notices hold: begun on the page of their turn, whole on a page of their own, the same words once."""

from collections.abc import Iterator

import msgspec

from unspool import human
from unspool.doc import Fold, Link
from unspool.model import Block, Notice, Unknown
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.html.nodes import nodes_html
from unspool.render.shorten import shorten
from unspool.render.ticks import told_once
from unspool.render.turns import TurnItem, is_quiet, turn_item
from unspool.render.view import is_shown
from unspool.site.address import chapter_turns
from unspool.site.session_view import SessionView
from unspool.tools.fields import json_text

NOTICES = "notices.html"
LONG = 8_000
"""Bytes from which on few read all of a notice, and nobody who does not open it should load it."""


def begin_long_notice(fold: Fold, item: TurnItem, anchor: str, view: SessionView) -> Fold:
    """The fold of a quiet item; of a long one its beginning, with a link to the whole where pages can have others
    beside them."""
    if view.options.single_page or (weight := _weight(item.told or item.block)) < LONG:
        return fold
    begun = tuple(short for child in fold.children for short in shorten(child))
    whole = Link(f"page:{NOTICES}#{elements.ident(anchor)}", f"All of it, {human.size(weight)}")
    return msgspec.structs.replace(fold, children=(*begun, whole))


def long_notices_body(view: SessionView) -> str:
    """The long notices of a session, each at the anchor that it has on its turn's page; empty where it has none."""
    found: dict[str, tuple[str, list[str]]] = {}
    for block, told in _long_blocks(view):
        item = turn_item(told, view.context)
        fold = item.nodes[0]
        if item.place == "quiet" and isinstance(fold, Fold):
            options = view.html_options(getattr(block, "time", None))
            _, anchors = found.setdefault(nodes_html(fold.children, options), (fold.summary, []))
            anchors.append(view.addresses.anchor(block))
    return "".join(html.long_notice(anchors, summary, inside) for inside, (summary, anchors) in found.items())


def _long_blocks(view: SessionView) -> Iterator[tuple[Block, Block]]:
    """Each block with what is told of it."""
    for chapter in view.addresses.chapters():
        if chapter.agent is None or "agents" not in view.options.hide:
            for turn in chapter_turns(chapter):
                for block, told in zip(turn.blocks, told_once(turn.blocks), strict=True):
                    if is_quiet(block) and _weight(told) >= LONG and is_shown(block, view.options.hide):
                        yield block, told


def _weight(block: Block) -> int:
    """About the bytes that a notice's words and facts take."""
    if isinstance(block, Notice):
        words, facts = block.text, block.facts
    elif isinstance(block, Unknown):
        words, facts = "", block.data
    else:
        return 0
    try:
        return len(words) + len(msgspec.json.encode(facts))
    except (TypeError, ValueError, RecursionError):  # halves of characters, or too deep
        return len(words) + len(json_text(facts))
