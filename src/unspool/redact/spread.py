"""Found once, gone everywhere: values that were found in one place, looked for in all others and in every encoding."""

import base64
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from unspool.redact import views
from unspool.redact.checks import PLACEHOLDER, is_name
from unspool.redact.finder import Finder
from unspool.redact.letter_pairs import chance
from unspool.redact.replacements import ID, MatchMemory, SecretMatch
from unspool.redact.rules import RuleSet

COMMON_WORD = "common-word"
"""The rule of values that are words of everyday too: where else they stand is told, and stays unless a person says."""
NEAR_NAME = "near-name"
"""The rule of words that are built on a name that was found, such as `gmeligio` on `eligio`: told like common words."""
ASKED = frozenset({COMMON_WORD, NEAR_NAME})
"""Rules of what stays unless a person says that it goes."""
LEAST = 8
"""Characters from which on a value is looked for everywhere."""
_SHORT = 6
_CERTAIN = 16
"""Characters from which on a value is none by chance, whatever stands around it."""
_LINE = 20
"""Characters that a line of a value has at least to be known by."""
_KEY_LINE = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{20,}|(?=[A-Z+/]*[a-z0-9])(?=[a-z+/]*[A-Z0-9])(?=[A-Za-z+/]*\d)[A-Za-z0-9+/]{8,19})"
    r"={0,2}(?![\w+/.:=]|-(?!--))"
)
"""A line of a private key without what a diff, a number of a line or code puts around it; a path before it is none."""
_PART = re.compile(r"[^/:@,;&?=\s]{12,}")
"""What a value of several parts has that may stand alone: the password behind a user, the token of an address."""
_ANCHOR = 5
"""Letters and digits of a form that are looked up; forms without so many are looked for one by one."""
_ODD = 200
"""Forms that are looked for one by one, at most."""
_TOKEN = re.compile(rf"[A-Za-z0-9]{{{_ANCHOR},}}")
_APART = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))
"""Spaces for all that is no letter and no digit."""
_LINES = re.compile(r"(?:\\+[nr]|[\r\n])+\s*")
_ESCAPES = re.compile(r"\\+[nrt]")
_BREAK = re.compile(r"\\?\r?\n[ \t>|+│]{0,40}")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_UNSURE = frozenset({"named-secret", "password"})
"""Rules that go by a name beside the value."""
_WORDS = frozenset({"user-name", "host-name", "term"})
"""Rules that find a word wherever it stands, so that it is one that must go."""
_REMEMBERED = 200_000
_PEOPLE = frozenset(
    {"home", "home-folder", "user-name", "git-user", "git-author", "git-blame", "mail-name", "host", "host-name"}
)
_PIECES = re.compile(r"[\W\d_]+")
_NAME = 5
"""Letters that a name has at least for words to be built on it."""
_NAMES = 50
"""Names that words are looked for by, and words that are offered."""


class _Form(NamedTuple):
    """How a value may be written, whether it must be a word of its own, and whether that is base64, whose first and
    last characters hold a part of the value too."""

    text: str
    match: SecretMatch
    word: bool
    base64: bool = False


def is_common_word(value: str) -> bool:
    """Whether a value could be a word that anybody writes, so that it may stand elsewhere and mean nothing."""
    one_word = value.isalpha() and (value[1:].islower() or value.isupper())
    return one_word and (is_name(value) or len(value) < _SHORT)


def is_spread(match: SecretMatch) -> bool:
    """Whether a value is replaced wherever it stands; what is too short or a common word is not."""
    value = match.value
    if match.rule in _WORDS:
        return len(value) > 3
    if match.rule in {"picture", *ASKED} or PLACEHOLDER.search(value) or is_common_word(value):
        return False
    if len(value) >= LEAST:
        return len(set(value)) > 3
    return len(value) >= _SHORT and match.rule not in _UNSURE and not value.isdigit()


