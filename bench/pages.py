"""Pages in a browser: how soon they are there, whether they answer, how they scroll, beside two programs' pages.

The same session by each of them: the largest real one, and one that goes on with itself until our single file of it
weighs SINGLE_MB. Everything is read from Chromium's own trace; `scripts/bench pages` sets the browser up.
"""

import json
import os
import shutil
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench import corpus
from bench.answers import UNSPOOL
from bench.beside import clock
from bench.long_clone import smooth
from bench.measure import Run, run
from bench.table import Row

SINGLE_MB = 15
READY, RATE, PAGE_KB = 1.5, 60, 600
SLOW_FRAME = 0.025
TIMES = 3
_LONG_TASK = 0.05
_QUIET = 2_000
"""Milliseconds without a long task after which a page is taken to have come to rest."""
_WAY, _SPEED = 24_000, 4_000
"""Pixels that are scrolled at most, and how many a second."""
_TIMELINE = "disabled-by-default-devtools.timeline"
_WHOLE, _ONE = "one file", "heaviest page"
_EVENTS = ("blink.user_timing", "loading", _TIMELINE, f"{_TIMELINE}.frame")
_PLAIN = ("--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--force-device-scale-factor=1")
_REST = """() => new Promise((done) => {
  let last = performance.now();
  const note = (one) => { last = Math.max(last, one.startTime + one.duration); };
  new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type: "longtask", buffered: true });
  const look = () => performance.now() - last > QUIET ? done() : setTimeout(look, 100);
  look();
})""".replace("QUIET", str(_QUIET))


@dataclass(frozen=True)
class Seen:
    """A page that was opened and scrolled once; times are seconds, since the navigation began."""

    painted: float
    ready: float
    """When it was parsed, painted and past its last long task."""
    blocked: float
    """What long tasks took beyond 50 ms, until then."""
    frames: tuple[float, ...]
    """From one drawn frame to the next while it was scrolled."""
    blank: int
    """Frames in which something was not painted yet."""
    nodes: int

    @property
    def rate(self) -> float:
        """Frames a second."""
        return len(self.frames) / sum(self.frames)

    @property
    def scrolled(self) -> str:
        slow = sum(one > SLOW_FRAME for one in self.frames)
        median, p95 = statistics.median(self.frames) * 1000, statistics.quantiles(self.frames, n=20)[-1] * 1000
        return (
            f"{self.rate:.0f} a second, median {median:.1f} ms, p95 {p95:.1f} ms, "
            f"{slow} over {SLOW_FRAME * 1000:.0f} ms, {self.blank} with holes; {self.nodes:,} nodes"
        )


@dataclass(frozen=True)
class _Page:
    name: str
    path: Path
    seen: list[Seen]

    @property
    def kb(self) -> float:
        return self.path.stat().st_size / 1000

    @property
    def smoothest(self) -> Seen:
        return max(self.seen, key=lambda seen: seen.rate)


def rows(source: Path, real: Path | None) -> Iterator[Row]:
    """The largest session of `real`, or of `source` where there are no real logs; then the long one made of it."""
    given = real or source
    with corpus.scratch() as folder:
        log = shutil.copy(corpus.largest(given), folder)
        yield from _session(f"{'real' if real else 'made'} session", Path(log), folder / "one")
        yield from _session("long session", _long(smooth(given), folder), folder / "long")


def _long(template: Path, folder: Path) -> Path:
    """A log whose single file weighs SINGLE_MB."""
    probe = folder / "probe.html"
    _must(run([UNSPOOL, "json", str(template), "-o", str(probe)]))
    share = template.stat().st_size / probe.stat().st_size * 1.1  # a tenth, styles and scripts, is there only once
    corpus.huge_log(template, round(SINGLE_MB * share), folder / "source")
    return next((folder / "source").rglob("*.jsonl"))


def _session(what: str, log: Path, folder: Path) -> Iterator[Row]:
    pages = {page.name: page for page in _made(log, folder)}
    with opened_browser() as browser:
        for _ in range(TIMES):
            for page in pages.values():
                page.seen.append(_opened(browser, page.path))
    whole, one = pages[_WHOLE], pages[_ONE]
    yield from _rows(f"{what}, one file", whole, pages.get("claude-code-log"))
    yield from _rows(f"{what}, heaviest page", one, pages.get("claude-code-transcripts"))
    yield Row(f"weight of it, {what}", f"{one.kb:.0f} kB", aim=f"<= {PAGE_KB} kB", met=one.kb <= PAGE_KB)


def _rows(what: str, ours: _Page, theirs: _Page | None) -> Iterator[Row]:
    yield _time(f"first paint, {what} of {ours.kb / 1000:.1f} MB", ours, theirs, lambda seen: seen.painted)
    yield _time(f"interactive, {what}", ours, theirs, lambda seen: seen.ready, READY)
    yield _time(f"blocked until then, {what}", ours, theirs, lambda seen: seen.blocked)
    best = ours.smoothest
    beside = f"{theirs.name}: {theirs.smoothest.scrolled}" if theirs else ""
    yield Row(f"scrolling, {what}", best.scrolled, beside, aim=f"{RATE} a second", met=round(best.rate) >= RATE)


