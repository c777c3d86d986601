"""One thing done by another process meanwhile: less to load and to start than a pool of them."""

import sys
from collections.abc import Callable
from multiprocessing import get_context
from typing import TYPE_CHECKING, Generic, TypeVar

from unspool.library.workers import settle_in

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Errand(Generic[_Given, _Made]):
    """What a function makes of something, from the moment this is made. The process ends with this one."""

    def __init__(self, do: Callable[[_Given], _Made], given: _Given) -> None:
        self._do = do
        self._given = given
        context = get_context("fork" if sys.platform == "linux" else None)  # ready at once; elsewhere not safe
        self._end, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(there, do, given), daemon=True)
        self._process.start()
        there.close()

    def result(self) -> _Made:
        """What was made; where the process died, it is made here."""
        try:
            made: _Made = self._end.recv()
        except EOFError:
            return self._do(self._given)
        finally:
            self._end.close()
            self._process.join()
        return made


def _run(end: "Connection[_Made, None]", do: Callable[[_Given], _Made], given: _Given) -> None:
    settle_in()
    end.send(do(given))
    end.close()
