"""Memory that is given back once it is free, where the system's own ways would keep it."""

import ctypes
import sys
from contextlib import suppress

_ARENAS, _OWN_PAGES = -8, -3
"""M_ARENA_MAX and M_MMAP_THRESHOLD of GNU's malloc.h."""
_LARGE = 1024 * 1024


def give_back() -> None:
    """Before threads begin: what one of them frees is there for all, and large pieces go back to the system at once.

    The GNU library else keeps what was freed for each thread, which adds up to more than the app itself takes. Where
    there is another library nothing happens.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            library = ctypes.CDLL(None)
            library.mallopt(_ARENAS, 1)
            library.mallopt(_OWN_PAGES, _LARGE)