def _time(
    what: str, ours: _Page, theirs: _Page | None, figure: Callable[[Seen], float], limit: float | None = None
) -> Row:
    """The best of ours beside the best of theirs."""
    mine, other = min(map(figure, ours.seen)), min(map(figure, theirs.seen)) if theirs else 0
    beside = f"{theirs.name}: {clock(other)}, {theirs.kb / 1000:.1f} MB" if theirs else ""
    ratio = f"{other / mine:.1f}x as fast" if theirs and mine else ""
    aim = f"<= {clock(limit)}" if limit else ""
    return Row(what, clock(mine), beside, ratio, aim, mine <= limit if limit else None)


def _made(log: Path, folder: Path) -> Iterator[_Page]:
    """Our single file, the heaviest of our pages, and the heaviest page of each peer."""
    folder.mkdir()
    _must(run([UNSPOOL, "json", str(log), "-o", str(folder / "one.html")]))
    yield _Page(_WHOLE, folder / "one.html", [])
    _must(run([UNSPOOL, "json", str(log), "-o", str(folder / "site")]))
    yield _Page(_ONE, _heaviest(folder / "site"), [])
    if program := os.environ.get("UNSPOOL_CLAUDE_CODE_LOG"):
        _must(run([program, str(log), "-o", str(folder / "log.html"), "--no-cache"]))
        yield _Page("claude-code-log", folder / "log.html", [])
    if program := os.environ.get("UNSPOOL_CLAUDE_CODE_TRANSCRIPTS"):
        _must(run([program, "json", str(log), "-o", str(folder / "transcripts")]))
        yield _Page("claude-code-transcripts", _heaviest(folder / "transcripts"), [])


def _must(done: Run) -> None:
    if done.failed:
        raise SystemExit(done.failed)


def _heaviest(folder: Path) -> Path:
    return max(folder.rglob("*.html"), key=lambda path: path.stat().st_size)


@contextmanager
def opened_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=os.environ.get("UNSPOOL_CHROMIUM"), args=_PLAIN)
        yield browser
        browser.close()


def _opened(browser: Any, path: Path) -> Seen:
    """Open a page in a context of its own, without a network, wait until it rests, and scroll it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    page = context.new_page()
    page.set_default_timeout(300_000)
    browser.start_tracing(page=page, categories=_EVENTS)
    page.goto(path.resolve().as_uri())
    page.evaluate(_REST)
    loaded = json.loads(browser.stop_tracing())["traceEvents"]
    nodes = page.evaluate("document.querySelectorAll('*').length")
    room = page.evaluate("document.documentElement.scrollHeight - innerHeight")
    browser.start_tracing(page=page, categories=_EVENTS)
    _scroll(context.new_cdp_session(page), min(_WAY, room * 3 // 4))  # what is laid out on the way may be lower
    scrolled = json.loads(browser.stop_tracing())["traceEvents"]
    context.close()
    return Seen(*_times(loaded), *_frames(scrolled), nodes)


def _scroll(session: Any, way: int) -> None:
    gesture = {"x": 640, "y": 400, "yDistance": -way, "speed": _SPEED, "gestureSourceType": "mouse"}
    session.send("Input.synthesizeScrollGesture", gesture)


def _times(events: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """First paint, ready, blocked."""
    paint = max(_named(events, "firstContentfulPaint"), key=lambda one: one["ts"])
    begun = max(one["ts"] for one in _named(events, "navigationStart") if one["ts"] <= paint["ts"])
    parsed = max(one["ts"] for one in _named(events, "domContentLoadedEventEnd"))
    tasks = [one for one in _named(events, "RunTask") if one["tid"] == paint["tid"] and one["pid"] == paint["pid"]]
    long = [one for one in tasks if one.get("dur", 0) > _LONG_TASK * 1e6 and one["ts"] >= begun]
    ready = max(parsed, paint["ts"], *(one["ts"] + one["dur"] for one in long))
    blocked = sum(one["dur"] / 1e6 - _LONG_TASK for one in long)
    return (paint["ts"] - begun) / 1e6, (ready - begun) / 1e6, blocked


def _frames(events: Sequence[dict[str, Any]]) -> tuple[tuple[float, ...], int]:
    """What lies between frames, and how many had a hole."""
    drawn = sorted(one["ts"] for one in _named(events, "DrawFrame"))[1:]  # the first is there before anything moves
    told = (one["args"].get("frame_reporter", {}) for one in _named(events, "PipelineReporter"))
    blank = sum(bool(one.get("has_missing_content")) for one in told)
    return tuple((after - before) / 1e6 for before, after in pairwise(drawn)), blank


def _named(events: Iterable[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    return (one for one in events if one["name"] == name)
