"""Small parts that pages are put together of: links, badges, labels, cards.

Here and in `told`, `listed`, `ways` and `worn`, what is called `inside` is markup already, and addresses and anchors
are the site's own; everything else is text, made safe here.
"""

from unspool.export.html.escape import content, escape


def lead(href: str, words: str, kind: str = "") -> str:
    """Words that lead to a place in the site."""
    return f'<a class="{kind}" href="{href}">{content(words)}</a>' if kind else f'<a href="{href}">{content(words)}</a>'


def lead_out(url: str, words: str) -> str:
    """Words that lead out to the web; the words alone where the address is no web address."""
    if not url.startswith(("https://", "http://")):
        return content(words)
    return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{content(words)}</a>'


def around(href: str, inside: str) -> str:
    """Markup that leads to a place in the site."""
    return f'<a href="{href}">{inside}</a>'


def mono(text: str) -> str:
    """A name as programs write it."""
    return f'<span class="mono">{content(text)}</span>'


def quiet(text: str) -> str:
    """Words that stay in the background."""
    return f'<span class="quiet">{content(text)}</span>'


def strong(text: str) -> str:
    return f"<b>{content(text)}</b>"


def badge(text: str, tone: str) -> str:
    return f'<span class="badge {tone}">{content(text)}</span>'


def fact(text: str, exact: str = "") -> str:
    """A short fact; what it is exactly is its title."""
    return f'<span title="{escape(exact)}">{content(text)}</span>' if exact else f"<span>{content(text)}</span>"


def bad_fact(text: str) -> str:
    """A short fact that is bad news."""
    return f'<span class="badtext">{content(text)}</span>'


def label(text: str, anchor: str = "") -> str:
    """What stands above a part of a page."""
    mark = f' id="{anchor}"' if anchor else ""
    return f'<h2 class="label"{mark}>{content(text)}</h2>'


def title(text: str, facts: str) -> str:
    """What stands above a page, with what it is."""
    return f'<h1>{content(text)}</h1><p class="facts">{content(facts)}</p>'


def card(name: str, inside: str, *, opened: bool = False, anchor: str = "") -> str:
    """A box that opens."""
    mark = f' id="{anchor}"' if anchor else ""
    is_open = " open" if opened else ""
    return f'<details class="card"{mark}{is_open}><summary>{content(name)}</summary><div>{inside}</div></details>'


def stand_open(details: str) -> str:
    """A box that was made closed, open."""
    return details.replace("<details", "<details open", 1)
