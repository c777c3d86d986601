"""What is sealed opens with its secret and with no other, whole and unchanged or not at all."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.share.opening import from_base64, unseal
from tests.thorough import tries
from unspool.errors import Unreadable, UsageProblem
from unspool.share import encryption
from unspool.share.encryption import SealedData, ShareSecret, passphrase, random_key, seal
from unspool.store.archive.keys import SHARE_ROUNDS

KEY = random_key()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a few bytes, so that small data has several."""
    monkeypatch.setattr(encryption, "CHUNK", 8)


@given(st.binary(max_size=200))
def test_what_is_sealed_opens_with_its_key(data: bytes) -> None:
    """Any bytes, none at all included, and the key never stands in what is made."""
    made = seal(data, KEY)
    assert unseal(made, KEY) == data
    assert KEY.data not in made.header + b"".join(made.chunks)
    assert KEY.fragment[5:].encode() not in made.header


def test_another_key_is_said_to_be_another_key() -> None:
    """Before anything is opened."""
    with pytest.raises(Unreadable, match="does not open"):
        unseal(seal(b"data", KEY), random_key())


@settings(deadline=None, max_examples=tries(25, 300))
@given(st.data())
def test_changed_bytes_are_refused(data: st.DataObject) -> None:
    """Whichever bit of a chunk is turned."""
    made = seal(b"some data to be kept", KEY)
    at = data.draw(st.integers(0, len(made.chunks[0]) * 8 - 1))
    chunk = bytearray(made.chunks[0])
    chunk[at // 8] ^= 1 << at % 8
    with pytest.raises(Unreadable, match="changed or damaged"):
        unseal(SealedData(made.header, (bytes(chunk),)), KEY)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("order", [(0, 1), (1, 0, 2), (0, 1, 1, 2), (1, 2), (0, 0, 2), (0, 1, 2, 2), (2,)], ids=str)
def test_chunks_cannot_be_moved_repeated_or_cut_off(order: tuple[int, ...]) -> None:
    """Number and end of each are authenticated."""
    made = seal(b"01234567abcdefgh89", KEY)
    assert len(made.chunks) == 3
    assert unseal(made, KEY) == b"01234567abcdefgh89"
    with pytest.raises(Unreadable):
        unseal(SealedData(made.header, tuple(made.chunks[number] for number in order)), KEY)


@pytest.mark.usefixtures("small")
def test_chunks_of_another_page_do_not_fit() -> None:
    """Not even of the same data under the same key."""
    one, other = seal(b"01234567abcdefgh", KEY), seal(b"01234567abcdefgh", KEY)
    assert not set(one.chunks) & set(other.chunks)
    with pytest.raises(Unreadable):
        unseal(SealedData(one.header, (one.chunks[0], other.chunks[1])), KEY)


@pytest.mark.parametrize("change", [{"chunk": 5}, {"format": "other"}, {"prefix": "AAAAAAAAAA"}, {"salt": "AAAA"}])
def test_the_header_is_authenticated(change: dict[str, Any]) -> None:
    """Parameters cannot be exchanged."""
    made = seal(b"data", KEY)
    header = json.dumps(json.loads(made.header) | change).encode()
    with pytest.raises(Unreadable):
        unseal(SealedData(header, made.chunks), KEY)


def test_salt_and_nonces_are_fresh() -> None:
    """Two pages of the same data share neither."""
    facts = [json.loads(seal(b"data", KEY).header) for _ in range(2)]
    assert facts[0]["salt"] != facts[1]["salt"]
    assert facts[0]["prefix"] != facts[1]["prefix"]


def test_a_passphrase_opens_however_its_letters_are_composed() -> None:
    """With at least 600,000 iterations; another passphrase does not."""
    made = seal(b"data", passphrase("café au lait noir"))
    assert json.loads(made.header)["iterations"] == SHARE_ROUNDS >= 600_000
    assert unseal(made, passphrase("cafe\u0301 au lait noir")) == b"data"
    with pytest.raises(Unreadable, match="does not open"):
        unseal(made, passphrase("cafe au lait noir"))


@pytest.mark.parametrize("words", ["", "tooshort", "11 letters."])
def test_a_short_passphrase_is_refused(words: str) -> None:
    """It would protect nothing from somebody who has the page."""
    with pytest.raises(UsageProblem, match="12 characters"):
        passphrase(words)


def test_a_key_is_part_of_an_address_and_a_passphrase_is_not() -> None:
    """Letters that need no escape; 256 bits."""
    assert from_base64(KEY.fragment.removeprefix("#key=")) == KEY.data
    assert len(KEY.data) == 32
    assert ShareSecret("passphrase", b"words").fragment == ""
