"""Finds what must not leave in any text, through disguises."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from unspool.redact import line_wrapping, views
from unspool.redact.checks import CHECKS, PLACEHOLDER, Check, entropy, is_name, is_value
from unspool.redact.replacements import MatchMemory, SecretMatch, escape_surrogates
from unspool.redact.rules import PersonalNames, RedactionRule, RuleSet, builtin_rules, word_rule
from unspool.redact.views import DISGUISES, UndisguisedText

RUN = 20
"""Characters that a run has at least."""
_NAMES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SHAPE = bytes(0x61 if byte in _NAMES + b"+/" else 0x20 for byte in range(256))
_NEEDLE = b"a" * RUN
_NAME = re.compile(rb"[a-z0-9_-]{20,}")
_BEFORE = 24
"""Characters before a name in which the key of a token may stand, as in `hvs.`."""
_ESCAPES = re.compile(rb"(?:\\(?:[nrtbfv]|u00[0-9a-f]{2}|x[0-9a-f]{2})|%(?:25)*[0-9a-f]{2}|\[(?:\d{1,2};)*\d{0,2}m)+")


def unbroken_runs(low: bytes) -> Iterator[tuple[int, int]]:
    """Where letters, digits and _ - + / stand together without a break, long enough for a key."""
    shape = low.translate(_SHAPE)
    start = shape.find(_NEEDLE)
    while start >= 0:
        end = shape.find(b" ", start)
        end = len(shape) if end < 0 else end
        yield start, end
        start = shape.find(_NEEDLE, end)


def name_starts(low: bytes, long: list[tuple[int, int]]) -> list[int]:
    """Where a long name (a run without + and /) begins; after an escape too, whose letters are no part of it."""
    found = []
    for start, end in long:
        run = low[start:end]
        if b"/" in run or b"+" in run:
            found += [start + match.start() for match in _NAME.finditer(run)]
        else:
            found.append(start)
    found += [start + 1 for start in found if low[start : start + 1] == b"-"]
    escaped = (start for start in found if start and low[start - 1] in b"\\%[")
    return found + [match.end() for start in escaped if (match := _ESCAPES.match(low, start - 1))]


class NameNeighbours:
    """What stands just before each name of a text, with how the name begins."""

    def __init__(self, low: bytes, places: list[int]) -> None:
        self._starts = [max(0, place - _BEFORE) for place in places]
        self._parts = [low[start : place + 4] for start, place in zip(self._starts, places, strict=True)]
        self._all = b"\0".join(self._parts)

    def of(self, key: bytes) -> list[int]:
        """Where in the text a key stands close to a name."""
        if key not in self._all:
            return []
        places = zip(self._starts, self._parts, strict=True)
        return sorted({start + at for start, part in places for at in find_all(part, key)})


def find_all(where: bytes, key: bytes) -> Iterator[int]:
    """Every place of a key."""
    place = where.find(key)
    while place >= 0:
        yield place
        place = where.find(key, place + 1)


_DEPTH = 3
"""Disguises over each other that are seen through."""
_BACK = 80
_RANK = {"secret": 2, "term": 1, "personal": 0}


class _Ready(NamedTuple):
    """A rule with its patterns compiled."""

    rule: RedactionRule
    pattern: "re.Pattern[str]"
    scan: "re.Pattern[str]"
    back: "re.Pattern[str] | None"
    check: Check | None
    match: "Callable[[str, int], re.Match[str] | None]"


class Finder:
    """Looks for what some rules, names and terms say; made once, used for many texts."""

    def __init__(
        self, rules: RuleSet | None = None, people: PersonalNames | None = None, terms: Sequence[str] = ()
    ) -> None:
        chosen = [word_rule("term", "term", "chosen by the sharer", term.strip()) for term in terms if term.strip()]
        every = (*(rules or builtin_rules()).rules, *(people or PersonalNames()).rules(), *chosen)
        ready = [_ready(rule) for rule in every]
        self.known = MatchMemory(ids=not chosen and (rules is None or rules == builtin_rules()))
        """What was found in texts before, for `sweep` to remember."""
        self._order = {one.rule.id: -number for number, one in reversed(list(enumerate(ready)))}
        self._scans = [one for one in ready if one.rule.scan]
        self._keys = _nested(_by_key(ready, lambda rule, _: not rule.token))
        self._shaped = _by_shape(ready)
        self._near = _by_key(ready, lambda rule, key: rule.token and not _starts(rule, key))
        self._starts: dict[bytes, list[tuple[bytes, list[_Ready]]]] = {}
        for key, found in _by_key(ready, lambda rule, key: rule.token and _starts(rule, key)).items():
            self._starts.setdefault(key[:2], []).append((key, found))
        self._joined = _joined(key for some in self._starts.values() for key, _ in some)

    def find(self, text: str) -> list[SecretMatch]:
        """What must go, in the order of the text, none overlapping another. What replaced something stays."""
        if "[redacted:" in text:
            text = PLACEHOLDER.sub(lambda match: "\0" * len(match[0]), text)
        found = list(self._found(text, 0))
        return self._settled(text, found) if found else found

    def _settled(self, text: str, found: list[SecretMatch]) -> list[SecretMatch]:
        """Sorted, and those that overlap made one that covers them all: nothing of either is left."""
        found.sort(key=lambda match: (match.start, -match.end))
        settled: list[SecretMatch] = []
        for match in found:
            if settled and match.start < settled[-1].end:
                settled[-1] = self._union(text, settled[-1], match)
            else:
                settled.append(match)
        return settled

    def _union(self, text: str, one: SecretMatch, other: SecretMatch) -> SecretMatch:
        """Both as one, called what tells more: a secret before a name, a form of its own before a value with a name."""
        start, end = min(one.start, other.start), max(one.end, other.end)
        best = max(one, other, key=lambda match: (_RANK[match.kind], match.end - match.start, self._order[match.rule]))
        same = one.value == other.value or (start, end) == (best.start, best.end)
        value = best.value if same else escape_surrogates(text[start:end])
        return best._replace(value=value, start=start, end=end)

    def _found(self, text: str, depth: int) -> Iterator[SecretMatch]:
        low = text.encode("ascii", "replace").lower()  # each character one byte: positions are those of the text
        long = list(unbroken_runs(low))
        yield from self._plain(text, low, name_starts(low, long) if long else [])
        if depth < _DEPTH:
            for view, deeper in self._views(text, long, depth + 1):
                yield from self._seen(text, view, deeper)

    def _plain(self, text: str, low: bytes, places: list[int]) -> Iterator[SecretMatch]:
        for key, rules in _there(self._keys, low):
            yield from _at_key(text, low, key, rules)
        for table, keys in self._shaped.items():
            shape = low.translate(table)
            for key, rules in keys.items():
                yield from _at_key(text, shape, key, rules) if key in shape else ()
        close = NameNeighbours(low, places)
        for key, rules in self._near.items():
            for place in close.of(key):
                yield from filter(None, (_matched(one, text, place) for one in rules))
        for place in (*places, *(match.end() for match in self._joined.finditer(low) if places)):
            for key, rules in self._starts.get(low[place : place + 2], ()):
                if low.startswith(key, place):
                    yield from filter(None, (_matched(one, text, place) for one in rules))
        for one in self._scans:
            yield from filter(None, (_matched(one, text, match.start()) for match in one.scan.finditer(text)))

    def _views(self, text: str, long: list[tuple[int, int]], depth: int) -> Iterator[tuple[UndisguisedText, int]]:
        """Parts of the text without a disguise, and how deep under disguises they are."""
        worn = (disguise.views(text) for disguise in DISGUISES)
        for view in chain(*worn, views.encoding_views(text, long), views.dump_views(text)):
            yield view, depth
        for view in views.join_windows(text, line_wrapping.wrapped_windows(text, long)):
            yield view, _DEPTH

    def _seen(self, text: str, view: UndisguisedText, depth: int) -> Iterator[SecretMatch]:
        """What a view shows, where it stands in the text."""
        for match in self._settled(view.text, list(self._found(view.text, depth))):
            start, end = view.span(match.start, match.end)
            yield match._replace(start=start, end=end)


def _ready(rule: RedactionRule) -> _Ready:
    back = re.compile(f"[{rule.back}]+") if rule.back else None
    pattern = re.compile(rule.pattern)
    return _Ready(rule, pattern, re.compile(rule.scan), back, CHECKS.get(rule.check), pattern.match)


_DIGITS = bytes(0x30 if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
_HEX = bytes(0x66 if byte in b"0123456789abcdef" else byte for byte in range(256))


def _by_shape(rules: Iterable[_Ready]) -> dict[bytes, dict[bytes, list[_Ready]]]:
    """Rules by the shape of numbers that they look for, and by what gives a text that shape."""
    shaped: dict[bytes, dict[bytes, list[_Ready]]] = {}
    for one in rules:
        for key in one.rule.shape:
            shaped.setdefault(_HEX if "f" in key else _DIGITS, {}).setdefault(key.encode(), []).append(one)
    return shaped


def _joined(keys: Iterable[bytes]) -> "re.Pattern[bytes]":
    """Where something is joined to what stands before, as in the name of a branch or a file: keys that tell enough."""
    by_first: dict[bytes, list[bytes]] = {}
    for key in keys:
        if len(key) > 3 or key[-1:] in b"-_":
            by_first.setdefault(re.escape(key[:1]), []).append(re.escape(key[1:]))
    some = (b"%s(?:%s)" % (first, b"|".join(rest)) for first, rest in by_first.items())
    return re.compile(b"[-_](?=%s)" % b"|".join(some))


def _starts(rule: RedactionRule, key: str) -> bool:
    """Whether a key is how a long name begins."""
    return rule.edge and not rule.back and not rule.near and re.fullmatch(r"[a-z0-9_-]{2,}", key) is not None


def _by_key(rules: Iterable[_Ready], chosen: Callable[[RedactionRule, str], bool]) -> dict[bytes, list[_Ready]]:
    keys: dict[bytes, list[_Ready]] = {}
    for one in rules:
        for key in one.rule.keys:
            if chosen(one.rule, key):
                keys.setdefault(key.encode(), []).append(one)
    return keys


class _Key(NamedTuple):
    """A key, its rules, and the longer keys that hold it: where it is not, they are not."""

    key: bytes
    rules: list[_Ready]
    longer: "list[_Key]"


def _nested(keys: dict[bytes, list[_Ready]]) -> list[_Key]:
    top: list[_Key] = []
    for key in sorted(keys, key=len):
        holder = next((one for one in top if one.key in key), None)
        (holder.longer if holder else top).append(_Key(key, keys[key], []))
    return top


def _there(keys: list[_Key], low: bytes) -> Iterator[tuple[bytes, list[_Ready]]]:
    """Those that stand in a text."""
    for one in keys:
        if one.key in low:
            yield one.key, one.rules
            yield from _there(one.longer, low)


def _at_key(text: str, low: bytes, key: bytes, rules: list[_Ready]) -> Iterator[SecretMatch]:
    done = 0
    for place in find_all(low, key):
        if place < done:
            continue
        for one in rules:
            if (one.back is not None or one.match(text, place)) and (found := _matched(one, text, place)):
                done = max(done, found.end)
                yield found


def _matched(one: _Ready, text: str, place: int) -> SecretMatch | None:
    """What a rule finds where its key stands."""
    if one.back is not None and (before := one.back.match(text[max(0, place - _BACK) : place][::-1])):
        place = _after_escape(text, place - before.end())
        place += text[place] == "-" and _REMOVED.search(text, max(0, place - 2), place + 1) is not None
    apart = not one.rule.edge or _edge(text, place)
    if not apart and text[place - 1] not in "-_":
        return None
    match = one.pattern.match(text, place)
    if match is None or not _convincing(one, match, value := match[one.rule.group]):
        return None
    if not apart and is_name(value):
        return None
    start, end = match.span(one.rule.group)
    if one.rule.kind == "secret" and text[end : end + 1] in _BREAKS:
        last = line_wrapping.extend_over_break(text, end)
        if last > end:
            value, end = line_wrapping.unwrap(text[start:last]), last
    return SecretMatch(one.rule.id, one.rule.kind, escape_surrogates(value), start, end)


def _after_escape(text: str, place: int) -> int:
    """The place, or where the escape ends whose letters stand there."""
    found = _ESCAPED.match(text, place - 1) if place and text[place - 1] in "\\%[" else None
    return found.end() if found else place


def _convincing(one: _Ready, match: "re.Match[str]", value: str) -> bool:
    if one.rule.entropy and entropy(value) < one.rule.entropy:
        return False
    if one.check is not None:
        return one.check(match, value)
    return one.rule.kind != "secret" or is_value(value)


def _edge(text: str, place: int) -> bool:
    """Whether no letter or digit stands before; one that belongs to an escape is none."""
    if place == 0 or not (text[place - 1].isalnum() or text[place - 1] in "_-"):
        return True
    if text[place - 1] == "-":
        return _REMOVED.search(text, max(0, place - 3), place) is not None
    return _ESCAPE.search(text, max(0, place - 8), place) is not None


_BREAKS = {"\n", "\r", "\\"}
_LETTERS = r"(?:\\(?:[nrtbfv]|u00[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2})|%(?:25)*[0-9A-Fa-f]{2}|\[(?:\d{1,2};)*\d{0,2}m)"
_REMOVED = re.compile(r"(?:^|[\n\0\s\"'`]|\\n)-$")
"""A line that a diff takes away, or an option."""
_ESCAPED = re.compile(f"{_LETTERS}+")
_ESCAPE = re.compile(f"{_LETTERS}$")
