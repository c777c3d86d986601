"""Questions put to the app in a browser: how many clicks from its home, and how many seconds, on one large session.

A person's time to find the link is not in it: only what the app and the browser take. Each question is asked TIMES
times from the home page, by a server that has the archive and nothing else ready.
"""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench import corpus
from bench.beside import clock
from bench.long_clone import smooth
from bench.opening import synced
from bench.pages import opened_browser
from bench.serving import free_port, ours, started
from bench.table import Row

TIMES = 3
SESSION_MB = 29
_WAIT = 60_000


class Question(NamedTuple):
    words: str
    clicks: tuple[str, ...]
    """What is clicked, as selectors; each leads to a page."""
    answered: str
    """What is on the page then."""


_OPEN = f'main [data-key="{corpus.SESSION}"] a[href^="/s/"]'
QUESTIONS = (
    Question("What did it do?", (_OPEN,), "section.story"),
    Question("What was each row for?", (_OPEN, ".strip a"), ".turn .call .what"),
    Question("Which session was next to it?", (_OPEN,), "#sessions-beside [aria-current]"),
    Question("How do I resume it?", (_OPEN,), "[data-copy]"),
    Question(
        "How did this file change, and who asked for it?",
        ('.ways a[href="/files"]', 'main a[href*="project="]', 'main a[href*="path="]'),
        ".change .asked, .change",
    ),
    Question("Where did the money and the window go?", (_OPEN, 'a[href$="context"]'), ".stacks"),
    Question("How did it go, played again?", (_OPEN, 'a[href$="replay"]'), ".turn"),
    Question("How do I show it on a projector?", (_OPEN, 'a[href$="present"]'), ".stage"),
)


def rows(source: Path) -> Iterator[Row]:
    """The app over the largest session of `source`, which goes on with itself until it has SESSION_MB."""
    with corpus.scratch() as folder:
        template = folder / f"{corpus.SESSION}.jsonl"
        whole = smooth(source)
        template.write_bytes(whole.read_bytes().replace(whole.stem.encode(), corpus.SESSION.encode()))
        corpus.huge_log(template, SESSION_MB, folder / "source")
        port = free_port()
        with started(ours(folder / "archive", folder / "source", port), port) as server:
            synced(server)
        for question in QUESTIONS:
            yield _row(question, [_asked(question, folder) for _ in range(TIMES)])


def _row(question: Question, times: list[float]) -> Row:
    clicks = len(question.clicks)
    return Row(question.words, f"{clicks} click{'s' if clicks > 1 else ''}, {clock(min(times))}")


def _asked(question: Question, folder: Path) -> float:
    """Seconds from the first click until the answer stands there, of an app that has just begun."""
    port = free_port()
    with started(ours(folder / "archive", folder / "source", port), port) as server, opened_browser() as browser:
        synced(server)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(_WAIT)
        page.goto(f"{server.address}/?token={server.token}")
        begun = perf_counter()
        for click in question.clicks:
            with page.expect_navigation(wait_until="commit"):
                page.locator(click).first.click()
        page.locator(question.answered).first.wait_for(state="visible")
        return perf_counter() - begun
