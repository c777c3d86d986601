"""SVG pictures as PNG, by a library that is there where the extra `pictures` is, or by the system's Chromium."""

import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from unspool.browsers import find_browser, run_without_window
from unspool.errors import UnspoolError
from unspool.files import scratch_folder
from unspool.site.page_template import fill_template

WIDTH, HEIGHT = 1200, 630
NEEDED = (
    "A picture as PNG is drawn by resvg (`pip install 'unspool[pictures]'`) or by Chromium, with a font of the system; "
    "here neither could. The same as SVG needs nothing."
)
_LIBRARY = "resvg_py"
_PATIENCE = 60


def may_draw_png() -> bool:
    """Whether there is something to draw with; whether it finds a font is only known when it draws."""
    return find_spec(_LIBRARY) is not None or find_browser() is not None


def to_png(svg: bytes) -> bytes | None:
    """The picture as PNG; None where nothing can draw it."""
    return (_by_library(svg) if _library_draws() else None) or _by_browser(svg)


def require_png(svg: bytes) -> bytes:
    """The same; an error that says what is needed where nothing can draw it."""
    made = to_png(svg)
    if made is None:
        raise UnspoolError(NEEDED)
    return made


@cache
def _library_draws() -> bool:
    """Whether the library is there and finds a font: without one it leaves all words out and says nothing."""
    if find_spec(_LIBRARY) is None:
        return False
    written, blank = (_by_library(fill_template("letters.svg", text=text).encode()) for text in ("Hm", ""))
    return written is not None and written != blank


def _by_library(svg: bytes) -> bytes | None:
    import resvg_py

    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg.decode("utf-8", "replace")))
    except (ValueError, RuntimeError, OSError):
        return None


def _by_browser(svg: bytes) -> bytes | None:
    browser = find_browser()
    if browser is None:
        return None
    with scratch_folder() as folder:
        source, made = folder / "card.svg", folder / "card.png"
        source.write_bytes(svg)
        drawing = ["--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={made}", source.as_uri()]
        try:
            run_without_window(browser, folder, drawing, _PATIENCE)
            return _whole(made)
        except (OSError, subprocess.SubprocessError):
            return None


def _whole(path: Path) -> bytes | None:
    data = path.read_bytes()
    return data if data.startswith(b"\x89PNG") else None
