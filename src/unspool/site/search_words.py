"""Words of records as the search index keeps them; the same rules stand in static/search.js."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec
import zstandard

from unspool.site.search_records import SearchRecord

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACED: Final = re.compile(rf"[^\W_{_UNSPACED}]+")
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_PLAIN: Final = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
"""ASCII in lower case, with a space for all that is no part of a word."""


def fold_text(text: str) -> str:
    """The text as it is compared."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text)
    for mark in filter(_is_mark, set(text)):
        text = text.replace(mark, "")
    return text.lower().replace("\N{GREEK SMALL LETTER FINAL SIGMA}", "\N{GREEK SMALL LETTER SIGMA}")


def split_words(text: str) -> set[str]:
    """The distinct words of a text, those of one ASCII character and long ones too."""
    if not text.isascii():
        text = fold_text(text)
    if text.isascii() or not any(map(_is_letter, set(text))):
        return set(text.encode("ascii", "replace").translate(_PLAIN).decode().split())
    found = set(_SPACED.findall(text))
    for run in _RUN.findall(text):
        found.update(_pairs(run))
    return found


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run)))


@cache
def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


@cache
def _is_letter(char: str) -> bool:
    """Whether a character outside of ASCII may be part of a word."""
    return not char.isascii() and (char.isalnum() or _RUN.match(char) is not None)


CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz01234" + "56789!#$%()*+,-./:;=>?@[]^_{|}~"
BASE: Final = len(ALPHABET) // 2


@cache
def session_code(number: int) -> str:
    """Capital letters, at least one."""
    head, last = divmod(number, len(CAPITALS))
    return (session_code(head) if head else "") + CAPITALS[last]


@cache
def record_code(number: int) -> str:
    """Digits, at least one."""
    rest, digit = divmod(number, BASE)
    return ALPHABET[BASE + digit] + record_code(rest) if rest else ALPHABET[digit]


WORDS_FILE: Final = "records.words"
MAX_WORD: Final = 40
"""Characters of a word that are kept; the browser checks the rest on the record itself."""


class RecordsHead(msgspec.Struct, frozen=True):
    """What an index says of a session."""

    title: str
    started: int
    counts: tuple[int, ...]
    """Records of each kind, in the order of rank."""
    starts: tuple[int, ...]
    """Number of the first record of each part."""


def pack_words(about: RecordsHead, ranked: list[SearchRecord]) -> bytes:
    """The words of the records, which are numbered as they come."""
    found = _postings(ranked)
    body = f"{' '.join(found)}\n{' '.join(found.values())}".encode()
    return msgspec.json.encode(about) + b"\n" + zstandard.ZstdCompressor(level=1).compress(body)


def read_head(line: bytes) -> RecordsHead:
    """What the first line says; msgspec.DecodeError where it says nothing."""
    return msgspec.json.decode(line, type=RecordsHead)


def read_postings(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every word with its postings."""
    body = zstandard.ZstdDecompressor().decompress(content[content.index(b"\n") + 1 :])
    names, numbers = body.split(b"\n")
    return zip(names.decode().split(" "), numbers.split(b" "), strict=True) if names else iter(())


def _postings(ranked: list[SearchRecord]) -> dict[str, str]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for number, record in enumerate(ranked):
        code = record_code(number)
        for word in split_words(record.text):
            found[word].append(code)
    for word in [word for word in found if len(word) > MAX_WORD]:
        found[word[:MAX_WORD]] += found.pop(word)
    return {word: "".join(found[word]) for word in sorted(found) if len(word) > 1 or not word.isascii()}