def spread_values(finder: Finder, found: Iterable[SecretMatch], *, ask: bool = False) -> Finder:
    """A finder that finds, beside what it did, every value of these wherever it stands; the same one where there is
    none. Where a person is to be asked, common words are found too, as such."""
    named = (lambda _: ()) if "mail-name" in finder.without else _mail_name
    values = {(match.kind, match.value): match for one in found for match in (one, *named(one))}.values()
    going = [match for match in values if is_spread(match)]
    if ask:
        words = (match for match in values if is_common_word(match.value) and len(match.value) > 3)
        going += [match if match.rule in ASKED else match._replace(rule=COMMON_WORD) for match in words]
        going += [match for match in values if match.rule == NEAR_NAME and not is_common_word(match.value)]
    return SpreadFinder(finder, going) if going else finder


def _mail_name(match: SecretMatch) -> Iterator[SecretMatch]:
    """What stands before the @ of an address, which often names its owner elsewhere."""
    name = match.value.partition("@")[0].partition("+")[0]
    if match.rule == "email" and len(name) >= _NAME:
        yield match._replace(rule="mail-name", value=name)


def names_in(found: Iterable[SecretMatch]) -> list[str]:
    """The names that were found, and the parts of them, that words may be built on; in small letters."""
    matches = [match for one in found if one.kind == "personal" for match in (one, *_mail_name(one))]
    pieces = (piece for match in matches if match.rule in _PEOPLE for piece in _PIECES.split(match.value.lower()))
    return [name for name in dict.fromkeys(pieces) if len(name) >= _NAME and name.isalpha()][:_NAMES]


def near_names(found: Sequence[SecretMatch], words: Iterable[str]) -> list[SecretMatch]:
    """The words that hold a name, or a part of one, that was found: a person may want them gone too."""
    names = names_in(found)
    whole = {match.value.lower() for one in found if one.kind == "personal" for match in (one, *_mail_name(one))}
    near = []
    for word in sorted(set(words)) if names else ():
        low = word.lower()
        if low not in whole and any(name in low for name in names):
            near.append(SecretMatch(NEAR_NAME, "personal", word, 0, 0))
    return near[:_NAMES]


class KnownValues(Finder):
    """Looks for certain values and nothing else, through all disguises."""

    def __init__(self, values: Iterable[SecretMatch]) -> None:
        super().__init__(RuleSet(()))
        self._order = defaultdict(int)
        self._anchors: defaultdict[str, list[tuple[int, _Form]]] = defaultdict(list)
        self._odd: list[_Form] = []
        self._tokens: dict[bytes, list[tuple[int, _Form]]] = {}
        for match in values:
            for form in _forms(match):
                self._add(form)

    def _add(self, form: _Form) -> None:
        cores = list(_TOKEN.finditer(form.text))
        if cores:
            core = max(cores, key=lambda found: len(found[0]))
            self._anchors[core[0][:_ANCHOR]].append((core.start(), form))
        elif len(self._odd) < _ODD:
            self._odd.append(form)

    def _plain(self, text: str, low: bytes, long: list[tuple[int, int]]) -> Iterator[SecretMatch]:
        tokens = {token for token in text.encode("ascii", "replace").translate(_APART).split() if len(token) >= _ANCHOR}
        hits = {token.decode(): hit for token in tokens if (hit := self._hits(token))}
        for found in _TOKEN.finditer(text) if hits else ():
            for at, form in hits.get(found[0], ()):
                start = found.start() + at
                if start >= 0 and text.startswith(form.text, start):
                    yield from _stands(form, text, start)
        for form in self._odd:
            start = text.find(form.text)
            while start >= 0:
                yield from _stands(form, text, start)
                start = text.find(form.text, start + len(form.text))

    def _hits(self, token: bytes) -> list[tuple[int, _Form]]:
        """Which forms may stand around a token, and where they would begin beside its own beginning."""
        known = self._tokens.get(token)
        if known is None:
            letters = token.decode()
            known = [
                (at - before, form)
                for at in range(len(letters) - _ANCHOR + 1)
                if (piece := letters[at : at + _ANCHOR]) in self._anchors
                for before, form in self._anchors[piece]
            ]
            if len(self._tokens) > _REMEMBERED:
                self._tokens.clear()
            self._tokens[token] = known
        return known

    def _views(self, text: str, long: list[tuple[int, int]], depth: int) -> Iterator[tuple[views.UndisguisedText, int]]:
        yield from super()._views(text, long, depth)
        breaks = [(start, end, "") for start, end in map(re.Match.span, _BREAK.finditer(text))]
        if breaks:  # a value is known, so that its halves need no further proof
            for view in views.join_windows(text, [views.ViewWindow(0, len(text), breaks)]):
                yield view, depth


