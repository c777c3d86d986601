"""Every text of a value redacted: strings and keys, however deep."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise

from unspool.redact import pictures
from unspool.redact.finder import Finder
from unspool.redact.gather import Json, gather, is_proof, named
from unspool.redact.match import Match
from unspool.redact.memory import telling
from unspool.redact.names import Names
from unspool.redact.sweep import Path, Text, swept

Keep = Callable[[Match], bool]
Found = list[tuple[str, Match]]
"""Where in the value, and what."""
Held = list[tuple[Text, list[Match]]]
"""Strings of a value, and what must go of each."""

_ROUNDS = 4
"""How often a redacted text is looked through again: what is left beside a name may read as something else."""


_DIGEST = re.compile(r"(?i)(?:content|file|message|request|shape)?(?:digests?|hash(?:es)?|checksums?)|sha-?256")
_HEX = re.compile(r"[0-9A-Fa-f]{16,128}")


def nothing(_: Match) -> bool:
    """Keep nothing that was found."""
    return False


def redacted_text(text: str, finder: Finder, names: Names, keep: Keep = nothing) -> tuple[str, list[Match]]:
    """The text with names for all that must go and is not to be kept, and what was found in it."""
    found = finder.find(text)
    return (_cleared(text, found, finder, names, keep) if found else text), found


def redacted(value: Json, finder: Finder, names: Names, keep: Keep = nothing) -> tuple[Json, Found]:
    """The value with every string and key redacted, and what was found where. The very value where nothing changes."""
    (found,) = found_in([value], finder)
    return rebuilt(value, found, finder, names, keep)


def rebuilt(value: Json, found: Held, finder: Finder, names: Names, keep: Keep = nothing) -> tuple[Json, Found]:
    """The same for what was found in the value already."""
    if not found:
        return value, []
    made = {text.whole: _made(text.text, matches, finder, names, keep) for text, matches in found}
    return _rebuilt(value, "", made), [(str(text.path), match) for text, matches in found for match in matches]


def scanned(value: Json, finder: Finder) -> Iterator[tuple[str, str, list[Match]]]:
    """Where in the value, in which text, and what; nothing is changed."""
    (found,) = found_in([value], finder)
    for text, matches in found:
        yield str(text.path), text.text, matches


def found_in(values: Sequence[Json], finder: Finder) -> list[Held]:
    """The strings of each value in which something must go, in order; pictures are looked at as pictures.

    Many small values are looked through at once, which is what makes it quick.
    """
    texts: list[Text] = []
    ends = []
    for value in values:
        gather(value, Path(), "", finder.known, texts)
        ends.append(len(texts))
    bares = [pictures.bare(text.text) for text in texts]
    rest = iter(swept(finder, [text for text, bare in zip(texts, bares, strict=True) if bare is None]))
    matches = [next(rest) if bare is None else _told(text.text, bare) for text, bare in zip(texts, bares, strict=True)]
    held = list(zip(texts, matches, strict=True))
    return [[one for one in held[start:end] if one[1]] for start, end in pairwise([0, *ends])]


def _told(text: str, picture: pictures.Bare) -> list[Match]:
    """What a picture tells beside its pixels, as something found; its value is known by a digest."""
    return [Match("picture", "personal", sha256(picture.told).hexdigest(), 0, len(text))] if picture.told else []


def _made(text: str, found: list[Match], finder: Finder, names: Names, keep: Keep) -> str:
    if found and found[0].rule == "picture" and (picture := pictures.bare(text)):
        return text if keep(found[0]) else picture.text
    return _cleared(text, found, finder, names, keep) if found else text


def _cleared(text: str, found: list[Match], finder: Finder, names: Names, keep: Keep) -> str:
    for _ in range(_ROUNDS):
        going = [match for match in found if not keep(match)]
        if not going:
            break
        text = _replaced(text, going, names)
        found = finder.find(text)
    return text


def _replaced(text: str, found: list[Match], names: Names) -> str:
    parts, last = [], 0
    for match in found:
        parts += [text[last : match.start], names.of(match)]
        last = match.end
    return "".join([*parts, text[last:]])


def _rebuilt(value: Json, key: str, made: dict[str, str]) -> Json:
    """The value with the strings that were made anew; the same object where nothing changed."""
    if isinstance(value, str):
        text = made.get(Text(Path(), key if telling(key) else "", value).whole, value)
        return value if text == value else text
    if isinstance(value, list):
        items = [_rebuilt(one, key, made) for one in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return _object(value, made) if isinstance(value, dict) else value


def _object(value: dict[str, Json], made: dict[str, str]) -> Json:
    rebuilt: dict[str, Json] = {}
    changed = False
    for key, one in value.items():
        name = _unused(made.get(key, key), rebuilt)
        rebuilt[name] = one if is_proof(value, key) else _rebuilt(one, named(value, key), made)
        changed = changed or name != key or rebuilt[name] is not one
    return {name: _undigested(name, one) for name, one in rebuilt.items()} if changed else value


def _undigested(key: str, value: Json) -> Json:
    """Nothing in place of the digest of an object whose words changed: whoever guesses them could see that it fits."""
    if not isinstance(value, str | list) or not _DIGEST.fullmatch(key):
        return value
    if isinstance(value, str):
        return "" if _HEX.fullmatch(value) else value
    return [one for one in value if not (isinstance(one, str) and _HEX.fullmatch(one))]


def _unused(key: str, made: dict[str, Json]) -> str:
    """The key, told apart where two became the same: nothing is lost."""
    name, number = key, 1
    while name in made:
        number += 1
        name = f"{key} ({number})"
    return name
