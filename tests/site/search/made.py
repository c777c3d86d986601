"""Small sites with a search index and the plainest pages: what a search leads to has its anchor, nothing else."""

from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from unspool.site.search_files import SearchedSession, SearchIndexWriter, session_files
from unspool.site.search_records import SearchRecord

POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; base-uri 'none'; form-action 'none'"


def page(anchors: Iterable[str], root: str, scope: str, index: str = "") -> str:
    """A page with nothing but the search button and the anchors."""
    body = "".join(f'<p id="{escape(anchor)}">{escape(anchor)}</p>' for anchor in anchors)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>made</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<link rel="stylesheet" href="{root}search.css"><script src="{root}search.js"></script></head>'
        f'<body data-root="{root}" data-scope="{escape(scope)}" data-index="{index}">'
        f'<button data-do="search">Search</button>{body}</body></html>'
    )


def write_session(site: Path, folder: str, records: Iterable[SearchRecord], alone: bool = False) -> None:
    """A session's search files and the pages its records link to."""
    home = site / folder
    home.mkdir(parents=True, exist_ok=True)
    kept = list(records)
    for name, content in session_files(kept):
        (home / name).write_bytes(content)
    pages: dict[str, list[str]] = {"index.html": []}
    for record in kept:
        path, _, anchor = record.link.partition("#")
        pages.setdefault(path, []).append(anchor)
    depth = len(Path(folder).parts)
    for path, anchors in pages.items():
        text = page(anchors, "" if alone else "../" * depth, folder or "one", "" if alone else "search")
        (home / path).write_text(text, "utf-8")


def write_assets(site: Path) -> None:
    static = files("unspool.site").joinpath("static")
    for name in ("search.js", "search.css"):
        (site / name).write_bytes(static.joinpath(name).read_bytes())


def write_archive(site: Path, sessions: Mapping[str, Iterable[SearchRecord]]) -> int:
    """An archive of sessions by `project/id`, with its index and first page; gives how many index files changed."""
    writer = SearchIndexWriter(site)
    for folder, records in sessions.items():
        write_session(site, folder, records)
        assert writer.add(SearchedSession(folder, folder.split("/")[0]))
    site.mkdir(exist_ok=True)
    write_assets(site)
    (site / "index.html").write_text(page((), "", "", "search"), "utf-8")
    return writer.write()