class SpreadFinder(Finder):
    """Finds what another finder does, and some values wherever they stand."""

    def __init__(self, first: Finder, values: Sequence[SecretMatch]) -> None:
        self.first, self.values = first, KnownValues(values)
        self.people, self.without = first.people, first.without
        self.known = MatchMemory(ids=first.known.ids and not any(ID.fullmatch(match.value) for match in values))
        self._order = defaultdict(lambda: -(10**6), first._order)

    def find(self, text: str) -> list[SecretMatch]:
        """What must go, in the order of the text."""
        before = self.first.known[text] if text in self.first.known else self.first.find(text)
        return self.merge(text, before, self.values.find(text))

    def merge(self, text: str, before: list[SecretMatch], more: list[SecretMatch]) -> list[SecretMatch]:
        """What either finder found in a text, as what must go of it."""
        return self._settled(text, [*before, *more]) if more else before


def _stands(form: _Form, text: str, start: int) -> Iterator[SecretMatch]:
    end = start + len(form.text)
    if form.word and (_letter(text[start - 1 : start]) or _letter(text[end : end + 1])):
        return
    if form.base64:
        start -= text[start - 1 : start] in _BASE64
        end += text[end : end + 1] in _BASE64
    yield form.match._replace(start=start, end=end)


def _letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _forms(match: SecretMatch) -> Iterator[_Form]:
    """How a value may be written, and each part of it that tells enough."""
    for piece in dict.fromkeys(_pieces(match)):
        mixed = match.kind == "secret" and not piece.isalpha() and not piece.isdigit() and len(piece) >= LEAST
        word = not mixed and not (match.kind == "secret" and len(piece) >= _CERTAIN)
        plain = dict.fromkeys([piece, *(_cases(piece) if match.kind != "secret" else ()), *_escaped(piece)])
        yield from (_Form(text, match, word) for text in plain)
        data = piece.encode("utf-8", "surrogatepass")
        yield from (_Form(text, match, True) for text in (data.hex(), data.hex().upper()))
        if len(data) >= _SHORT:
            yield from (_Form(text, match, False, True) for text in base64_forms(data))


def _pieces(match: SecretMatch) -> Iterator[str]:
    """A value, and what of it may stand alone; of one with several lines, and of a private key, the lines."""
    lines = _LINES.split(match.value.strip())
    if "private-key" in match.rule:
        for line in _KEY_LINE.findall(_ESCAPES.sub("\n", match.value.replace(r"\/", "/"))):
            yield line
            if line[0] == "+":  # which a diff may have put there
                yield line[1:]
    elif len(lines) > 1:
        yield from (line for line in lines if len(line) >= _LINE and "---" not in line)
    else:
        end = match.value.rstrip(".,;:!?")  # a sentence may have ended with it
        yield end if len(end) >= _SHORT else match.value
        if match.kind == "secret":
            parts = _PART.findall(end)
            yield from (part for part in parts if not ID.fullmatch(part) and chance(part) >= 1.6 * len(part))


def _cases(value: str) -> tuple[str, ...]:
    return value.lower(), value.upper(), value.capitalize()


def _escaped(value: str) -> Iterator[str]:
    """The value with its characters escaped as programs escape them: those that need it, or all."""
    for once in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield from (once, json.dumps(once)[1:-1], once.replace("/", r"\/"))
    marked = html.escape(value)
    yield from (marked, html.escape(marked), marked.replace("&#x27;", "&#39;"), html.escape(value, quote=False))
    address = quote(value, safe="", errors="replace")
    yield from (address, quote(value, errors="replace"), quote_plus(value, errors="replace"), quote(address, safe=""))


def base64_forms(data: bytes) -> Iterator[str]:
    """What of the base64 of some bytes is the same whatever stands before and after them."""
    for lead in range(3):
        bits = 8 * (lead + len(data))
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * lead + data).decode("ascii")[-(-8 * lead // 6) : bits // 6]
