"""The signature of a part of texts: which words may be in which of its passages, and which may follow each other.

It is a Bloom filter, so that a "no" is sure and a "yes" is not, but for the words that are in many passages: these are
listed with the passages that they are in. Passages are counted from 0 in their part; a set of them is a number with a
bit for each.

    passages, words listed            a byte each
    kinds of passages                 3 sets: bit 0, 1 and 2 of the rank of each passage's kind
    words listed                      8 bytes of a digest, and a set of passages, for each
    the filter                        all the rest; every entry has bits set at some places

A word in a passage has bits at three places: each the place that the word leads to, and as many bits further on as the
passage's number. So the passages that may hold a word are read from the filter as three runs of bits. Two words that
follow each other anywhere, and the letters that a word begins with, have bits at three places of the filter.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from unspool.hub.store.words import beginning_number, beginnings, pair_numbers, word_digest, word_number

MOST_PASSAGES = 255
BEGUN = 5
"""Bytes of a word that are kept as its beginning."""
_PLACES = 3
"""Of an entry."""
_FULL = 0.4
"""Places for each bit of the filter: a third of the bits are set then, as some are several times."""
_LISTED = 2
"""Passages that a word is in, at least, for it to be listed; and a fourth of them all."""
_MOST_LISTED = 255
_DIGEST = 8
_MIX = 0x9E3779B97F4A7C15
_SET = ord("1")


class PartWords:
    """The words of a part, by what a database knows them by."""

    def __init__(self, passages: Sequence[tuple[int, Sequence[bytes]]]) -> None:
        """Of passages: the rank of each one's kind, and its words in order."""
        self._ranks = [rank for rank, _ in passages]
        self._held: list[set[int]] = []
        self._others: set[int] = set()
        self._words: dict[int, bytes] = {}
        for _, words in passages:
            numbers = list(map(word_number, words))
            self._others.update(pair_numbers(words, numbers))
            self._words.update(zip(numbers, words, strict=True))
            self._held.append(set(numbers))
        self._others |= beginnings(self._words.values(), BEGUN)

    def numbers(self, beginning: int) -> list[int]:
        """What a part is found by: the numbers of its words and of so many bytes of their beginnings, in order."""
        return sorted(self._words.keys() | beginnings(self._words.values(), beginning))

    def signature(self) -> bytes:
        count = len(self._ranks)
        width = -(-count // 8)
        planes = (sum((rank >> bit & 1) << at for at, rank in enumerate(self._ranks)) for bit in range(3))
        often = Counter(chain.from_iterable(self._held))
        least = max(_LISTED, -(-count // 4))
        listed = [number for number, times in often.most_common(_MOST_LISTED) if times >= least]
        data = [bytes((count, len(listed))), *(plane.to_bytes(width, "little") for plane in planes)]
        for number in listed:
            within = sum(1 << at for at, held in enumerate(self._held) if number in held)
            data += word_digest(self._words[number]), within.to_bytes(width, "little")
        return b"".join((*data, self._filter({*listed})))

    def _filter(self, listed: set[int]) -> bytes:
        held = [numbers - listed for numbers in self._held]
        entries = sum(map(len, held)) + len(self._others)
        size = int(_PLACES * entries / _FULL / 8) + 1 + -(-len(held) // 8)
        most = 8 * size - len(held)
        flags = bytearray(b"0") * (8 * size)
        for number in self._others:
            one, two = number % most, number // most % most
            flags[one] = flags[two] = flags[one * two % most] = _SET
        places = {number: _three_places(number, most) for number in self._words.keys() - listed}
        for at, numbers in enumerate(held):
            for number in numbers:
                one, two, three = places[number]
                flags[one + at] = flags[two + at] = flags[three + at] = _SET
        return int(flags[::-1], 2).to_bytes(size, "little")


def _three_places(number: int, most: int) -> tuple[int, int, int]:
    rest, one = divmod(number * _MIX, most)
    rest, two = divmod(rest, most)
    return one, two, rest % most


class AskedWords:
    """Words that follow each other as they are asked for, the last as a beginning where `prefix` says so."""

    def __init__(self, words: Sequence[bytes], *, prefix: bool) -> None:
        whole = words[:-1] if prefix else words
        self._words = [(word_number(word), word_digest(word)) for word in whole]
        self._others = [number for two in pairwise(whole) for number in pair_numbers(two, [word_number(two[0])])]
        self._sure = len(words) == 1 and not prefix
        if prefix and len(words[-1]) >= BEGUN:
            self._others.append(beginning_number(words[-1][:BEGUN]))

    def may_hold(self, signature: "PartSignature") -> int:
        """The passages that may hold them; no others do."""
        if not all(map(signature.has, self._others)):
            return 0
        found = signature.all
        for word in self._words:
            found &= signature.holding(*word)
            if not found:
                return 0
        return found

    def surely_hold(self, signature: "PartSignature") -> int:
        """Passages that hold them, as far as that is known."""
        return signature.listed(self._words[0][1]) or 0 if self._sure else 0


class PartSignature:
    """A signature, to be asked."""

    __slots__ = ("_begin", "_data", "_most", "_width", "all", "count")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.count = count = data[0]
        self.all = (1 << count) - 1
        self._width = -(-count // 8)
        self._begin = 2 + 3 * self._width + data[1] * (_DIGEST + self._width)
        self._most = 8 * (len(data) - self._begin) - count

    def of_kinds(self, ranks: Iterable[int]) -> int:
        """The passages of kinds of these ranks."""
        planes = []
        for bit in range(3):
            begin = 2 + bit * self._width
            plane = int.from_bytes(self._data[begin : begin + self._width], "little")
            planes.append((plane ^ self.all, plane))
        found = 0
        for rank in ranks:
            found |= planes[0][rank & 1] & planes[1][rank >> 1 & 1] & planes[2][rank >> 2 & 1]
        return found

    def listed(self, digest: bytes) -> int | None:
        """The passages with a word that is listed."""
        begin, step = 2 + 3 * self._width, _DIGEST + self._width
        at = self._data.find(digest, begin, self._begin)
        while at >= 0 and (at - begin) % step:
            at = self._data.find(digest, at + 1, self._begin)
        return None if at < 0 else int.from_bytes(self._data[at + _DIGEST : at + step], "little")

    def holding(self, number: int, digest: bytes) -> int:
        """The passages that may hold a word."""
        found = self.listed(digest)
        if found is not None:
            return found
        found, begin, length = self.all, 8 * self._begin, self._width + 1
        for place in _three_places(number, self._most):
            at = begin + place
            found &= int.from_bytes(self._data[at >> 3 : (at >> 3) + length], "little") >> (at & 7)
            if not found:
                return 0
        return found

    def has(self, number: int) -> bool:
        """Whether an entry that is of no passage may be in it."""
        one, two = number % self._most, number // self._most % self._most
        return self._is_set(one) and self._is_set(two) and self._is_set(one * two % self._most)

    def _is_set(self, place: int) -> bool:
        return bool(self._data[self._begin + (place >> 3)] >> (place & 7) & 1)
