"""Puts names in place of what was found in texts and values; what then stands there is looked through again."""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from unspool.redact import replacements
from unspool.redact.finder import Finder
from unspool.redact.replacements import ReplacementNames, SecretMatch, is_telling_key
from unspool.redact.values import (
    Held,
    Json,
    ValuePath,
    ValueText,
    assignment,
    find_in_values,
    is_signature,
    item_name,
    match_texts,
    text_name,
)

Keep = Callable[[SecretMatch], bool]
Found = list[tuple[str, SecretMatch]]
"""Where in the value, and what."""
_FoundText = tuple[str, tuple[SecretMatch, ...]]
"""A text, and what was found in it."""

_ROUNDS = 4
"""How often a redacted text is looked through again: what is left beside a name may read as something else."""
_WORTH = 2_000
"""Characters of a text up to which it is remembered: folders and names stand in every line."""
_MOST = 20_000
_DIGEST = re.compile(r"(?i)(?:content|file|message|request|shape)?(?:digests?|hash(?:es)?|checksums?)|sha-?256")
_LONGEST = len("requestchecksums")
"""Characters of the longest of these names: a log may hold keys of any length, which nobody should remember."""
_HEX = re.compile(r"[0-9A-Fa-f]{16,128}")


def keep_nothing(_: SecretMatch) -> bool:
    """Keep nothing that was found."""
    return False


class Redactor:
    """Puts names in place of all that must go and is not to be kept. Many texts are made at once, which is quick, and a
    short one that was made before is known."""

    def __init__(self, finder: Finder, names: ReplacementNames, keep: Keep = keep_nothing) -> None:
        self._finder, self._names, self._keep = finder, names, keep
        self._known: dict[_FoundText, str] = {}

    def values(self, values: Sequence[Json], found: Sequence[Held]) -> list[Json]:
        """The values without what was found in each; the very value where nothing changes."""
        made = self.texts((text.text, matches) for held in found for text, matches in held)
        every = iter(made)
        news = [{text.whole: new for text, _ in held if (new := next(every)) != text.text} for held in found]
        return [_rebuilt(value, "", new) if new else value for value, new in zip(values, news, strict=True)]

    def texts(self, found: Iterable[tuple[str, list[SecretMatch]]]) -> list[str]:
        """The texts without what was found in each."""
        wanted = [(text, tuple(matches)) for text, matches in found]
        made = {one: self._known[one] for one in wanted if one in self._known}
        made |= self._made([one for one in dict.fromkeys(wanted) if one not in made])
        if len(self._known) > _MOST:
            self._known.clear()
        self._known.update((one, text) for one, text in made.items() if len(one[0]) < _WORTH)
        return [made[one] for one in wanted]

    def _made(
        self, wanted: list[tuple[str, tuple[SecretMatch, ...]]]
    ) -> dict[tuple[str, tuple[SecretMatch, ...]], str]:
        made = {one: one[0] for one in wanted}
        left = {one: list(one[1]) for one in wanted}
        for one in wanted:
            text, matches = one
            if matches and matches[0].rule == "picture" and (picture := replacements.strip_picture(text)):
                made[one] = text if self._keep(matches[0]) else picture.text
                del left[one]
        for _ in range(_ROUNDS):
            left = {one: going for one, found in left.items() if (going := [m for m in found if not self._keep(m)])}
            if not left:
                break
            made |= {one: _replaced(made[one], going, self._names) for one, going in left.items()}
            again = match_texts(self._finder, [ValueText(ValuePath(), "", made[one]) for one in left])
            left = dict(zip(left, again, strict=True))
        return made


def redact_text(
    text: str, finder: Finder, names: ReplacementNames, keep: Keep = keep_nothing
) -> tuple[str, list[SecretMatch]]:
    """The text with names for all that must go and is not to be kept, and what was found in it."""
    found = finder.find(text)
    return (Redactor(finder, names, keep).texts([(text, found)])[0] if found else text), found


def redact_value(value: Json, finder: Finder, names: ReplacementNames, keep: Keep = keep_nothing) -> tuple[Json, Found]:
    """The value with every string and key redacted, and what was found where. The very value where nothing changes."""
    (held,) = find_in_values([value], finder)
    (made,) = Redactor(finder, names, keep).values([value], [held])
    return made, [(str(text.path), match) for text, matches in held for match in matches]


def _replaced(text: str, found: list[SecretMatch], names: ReplacementNames) -> str:
    parts, last = [], 0
    for match in found:
        parts += [text[last : match.start], names.of(match)]
        last = match.end
    return "".join([*parts, text[last:]])


def _rebuilt(value: Json, key: str, made: dict[str, str]) -> Json:
    """The value with the strings that were `made` anew; the same object where nothing changed."""
    if isinstance(value, str):
        return made.get(assignment(key, value) if is_telling_key(key) else value, value)
    if isinstance(value, list):
        items = [_rebuilt(one, item_name(value, number, key), made) for number, one in enumerate(value)]
        return value if all(map(operator.is_, items, value)) else items
    return _rebuild_object(value, made) if isinstance(value, dict) else value


def _rebuild_object(value: dict[str, Json], made: dict[str, str]) -> Json:
    rebuilt: dict[str, Json] = {}
    changed = False
    for key, one in value.items():
        name = made.get(key, key)
        if name in rebuilt:
            name = _unused(name, rebuilt)
        new = one
        if isinstance(one, str | list | dict) and not is_signature(value, key):
            new = _rebuilt(one, text_name(value, key), made)
        rebuilt[name] = new
        changed = changed or new is not one or name != key
    if not changed:
        return value
    for name, one in rebuilt.items():
        if len(name) <= _LONGEST and _is_digest(name):
            rebuilt[name] = _undigested(one)
    return rebuilt


@lru_cache(10_000)
def _is_digest(key: str) -> bool:
    return _DIGEST.fullmatch(key) is not None


def _undigested(value: Json) -> Json:
    """Nothing in place of the digest of an object whose words changed: whoever guesses them could see that it fits."""
    if not isinstance(value, str | list):
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
