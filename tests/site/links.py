"""Where the links of a folder of pages lead."""

import functools
import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Ids and links of one page; whether it is complete, and whether it has in itself what it searches."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.searches = False
        self.ended = html.rstrip().endswith("</html>")
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {given["id"] or ""} if "id" in given else set()
        self.searches = self.searches or (tag == "script" and "data-search" in given)
        self.links += [given[name] or "" for name in ("href", "src", "data-highlight") if given.get(name)]


@functools.lru_cache(maxsize=2000)
def page(html: str) -> Page:
    """What a page holds; read once, however often a site is looked at that holds it."""
    return Page(html)


def broken(site: Path) -> list[str]:
    """Pages that are not complete, and links of pages that lead nowhere."""
    site = site.resolve()
    pages = {path: page(path.read_text("utf-8")) for path in site.rglob("*.html") if not _hidden(path, site)}
    found = [f"{path.name} is not complete" for path, one in pages.items() if not one.ended]
    for path, one in pages.items():
        found += [f"{path.relative_to(site)}: {link}" for link in one.links if not _leads(link, path, pages)]
    return found


def _hidden(path: Path, site: Path) -> bool:
    """Half-made files, which no page leads to."""
    return any(part.startswith(".") for part in path.relative_to(site).parts)


def _leads(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
    if target not in pages and target.is_dir():
        target /= "index.html"
    if target in pages and parts.fragment.startswith("search="):
        return pages[target].searches
    if target in pages and parts.fragment:
        return unquote(parts.fragment) in pages[target].ids
    return target in pages or target.is_file()
