"""A share rehearsed: the redacted sessions, and what was found in them by rule and place."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.agents import FoundLog
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, results_of, turn_items
from unspool.app.share_selection import ShareSelection, is_kept
from unspool.figures import all_turns, family
from unspool.human import count
from unspool.redact.replacements import SecretFinding, SecretMatch
from unspool.redact.rules import RuleSet
from unspool.redact.spread import ASKED, COMMON_WORD, NEAR_NAME
from unspool.share.choices import Advance, ShareChoices, ShareSettings, finding_id, named_by
from unspool.share.prepare import PreparedShare, prepare_shares
from unspool.site.address import Addresses, Item
from unspool.site.options import SiteOptions


class RedactedSession(NamedTuple):
    """A session of the share, read from redacted lines alone, and its folder below the first page."""

    place: str
    opened: OpenSession


class ShareRehearsal(NamedTuple):
    """A session as it would be shared by some selection."""

    selection: ShareSelection
    redacted: tuple[RedactedSession, ...]
    """The session that is meant, then those of its chain."""
    found: tuple[FoundLog, ...]
    """The logs that they were read from."""
    share: PreparedShare
    """Its files are gone; the rest holds."""
    rules: RuleSet

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.found)

    @property
    def main(self) -> OpenSession:
        return self.redacted[0].opened

    def serves(self, selection: ShareSelection, *, exact: bool) -> bool:
        """Whether another selection gives the same result; if not `exact`, whether it is found in the same."""
        if exact:
            return self.selection == selection
        kept = replace(self.selection.choices, keep=selection.choices.keep, spread=selection.choices.spread)
        return replace(self.selection, choices=kept) == selection


class Rehearsing(NamedTuple):
    """By what rules and names a share is rehearsed, and who hears how far it is."""

    rules: RuleSet
    names: Mapping[str, str]
    advance: Advance


def rehearse_share(
    context: AppContext, found: Sequence[FoundLog], selection: ShareSelection, by: Rehearsing
) -> ShareRehearsal:
    """Rehearse the share of the first of these sessions, and of the others with it."""
    settings = ShareSettings(
        lambda _: selection.choices, by.rules, selection.title, rehearsed=True, names=by.names, advance=by.advance
    )
    with prepare_shares(context.library(), found, settings) as share:
        sessions = {"": share.main.session}  # each where the folder of pages has it
        for word, others in (("before", share.before), ("after", share.after)):
            sessions |= {f"{word}-{number}/": one.session for number, one in enumerate(others, 1)}
        redacted = [
            RedactedSession(place, OpenSession(found[0], session, context.prices))
            for place, session in sessions.items()
        ]
        return ShareRehearsal(selection, tuple(redacted), tuple(found), share, by.rules)


class FindingPlace(NamedTuple):
    """Where a value was found, in the words around it."""

    before: str
    after: str
    where: str
    href: str
    """Of the same place in the preview; empty where that does not show it."""


class _Line(NamedTuple):
    """What stands on a line of one of the logs."""

    words: str
    item: Item
    addresses: Addresses
    place: str


class FindingPlaces:
    """Says where in the preview a finding is: lines keep their numbers when they are redacted."""

    def __init__(self, redacted: Sequence[RedactedSession], options: SiteOptions) -> None:
        self._lines: defaultdict[int, list[_Line]] = defaultdict(list)
        for one in redacted:
            addresses = one.opened.addresses(options)
            chained = f"a session {one.place.partition('-')[0]} it, " if one.place else ""
            for number, member in enumerate(family(one.opened.session)):
                for turn in all_turns(member):
                    words = f"{chained}{'a subagent' if number else f'turn {turn.number}'}"
                    for item in turn_items(turn):
                        for line in {item.place.line, *(result.place.line for result in results_of(item)[-1:])}:
                            self._lines[line].append(_Line(words, item, addresses, one.place))

    def spot(self, finding: SecretFinding) -> FindingPlace:
        """Where it is; of several logs with such a line, the one whose line has the same words."""
        where, href = f"line {finding.line}", ""
        near = next((one for one in self._lines.get(finding.line, ()) if _around(finding, one.item)), None)
        if near is not None:
            where, href = f"{near.words}, {where}", f"share/preview/{near.place}{near.addresses.link(near.item)}"
        where = f"{where} · {finding.path}" if finding.path else where
        return FindingPlace(finding.before.lstrip("\r\n"), finding.after.rstrip(), where, href)


def _around(finding: SecretFinding, item: Item) -> bool:
    """Whether an item has the words around a finding."""
    try:
        text = msgspec.json.encode(item)
        return all(msgspec.json.encode(words)[1:-1] in text for words in (finding.before, finding.after))
    except UnicodeEncodeError:  # halves of characters
        return False


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
    COMMON_WORD: "Was found elsewhere, and is a common word too: it stays unless you replace it",
    NEAR_NAME: "A word built on a name that was found: it stays unless you replace it",
}
"""Of rules that are made for a person."""


class FoundValue(NamedTuple):
    id: str
    masked: str
    placeholder: str
    kept: bool
    found: int
    places: tuple[FindingPlace, ...]
    more: int


class RuleFindings(NamedTuple):
    name: str
    about: str
    kind: str
    tone: str
    values: tuple[FoundValue, ...]

    @property
    def shown(self) -> list[FoundValue]:
        """Those that a person looks through one by one; of very many, what stays comes first."""
        if len(self.values) <= LISTED:
            return list(self.values)
        return sorted(self.values, key=lambda value: not value.kept)[:LISTED]


def finding_ids(rehearsal: ShareRehearsal) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for finding in rehearsal.share.found:
        found[finding.match.rule].add(_id(finding.match))
    return {rule: frozenset(ids) for rule, ids in found.items()}


def findings_by_rule(rehearsal: ShareRehearsal, choices: ShareChoices, options: SiteOptions) -> list[RuleFindings]:
    """Everything found as the choices have it: secrets first, and what stays by itself last of its kind."""
    names = named_by(rehearsal.share.names, rehearsed=True)
    spots = FindingPlaces(rehearsal.redacted, options)
    groups: dict[tuple[str, str], dict[str, list[SecretFinding]]] = {}
    called: dict[str, str] = {}
    for finding in rehearsal.share.found:
        match, name = finding.match, _id(finding.match)
        groups.setdefault((match.kind, match.rule), {}).setdefault(name, []).append(finding)
        if name not in called and not is_kept(choices, match.rule, name):
            called[name] = names.of(match)  # in the order of the log, as they are given when it is redacted
    found = []
    for kind, rule in sorted(groups, key=lambda key: (list(_KINDS).index(key[0]), key[1] in ASKED, key[1])):
        known = rehearsal.rules.rule(rule)
        about = known.about if known is not None else _ABOUT.get(rule, "")
        values = tuple(_value(name, findings, called, spots) for name, findings in groups[kind, rule].items())
        found.append(RuleFindings(rule, about, _KINDS[kind], _TONES[kind], values))
    return found


def findings_summary(rules: Sequence[RuleFindings]) -> str:
    values = [value for rule in rules for value in rule.values]
    if not values:
        return "Nothing."
    places = count(sum(value.found for value in values), "place")
    doubtful = sum(value.kept for rule in rules if rule.name in ASKED for value in rule.values)
    wished = sum(value.kept for value in values) - doubtful
    stay = []
    if wished:
        stay.append(f"{wished:,} of them {'stays' if wished == 1 else 'stay'} as you wished.")
    if doubtful:
        unless = "stays unless you replace it" if doubtful == 1 else "stay unless you replace them"
        stay.append(f"{doubtful:,} of them, common words or built on names, {unless}.")
    if not stay:
        stay.append("All of them are replaced." if len(values) > 1 else "It is replaced.")
    return f"{count(len(values), 'value')} in {places}. {' '.join(stay)}"


def mask_value(match: SecretMatch) -> str:
    """What was found, as far as a person needs to see it: a secret only at its ends, and a short one not at all."""
    if match.kind != "secret":
        return match.value
    ends = f"{match.value[:4]}…{match.value[-3:]}" if len(match.value) >= _LONG else "••••"
    return f"{' '.join(ends.split())} ({len(match.value):,} characters)"


def _id(match: SecretMatch) -> str:
    return finding_id(match.rule, match.value)


def _value(name: str, found: list[SecretFinding], called: dict[str, str], spots: FindingPlaces) -> FoundValue:
    match, placeholder = found[0].match, called.get(name, "")
    different = list({(one.before, one.after): one for one in reversed(found)}.values())[::-1]  # titles repeat
    looked_at = sorted(map(spots.spot, different[:_TRIED]), key=lambda spot: not spot.href)
    shown = tuple(looked_at[:SHOWN])
    return FoundValue(name, mask_value(match), placeholder, not placeholder, len(found), shown, len(found) - len(shown))
