"""Where a finding stands: in the words around it, and in the preview."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from unspool.app.sharing.looked import Told
from unspool.figures import all_turns, family
from unspool.redact.match import Finding
from unspool.site.address import Addresses, Item
from unspool.site.options import SiteOptions


class Spot(NamedTuple):
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


class Spots:
    """Says where in the preview a finding is: lines keep their numbers when they are redacted."""

    def __init__(self, told: Sequence[Told], options: SiteOptions) -> None:
        self._lines: defaultdict[int, list[_Line]] = defaultdict(list)
        for one in told:
            self._read(one, one.reading.addresses(options))

    def _read(self, told: Told, addresses: Addresses) -> None:
        chained = f"a session {told.place.partition('-')[0]} it, " if told.place else ""
        for number, member in enumerate(family(told.reading.session)):
            for turn in all_turns(member):
                words = f"{chained}{'a subagent' if number else f'turn {turn.number}'}"
                for item in (*((turn.prompt,) if turn.prompt is not None else ()), *turn.blocks):
                    for line in _lines_of(item):
                        self._lines[line].append(_Line(words, item, addresses, told.place))

    def spot(self, finding: Finding) -> Spot:
        """Where it is; of several logs with such a line, the one whose line has the same words."""
        where, href = f"line {finding.line}", ""
        near = next((one for one in self._lines.get(finding.line, ()) if _around(finding, one.item)), None)
        if near is not None:
            where, href = f"{near.words}, {where}", f"share/preview/{near.place}{near.addresses.link(near.item)}"
        where = f"{where} · {finding.path}" if finding.path else where
        return Spot(finding.before.lstrip("\r\n"), finding.after.rstrip(), where, href)


def _lines_of(item: Item) -> Iterator[int]:
    yield item.place.line
    result = getattr(item, "result", None)
    if result is not None and result.place.line != item.place.line:
        yield result.place.line


def _around(finding: Finding, item: Item) -> bool:
    """Whether an item has the words around a finding."""
    try:
        text = msgspec.json.encode(item)
        return all(msgspec.json.encode(words)[1:-1] in text for words in (finding.before, finding.after))
    except UnicodeEncodeError:  # halves of characters
        return False
