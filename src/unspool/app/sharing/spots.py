"""Where a finding stands: in the words around it, and in the preview."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from unspool.app.reading.told import Reading
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


class Spots:
    """Says where in the preview a finding is: lines keep their numbers when they are redacted."""

    def __init__(self, told: Reading, options: SiteOptions) -> None:
        self._addresses: Addresses = told.addresses(options)
        self._lines: defaultdict[int, list[tuple[str, Item]]] = defaultdict(list)
        for number, member in enumerate(family(told.session)):
            for turn in all_turns(member):
                words = f"turn {turn.number}" if not number else "a subagent"
                for item in (*((turn.prompt,) if turn.prompt is not None else ()), *turn.blocks):
                    for line in _lines_of(item):
                        self._lines[line].append((words, item))

    def spot(self, finding: Finding) -> Spot:
        """Where it is; of several logs with such a line, the one whose line has the same words."""
        where, href = f"line {finding.line}", ""
        near = next((one for one in self._lines.get(finding.line, ()) if _around(finding, one[1])), None)
        if near is not None:
            where, href = f"{near[0]}, {where}", f"share/preview/{self._addresses.link(near[1])}"
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
