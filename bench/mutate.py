"""Damage to logs, drawn from a seed: what disks, editors, crashes and strangers do to a file of JSON lines.

Pure and repeatable: the same log and the same random numbers give the same mutant.
"""

from collections.abc import Callable
from random import Random

Mutation = Callable[[list[bytes], Random], None]


def flip(lines: list[bytes], random: Random) -> None:
    """One bit of one line is wrong."""
    at = random.randrange(len(lines))
    if lines[at]:
        byte = random.randrange(len(lines[at]))
        lines[at] = lines[at][:byte] + bytes([lines[at][byte] ^ 1 << random.randrange(8)]) + lines[at][byte + 1 :]


def cut(lines: list[bytes], random: Random) -> None:
    """A line ends early."""
    at = random.randrange(len(lines))
    lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]


def swap(lines: list[bytes], random: Random) -> None:
    """Two lines change places."""
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]


def double(lines: list[bytes], random: Random) -> None:
    """A line is there again, elsewhere."""
    lines.insert(random.randrange(len(lines) + 1), random.choice(lines))


def drop(lines: list[bytes], random: Random) -> None:
    """A line is gone."""
    if len(lines) > 1:
        del lines[random.randrange(len(lines))]


def glue(lines: list[bytes], random: Random) -> None:
    """Two lines lost the newline between them."""
    if len(lines) > 1:
        at = random.randrange(len(lines) - 1)
        lines[at : at + 2] = [lines[at] + lines[at + 1]]


def nest(lines: list[bytes], random: Random) -> None:
    """A value is nested deeper than any reader's stack."""
    deep = random.choice((100, 1_000, 10_000))
    at = random.randrange(len(lines))
    inner = random.choice((b"[" * deep + b"]" * deep, b'{"a":' * deep + b"1" + b"}" * deep, b"[" * deep))
    lines[at] = lines[at].replace(b'"', b'"deep":' + inner + b',"', 1)


def splice(lines: list[bytes], random: Random) -> None:
    """Bytes that do not belong: NULs, broken UTF-8, half a surrogate, an escape, a number too large."""
    junk = random.choice((b"\x00" * 9, b"\xff\xfe", b"\\ud800", b"\x1b[2J", b"\xef\xbb\xbf", b"1e999", b"\r", b"null"))
    at = random.randrange(len(lines))
    place = random.randrange(len(lines[at]) + 1)
    lines[at] = lines[at][:place] + junk + lines[at][place:]


def retype(lines: list[bytes], random: Random) -> None:
    """A value is of another type than it should be."""
    at = random.randrange(len(lines))
    value = random.choice((b"null", b"7", b"[]", b"{}", b"true", b'"x"', b"[null]", b'{"type":7}'))
    key = random.choice(
        (b'"message":', b'"content":', b'"type":', b'"uuid":', b'"parentUuid":', b'"usage":', b'"input":')
    )
    head, found, tail = lines[at].partition(key)
    lines[at] = head + key + value + b',"was":' + tail if found else lines[at]


MUTATIONS: tuple[Mutation, ...] = (flip, cut, swap, double, drop, glue, nest, splice, retype)


def mutant(log: bytes, random: Random) -> bytes:
    """The log after one to six mishaps."""
    lines = log.split(b"\n")
    for _ in range(random.randint(1, 6)):
        random.choice(MUTATIONS)(lines, random)
    return b"\n".join(lines)
