"""What must hold of a secret that is known by its form: checksums of keys that would else be taken for chance."""

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import resources

from unspool.redact.checks import CHECKS, is_scattered, is_value

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGEST = 4
"""Bytes of the checksum of base58check."""


def _wallet(_: re.Match[str], value: str) -> bool:
    """Whether the last four bytes of base58 are the digest of those before; a seed in base32 is mixed as by chance."""
    if value.startswith("S"):
        return is_value(value) and is_scattered(value)
    number = 0
    for letter in value:
        number = number * 58 + _BASE58.index(letter)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    return sha256(sha256(body).digest()).digest()[:_DIGEST] == digest


@cache
def _seed_words() -> dict[str, int]:
    words = resources.files("unspool.redact").joinpath("seed_words.txt").read_text("ascii").split()
    return {word: number for number, word in enumerate(words)}


def _seed(_: re.Match[str], value: str) -> bool:
    """Whether a text begins with words of the list of which the last holds the digest of the others."""
    numbers = [_seed_words().get(word) for word in re.findall("[a-z]+", value)]
    return any(_is_seed(numbers[:count]) for count in (12, 15, 18, 21, 24) if count <= len(numbers))


def _is_seed(numbers: list[int | None]) -> bool:
    if None in numbers or len(set(numbers)) < len(numbers) // 2:
        return False
    bits = "".join(f"{number:011b}" for number in numbers)
    size = len(bits) // 33
    data = int(bits[:-size], 2).to_bytes(size * 4, "big")
    return f"{sha256(data).digest()[0]:08b}"[:size] == bits[-size:]


def _opaque(_: re.Match[str], value: str) -> bool:
    """Whether a text of small or of capital letters and digits is mixed as chance mixes it."""
    return is_value(value) and is_scattered(value)


def _numbers(_: re.Match[str], value: str) -> bool:
    """Whether numbers are bytes of a key: none is beyond 255, and they are many and different."""
    numbers = [int(number) for number in re.findall(r"\d+", value)]
    return 200 < max(numbers) <= 255 and len(set(numbers)) > len(numbers) // 2


def _lone(match: re.Match[str], value: str) -> bool:
    """Whether a text is mixed as by chance, and no part of a longer stretch of base64."""
    around = match.string[max(0, match.start() - 1)] + match.string[match.end() : match.end() + 1]
    inside = len(around) > 1 and set(around) <= _BASE64 and around != "//"
    before, after = (
        match.string[max(0, match.start() - _FAR) : match.start()],
        match.string[match.end() : match.end() + _FAR],
    )
    long = sum(len(found[0]) for text in (before[::-1], after) if (found := _STRETCH.match(text)))
    return not inside and long < _FAR and CHECKS["mixed"](match, value)


_BASE64 = {"+", "/", "="}
_STRETCH = re.compile(r"[A-Za-z0-9+/]*")
_FAR = 60
"""Characters of base64 around a text that make it a part of something else."""
_KEY_TYPE = re.compile(r"""["']kty\\*["']\s*:""")
_AROUND = 4000
"""Characters around a member in which the type of its key stands."""


def _jwk(match: re.Match[str], value: str) -> bool:
    """Whether a member is of a JSON Web Key: its type stands in the same text, not far."""
    around = _KEY_TYPE.search(match.string, max(0, match.start() - _AROUND), match.end() + _AROUND)
    return around is not None and is_value(value)


_ALL: tuple[Callable[[re.Match[str], str], bool], ...] = (_wallet, _seed, _opaque, _numbers, _lone, _jwk)
FORM_CHECKS = {check.__name__.lstrip("_"): check for check in _ALL}
"""The checks of `forms.toml`, beside those of all rules."""
