"""A second labelled set, not made of the rules: other kinds, spellings and surroundings.

kinds    what must go
worn     what it is met in
alike    lines that hold none
"""

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from bench.unseen.kinds import KINDS, Kind
from bench.unseen.worn import WORN, Worn
from unspool.redact.replacements import SecretMatch

_LETTERS = {
    "an": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "dig": string.digits,
    "low": string.ascii_lowercase,
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b32l": string.ascii_lowercase + string.digits,
}
_BLANK = re.compile(r"<(b64|b32l|b32|an|url|hex|HEX|dig|low|up)(\d+)>")

_PART = 8
"""Characters of a secret that must not be left together."""


class Seen(NamedTuple):
    """A text and what must go of it."""

    kind: str
    group: str
    worn: str
    text: str
    secret: str


def every(seed: int = 5, kinds: tuple[Kind, ...] = KINDS, worn: Mapping[str, Worn] = WORN) -> Iterator[Seen]:
    """Every kind in everything it may be met in."""
    random = Random(seed)
    for kind in kinds:
        for name, made in worn.items():
            marked = filled(kind.form, random)
            found = re.search("«(.*)»", marked, re.DOTALL)
            yield Seen(
                kind.id,
                kind.group,
                name,
                made(kind.name, marked.replace("«", "").replace("»", "")),
                found[1] if found else marked,
            )


def filled(form: str, random: Random) -> str:
    """A form with its blanks filled."""
    return _BLANK.sub(lambda blank: _some(blank[1], int(blank[2]), random), form.replace("<>", ""))


def _some(letters: str, length: int, random: Random) -> str:
    while True:
        text = "".join(random.choices(_LETTERS[letters], k=length))
        ends = text[0].isalnum() and text[-1].isalnum() and text[0] != "0"
        if ends and (letters in {"dig", "low"} or length < 10 or any(map(str.isdigit, text))):
            return text


def is_gone(seen: Seen, found: Iterable[SecretMatch]) -> bool:
    """Whether all letters and digits of what must go are in a value that was found, or none is left outside."""
    matches, secret = list(found), _bare(seen.secret)
    if any(secret in _bare(match.value) for match in matches):
        return True
    parts = [secret[at : at + _PART] for at in range(max(1, len(secret) - _PART + 1))]
    shown, left = _bare(seen.text), _bare(_rest(seen.text, matches))
    plain = [part for part in parts if part in shown]
    return len(plain) * 2 > len(parts) and not any(part in left for part in plain)


def _rest(text: str, matches: list[SecretMatch]) -> str:
    """The text without what was found, and marks where it stood."""
    for match in reversed(matches):
        text = f"{text[: match.start]}\u2588{text[match.end :]}"
    return text


def _bare(value: str) -> str:
    return re.sub(r"%3[Dd]|\\+[nr]|[^A-Za-z0-9\u2588]", "", value)
