"""What a team lets leave a machine, and what it lets in: by kinds of rules, more rules and words of its own."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.errors import UsageProblem
from unspool.redact.finder import Finder
from unspool.redact.log import decode_line, scan_lines
from unspool.redact.rebuild import redact_text
from unspool.redact.replacements import Kind, ReplacementNames, SecretMatch
from unspool.redact.rules import PersonalNames, RedactionRule, RuleSet, builtin_rules, rule_fault
from unspool.redact.values import find_in_values

_LOG = ".jsonl"


class RedactionPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which findings are replaced before something leaves, and which are refused where it arrives."""

    replaced: frozenset[Kind] = frozenset({"secret", "personal", "term"})
    """Kinds that whoever sends replaces."""
    refused: frozenset[Kind] = frozenset({"secret", "term"})
    """Kinds that keep out what holds one of them."""
    without: frozenset[str] = frozenset()
    """Rules that do not hold, by their ids."""
    rules: tuple[RedactionRule, ...] = ()
    """More rules; one of the same id takes the place of another."""
    terms: tuple[str, ...] = ()
    """Words that are kept out too, such as a customer's name."""

    @property
    def version(self) -> str:
        """A short name for exactly this policy with the rules of this package."""
        said = msgspec.json.encode(self, order="deterministic")
        return sha256(said + builtin_rules().version.encode()).hexdigest()[:12]

    def finder(self, kinds: frozenset[Kind], people: PersonalNames | None = None) -> Finder:
        """Looks for what is of some kinds."""
        mine = {rule.id: rule for rule in self.rules}
        gone = {*self.without, *mine}
        known = (*(rule for rule in builtin_rules().rules if rule.id not in gone), *mine.values())
        rules = RuleSet(tuple(rule for rule in known if rule.kind in kinds), self.without)
        return Finder(rules, people if "personal" in kinds else None, self.terms if "term" in kinds else ())


class PolicyFinding(NamedTuple):
    """Where something was found and by which rule; what it is stays unsaid."""

    rule: str
    kind: str
    file: str
    line: int
    place: str
    """In the line: message.content[0].text."""


def parse_policy(data: bytes | str) -> RedactionPolicy:
    """A policy as it is written; UsageProblem says what is wrong with it."""
    try:
        policy = msgspec.json.decode(data, type=RedactionPolicy)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageProblem(f"This is no policy: {error}.") from None
    for rule in policy.rules:
        if reason := rule_fault(rule):
            raise UsageProblem(f"The rule “{rule.id}” is wrong: {reason}.")
    return policy


def find_in_file(name: str, path: Path, finder: Finder) -> Iterator[PolicyFinding]:
    """What a file holds that a finder looks for, a log by its lines and anything else as a whole."""
    shown = _hushed(name, finder)
    if name.endswith(_LOG):
        yield from _in_log(path, shown, finder)
        return
    data = path.read_bytes()
    value = decode_line(data)
    if isinstance(value, dict | list):
        for text, matches in find_in_values([value], finder)[0]:
            where = _hushed(str(text.path), finder)
            yield from (PolicyFinding(one.rule, one.kind, shown, 1, where) for one in matches)
    else:
        yield from _in_text(data.decode("utf-8", "replace"), shown, finder)


def _in_log(path: Path, name: str, finder: Finder) -> Iterator[PolicyFinding]:
    """What the lines of a log say, and then what stands in their bytes and is not said."""
    unsaid = bytearray()
    with path.open("rb") as lines:
        for found in scan_lines(lines, finder, unsaid=unsaid):
            yield PolicyFinding(found.match.rule, found.match.kind, name, found.line, _hushed(found.path, finder))
    if not any(unsaid):
        return
    with path.open("rb") as lines:
        for number, line in compress(enumerate(lines, 1), unsaid):
            matches = finder.find(line.rstrip(b"\r\n").decode("utf-8", "replace"))
            yield from (PolicyFinding(one.rule, one.kind, name, number, "") for one in matches)


def _in_text(text: str, name: str, finder: Finder) -> Iterator[PolicyFinding]:
    found: list[SecretMatch] = finder.find(text)
    line, last = 1, 0
    for one in found:
        line, last = line + text.count("\n", last, one.start), one.start
        yield PolicyFinding(one.rule, one.kind, name, line, "")


def _hushed(words: str, finder: Finder) -> str:
    """Names of files and keys of objects, which may be secrets themselves."""
    return redact_text(words, finder, ReplacementNames())[0]
