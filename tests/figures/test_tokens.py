"""Tokens of texts and pictures: estimates that add up, and that stay near what real requests measured."""

import base64
import struct
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.prompts import make_png
from tests.steps import steps
from unspool.figures.context_window import request_windows
from unspool.figures.tokens import (
    IMAGE_MOST,
    LEAST,
    CachedRequest,
    RewrittenTokens,
    estimate_tokens,
    find_rewrites,
    image_tokens,
    picture_size,
)
from unspool.model.usage import CAUSES
from unspool.store.library import Library

anything = st.text(st.characters(codec=None))


def test_an_empty_text_has_no_tokens_and_any_other_has_one() -> None:
    assert (estimate_tokens(""), estimate_tokens("a"), estimate_tokens("\ud800")) == (0, 1, 1)


def test_signs_digits_and_line_breaks_weigh_more_than_words_and_blanks_next_to_nothing() -> None:
    assert estimate_tokens("{}[]()" * 100) > 2 * estimate_tokens("tender" * 100) > 2 * estimate_tokens(" " * 600)
    assert estimate_tokens("\n" * 100) == 130


@given(anything, anything)
def test_a_text_has_no_fewer_than_its_parts_and_no_more_than_them_together(one: str, other: str) -> None:
    assert (
        max(estimate_tokens(one), estimate_tokens(other))
        <= estimate_tokens(one + other)
        <= estimate_tokens(one) + estimate_tokens(other)
    )


def test_a_picture_is_counted_by_its_pixels_up_to_the_size_it_is_made_smaller_to() -> None:
    assert image_tokens(750, 100) == 100
    assert image_tokens(1, 1) == 1
    assert image_tokens(30_000, 30_000) == image_tokens(0, 0) == IMAGE_MOST
    assert image_tokens(15_680, 100) == image_tokens(1568, 10)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (make_png(7, 3, b"\0" * 21), (7, 3)),
        (b"GIF89a" + struct.pack("<HH", 20, 10), (20, 10)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 5, 9), (9, 5)),
        (b"RIFF....WEBPVP8X" + b"\0" * 8 + b"\x63\0\0\x31\0\0", (100, 50)),
        (b"RIFF....WEBPVP8L" + b"\0" * 5 + struct.pack("<I", 99 | 49 << 14), (100, 50)),
        (b"RIFF....WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 100, 50), (100, 50)),
        (b"\xff\xd8" + b"\xff\xe0\x00\x02" * 9, (0, 0)),
        (b"\xff\xd8\xff\xe0\x00\x00" * 9, (0, 0)),
        (b"\x89PNG\r\n", (0, 0)),
        (b"%PDF-1.7", (0, 0)),
        (b"", (0, 0)),
    ],
)
def test_the_size_of_a_picture_is_read_from_its_first_bytes(data: bytes, size: tuple[int, int]) -> None:
    assert picture_size(base64.b64encode(data).decode()) == size


def test_what_is_no_base64_has_no_size() -> None:
    assert picture_size("é" * 40) == picture_size("iVBORw0KGgo!") == (0, 0)


@given(st.binary(max_size=200))
def test_no_picture_is_so_damaged_that_it_cannot_be_counted(data: bytes) -> None:
    for start in (b"\x89PNG\r\n", b"GIF8", b"\xff\xd8", b"RIFF....WEBPVP8L", b"RIFF"):
        assert image_tokens(*picture_size(base64.b64encode(start + data).decode())) > 0


def test_estimates_are_no_work_of_python() -> None:
    """However long a text is, libraries go through it."""
    text = "def pay(till: Till, price: Money) -> None:\n    till.put(price)  # 12.50\n"
    assert steps(lambda: estimate_tokens(text * 60_000)) == steps(lambda: estimate_tokens(text * 6))


@pytest.fixture(scope="module")
def grown(shared: Path) -> list[tuple[int, int]]:
    """By how much the window of real sessions grew from one request to the next: as measured, and as estimated."""
    place = shared / "corpora" / "claude"
    if not place.is_dir():
        pytest.skip("the shared folder has no corpora/claude")
    library, found = Library([place]), []
    for log in library.logs():
        session = library.open(log)
        for before, after in zip(all_ := request_windows(session), all_[1:], strict=False):
            if before.model == after.model and after.measured > before.measured > 0:
                grew = sum(after.kinds.values()) - sum(before.kinds.values())
                found.append((after.measured - before.measured, grew))
    return found


