"""Asks for every passage: several at once, again where it fails, and none any more where it is hopeless."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread

from unspool.clone.compress.bands import Bands
from unspool.clone.compress.outcome import Outcome, Shortened, summed
from unspool.clone.compress.pace import USUAL, Pace
from unspool.clone.compress.passage import PLAIN, Chosen, Passage, Wish, choose
from unspool.clone.compress.provider import Failed, Provider, Refused
from unspool.clone.compress.request import asked, shortened
from unspool.figures.tokens import estimate

_FAREWELL = 2.0
"""Seconds in which threads may end what they have started outside."""


def compress(
    texts: Sequence[Passage],
    plan: Bands,
    provider: Provider,
    wish: Wish = PLAIN,
    pace: Pace = USUAL,
    tell: Callable[[Shortened], None] = lambda _: None,
) -> Outcome:
    """The passages of the bands, shortened; a passage that cannot be keeps its words. Each is told as it is done.

    Broken off by Ctrl-C, it leaves no process and no file; a request that is under way is not waited for.
    """
    began = time.monotonic()
    choice = choose(texts, plan, wish)
    done = dict[str, Shortened]()
    with closing(Crew(provider, pace, wish.width or provider.width).run(choice.chosen)) as results:
        for one in results:
            done[one.chosen.passage.id] = one
            tell(one)
    details = (done[one.passage.id] for one in choice.chosen)
    return summed(details, choice.skipped, _ms(began))


class Crew:
    """Threads that work on one list. They are daemons: what hangs in the network must not keep the program alive."""

    def __init__(self, provider: Provider, pace: Pace, width: int) -> None:
        self._provider = provider
        self._pace = pace
        self._width = width
        self._stop = Event()
        self._lock = Lock()
        self._quiet = 0.0
        """Nothing is asked before this moment."""
        self._over = ""
        """Why nothing is asked any more."""
        self._losses = 0

    def run(self, chosen: Sequence[Chosen]) -> Generator[Shortened, None, None]:
        """Each passage once, in the order in which they are done."""
        left, done = deque(chosen), SimpleQueue[Shortened | None]()
        crew = [Thread(target=self._work, args=(left, done), daemon=True) for _ in chosen[: self._width]]
        try:
            for thread in crew:
                thread.start()
            yield from _taken(done, len(crew))
        finally:
            self._stop.set()
            deadline = time.monotonic() + _FAREWELL
            for thread in crew:
                if thread.is_alive():
                    thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self, left: "deque[Chosen]", done: "SimpleQueue[Shortened | None]") -> None:
        try:
            while not self._stop.is_set():
                try:
                    chosen = left.popleft()
                except IndexError:
                    return
                done.put(self._one(chosen))
        finally:
            done.put(None)

    def _one(self, chosen: Chosen) -> Shortened:
        """One passage, with all attempts."""
        began, ask, why, attempt = time.monotonic(), asked(chosen), "", 0
        while attempt < self._pace.attempts and self._clear():
            attempt += 1
            try:
                seconds = self._pace.seconds(chosen.tokens, attempt - 1)
                text = shortened(self._provider.ask(ask, seconds, self._stop), chosen)
            except Refused as problem:
                why = str(problem)
                self._end(why)
            except Failed as problem:
                why = str(problem)
                if not problem.again:
                    break
                self._rest(problem, attempt)
            else:
                self._losses = 0
                return Shortened(chosen, text, estimate(text), "", attempt, _ms(began))
        if attempt:
            self._lose(why)
        return Shortened(chosen, None, chosen.tokens, why or self._over or "stopped", attempt, _ms(began))

    def _clear(self) -> bool:
        """Wait until it may be asked; False where it may not be any more."""
        while not self._over and not self._stop.is_set():
            wait = self._quiet - time.monotonic()
            if wait <= 0:
                return True
            self._stop.wait(min(wait, 1.0))
        return False

    def _rest(self, problem: Failed, attempt: int) -> None:
        """After a failure: everybody for as long as the service says, else this thread for a little."""
        if problem.pause is None:
            if attempt < self._pace.attempts:
                self._stop.wait(self._pace.pause(attempt - 1))
        elif problem.pause > self._pace.patience:
            self._end(f"{problem}; it asks for a pause of {problem.pause:.0f} s")
        else:
            with self._lock:
                self._quiet = max(self._quiet, time.monotonic() + problem.pause)

    def _lose(self, why: str) -> None:
        with self._lock:
            self._losses += 1
            if self._losses >= self._pace.losses:
                self._over = self._over or f"not sent, after {self._losses} failures in a row; the last: {why}"

    def _end(self, why: str) -> None:
        with self._lock:
            self._over = self._over or why


def _taken(done: "SimpleQueue[Shortened | None]", threads: int) -> Iterator[Shortened]:
    """What is done, until every thread has ended. Short waits let Ctrl-C through on every system."""
    while threads:
        try:
            one = done.get(timeout=0.5)
        except Empty:
            continue
        if one is None:
            threads -= 1
        else:
            yield one


def _ms(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
