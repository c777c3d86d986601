"""Random values of every rule, made from its pattern: what a rule says that it finds, it must find."""

import re
import string
from collections.abc import Iterator
from random import Random

# The parser of patterns is the standard library's own; no public name leads to it.
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from unspool.redact.rules import RedactionRule

_MORE = 12
"""Characters beyond the least that a part may have."""
_PRINTED = string.ascii_letters + string.digits + "_-+/=.!#"
_LETTERS = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
}


def generated(rule: RedactionRule, random: Random, count: int) -> Iterator[str]:
    """So many random matches of a rule's pattern."""
    parsed = parser.parse(rule.pattern)
    made = 0
    while made < count:
        text = _sequence(parsed, random)
        if re.fullmatch(rule.pattern, text):
            made += 1
            yield text


def _sequence(parts: Any, random: Random) -> str:
    return "".join(_part(str(code), value, random) for code, value in parts)


def _part(code: str, value: Any, random: Random) -> str:
    if code == "LITERAL":
        return chr(value)
    if code in {"IN", "NOT_LITERAL", "ANY"}:
        return random.choice(_class(value) if code == "IN" else _PRINTED)
    if code in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        least, most, part = value
        last = least + _MORE if most is codes.MAXREPEAT else min(most, least + _MORE)
        return "".join(_sequence(part, random) for _ in range(random.randint(least, last)))
    if code == "SUBPATTERN":
        return _sequence(value[3], random)
    if code == "ATOMIC_GROUP":
        return _sequence(value, random)
    if code == "BRANCH":
        return _sequence(random.choice(value[1]), random)
    return ""


def _class(items: Any) -> str:
    found: set[str] = set()
    for code, value in items:
        if str(code) == "LITERAL":
            found.add(chr(value))
        elif str(code) == "RANGE":
            found |= {chr(number) for number in range(value[0], value[1] + 1)}
        elif str(code) == "CATEGORY":
            found |= set(_LETTERS.get(str(value), _PRINTED))
    negated = str(items[0][0]) == "NEGATE"
    return "".join(sorted(set(_PRINTED) - found if negated else found))
