"""Finds what must not leave in any text, through disguises."""

import re
import string
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from unspool.redact import line_wrapping, views
from unspool.redact.checks import CHECKS, PLACEHOLDER, Check, entropy, is_name, is_scattered, is_value
from unspool.redact.columns import column_passwords
from unspool.redact.form_checks import FORM_CHECKS
from unspool.redact.replacements import MatchMemory, SecretMatch, escape_surrogates
from unspool.redact.rules import PersonalNames, RedactionRule, RuleSet, builtin_rules, word_rule
from unspool.redact.views import DISGUISES, UndisguisedText

RUN = 20
"""Characters that a run has at least."""
_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/"
_SHAPE = bytes(0x61 if byte in _RUNS else 0x20 for byte in range(256))
_NEEDLE = b"a" * RUN
_BEFORE = 32
"""Characters before a run in which the key of a token may stand, as in `hvs.`."""
_ESCAPED_WORD = rb"(?:(?<=\\)(?:[nrtbfv]|u00[0-9a-f]{2}|x[0-9a-f]{2})|(?<=%)(?:25)*[0-9a-f]{2}|(?<=\[)[0-9;]{0,20}m)"
"""The letters of an escape, which are no part of the word behind it."""


def unbroken_runs(low: bytes) -> Iterator[tuple[int, int]]:
    """Where letters, digits and _ - + / stand together without a break, long enough for a key."""
    shape = low.translate(_SHAPE)
    start = shape.find(_NEEDLE)
    while start >= 0:
        end = shape.find(b" ", start)
        end = len(shape) if end < 0 else end
        yield start, end
        start = shape.find(_NEEDLE, end)


