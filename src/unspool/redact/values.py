"""Finds what must go in every string and key of JSON values, however deep, searching many texts at once."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec

from unspool.redact import replacements
from unspool.redact.checks import is_name
from unspool.redact.finder import Finder
from unspool.redact.replacements import PICTURES, VALUES, MatchMemory, SecretMatch, is_telling_key, telling_keys
from unspool.redact.spread import SpreadFinder


class ValuePath(msgspec.Struct, frozen=True, gc=False):
    """Where a text stands: in what, and under which key or number."""

    parent: "ValuePath | None" = None
    piece: str | int = ""

    def __str__(self) -> str:
        before = str(self.parent) if self.parent is not None else ""
        if isinstance(self.piece, int):
            return f"{before}[{self.piece}]"
        return f"{before}.{self.piece}" if before else self.piece


def path_text(path: ValuePath, finder: Finder) -> str:
    """Where a text stands, without keys that hold what must go themselves."""
    pieces: list[str] = []
    while path.parent is not None:
        piece = path.piece
        if isinstance(piece, int):
            pieces.append(f"[{piece}]")
        else:
            secret = finder.known[piece] if piece in finder.known else finder.find(piece)
            pieces.append(f".{'…' if secret else piece}")
        path = path.parent
    return "".join(reversed(pieces)).removeprefix(".")


def assignment(key: str, text: str) -> str:
    """A text as an assignment to its key, as rules look for it."""
    return f'{key}="{text}"'


class ValueText(msgspec.Struct, frozen=True, gc=False):
    """A text of a value: where it stands, the key that tells what it is, and what it says."""

    path: ValuePath
    key: str
    text: str

    @property
    def whole(self) -> str:
        """The text as an assignment to its key."""
        return assignment(self.key, self.text) if self.key else self.text


def match_texts(finder: Finder, texts: Sequence[ValueText]) -> list[list[SecretMatch]]:
    """What must go of each text."""
    wholes = [text.whole if text.key else text.text for text in texts]
    found = {whole: finder.known[whole] for whole in wholes if whole in finder.known}
    fresh = [whole for whole in dict.fromkeys(wholes) if whole not in found]
    if fresh:
        new = _fresh(finder, fresh)
        found.update(new)
        finder.known.remember(new)
    return [
        _within(found[whole], text, whole) if text.key else found[whole]
        for text, whole in zip(texts, wholes, strict=True)
    ]


def _fresh(finder: Finder, wholes: list[str]) -> dict[str, list[SecretMatch]]:
    """What texts hold that were not looked through yet; what the rules find in them may be known all the same."""
    if not isinstance(finder, SpreadFinder):
        return _looked_through(finder, wholes)
    known = finder.first.known
    before = {whole: known[whole] for whole in wholes if whole in known}
    before |= _looked_through(finder.first, [whole for whole in wholes if whole not in before])
    more = _looked_through(finder.values, wholes)
    return {whole: finder.merge(whole, before[whole], more[whole]) for whole in wholes}


def _looked_through(finder: Finder, wholes: list[str]) -> dict[str, list[SecretMatch]]:
    """Plain texts are looked through together, and others: one character of another kind makes all of them slow."""
    found: defaultdict[str, list[SecretMatch]] = defaultdict(list)
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for whole in wholes:
        if "\0" in whole:
            found[whole] = finder.find(whole)
        else:
            kinds[whole.isascii()].append(whole)
    for some in kinds.values():
        for whole, match in _together(finder, some):
            found[whole].append(match)
    nothing: list[SecretMatch] = []
    return {whole: found.get(whole, nothing) for whole in wholes}


def _together(finder: Finder, wholes: list[str]) -> Iterator[tuple[str, SecretMatch]]:
    """No match runs over a zero, so texts with zeros between are looked through as one."""
    if not wholes:
        return
    starts, length = [], 0
    for whole in wholes:
        starts.append(length)
        length += len(whole) + 1
    for match in finder.find("\0".join(wholes)):
        number = bisect_right(starts, match.start) - 1
        at, whole = starts[number], wholes[number]
        yield whole, match._replace(start=match.start - at, end=min(match.end - at, len(whole)))


def _within(found: list[SecretMatch], text: ValueText, whole: str) -> list[SecretMatch]:
    """The findings that are of the text itself, not of its key."""
    at, end = len(text.key) + 2, len(whole) - 1
    inside = [match._replace(start=max(at, match.start) - at, end=min(end, match.end) - at) for match in found]
    return [match for match in inside if match.end > match.start]


Json = Any
"""What JSON can hold: nothing, truth, number, text, list or object."""

_UNKNOWN = [SecretMatch("", "term", "", 0, 0)]


def gather_texts(value: Json, path: ValuePath, key: str, known: MatchMemory, into: list[ValueText]) -> None:
    """Add the strings of a value, but those known to hold nothing, ids of lines, and what proves a thought."""
    kind = type(value)
    if kind is dict:
        _object(value, path, known, into)
    elif kind is list:
        for number, one in enumerate(value):
            gather_texts(one, ValuePath(path, number), item_name(value, number, key), known, into)
    elif kind is str:
        _add(value, path, key, known, into)


def _object(value: dict[str, Json], path: ValuePath, known: MatchMemory, into: list[ValueText]) -> None:
    tells = known.shape(tuple(value))
    if tells is None:
        into += [ValueText(path, "", name) for name in value if known.get(name, _UNKNOWN)]
        tells = telling_keys(value)
    for name, one in value.items():
        if (kind := type(one)) is str:
            if name in tells:
                _add(one, ValuePath(path, name), text_name(value, name), known, into)
            elif known.get(one, _UNKNOWN) and not known.is_id(one) and not is_signature(value, name):
                into.append(ValueText(ValuePath(path, name), "", one))
        elif kind is dict or kind is list:
            gather_texts(one, ValuePath(path, name), text_name(value, name), known, into)


def text_name(owner: dict[str, Json], key: str) -> str:
    """What a text of an object is called: its key, or what stands beside a `value`, as in {"name": …, "value": …}."""
    if key not in VALUES:
        return key
    names = (owner.get(name) for name in ("name", "key", "Name", "Key"))
    return next((name for name in names if isinstance(name, str) and is_telling_key(name)), key)


def item_name(owner: list[Json], number: int, key: str) -> str:
    """What an item of a list is called: the option before it, as in ["--password", …], or as the list is."""
    before = owner[number - 1] if number else None
    return before.lstrip("-") if isinstance(before, str) and before[:1] == "-" and is_telling_key(before) else key


def is_signature(owner: dict[str, Json], key: str) -> bool:
    """Whether a text is what the model's maker signed a thought with: random to all others, void if touched."""
    if key == "signature":
        return owner.get("type") == "thinking"
    return key == "data" and owner.get("type") == "redacted_thinking"


