"""The words of one session, kept beside its pages so that an archive's index is put together without its log.

One line of JSON about the session, then, compressed, all words and all postings: the codes of the records that hold
a word, ascending but for words that were cut.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import msgspec
import zstandard

from unspool.site.search import codes
from unspool.site.search.record import Record
from unspool.site.search.words import words

NAME: Final = "records.words"
LONGEST: Final = 40
"""Characters of a word that are kept; the browser checks the rest on the record itself."""


class About(msgspec.Struct, frozen=True):
    """What an index says of a session."""

    title: str
    started: int
    counts: tuple[int, ...]
    """Records of each kind, in the order of rank."""
    starts: tuple[int, ...]
    """Number of the first record of each part."""


def packed(about: About, ranked: list[Record]) -> bytes:
    """The words of the records, which are numbered as they come."""
    found = _postings(ranked)
    body = f"{' '.join(found)}\n{' '.join(found.values())}".encode()
    return msgspec.json.encode(about) + b"\n" + zstandard.ZstdCompressor(level=1).compress(body)


def described(line: bytes) -> About:
    """What the first line says; msgspec.DecodeError where it says nothing."""
    return msgspec.json.decode(line, type=About)


def postings(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every word with its postings."""
    body = zstandard.ZstdDecompressor().decompress(content[content.index(b"\n") + 1 :])
    names, numbers = body.split(b"\n")
    return zip(names.decode().split(" "), numbers.split(b" "), strict=True) if names else iter(())


def _postings(ranked: list[Record]) -> dict[str, str]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for number, record in enumerate(ranked):
        code = codes.of_record(number)
        for word in words(record.text):
            found[word].append(code)
    for word in [word for word in found if len(word) > LONGEST]:
        found[word[:LONGEST]] += found.pop(word)
    return {word: "".join(found[word]) for word in sorted(found) if len(word) > 1 or not word.isascii()}
