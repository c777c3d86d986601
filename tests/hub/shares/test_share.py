"""How a share is to be."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import tries
from unspool.hub.errors import BadRequest
from unspool.hub.shares.share import (
    ShareOptions,
    hash_password,
    new_address,
    options_of_change,
    options_of_upload,
    password_fits,
)
from unspool.hub.store.blobs import now
from unspool.hub.store.connect import Store

HOUR = 3_600_000


@pytest.mark.parametrize("keyed", [True, False])
def test_an_address_is_never_taken_for_an_option_of_a_command(files_store: Store, keyed: bool) -> None:
    keys = [f"key {number}" if keyed else "" for number in range(1000)]
    made = [new_address(files_store.db, "ann", key) for key in keys]
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", one) for one in made)
    assert len(set(made)) == len(made)
    assert not keyed or made == [new_address(files_store.db, "ann", key) for key in keys]


@pytest.mark.parametrize(
    ("said", "hours"), [("90m", 1.5), ("12h", 12), ("7d", 168), ("4w", 672)], ids=["minutes", "hours", "days", "weeks"]
)
def test_a_span_counts_from_now(said: str, hours: float) -> None:
    for wish in (options_of_upload({"expires": said}, {}), options_of_change({"expires": said})):
        assert wish.expires is not None
        assert abs(wish.expires - now() - hours * HOUR) < 5000


@pytest.mark.parametrize("said", ["2030-01-31", "2030-01-31T12:00", "2030-01-31T12:00Z", "2030-01-31T12:00+05:00"])
def test_a_time_is_that_time_and_universal_where_it_does_not_say(said: str) -> None:
    meant = datetime.fromisoformat(said)
    meant = meant if meant.tzinfo else meant.replace(tzinfo=UTC)
    assert options_of_upload({"expires": said}, {}).expires == meant.timestamp() * 1000


@pytest.mark.parametrize("said", ["never", "NEVER", ""])
def test_never_is_not_the_same_as_unsaid(said: str) -> None:
    assert options_of_upload({"expires": said}, {}).expires == 0
    assert options_of_upload({}, {}) == ShareOptions()
    assert options_of_change({"expires": None}).expires == 0
    assert options_of_change({}) == ShareOptions()


@given(st.text(max_size=60))
def test_whatever_is_said_of_an_end_is_a_time_to_come_or_refused(said: str) -> None:
    try:
        ends = options_of_upload({"expires": said}, {}).expires
    except BadRequest:
        return
    assert ends == 0 or (ends is not None and ends > now() - 5000)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner))
)
def test_whatever_is_sent_as_a_change_is_one_or_is_refused(data: object) -> None:
    try:
        options_of_change(data)
    except BadRequest:
        return
    assert isinstance(data, dict)
    assert set(data) <= {"title", "password", "expires", "raw", "listed"}


def test_titles_are_one_line_of_bounded_length() -> None:
    assert options_of_upload({"title": "  a\n\tb  " + "c" * 1000}, {}).title == ("a b " + "c" * 1000)[:300]


@settings(max_examples=tries(10, 50))
@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_only_the_same_password_fits(one: str, other: str) -> None:
    kept = hash_password(one)
    assert one not in kept or len(one) < 4
    assert password_fits(one, kept)
    assert password_fits(other, kept) == (one.encode("utf-8", "replace") == other.encode("utf-8", "replace"))
