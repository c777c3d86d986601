"""A small stack, for what is nested deeper than can be walked through: its end is met sooner."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def small_stack(frames: int = 200) -> Iterator[None]:
    """So many frames from here. Writers of JSON take time as the square of the stack's size before they give up."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
