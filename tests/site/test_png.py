"""SVG as PNG: by the library, by Chromium, or a sentence that says what is missing."""

import os
import shutil
import struct
from collections.abc import Iterator

import pytest

from unspool.errors import UnspoolError
from unspool.site import png

SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" viewBox="0 0 1200 630">
<rect width="1200" height="630" fill="#123456"/><text x="9" y="99" font-size="60" fill="#fff"
font-family="'DejaVu Sans', sans-serif">Tides</text></svg>"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What was found out of the library is found out again."""
    png._library_draws.cache_clear()
    yield
    png._library_draws.cache_clear()


def size_of(data: bytes) -> tuple[int, int]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_the_library_draws_the_picture_with_its_words() -> None:
    made = png._by_library(SVG)
    assert made is not None
    assert size_of(made) == (1200, 630)
    assert made != png._by_library(SVG.replace(b"Tides", b""))


def test_what_is_no_svg_is_no_picture() -> None:
    assert png._by_library(b"<html>") is None
    assert png._by_library("<svg \ud800".encode("utf-8", "surrogatepass")) is None


def test_chromium_is_the_second_way(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = os.environ.get("UNSPOOL_CHROMIUM") or shutil.which("chromium")
    if not browser:
        pytest.skip("no Chromium: UNSPOOL_CHROMIUM names it")
    monkeypatch.setattr(png, "_LIBRARY", "no_such_library")
    monkeypatch.setattr(png, "find_browser", lambda: browser)
    assert png.may_draw_png()
    made = png.to_png(SVG)
    assert made is not None
    assert size_of(made) == (1200, 630)


def test_without_a_font_the_library_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It draws all but the words, and says nothing."""
    import resvg_py

    draw = resvg_py.svg_to_bytes
    monkeypatch.setattr(resvg_py, "svg_to_bytes", lambda **given: draw(**given, skip_system_fonts=True))
    monkeypatch.setattr(png, "find_browser", lambda: None)
    assert png.to_png(SVG) is None


def test_where_neither_is_there_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "_LIBRARY", "no_such_library")
    monkeypatch.setattr(png, "find_browser", lambda: None)
    assert not png.may_draw_png()
    with pytest.raises(UnspoolError, match=r"unspool\[pictures\]"):
        png.require_png(SVG)


def test_a_browser_that_fails_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "_LIBRARY", "no_such_library")
    monkeypatch.setattr(png, "find_browser", lambda: shutil.which("false") or "/no/such/browser")
    assert png.to_png(SVG) is None