def test_real_windows_grow_as_estimated(grown: list[tuple[int, int]]) -> None:
    """Half of all requests within a tenth, where a quarter of the characters is off by two fifths."""
    errors = [abs(estimated - measured) / measured for measured, estimated in grown if measured >= 200]
    assert len(errors) > 1000
    assert median(errors) < 0.1
    assert quantiles(errors, n=10)[-1] < 0.45
    assert 0.85 < sum(estimated for _, estimated in grown) / sum(measured for measured, _ in grown) < 1.15


FIRST = CachedRequest("opus", 0.0, 10, 0, 50_000, 0)


def after(first: CachedRequest, **changed: Any) -> tuple[str, int, int] | None:
    """Cause and tokens of a request that follows another; by default it reads nothing and writes all again."""
    grown = first.read + first.write + 2000
    second = first._replace(**{"time": 10.0, "read": 0, "write": grown, **changed})
    found = list(find_rewrites([first, second]))
    assert found[0] is None
    return found[1] and (CAUSES[found[1].cause], found[1].tokens, found[1].hour)


def test_what_is_read_from_the_cache_is_not_written_again() -> None:
    assert after(FIRST, read=50_000, write=2000) is None


def test_a_pause_longer_than_the_cache_holds_expires_it() -> None:
    assert after(FIRST, time=301.0) == ("expired", 50_000, 0)
    assert after(FIRST, time=300.0) == ("other", 50_000, 0)


def test_what_is_kept_for_an_hour_expires_after_an_hour() -> None:
    hourly = FIRST._replace(hour=50_000)
    assert after(hourly, time=3600.0, hour=52_000) == ("other", 50_000, 50_000)
    assert after(hourly, time=3601.0, hour=52_000) == ("expired", 50_000, 50_000)


def test_what_most_of_a_request_is_kept_for_says_when_it_expires() -> None:
    """Half of it is not most of it."""
    assert after(FIRST._replace(hour=25_001), time=301.0, hour=0) == ("other", 50_000, 0)
    assert after(FIRST._replace(hour=25_000), time=301.0, hour=0) == ("expired", 50_000, 0)
    assert after(FIRST._replace(hour=1), time=301.0, hour=0) == ("expired", 50_000, 0)


def test_another_model_and_a_compaction_are_causes_of_their_own_whatever_time_went_by() -> None:
    assert after(FIRST, model="haiku", time=9999.0) == ("model switched", 50_000, 0)
    assert after(FIRST, write=4000, compacted=True, model="haiku") == ("compacted", 4000, 0)


def test_a_window_that_was_cut_without_a_compaction_is_not_written_again() -> None:
    assert after(FIRST, write=4000) is None


def test_times_that_are_unknown_explain_nothing() -> None:
    assert after(FIRST, time=None) == ("other", 50_000, 0)


def test_a_request_without_figures_stands_between_no_others() -> None:
    empty = CachedRequest("opus", 5.0, 0, 0, 0, 0)
    found = list(find_rewrites([FIRST, empty, FIRST._replace(time=10.0, read=50_000, write=0)]))
    assert found == [None, None, None]


def test_a_read_in_between_keeps_the_cache_for_as_long_as_it_was_written() -> None:
    hourly = FIRST._replace(hour=50_000)
    read = CachedRequest("opus", 100.0, 10, 50_000, 0, 0)
    late = CachedRequest("opus", 2000.0, 10, 0, 50_000, 50_000)
    assert list(find_rewrites([hourly, read, late]))[2] == RewrittenTokens(CAUSES.index("other"), 50_000, 50_000)


numbers = st.integers(0, 10**7)
sent = st.builds(
    CachedRequest,
    st.sampled_from(["a", "b"]),
    st.none() | st.floats(0, 1e10),
    numbers,
    numbers,
    numbers,
    numbers,
    st.booleans(),
)


@given(st.lists(sent))
def test_no_request_writes_again_more_than_it_writes_or_than_was_there(requests: list[CachedRequest]) -> None:
    found = list(find_rewrites(requests))
    assert len(found) == len(requests)
    for one, again in zip(requests, found, strict=True):
        if again is not None:
            assert LEAST <= again.tokens <= one.write
            assert 0 <= again.hour <= again.tokens
            assert one.read + again.tokens <= max(before.read + before.write for before in requests)
