"""Finds what must not leave in any text, through disguises."""

import re
import string
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import ahocorasick

from unspool.redact import line_wrapping, views
from unspool.redact.checks import CHECKS, PLACEHOLDER, Check, entropy, is_name, is_scattered, is_value
from unspool.redact.columns import COLUMNS, column_passwords
from unspool.redact.form_checks import FORM_CHECKS
from unspool.redact.replacements import MatchMemory, SecretMatch, escape_surrogates
from unspool.redact.rules import PersonalNames, RedactionRule, RuleSet, builtin_rules, word_rule
from unspool.redact.views import DISGUISES, UndisguisedText

RUN = 20
"""Characters that a run has at least."""
_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/"
_SHAPE = bytes(0x61 if byte in _RUNS else 0x20 for byte in range(256))
_BEFORE = 32
"""Characters before a run in which the key of a token may stand, as in `hvs.`."""
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_ESCAPES = re.compile(rb"[\\%\[]")
"""What an escape begins with, whose letters are no part of the word behind it."""
_ESCAPE_LENGTH = 8


def unbroken_runs(low: bytes, shape: bytes = _SHAPE, least: int = RUN) -> Iterator[tuple[int, int]]:
    """Where characters that a shape tells stand together without a break: those of a key, long enough for one."""
    shaped, needle = low.translate(shape), b"a" * least
    start = shaped.find(needle)
    while start >= 0:
        end = shaped.find(b" ", start)
        end = len(shaped) if end < 0 else end
        yield start, end
        start = shaped.find(needle, end)


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


def find_all(where: bytes, key: str) -> Iterator[int]:
    """Every place of a key."""
    sought = key.encode()
    place = where.find(sought)
    while place >= 0:
        yield place
        place = where.find(sought, place + 1)


_DEPTH = 3
"""Disguises over each other that are seen through."""
_BACK = 80
_RANK = {"secret": 2, "term": 1, "personal": 0}


class _Ready(NamedTuple):
    """A rule with its patterns compiled."""

    rule: RedactionRule
    pattern: "re.Pattern[str]"
    back: "re.Pattern[str] | None"
    check: Check | None
    match: "Callable[[str, int], re.Match[str] | None]"


class _Scan(NamedTuple):
    """A rule without keys: the pattern that finds where to look, and the shape of runs that hold all it finds."""

    one: _Ready
    pattern: "re.Pattern[Any]"
    shape: bytes

    @classmethod
    def of(cls, one: _Ready) -> "_Scan":
        """The scan of a rule that has one."""
        rule = one.rule
        inside = re.compile(f"(?i)[{rule.run}]" if rule.run else "")
        shape = bytes(0x61 if inside.match(chr(byte)) else 0x20 for byte in range(128)).ljust(256)
        return cls(one, re.compile(rule.scan.encode() if rule.token else rule.scan), shape)

    def places(self, where: str | bytes, low: bytes) -> Iterator[int]:
        """Where it finds something in a text, whose small letters are `low`."""
        runs = unbroken_runs(low, self.shape, self.one.rule.least) if self.one.rule.run else ((0, len(low)),)
        for start, end in runs:
            for match in self.pattern.finditer(where, max(0, start - 1), end):
                yield match.start()


class _Key(NamedTuple):
    """A key and its rules, and whether all that they find begins with it as a word does."""

    text: str
    rules: list[_Ready]
    word: bool


_PIECE = 64_000
"""Characters that are searched at once: the automaton makes a copy that is four times as large."""


class KeySearch:
    """Keys that are looked for in one pass over a text, however many they are."""

    def __init__(self, keys: Iterable[tuple[str, _Ready]], others: Iterable[str] = ()) -> None:
        rules: defaultdict[str, list[_Ready]] = defaultdict(list, {text: [] for text in others})
        for text, one in keys:
            rules[text].append(one)
        words = {text: all(_starts(one.rule) for one in some) for text, some in rules.items()}
        self._keys = [_Key(text, rules[text], words[text]) for text in sorted(rules, key=_rareness)]
        self._automaton: Any = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        for number, key in enumerate(self._keys):
            self._automaton.add_word(key.text, number)
        self._automaton.make_automaton()
        self._longest = max(map(len, rules), default=0)

    def places(self, low: bytes) -> Iterator[tuple[_Key, int]]:
        """Each key that stands in a text, and where, nearly in order."""
        over = self._longest - 1
        for begin in range(0, len(low) if self._keys else 0, _PIECE):
            for end, number in self._automaton.iter(low[begin : begin + _PIECE + over].decode("ascii")):
                key = self._keys[number]
                at = end + 1 - len(key.text)
                if at < _PIECE:  # else it stands in the next piece
                    yield key, begin + at


def _rareness(key: str) -> int:
    """The automaton tries what keys begin with one by one, so that what texts have most goes first."""
    return _FREQUENT.find(key[0]) % len(_FREQUENT)


_FREQUENT = ' etrsinoacldmpugfh.-/"(),_yb:0~'
"""Characters by how often texts have them; the last is for all others."""


