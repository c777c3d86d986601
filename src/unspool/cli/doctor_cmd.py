"""`unspool doctor`: what endangers sessions, and how to mend it."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import options, settings
from unspool.cli.output import console, print_json, printable_data
from unspool.errors import UnspoolError

if TYPE_CHECKING:
    from unspool.store.sync.doctor_scene import DoctorFinding, Level

_WORDS: "dict[Level, str]" = {
    "bad": "Something must be done",
    "warn": "Worth a look",
    "note": "Good to know",
    "ok": "All well",
}
_STYLES: "dict[Level, str]" = {"bad": "bold red", "warn": "yellow", "note": "cyan", "ok": "green"}
_LISTED = 5
"""Details that are printed of each finding; `--json` has all."""


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every path.")
@options.named_sources
@options.archive
def command(as_json: bool, source: tuple[Path, ...], archive: Path) -> None:
    """Tell what is at risk, and how to mend it.

    \b
    unspool doctor                 look at your sessions and the archive
    unspool doctor --json | jq '.findings[] | select(.level == "bad")'

    It tells what Claude Code will delete by itself and when, what is not kept yet, logs that stopped growing while
    their session runs, what cannot be read, and which sessions are gone already. It writes nothing. The exit code
    is 1 where something must be done, 0 otherwise.
    """
    from unspool.store.sync.doctor import diagnose

    try:
        key = options.key_of(archive)
    except UnspoolError:  # that the archive cannot be read is a finding like others
        key = None
    findings = tuple(diagnose(settings.chosen_sources(source), archive, datetime.now(UTC), key))
    if as_json:
        print_json({"findings": findings})
    else:
        _print(findings)
    if any(finding.level == "bad" for finding in findings):
        sys.exit(1)


def _print(findings: "tuple[DoctorFinding, ...]") -> None:
    from rich.text import Text

    to = console()
    groups = [(level, [one for one in findings if one.level == level]) for level in _WORDS]
    for level, group in ((level, group) for level, group in groups if group):
        to.print(Text(_WORDS[level], _STYLES[level]))
        for finding in group:
            to.print(Text("\n".join(_lines(finding))), soft_wrap=True)
        to.print()


def _lines(finding: "DoctorFinding") -> list[str]:
    """A finding in lines that cannot drive the terminal."""
    from unspool.render.sanitize import one_line

    def safe(text: str) -> str:
        return one_line(printable_data(text))

    found = [f"  {safe(finding.message)}"]
    if finding.level != "ok":
        found += [f"      {safe(detail)}" for detail in finding.details[:_LISTED]]
        if len(finding.details) > _LISTED:
            found.append(f"      and {len(finding.details) - _LISTED:,} more")
    if finding.remedy:
        found.append(f"    → {safe(finding.remedy)}")
    return found
