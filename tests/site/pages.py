"""Sessions to make pages of, and what a page is asked: its ids and links, and whether its tags are well formed."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import unquote

from unspool.demo import write_demo
from unspool.figures import figures
from unspool.model import Lines, LogFile, Place, Prompt, Session, Text, Titles, Todos, Turn
from unspool.prices import PriceTable
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.turn_pages import session_pages
from unspool.store.library import Library

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
VOID = {"br", "hr", "img", "input", "link", "meta", "rect"}
BLOCKS = {"div", "details", "ul", "ol", "p", "pre", "section", "table", "dl", "h1", "h2", "h3", "h4", "figure", "nav"}


@cache
def demo() -> tuple[Session, ...]:
    """The sessions of the demo, whole."""
    library = Library([write_demo(Path(mkdtemp())) / "projects"])
    return tuple(library.open(overview.id) for overview in library.overviews())


@cache
def prices() -> PriceTable:
    return PriceTable.load()


def made(session: Session, options: SiteOptions | None = None, frame: Frame | None = None) -> dict[str, str]:
    """The pages of a session by their paths."""
    pages = list(session_pages(session, figures(session, prices()), options or SiteOptions(), frame or Frame()))
    assert len({page.path for page in pages}) == len(pages)
    return {page.path: page.html for page in pages}


def turn(number: int, *words: str, step: int = 1, at: int = 0) -> Turn:
    """A turn that asks and is answered; times are `step` milliseconds apart, offsets follow `at`."""
    times = [NOON + timedelta(milliseconds=(at + line) * step) for line in range(len(words))]
    places = [Place(at + line + 1, (at + line) * 100, 100) for line in range(len(words))]
    prompt = Prompt(places[0], "text", words[0], time=times[0])
    answers = tuple(
        Text(place, word, time=time) for place, word, time in zip(places[1:], words[1:], times[1:], strict=True)
    )
    return Turn(number, prompt, answers, times[0], times[-1])


def session(turns: Iterable[Turn], title: str = "A session", branch: str = "main", cwd: str = "/home/dev/x") -> Session:
    """A session of these turns."""
    return Session(
        "5e55", "claude-code", "interactive", LogFile("5e55.jsonl", 1), Titles(custom=title), tuple(turns), (), (), (),
        (), (), Lines(), Todos(()), cwd=cwd, branch=branch, started=NOON,
    )  # fmt: skip


_BY_CLASS = {"prompt": "prompt", "answer": "text", "call": "tool", "notice": "notice", "notices": "notice"}


def _kind(given: dict[str, str]) -> str:
    """The kind of a block, by which it can be hidden."""
    first = given.get("class", "").split(" ")[0]
    return given.get("data-kind", "") or _BY_CLASS.get(first, "")


class Read(HTMLParser):
    """A page as a browser would take it apart, without forgiving anything."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.kinds: list[str] = []
        self.faults: list[str] = []
        self.files: list[str] = []
        self.searches = False
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if len(given) != len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice")
        if tag in ("dt", "dd"):
            self._end_name_or_value()
        if tag in BLOCKS and "p" in self._open:
            self.faults.append(f"<{tag}> inside <p>")
        if tag == "a" and "a" in self._open:
            self.faults.append("<a> inside <a>")
        self.faults += [f"<{tag} {name}>" for name in given if name.startswith("on") or name == "style"]
        self.ids += [given["id"]] if "id" in given else []
        self.searches = self.searches or (tag == "script" and "data-search" in given)
        self.kinds += [kind] if (kind := _kind(given)) else []
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.files += [given[name] for name in ("src", "data-highlight") if given.get(name)]
        self.files += [given["href"]] if tag == "link" else []
        if tag not in VOID:
            self._open.append(tag)

    def _end_name_or_value(self) -> None:
        """In a list of names with values, the next one and the end of the list end the one before."""
        if self._open and self._open[-1] in ("dt", "dd"):
            self._open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag == "dl":
            self._end_name_or_value()
        if not self._open or self._open[-1] != tag:
            self.faults.append(f"</{tag}> closes <{self._open[-1] if self._open else ''}>")
            return
        self._open.pop()


def broken(pages: dict[str, str]) -> list[str]:
    """Links inside the pages of a session that lead nowhere."""
    read = {path: Read(html) for path, html in pages.items()}
    found: list[str] = []
    for path, page in read.items():
        for link in page.links:
            file, _, anchor = link.partition("#")
            if ":" in file or file.startswith("../"):
                continue
            target = read.get(file or path)
            if target is None or not _has(target, unquote(anchor)):
                found.append(f"{path}: {link}")
    return found


def _has(page: Read, anchor: str) -> bool:
    """Whether a page has an anchor, or can search where that is what it is asked for."""
    return page.searches if anchor == "search=" else not anchor or anchor in page.ids
