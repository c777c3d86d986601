"""Secrets in text that is about to be published: a simple detector that would rather ask once too often.

What only names a secret (a variable, a placeholder, a sentence about passwords) is let through where its value has
no digit or says itself that it is no value. Nothing found is ever printed whole.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import NamedTuple

from unspool.site.build.rules import RULES, Rule

_TAG = re.compile(r"<[^>]*>")
_ASSIGNMENTS = {"password", "key or token", "bearer token"}
_NO_VALUE = re.compile(
    r"(?i)^[$%{<*.]|example|placeholder|redacted|changeme|your[_-]|xxx|\*\*\*|\.\.\.|process\.env|os\."
)


class Finding(NamedTuple):
    """A secret and where it stands."""

    kind: str
    file: str
    line: int
    start: str
    """Its first characters, to know it by."""
    value: str
    """The secret itself; never shown."""

    def __str__(self) -> str:
        return f"{self.kind} in {self.file}, line {self.line} ({self.start}…)"


def found_in(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, value and offset of every secret in a text, each stretch of it told once."""
    folded = text.casefold() if not text.isascii() else text.lower()
    taken: list[tuple[int, int]] = []
    for rule in RULES:
        if not any(hint in folded for hint in rule.hints):
            continue
        for match in rule.pattern.finditer(text):
            start, end = match.span(rule.value)
            if _convincing(rule, match[rule.value]) and not any(a < end and start < b for a, b in taken):
                taken.append((start, end))
                yield rule.kind, match[rule.value], start


def _convincing(rule: Rule, value: str) -> bool:
    """Whether an assigned value can be a secret; keys with a shape of their own always are."""
    if _NO_VALUE.search(value):
        return False
    return rule.kind not in _ASSIGNMENTS or (any(map(str.isdigit, value)) and len(set(value)) > 5)


def scanned(file: str, html: str) -> Iterator[Finding]:
    """Secrets in the words of a page, markup between them or not."""
    for number, line in enumerate(html.split("\n"), 1):
        for kind, value, _ in found_in(unescape(_TAG.sub("", line))):
            yield Finding(kind, file, number, value[:4], value)


def located(findings: Iterable[Finding], log: str, data: bytes) -> Iterator[Finding]:
    """The findings by the line of the log that first holds them, each value once; as they were where none does."""
    seen: set[str] = set()
    for finding in findings:
        if finding.value in seen:
            continue
        seen.add(finding.value)
        at = data.find(finding.value.split("\n")[0].encode())
        yield finding if at < 0 else finding._replace(file=log, line=data.count(b"\n", 0, at) + 1)
