"""Ways through a session as markup: the rail of prompts, the pages above and below, the branches."""

from collections.abc import Iterable, Sequence

from unspool.export.html.escape import content

PREVIOUS, NEXT = "← Prev", "Next →"


def rail(name: str, stops: Iterable[str], earlier: int, later: int) -> str:
    """Prompts beside a page, and how many more there are before and after them."""
    inside = "".join(stops)
    return f"<h2>{name}</h2><ol>{_skipped(earlier, 'earlier')}{inside}{_skipped(later, 'later')}</ol>"


def stop(href: str, number: int, words: str) -> str:
    """One prompt of a rail."""
    return f'<li><a href="{href}"><span class="num">{number}</span> <span>{content(words)}</span></a></li>'


def _skipped(number: int, name: str) -> str:
    return f'<li class="skipped">{number:,} {name}</li>' if number else ""


def pager(steps: Sequence[str], *, below: bool = False) -> str:
    """The pages of a chapter, above its turns or below them."""
    return f'<nav class="pager" aria-label="Pages{", below" if below else ""}">{"".join(steps)}</nav>'


def step(href: str, name: str, rel: str = "") -> str:
    """A page that has a part in the order of pages; without an address, that there is none."""
    return f'<a href="{href}" rel="{rel}">{name}</a>' if href else f'<span class="off">{name}</span>'


def number(href: str, nth: int, *, here: bool) -> str:
    """A page by its number."""
    return f'<a href="{href}" aria-current="page">{nth}</a>' if here else f'<a href="{href}">{nth}</a>'


def gap() -> str:
    """Pages that are not named."""
    return '<span class="gap" aria-hidden="true">…</span>'


def branches(ways: Sequence[str]) -> str:
    """The ways a conversation goes on."""
    return f'<nav class="branches" aria-label="Branches"><span>From here:</span> {"".join(ways)}</nav>'


def way(href: str, words: str, *, here: bool) -> str:
    """One of the ways."""
    mark = ' aria-current="true"' if here else ""
    return f'<a href="{href}"{mark}>{content(words)}</a>'
