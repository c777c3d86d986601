"""What a session was about: what was asked, what came of it, what it left behind, and its run in a strip."""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from unspool import human
from unspool.figures import calls_of
from unspool.figures.test_runs import RunOfTests, find_test_runs
from unspool.model import Prompt, Text, Turn
from unspool.render.html import elements
from unspool.render.html.conversation import strip_link
from unspool.render.html.elements import HtmlOptions, content
from unspool.render.html.prose import prose_html, prose_words
from unspool.render.view import is_shown
from unspool.site.page_template import as_markup, fill_template
from unspool.site.session_strip import HAPPENINGS, StripPiece, strip_pieces
from unspool.site.session_view import SessionView
from unspool.site.summaries import prompt_markdown, shorten_line

_ASKED, _CAME = 420, 700
_COMMITS = 3
_WIDTH = 1000
_LEAST = 3
"""Of the strip's width, what a piece has at least, so that it can be seen and met."""


class StoryExcerpt(NamedTuple):
    """A beginning of what was said, and where the whole stands."""

    html: Markup
    href: str
    more: bool


class StripShape(NamedTuple):
    """A piece as it is drawn."""

    x: int
    width: int
    piece: StripPiece


def render_story(view: SessionView) -> str:
    """The story of a session; nothing where nobody asked anything."""
    asked = _asked(view)
    if asked is None:
        return ""
    shapes = list(_shapes(strip_pieces(view))) if view.whole else []
    kinds = {shape.piece.kind for shape in shapes}
    return fill_template(
        "story.html",
        asked=asked,
        came=_came(view) if view.whole else None,
        left=tuple(_left_behind(view)) if view.whole else (),
        strip=as_markup("".join(map(_linked, shapes))) if len(shapes) > 2 else "",
        width=shapes[-1].x + shapes[-1].width if shapes else 0,
        card=view.frame.card if view.whole else "",
        legend=[kind for kind in HAPPENINGS if kind in kinds],
    )


def _own_turns(view: SessionView) -> list[Turn]:
    """The turns of the live conversation that are no copies; all of them where nothing else is there."""
    turns = view.session.turns
    return [turn for turn in turns if not turn.copied] or list(turns)


def _first_prompt(view: SessionView) -> Prompt | None:
    return next((turn.prompt for turn in _own_turns(view) if turn.prompt is not None), None)


def _asked(view: SessionView) -> StoryExcerpt | None:
    prompt = _first_prompt(view)
    if prompt is None:
        return None
    return _begun(prompt_markdown(prompt), view.addresses.link(prompt), _ASKED)


def _last_answer(view: SessionView) -> Text | None:
    """The last answer that says something."""
    said = [
        block for turn in _own_turns(view) for block in turn.blocks if isinstance(block, Text) and block.text.strip()
    ]
    if not said:
        return None
    telling = [block for block in said[-4:] if len(block.text) >= 80]
    return telling[-1] if telling else said[-1]


def _came(view: SessionView) -> StoryExcerpt | None:
    last = _last_answer(view)
    return None if last is None else _begun(last.text, view.addresses.link(last), _CAME)


def asked_words(view: SessionView) -> str:
    """What was asked, without the signs of Markdown; empty where nobody asked anything."""
    prompt = _first_prompt(view)
    return "" if prompt is None else prose_words(prompt_markdown(prompt))


def came_words(view: SessionView) -> str:
    """What came of it, without the signs of Markdown."""
    last = _last_answer(view)
    return "" if last is None else prose_words(last.text)


def last_test_run(view: SessionView) -> RunOfTests | None:
    """The last run of tests that is shown."""
    runs = find_test_runs(reversed(list(calls_of(view.session))))
    return next((run for run in runs if is_shown(run.call, view.options.hide)), None)


def _begun(markdown: str, href: str, limit: int) -> StoryExcerpt:
    words = markdown.strip()
    end = len(words)
    if end > limit:
        breaks = [words.rfind(sign, limit // 2, limit) for sign in ("\n\n", "\n", ". ", " ")]
        end = next((at + 1 for at in breaks if at > 0), limit)
    begun = f"{words[:end].rstrip()}{' …' if end < len(words) else ''}"
    return StoryExcerpt(as_markup(prose_html(begun, images=False)), href, end < len(words))


def _left_behind(view: SessionView) -> Iterator[Markup]:
    """Commits, pull requests, files, the last run of tests, plans."""
    counted, options = view.counted, HtmlOptions(view.repository)
    for commit in counted.commits[-_COMMITS:]:
        yield as_markup(f"{elements.commit_link(commit.hash, options)} {content(shorten_line(commit.message, 90))}")
    if (more := len(counted.commits) - _COMMITS) > 0:
        yield as_markup(content(f"and {human.count(more, 'commit')} before"))
    for push in counted.pushes:
        if push.kind == "pull-request":
            yield as_markup(elements.link(push.url, content(f"PR #{push.number}")))
    changed = [file for file in counted.files if file.writes]
    if changed:
        added, removed = sum(file.added for file in changed), sum(file.removed for file in changed)
        signs = f"{elements.span('plus', f'+{added:,}')} {elements.span('minus', f'−{removed:,}')}"
        yield as_markup(f"{elements.strong(f'{len(changed):,}')} {'file' if len(changed) == 1 else 'files'} {signs}")
    last = last_test_run(view)
    if last is not None:
        ended = {True: "passed", False: "failed", None: "ended, nobody knows how"}[last.passed]
        tone = {True: "good", False: "bad", None: "quiet"}[last.passed]
        words = f"last tests {elements.span(tone, last.said or ended)}"
        yield as_markup(elements.link_around(view.addresses.link(last.call), words))
    approved = sum(plan.status == "approved" for plan in counted.plans)
    if counted.plans:
        yield as_markup(content(f"{human.count(len(counted.plans), 'plan')}, {approved} approved"))


def _linked(shape: StripShape) -> str:
    """The piece as a link; the Tab key comes to those of prompts alone."""
    piece = shape.piece
    return strip_link(piece.href, f"s-{piece.kind}", (shape.x, shape.width), piece.says, tabbed=piece.kind == "you")


def _shapes(pieces: list[StripPiece]) -> Iterator[StripShape]:
    total = sum(piece.seconds for piece in pieces) or 1.0
    room, x = max(0, _WIDTH - _LEAST * len(pieces)), 0
    for piece in pieces:
        width = _LEAST + round(room * piece.seconds / total)
        yield StripShape(x, width, piece)
        x += width
