"""Small HTML elements that pages are made of: safe links, badges, labels, cards, times, styles and scripts."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

import msgspec

from unspool.tools.ansi import special_characters

_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    "\U0001fffe\U0001ffff\U0010fffe\U0010ffff]"
)
_SPELLED = (*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_MARKS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x0D: "\n",
    0x7F: "\u2421",
    **{code: f"⟨U+{code:04X}⟩" for code in _SPELLED},
    **dict.fromkeys((*range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0)), "\ufffd"),
    **{plane << 16 | last: "\ufffd" for plane in range(17) for last in (0xFFFE, 0xFFFF)},
}
_NOT_IN_ID = re.compile(r"[^\w.:-]+")
_NOT_IN_CLASS = re.compile(r"[^a-z0-9]+")


def escape(text: str) -> str:
    """The text for any place in a page: between tags or inside a quoted attribute."""
    text = content(text)
    if '"' in text:
        text = text.replace('"', "&quot;")
    if "'" in text:
        text = text.replace("'", "&#39;")
    return text


def content(text: str) -> str:
    """The text for between tags only, where quotes mean nothing and may stay as they are."""
    if not text.isprintable():
        text = visible(text)
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    return text


def visible(text: str) -> str:
    """The text with marks in place of what cannot be seen; the marks hold nothing that would need escaping."""
    special = special_characters(text)
    odd = special and _ODD.search(special) is not None
    return text.replace("\r\n", "\n").translate(_MARKS) if odd else text


@lru_cache(maxsize=4096)
def ident(anchor: str) -> str:
    """The id of an element for an anchor: the anchor itself where it has only letters, digits and `_.:-`."""
    return escape(_NOT_IN_ID.sub("-", anchor))


@lru_cache(maxsize=1024)
def css_class(word: str) -> str:
    """A class name made of any word."""
    return _NOT_IN_CLASS.sub("-", word.lower()[:60]).strip("-")


def _nowhere(_session: str) -> str:
    return ""


def picture_inside(kind: str, data: str) -> str:
    """The address of a picture or document that the page itself holds."""
    return f"data:{kind};base64,{data}"


class HtmlOptions(msgspec.Struct, frozen=True):
    """How nodes become markup. The default makes no link into a repository or to another session."""

    repository: str = ""
    """The web address of the repository that commits and files are linked into; empty for none."""
    commit: str = ""
    """The commit that links to files show; empty for the newest."""
    images: bool = True
    """False names pictures and documents instead of putting them into the page."""
    session_href: Callable[[str], str] = _nowhere
    """The address of another session by its id; empty where it has none."""
    picture_href: Callable[[str, str], str] = picture_inside
    """The address of a picture or document of a media type, given in base64."""


_SAFE = re.compile(r"(?:https?://[^\x00-\x20\x7f-\x9f\s]|mailto:[^\x00-\x20\x7f-\x9f\s])[^\x00-\x20\x7f-\x9f\s]*", re.I)
_BESIDE = re.compile(r"(?!//)[\w./#?&=%~+-]+")
_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
_OUTSIDE = re.compile(r"[/\\~]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|$)", re.DOTALL)
_SECTIONS = {  # how forges name the pages of a commit and of a file at a commit
    "gitlab": ("/-/commit/", "/-/blob/"),
    "bitbucket": ("/commits/", "/src/"),
    "codeberg": ("/commit/", "/src/commit/"),
}


def is_safe_address(target: str) -> bool:
    """True for an address that may become a link."""
    return _SAFE.fullmatch(target) is not None


def link(target: str, inside: str, attributes: str = "") -> str:
    """Markup that leads to a safe address; the markup alone where the address is not safe."""
    if not is_safe_address(target):
        return inside
    return f'<a{attributes} href="{escape(target)}"{rel(target)}>{inside}</a>'


def rel(target: str) -> str:
    """What a link to the web promises: the place it leads to learns nothing of this one."""
    return ' rel="noopener noreferrer nofollow"' if target[:4].lower() == "http" else ""


def named_link(text: str, target: str) -> str:
    """A link called by a text; where the address is not safe, both as text."""
    if is_safe_address(target):
        return link(target, content(text or target))
    return content(f"{text} ({target})" if text and target and text != target else text or target)


def session_link(text: str, session: str, options: HtmlOptions) -> str:
    """A link to another page of the site, by its relative address; its text alone where it has none."""
    target = options.session_href(session)
    if not _BESIDE.fullmatch(target):
        return content(text or session)
    return f'<a href="{escape(target)}">{content(text or session)}</a>'


def commit_link(commit: str, options: HtmlOptions) -> str:
    """A commit by its short hash, linked where its repository is known."""
    page = _repository_pages(options.repository)[0]
    if not page or not _HASH.fullmatch(commit):
        return span("mono", commit[:10])
    return link(f"{page}{commit}", content(commit[:10]), ' class="mono"')


def file_link(path: str, options: HtmlOptions) -> str:
    """A file by its path, linked where it lies inside a repository that is known."""
    page = _repository_pages(options.repository)[1]
    if not page or not path or _OUTSIDE.match(path):
        return span("mono", path)
    commit = options.commit if _HASH.fullmatch(options.commit) else "HEAD"
    place = quote(path.replace("\\", "/").encode("utf-8", "replace"))
    return link(f"{page}{commit}/{place}", content(path), ' class="mono"')


def commit_card(commit: str, message: str, branch: str, options: HtmlOptions) -> str:
    """A commit that was made, where it was made."""
    badge = span("badge", branch) if branch else ""
    return (
        f'<div class="commit"><b aria-hidden="true">⎇</b>{commit_link(commit, options)}'
        f"<span>{content(message)}</span>{badge}</div>"
    )


@lru_cache(maxsize=64)
def _repository_pages(address: str) -> tuple[str, str]:
    """What addresses of a commit and of a file at a commit begin with; empty where there is no repository."""
    base = address.rstrip("/").removesuffix(".git")
    if base[:4].lower() != "http" or not is_safe_address(base):
        return "", ""
    host = base.split("/")[2].lower()
    commit, file = next((sections for name, sections in _SECTIONS.items() if name in host), ("/commit/", "/blob/"))
    return base + commit, base + file


def site_link(href: str, words: str, kind: str = "") -> str:
    """Words that lead to a place in the site."""
    return f'<a class="{kind}" href="{href}">{content(words)}</a>' if kind else f'<a href="{href}">{content(words)}</a>'


def link_around(href: str, inside: str) -> str:
    """Markup that leads to a place in the site."""
    return f'<a href="{href}">{inside}</a>'


def div(name: str, inside: str) -> str:
    """A box of a class around markup."""
    return f'<div class="{name}">{inside}</div>'


def span(name: str, text: str) -> str:
    """Words of a class."""
    return f'<span class="{name}">{content(text)}</span>'


def strong(text: str) -> str:
    return f"<b>{content(text)}</b>"


def fact(text: str, exact: str = "") -> str:
    """A short fact; what it is exactly is its title."""
    return f'<span title="{escape(exact)}">{content(text)}</span>' if exact else f"<span>{content(text)}</span>"


def took_line(words: str) -> str:
    """What a message took, which is shown on request; nothing where that is not known."""
    return f'<p class="took">{content(words)}</p>' if words else ""


def label(text: str, anchor: str = "") -> str:
    """What stands above a part of a page."""
    mark = f' id="{anchor}"' if anchor else ""
    return f'<h2 class="label"{mark}>{content(text)}</h2>'


def page_title(text: str, facts: str) -> str:
    """What stands above a page, with what it is."""
    return f'<h1>{content(text)}</h1><p class="facts">{content(facts)}</p>'


def card(name: str, inside: str, *, opened: bool = False, anchor: str = "") -> str:
    mark = f' id="{anchor}"' if anchor else ""
    is_open = " open" if opened else ""
    return f'<details class="card"{mark}{is_open}><summary>{content(name)}</summary><div>{inside}</div></details>'


TimeStyle = Literal["", "clock", "day"]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_tag(time: datetime | None, style: TimeStyle = "") -> str:
    """A moment: date and time, or one of them; nothing where there is no time."""
    if time is None:
        return ""
    try:
        utc = time if time.tzinfo is UTC else time.astimezone(UTC)
    except OverflowError:  # the first and last days of the calendar have no time in every zone
        utc = time.replace(tzinfo=UTC)
    date, _, clock = utc.isoformat(timespec="seconds")[:19].partition("T")
    kind = f' class="{style}"' if style else ""
    shown = clock[:5] if style == "clock" else day_text(utc) if style == "day" else f"{day_text(utc)}, {clock[:5]}"
    return f'<time{kind} datetime="{date}T{clock}Z" title="{date} {clock} UTC">{shown}</time>'


def day_text(day: date) -> str:
    """13 Nov 2025."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def stylesheet(href: str) -> str:
    return f'<link rel="stylesheet" href="{escape(href)}">'


def script(href: str) -> str:
    return f'<script src="{escape(href)}"></script>'


def style_inside(text: str) -> str:
    """Styles of our own as part of a page; they may not hold the end of their own element."""
    return f"<style>{text}</style>"


def script_inside(text: str) -> str:
    """A script of our own as part of a page, as styles are."""
    return f"<script>{text}</script>"
