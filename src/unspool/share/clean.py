"""The files of drawn sessions redacted together, so that the same is called the same in all of them."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import NamedTuple

from unspool.redact.finder import Finder
from unspool.redact.names import Names
from unspool.redact.people import People, signers
from unspool.share import mapping
from unspool.share.ask import Ask
from unspool.share.beside import File
from unspool.share.choices import Choices
from unspool.share.draw import Drawn, Gone
from unspool.share.report import Report, report
from unspool.share.scrub import Scrub, findings


class Cleaned(NamedTuple):
    """How files were redacted, by choices that a person may have made on the way."""

    report: Report
    choices: Choices
    names: Mapping[str, str]
    """What everything is called now; it stays on this machine."""


def clean(drawings: Sequence[Drawn], ask: Ask, choices: Choices, cwds: Sequence[str], to: Path) -> Cleaned:
    """Write the files below a folder without what must not leave, once it was reviewed."""
    files = [file for one in drawings for file in one.files]
    people = People.of(ask.environment, cwds, _signers(files))
    finder = Finder(ask.rules, people, choices.terms)
    found = list(findings(files, finder))
    if ask.review is not None:
        before, choices = choices, ask.review(found, choices)
        if choices.terms != before.terms:
            finder = Finder(ask.rules, people, choices.terms)
            found = list(findings(files, finder))
    first = drawings[0]
    names = Names({**mapping.remembered(first.session), **ask.names})
    scrub = Scrub(finder, names, choices)
    unnamed = sum(scrub.write(file, to) is None for file in files)
    if not ask.rehearsed:
        mapping.remember(first.session, names.mapping())
    gone = reduce(add, (one.gone for one in drawings[1:]), first.gone) + Gone(files=unnamed)
    return Cleaned(report(ask.rules.version, (one.match for one in found), choices, gone), choices, names.mapping())


def _signers(files: Sequence[File]) -> set[str]:
    """The names that git signs with, by what the logs say."""
    names: set[str] = set()
    for file in files:
        if file.kind == "log":
            with file.path.open("rb") as lines:
                names |= signers(lines)
    return names