def _add(value: str, path: ValuePath, key: str, known: MatchMemory, into: list[ValueText]) -> None:
    text = ValueText(path, key if is_telling_key(key) else "", value)
    if known.get(text.whole if text.key else value, _UNKNOWN):
        into.append(text)


Held = list[tuple[ValueText, list[SecretMatch]]]
"""Strings of a value, and what must go of each."""


def find_in_values(values: Sequence[Json], finder: Finder) -> list[Held]:
    """The strings of each value in which something must go, in order; pictures are looked at as pictures.

    Many small values are looked through at once, which is what makes it quick.
    """
    texts: list[ValueText] = []
    ends = []
    for value in values:
        gather_texts(value, ValuePath(), "", finder.known, texts)
        ends.append(len(texts))
    some: list[Held] = [[] for _ in values]
    at = 0
    for number, found in enumerate(_match_all(texts, finder)):
        if found:
            while number >= ends[at]:
                at += 1
            some[at].append((texts[number], found))
    if seams := _all_seams(values):
        wholes = [ValueText(left.path, "", left.text[-_SEAM:] + right.text[:_SEAM]) for *_, left, right in seams]
        for (one, other, left, right), found in zip(seams, match_texts(finder, wholes), strict=True):
            _add_halves(some[one], some[other], (left, right), found)
    return some


def _match_all(texts: list[ValueText], finder: Finder) -> list[list[SecretMatch]]:
    """What must go of each text, which may be a picture."""
    bares = {
        number: bare
        for number, text in enumerate(texts)
        if text.text[:1] in PICTURES and (bare := replacements.strip_picture(text.text)) is not None
    }
    if not bares:
        return match_texts(finder, texts)
    rest = iter(match_texts(finder, [text for number, text in enumerate(texts) if number not in bares]))
    told = "picture" not in finder.without
    return [
        next(rest) if (bare := bares.get(number)) is None else _told(text.text, bare) if told else []
        for number, text in enumerate(texts)
    ]


