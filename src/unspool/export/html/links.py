"""Links of a page: only to the web, to a mail address, or to a place in the page, whatever the log asks for."""

import re
from urllib.parse import quote

from unspool.export.html.escape import content, escape
from unspool.export.html.paint import Paint

_SAFE = re.compile(r"(?:https?://[^\x00-\x20\x7f-\x9f\s]|mailto:[^\x00-\x20\x7f-\x9f\s])[^\x00-\x20\x7f-\x9f\s]*", re.I)
_BESIDE = re.compile(r"(?!//)[\w./#?&=%~+-]+")
_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
_OUTSIDE = re.compile(r"[/\\~]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|$)", re.DOTALL)
_SECTIONS = {  # how forges name the pages of a commit and of a file at a commit
    "gitlab": ("/-/commit/", "/-/blob/"),
    "bitbucket": ("/commits/", "/src/"),
    "codeberg": ("/commit/", "/src/commit/"),
}
_USUAL = ("/commit/", "/blob/")


def is_safe(target: str) -> bool:
    """True for an address that may become a link."""
    return _SAFE.fullmatch(target) is not None


def linked(target: str, inside: str, attributes: str = "") -> str:
    """Markup that leads to a safe address; the markup alone where the address is not safe."""
    if not is_safe(target):
        return inside
    return f'<a{attributes} href="{escape(target)}"{rel(target)}>{inside}</a>'


def rel(target: str) -> str:
    """What a link to the web promises: the place it leads to learns nothing of this one."""
    return ' rel="noopener noreferrer nofollow"' if target[:4].lower() == "http" else ""


def named(text: str, target: str) -> str:
    """A link called by a text; where the address is not safe, both as text."""
    if is_safe(target):
        return linked(target, content(text or target))
    return content(f"{text} ({target})" if text and target and text != target else text or target)


def session_link(text: str, session: str, paint: Paint) -> str:
    """A link to another page of the site, by its relative address; its text alone where it has none."""
    target = paint.session_href(session)
    if not _BESIDE.fullmatch(target):
        return content(text or session)
    return f'<a href="{escape(target)}">{content(text or session)}</a>'


def commit_link(commit: str, paint: Paint) -> str:
    """A commit by its short hash, linked where its repository is known."""
    shown = f'<span class="mono">{content(commit[:10])}</span>'
    base = _base(paint)
    if not base or not _HASH.fullmatch(commit):
        return shown
    return linked(f"{base}{_sections(base)[0]}{commit}", content(commit[:10]), ' class="mono"')


def file_link(path: str, paint: Paint) -> str:
    """A file by its path, linked where it lies inside a repository that is known."""
    base = _base(paint)
    if not base or not path or _OUTSIDE.match(path):
        return f'<span class="mono">{content(path)}</span>'
    commit = paint.commit if _HASH.fullmatch(paint.commit) else "HEAD"
    place = quote(path.replace("\\", "/").encode("utf-8", "replace"))
    return linked(f"{base}{_sections(base)[1]}{commit}/{place}", content(path), ' class="mono"')


def commit_card(commit: str, message: str, branch: str, paint: Paint) -> str:
    """A commit that was made, where it was made."""
    badge = f'<span class="badge">{content(branch)}</span>' if branch else ""
    return (
        f'<div class="commit"><b aria-hidden="true">⎇</b>{commit_link(commit, paint)}'
        f"<span>{content(message)}</span>{badge}</div>"
    )


def _base(paint: Paint) -> str:
    base = paint.repository.rstrip("/").removesuffix(".git")
    return base if base[:4].lower() == "http" and is_safe(base) else ""


def _sections(base: str) -> tuple[str, str]:
    host = base.split("/")[2].lower()
    return next((sections for name, sections in _SECTIONS.items() if name in host), _USUAL)
