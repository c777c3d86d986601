"""The words of texts: how text is cut into them, and the numbers that a database knows them by."""

import struct
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from zlib import crc32

import apsw

TOKENIZER = ("unicode61", "remove_diacritics", "2")
BEGINNING = 3
"""Bytes of a word that a part is found by where only its beginning is asked for."""
_ASCII = bytes(range(128))
_FOLDED = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_HALF = 2**31
_BEGUN = 0x2A
INTEGER, INTEGERS = 23, 1007
"""What PostgreSQL calls its type of four bytes, and arrays of that."""

_local = threading.local()


def split_words(text: str) -> list[str]:
    return [token.decode() for token in split_tokens(text)]


def split_tokens(text: str) -> list[bytes]:
    """Its words as UTF-8, which are had in half the time."""
    if text.isascii() or _is_plain_but_for_signs(text):
        return text.encode("ascii", "replace").translate(_FOLDED).split()
    return [word.encode() for word in _tokenized(text)]


def _is_plain_but_for_signs(text: str) -> bool:
    """Whether all that is not ASCII stands between words, as dashes and ticks do: then cutting is quick."""
    rest = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    return all(map(_separates, set(rest)))


@lru_cache(65_536)
def _separates(sign: str) -> bool:
    return _tokenized(f"a{sign}b") == ["a", "b"]


def _tokenized(text: str) -> list[str]:
    cut = getattr(_local, "cut", None)
    if cut is None:
        cut = _local.cut = _tokenizer()
    found: list[str] = cut(text)
    return found


def _tokenizer() -> Callable[[str], list[str]]:
    database = apsw.Connection(":memory:")
    name, *options = TOKENIZER
    made: Any = database.fts5_tokenizer(name, options)

    def cut(text: str) -> list[str]:
        data = text.encode("utf-8", "replace")
        found = made(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
        return list(found)

    return cut


word_number: Callable[[bytes], int] = crc32
"""32 bits that a word is known by. Two words may have the same: what is found by it is proved by the text."""


def pair_numbers(words: Sequence[bytes], numbers: Sequence[int]) -> Iterator[int]:
    """The same for each two words that follow each other; numbers are those of the words."""
    return map(crc32, words[1:], numbers)


def beginning_number(letters: bytes) -> int:
    """The same for the letters that words begin with, which are other numbers than if they were a word."""
    return crc32(letters, _BEGUN)


def beginnings(words: Iterable[bytes], length: int) -> set[int]:
    """The numbers of so many letters that words begin with."""
    return {crc32(letters, _BEGUN) for letters in {word[:length] for word in words if len(word) >= length}}


def project_number(project: str) -> int:
    """The number of a project, which a part has too: so that those are found that one may read."""
    return crc32(f"project {project}".encode())


def word_digest(word: bytes) -> bytes:
    """64 bits that no other word has."""
    return blake2b(word, digest_size=8).digest()


class NumberArray(bytes):
    """Numbers as PostgreSQL takes an array of its integers in binary."""


def as_array(numbers: Iterable[int]) -> NumberArray:
    """Numbers as integers of PostgreSQL, which have a sign: what is added to each turns one bit, and before each stands
    its length."""
    made = array("Q", map((4 << 32 | _HALF).__xor__, numbers))
    if sys.byteorder == "little":
        made.byteswap()
    head = struct.pack(">5i", 1, 0, INTEGER, len(made), 1) if made else struct.pack(">3i", 0, 0, INTEGER)
    return NumberArray(head + made.tobytes())


def as_tokens(numbers: Iterable[int]) -> str:
    """Numbers as words for the full text of SQLite."""
    return " ".join(map("{:x}".format, numbers))


def from_array(numbers: Iterable[int]) -> list[int]:
    return sorted(number + _HALF for number in numbers)


def from_tokens(text: str) -> list[int]:
    return sorted(int(token, 16) for token in text.split())
