"""Two paths that change places in one step, where the system can: Linux and macOS."""

import os
import sys
from pathlib import Path

_HERE = -100
_SWAP = 2


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths at once; False where this system or file system cannot, and nothing was done."""
    import ctypes

    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, _SWAP) == 0)
        return bool(library.renameat2(_HERE, first, _HERE, second, _SWAP) == 0)
    except (AttributeError, OSError, TypeError):  # no such call in this libc; no libc by that name
        return False