class RunNeighbourhoods:
    """The long runs of a text with what stands just before each, joined: all that a token can be in."""

    def __init__(self, low: bytes, runs: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        ends: list[int] = []
        for start, end in runs:
            begin = max(0, start - _BEFORE)
            if ends and begin <= ends[-1]:
                ends[-1] = end
            else:
                self._starts.append(begin)
                ends.append(end)
        parts = [low[start:end] for start, end in zip(self._starts, ends, strict=True)]
        self._firsts = [0, *accumulate(len(part) + 1 for part in parts)]
        self.low = b"\0".join((b"", *parts))

    def place(self, at: int) -> int:
        """Where in the text something stands."""
        part = bisect_right(self._firsts, at - 1) - 1
        return self._starts[part] + at - 1 - self._firsts[part]


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
        self._scans = [one for one in ready if one.rule.scan and not one.rule.token]
        self._run_scans = [
            (re.compile(one.rule.scan.encode()), one) for one in ready if one.rule.scan and one.rule.token
        ]
        self._keys = _nested(_by_key(ready, lambda rule: not rule.token))
        words, inner = (
            _by_key(ready, lambda rule: rule.token and _starts(rule)),
            _by_key(ready, lambda rule: rule.token and not _starts(rule)),
        )
        self._begins: dict[bytes, list[tuple[bytes, list[_Ready]]]] = {}
        for key, found in (*words.items(), *inner.items()):
            self._begins.setdefault(key[:2], []).append((key, found))
        trie = _trie(words)
        self._words = re.compile(rb"[^a-z0-9](?:(?<=[\\%%\[])%s(?=%s)|(?=%s))" % (_ESCAPED_WORD, trie, trie))
        self._inner = re.compile(_trie(inner))
        self._shaped = _by_shape(ready)

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
        yield from self._plain(text, low, long)
        if depth < _DEPTH:
            for view, deeper in self._views(text, long, depth + 1):
                yield from self._seen(text, view, deeper)

    def _plain(self, text: str, low: bytes, long: list[tuple[int, int]]) -> Iterator[SecretMatch]:
        """What stands in a text as it is; `long` are its unbroken runs."""
        for key, rules in _there(self._keys, low):
            yield from _at_key(text, low, key, rules)
        for table, keys in self._shaped.items():
            shape = low.translate(table)
            for key, rules in keys.items():
                yield from _at_key(text, shape, key, rules) if key in shape else ()
        if long:
            yield from self._find_tokens(text, RunNeighbourhoods(low, long))
        if "password" in self._order:
            for start, end in column_passwords(text, low):
                yield SecretMatch("password", "secret", escape_surrogates(text[start:end]), start, end)
        for one in self._scans:
            yield from filter(None, (_matched(one, text, match.start()) for match in one.scan.finditer(text)))

    def _find_tokens(self, text: str, near: RunNeighbourhoods) -> Iterator[SecretMatch]:
        places = (match.end() for match in self._words.finditer(near.low))
        for at in chain(places, (match.start() for match in self._inner.finditer(near.low))):
            for key, rules in self._begins.get(near.low[at : at + 2], ()):
                if near.low.startswith(key, at):
                    yield from filter(None, (_matched(one, text, near.place(at)) for one in rules))
        for scan, one in self._run_scans:
            found = (max(0, near.place(match.start())) for match in scan.finditer(near.low))
            yield from filter(None, (_matched(one, text, place) for place in found))

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
    back = re.compile(rule.back if rule.reach else f"[{rule.back}]+") if rule.back else None
    pattern = re.compile(rule.pattern)
    return _Ready(rule, pattern, re.compile(rule.scan), back, (CHECKS | FORM_CHECKS).get(rule.check), pattern.match)


_DIGITS = bytes(0x30 if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
_HEX = bytes(0x66 if byte in b"0123456789abcdef" else byte for byte in range(256))


def _by_shape(rules: Iterable[_Ready]) -> dict[bytes, dict[bytes, list[_Ready]]]:
    """Rules by the shape of numbers that they look for, and by what gives a text that shape."""
    shaped: dict[bytes, dict[bytes, list[_Ready]]] = {}
    for one in rules:
        for key in one.rule.shape:
            shaped.setdefault(_HEX if "f" in key else _DIGITS, {}).setdefault(key.encode(), []).append(one)
    return shaped


def _trie(keys: Iterable[bytes]) -> bytes:
    """A pattern of all keys, each beginning written once, so that few of them are tried at a place."""
    by_first: dict[bytes, list[bytes]] = {}
    for key in keys:
        by_first.setdefault(key[:1], []).append(key[1:])
    if b"" in by_first:
        return b""
    some = [re.escape(first) + _trie(rest) for first, rest in by_first.items()]
    return some[0] if len(some) == 1 else b"(?:%s)" % b"|".join(some)


def _starts(rule: RedactionRule) -> bool:
    """Whether a match begins with its key, and as a word does."""
    return rule.edge and not rule.back and not rule.before


def _by_key(rules: Iterable[_Ready], chosen: Callable[[RedactionRule], bool]) -> dict[bytes, list[_Ready]]:
    keys: dict[bytes, list[_Ready]] = {}
    for one in rules:
        for key in one.rule.keys:
            if chosen(one.rule):
                keys.setdefault(key.encode(), []).append(one)
    return keys


_ALIKE = 5


class _Key(NamedTuple):
    """A key, its rules, and the longer keys that hold it: where it is not, they are not."""

    key: bytes
    rules: list[_Ready]
    longer: "list[_Key]"


def _nested(keys: dict[bytes, list[_Ready]]) -> list[_Key]:
    """The keys as a tree; where two begin alike, their beginning is looked for first."""
    begins = Counter(key[:_ALIKE] for key in keys)
    keys = {key: [] for key, count in begins.items() if count > 1} | keys
    top: list[_Key] = []
    for key in sorted(keys, key=len):
        holder = next((one for one in top if one.key in key), None)
        (holder.longer if holder else top).append(_Key(key, keys[key], []))
    return top


def _there(keys: list[_Key], low: bytes) -> Iterator[tuple[bytes, list[_Ready]]]:
    """Those that stand in a text."""
    for one in keys:
        if one.key in low:
            if one.rules:
                yield one.key, one.rules
            yield from _there(one.longer, low)


def _at_key(text: str, low: bytes, key: bytes, rules: list[_Ready]) -> Iterator[SecretMatch]:
    done = 0
    for place in find_all(low, key):
        if place < done:
            continue
        for one in rules:
            if (one.back or one.rule.before or one.match(text, place)) and (found := _matched(one, text, place)):
                done = max(done, found.end)
                yield found


def _matched(one: _Ready, text: str, place: int) -> SecretMatch | None:
    """What a rule finds where its key stands."""
    if one.back is not None and (
        before := one.back.match(text[max(0, place - (one.rule.reach or _BACK)) : place][::-1])
    ):
        place = _after_escape(text, place - before.end())
        place += text[place : place + 1] == "-" and _REMOVED.search(text, max(0, place - 2), place + 1) is not None
    elif one.rule.before:
        place -= one.rule.before
    if place < 0:
        return None
    apart = not one.rule.edge or _edge(text, place)
    if not apart and text[place - 1] not in "-_":
        return None
    match = one.pattern.match(text, place)
    if match is None or not _convincing(one, match, value := match[one.rule.group]):
        return None
    if not apart and is_name(value) and not is_scattered(value):
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
    if one.rule.entropy and entropy(value[:_TELLING]) < one.rule.entropy:
        return False
    if one.check is not None:
        return one.check(match, value)
    return one.rule.kind != "secret" or is_value(value)


def _edge(text: str, place: int) -> bool:
    """Whether no letter or digit of ASCII stands before; one that belongs to an escape is none."""
    if place == 0 or text[place - 1] not in _EDGES:
        return True
    if text[place - 1] == "-":
        return _REMOVED.search(text, max(0, place - 3), place) is not None
    return _ESCAPE.search(text, max(0, place - 8), place) is not None


_EDGES = frozenset(string.ascii_letters + string.digits + "_-")
_TELLING = 400
"""Characters of a value whose mixture tells."""
_BREAKS = {"\n", "\r", "\\"}
_LETTERS = r"(?:\\(?:[nrtbfv]|u00[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2})|%(?:25)*[0-9A-Fa-f]{2}|\[(?:\d{1,2};)*\d{0,2}m)"
_REMOVED = re.compile(r"(?:^|[\n\0\s\"'`]|\\n)-$")
"""A line that a diff takes away, or an option."""
_ESCAPED = re.compile(f"{_LETTERS}+")
_ESCAPE = re.compile(f"{_LETTERS}$")