class Finder:
    """Looks for what some rules, names and terms say; made once, used for many texts."""

    def __init__(
        self, rules: RuleSet | None = None, people: PersonalNames | None = None, terms: Sequence[str] = ()
    ) -> None:
        chosen = [word_rule("term", "term", "chosen by the sharer", term.strip()) for term in terms if term.strip()]
        self.people = people or PersonalNames()
        """The names that it finds as words."""
        rules = rules or builtin_rules()
        self.without = rules.without
        """Rules that do not hold."""
        named = (rule for rule in self.people.rules() if rule.id not in self.without)
        every = (*rules.rules, *named, *chosen)
        ready = [_ready(rule) for rule in every]
        self.known = MatchMemory(ids=not chosen and rules == builtin_rules())
        """What was found in texts before, for `sweep` to remember."""
        self._order = {one.rule.id: -number for number, one in reversed(list(enumerate(ready)))}
        self._scans = [_Scan.of(one) for one in ready if one.rule.scan and not one.rule.token]
        self._run_scans = [_Scan.of(one) for one in ready if one.rule.scan and one.rule.token]
        columns = COLUMNS if "password" in self._order else ()
        self._keys = KeySearch(((key, one) for one in ready if not one.rule.token for key in one.rule.keys), columns)
        self._token_keys = KeySearch((key, one) for one in ready if one.rule.token for key in one.rule.keys)
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
        places = list(self._keys.places(low))
        yield from _at_places(text, places)
        for table, keys in self._shaped.items():
            shape = low.translate(table)
            yield from _at_places(text, ((key, place) for key in keys for place in find_all(shape, key.text)))
        if long:
            yield from self._find_tokens(text, RunNeighbourhoods(low, long))
        if "password" in self._order:
            columns = ((key.text, place) for key, place in places if key.text in COLUMNS)
            for start, end in column_passwords(text, low, columns):
                yield SecretMatch("password", "secret", escape_surrogates(text[start:end]), start, end)
        for scan in self._scans:
            yield from filter(None, (_matched(scan.one, text, place) for place in scan.places(text, low)))

    def _find_tokens(self, text: str, near: RunNeighbourhoods) -> Iterator[SecretMatch]:
        for key, at in self._token_keys.places(near.low):
            if not key.word or near.low[at - 1] not in _WORD or _ESCAPES.search(near.low, at - _ESCAPE_LENGTH, at):
                place = near.place(at)
                yield from filter(None, (_matched(one, text, place) for one in key.rules))
        for scan in self._run_scans:
            found = (max(0, near.place(at)) for at in scan.places(near.low, near.low))
            yield from filter(None, (_matched(scan.one, text, place) for place in found))

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
    return _Ready(rule, pattern, back, (CHECKS | FORM_CHECKS).get(rule.check), pattern.match)


_DIGITS = bytes(0x30 if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
_HEX = bytes(0x66 if byte in b"0123456789abcdef" else byte for byte in range(256))


def _by_shape(rules: Iterable[_Ready]) -> dict[bytes, list[_Key]]:
    """The shapes of numbers that rules look for, by what gives a text that shape; too few for an automaton to gain."""
    shaped: dict[bytes, dict[str, list[_Ready]]] = {_DIGITS: {}, _HEX: {}}
    for one in rules:
        for key in one.rule.shape:
            shaped[_HEX if "f" in key else _DIGITS].setdefault(key, []).append(one)
    return {table: [_Key(key, some, False) for key, some in keys.items()] for table, keys in shaped.items() if keys}


def _starts(rule: RedactionRule) -> bool:
    """Whether a match begins with its key, and as a word does."""
    return rule.edge and not rule.back and not rule.before


def _at_places(text: str, places: Iterable[tuple[_Key, int]]) -> Iterator[SecretMatch]:
    """What rules find where their keys stand; a key within what was found by it counts for nothing."""
    done: defaultdict[str, int] = defaultdict(int)
    for key, place in places:
        if place < done[key.text]:
            continue
        for one in key.rules:
            if (one.back or one.rule.before or one.match(text, place)) and (found := _matched(one, text, place)):
                done[key.text] = max(done[key.text], found.end)
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
    return _ESCAPE.search(text, max(0, place - _ESCAPE_LENGTH), place) is not None


_EDGES = frozenset(string.ascii_letters + string.digits + "_-")
_TELLING = 400
"""Characters of a value whose mixture tells."""
_BREAKS = {"\n", "\r", "\\"}
_LETTERS = r"(?:\\(?:[nrtbfv]|u00[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2})|%(?:25)*[0-9A-Fa-f]{2}|\[(?:\d{1,2};)*\d{0,2}m)"
_REMOVED = re.compile(r"(?:^|[\n\0\s\"'`]|\\n)-$")
"""A line that a diff takes away, or an option."""
_ESCAPED = re.compile(f"{_LETTERS}+")
_ESCAPE = re.compile(f"{_LETTERS}$")