_SEAM = 500
"""Characters on either side of where two blocks meet that are looked through as one text."""
_BLOCKS = ("message", "content", "toolUseResult")


def _all_seams(values: Sequence[Json]) -> list[tuple[int, int, ValueText, ValueText]]:
    """Texts that are halves of each other, and the numbers of the values that they stand in."""
    seams: list[tuple[ValueText, ValueText]] = []
    found: list[tuple[int, int, ValueText, ValueText]] = []
    for number, value in enumerate(values):
        _add_seams(value, ValuePath(), seams)
        if seams:
            found += [(number, number, *seam) for seam in seams]
            seams.clear()
    for number, (name, other) in enumerate(pairwise(map(message_id, values))):
        if name and name == other:
            found += [(number, number + 1, *seam) for seam in _line_seam(values[number], values[number + 1])]
    return found


def _add_seams(value: Json, path: ValuePath, into: list[tuple[ValueText, ValueText]]) -> None:
    """Add the texts of blocks that follow each other: what is cut in two between them is whole in neither."""
    if isinstance(value, dict):
        for key in _BLOCKS:
            if isinstance(inner := value.get(key), dict | list):
                _add_seams(inner, ValuePath(path, key), into)
    elif isinstance(value, list):
        if len(value) > 1:
            texts = [_block_text(one, ValuePath(path, number)) for number, one in enumerate(value)]
            into += [(left, right) for left, right in pairwise(texts) if left is not None and right is not None]
        for number, one in enumerate(value):
            if isinstance(one, dict):
                _add_seams(one, ValuePath(path, number), into)


def _block_text(block: Json, path: ValuePath) -> ValueText | None:
    if isinstance(block, dict) and isinstance(text := block.get("text"), str):
        return ValueText(ValuePath(path, "text"), "", text)
    return ValueText(path, "", block) if isinstance(block, str) else None


def message_id(value: Json) -> str:
    """The id of the message that a line holds a part of; empty where it says none."""
    message = value.get("message") if isinstance(value, dict) else None
    name = message.get("id") if isinstance(message, dict) else None
    return name if isinstance(name, str) else ""


def _line_seam(one: Json, other: Json) -> Iterator[tuple[ValueText, ValueText]]:
    """The same for two lines that hold blocks of one message."""
    before, after = one["message"].get("content"), other["message"].get("content")
    if isinstance(before, list) and isinstance(after, list) and before and after:
        path = ValuePath(ValuePath(ValuePath(), "message"), "content")
        left, right = (
            _block_text(before[-1], ValuePath(path, len(before) - 1)),
            _block_text(after[0], ValuePath(path, 0)),
        )
        if left is not None and right is not None:
            yield left, right


def _add_halves(held: Held, next_held: Held, seam: tuple[ValueText, ValueText], found: list[SecretMatch]) -> None:
    """Add both halves of what was found over the seam of two blocks to what their values hold."""
    (left, right), own = seam, dict(held)
    cut, length = min(len(left.text), _SEAM), len(left.text)
    for match in found:
        if not match.start < cut < match.end:
            continue
        rest = right.text[: match.end - cut]
        if is_name(rest) and any(one.end == length for one in own.get(left, ())):
            continue  # it is whole without the word that follows
        _add_half(held, left, match._replace(start=length - cut + match.start, end=length))
        _add_half(next_held, right, match._replace(start=0, end=len(rest)))


def _add_half(held: Held, text: ValueText, half: SecretMatch) -> None:
    for number, (one, matches) in enumerate(held):
        if one.text == text.text and one.key == text.key:
            apart = [match for match in matches if match.end <= half.start or match.start >= half.end]
            within = [match for match in matches if match not in apart]
            start = min([half.start, *(match.start for match in within)])
            end = max([half.end, *(match.end for match in within)])
            held[number] = (one, sorted([*apart, half._replace(start=start, end=end)], key=lambda match: match.start))
            return
    held.append((text, [half]))


def _told(text: str, picture: replacements.BarePicture) -> list[SecretMatch]:
    """What a picture tells beside its pixels, as something found; its value is known by a digest."""
    return [SecretMatch("picture", "personal", sha256(picture.told).hexdigest(), 0, len(text))] if picture.told else []
