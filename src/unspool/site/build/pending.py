"""The page of a session that has no pages: not yet, or for a reason. So a link to it always leads somewhere."""

from pathlib import Path

from unspool.site.address import INDEX
from unspool.site.build.disk import encoded, replace
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions
from unspool.site.sheet import Sheet, render

WAITING = "This session is being made into pages; look again in a moment."
EMPTY = "This session holds no conversation."


def pending(folder: Path, title: str, words: str, options: SiteOptions, frame: Frame) -> None:
    """Say in a session's place why there is nothing else."""
    body = render("pending.html", title=title, words=words)
    replace(folder / INDEX, encoded(Sheet(options, frame).page(title, body)))
