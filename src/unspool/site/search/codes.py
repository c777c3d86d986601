"""Numbers as short text inside the index; static/search.js reads them.

A session's number is capital letters (base 26), a record's number other characters: digits of base 31, the lowest
first, all but the last from the upper half of the alphabet. So a word's postings are sessions, each followed by the
numbers of its records, without separators; no character needs an escape in a script.
"""

from functools import cache
from typing import Final

CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz01234" + "56789!#$%()*+,-./:;=>?@[]^_{|}~"
BASE: Final = len(ALPHABET) // 2


@cache
def of_session(number: int) -> str:
    """Capital letters, at least one."""
    head, last = divmod(number, len(CAPITALS))
    return (of_session(head) if head else "") + CAPITALS[last]


@cache
def of_record(number: int) -> str:
    """Digits, at least one."""
    rest, digit = divmod(number, BASE)
    return ALPHABET[BASE + digit] + of_record(rest) if rest else ALPHABET[digit]
