"""What was found, as a person judges it: by rule, each value once, with the words around it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from unspool.app.sharing.decide import stays
from unspool.app.sharing.looked import Looked
from unspool.app.sharing.spots import Spot, Spots
from unspool.human import count
from unspool.redact.match import Finding, Match
from unspool.redact.names import Names
from unspool.redact.rules import RuleSet
from unspool.share.choices import Choices, finding_id
from unspool.site.options import SiteOptions

SHOWN = 3
"""Places of a value that are shown, those that the preview shows too before others."""
LISTED = 200
"""Values of a rule that are shown."""
_TRIED = 30
_LONG = 20
"""Characters from which on the ends of a secret tell nothing that helps."""
_TONES = {"secret": "bad", "personal": "warn", "term": "plan"}
_KINDS = {"secret": "secret", "personal": "personal", "term": "yours"}
_ABOUT = {
    "user-name": "The name of a user",
    "host-name": "The name of a machine",
    "term": "A word or phrase that you added",
}
"""Of rules that are made for a person."""


class Value(NamedTuple):
    """One thing that was found, wherever it stands."""

    id: str
    masked: str
    placeholder: str
    kept: bool
    found: int
    places: tuple[Spot, ...]
    more: int


class Ruled(NamedTuple):
    """All that one rule found."""

    name: str
    about: str
    kind: str
    tone: str
    values: tuple[Value, ...]

    @property
    def shown(self) -> list[Value]:
        """Those that a person looks through one by one; of very many, what stays comes first."""
        if len(self.values) <= LISTED:
            return list(self.values)
        return sorted(self.values, key=lambda value: not value.kept)[:LISTED]


def known(looked: Looked) -> dict[str, frozenset[str]]:
    """The ids of all findings, by their rule."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for finding in looked.findings:
        found[finding.match.rule].add(_id(finding.match))
    return {rule: frozenset(ids) for rule, ids in found.items()}


def ruled(looked: Looked, choices: Choices, options: SiteOptions) -> list[Ruled]:
    """Everything found, secrets first, as the choices have it."""
    names = Names(looked.share.names)
    spots = Spots(looked.told, options)
    groups: dict[tuple[str, str], dict[str, list[Finding]]] = {}
    called: dict[str, str] = {}
    for finding in looked.findings:
        match, name = finding.match, _id(finding.match)
        groups.setdefault((match.kind, match.rule), {}).setdefault(name, []).append(finding)
        if name not in called and not stays(choices, match.rule, name):
            called[name] = names.of(match)  # in the order of the log, as they are given when it is redacted
    order = sorted(groups, key=lambda key: (list(_KINDS).index(key[0]), key[1]))
    return [
        Ruled(
            rule,
            _about(rule, looked.rules),
            _KINDS[kind],
            _TONES[kind],
            tuple(_value(name, found, called, spots) for name, found in groups[kind, rule].items()),
        )
        for kind, rule in order
    ]


def told(rules: Sequence[Ruled]) -> str:
    """How much was found, in a sentence."""
    values = [value for rule in rules for value in rule.values]
    if not values:
        return "Nothing."
    places = count(sum(value.found for value in values), "place")
    kept = sum(value.kept for value in values)
    stay = f"{kept} of them {'stays' if kept == 1 else 'stay'} as you wished." if kept else "All of them are replaced."
    return f"{count(len(values), 'value')} in {places}. {stay if len(values) > 1 or kept else 'It is replaced.'}"


def masked(match: Match) -> str:
    """What was found, as far as a person needs to see it: a secret only at its ends, and a short one not at all."""
    if match.kind != "secret":
        return match.value
    ends = f"{match.value[:4]}…{match.value[-3:]}" if len(match.value) >= _LONG else "••••"
    return f"{' '.join(ends.split())} ({len(match.value):,} characters)"


def _about(rule: str, rules: RuleSet) -> str:
    known = rules.rule(rule)
    return known.about if known is not None else _ABOUT.get(rule, "")


def _id(match: Match) -> str:
    return finding_id(match.rule, match.value)


def _value(name: str, found: list[Finding], called: dict[str, str], spots: Spots) -> Value:
    match, placeholder = found[0].match, called.get(name, "")
    different = list({(one.before, one.after): one for one in reversed(found)}.values())[::-1]  # titles repeat
    looked_at = sorted(map(spots.spot, different[:_TRIED]), key=lambda spot: not spot.href)
    shown = tuple(looked_at[:SHOWN])
    return Value(name, masked(match), placeholder, not placeholder, len(found), shown, len(found) - len(shown))
