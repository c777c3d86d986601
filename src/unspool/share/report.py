"""What was found in a session, replaced and left out: told with every share, in counts alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from unspool import __version__, human
from unspool.redact.match import Match
from unspool.share.choices import Choices, finding_id
from unspool.share.draw import Gone


class Count(msgspec.Struct, frozen=True):
    """What one rule found."""

    rule: str
    kind: str
    values: int
    """Different values."""
    places: int
    kept: int = 0
    """Places that the sharer let stay."""


class Report(msgspec.Struct, frozen=True):
    """How a share was made; it tells neither what was found nor when."""

    made_with: str
    rules: str
    """The version of the rule set."""
    found: list[Count]
    left_out: Gone

    @property
    def replaced(self) -> int:
        """Places that hold something else now."""
        return sum(count.places - count.kept for count in self.found)

    def json(self) -> bytes:
        """The report as a file."""
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=2) + b"\n"

    def note(self) -> str:
        """The report in a sentence."""
        kept = sum(count.kept for count in self.found)
        parts = [
            f"{human.count(self.replaced, 'place')} replaced",
            f"{kept:,} kept" if kept else "",
            f"{human.count(self.left_out.turns, 'turn')} left out" if self.left_out.turns else "",
            f"no {', no '.join(self.left_out.kinds)}" if self.left_out.kinds else "",
            f"rules {self.rules}",
        ]
        return human.joined(*parts)


def kept(match: Match, choices: Choices) -> bool:
    """Whether the sharer lets a match stay."""
    return match.rule in choices.keep or finding_id(match.rule, match.value) in choices.keep


def report(rules: str, matches: Iterable[Match], choices: Choices, gone: Gone) -> Report:
    """The counts of what was found, by rule."""
    places: Counter[tuple[str, str]] = Counter()
    stay: Counter[tuple[str, str]] = Counter()
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for match in matches:
        key = match.kind, match.rule
        places[key] += 1
        stay[key] += kept(match, choices)
        values[key].add(match.value)
    found = [Count(key[1], key[0], len(values[key]), places[key], stay[key]) for key in sorted(places)]
    return Report(f"unspool {__version__}", rules, found, gone)
