"""`unspool lint`: what keeps a session from being resumed."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_result

if TYPE_CHECKING:
    from unspool.agents.writing import LintFinding
    from unspool.store.library import Library

_LISTED = 5
"""Findings of one rule that are printed; `--json` has all."""


@click.command("lint")
@click.argument("session", default="latest")
@click.option("--strict", is_flag=True, help="Hold it to what a copy made by `unspool clone` must be.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every finding.")
@options.sources
def command(session: str, strict: bool, as_json: bool, library: "Library") -> None:
    """Tell what keeps a session from being resumed, line by line.

    \b
    unspool lint                    the session you used last
    unspool lint 3f2a --json | jq '.findings[] | select(.severity == "error")'
    unspool lint copy.jsonl --strict

    An error keeps the session, or a part of it, from being resumed: torn lines, calls without a result, parents that
    are not there, pictures that are too large. A warning is odd and harmless. `unspool repair` writes a copy without
    the errors. Nothing is changed. The exit code is 1 where there is an error, 0 otherwise.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default.
    """
    from unspool.copies.original import open_lines

    with open_lines(library, session) as (lines, writer):
        findings = writer.lint(lines, strict=strict)
    wrong = sum(one.severity == "error" for one in findings)
    print_result(
        {"sound": not wrong, "findings": findings}, _lines(session, findings, wrong, strict=strict), as_json=as_json
    )
    if wrong:
        sys.exit(1)


def _lines(session: str, findings: "list[LintFinding]", wrong: int, *, strict: bool) -> Iterator[str]:
    shown: Counter[tuple[str, str]] = Counter()
    for one in findings:
        shown[one.severity, one.rule] += 1
        if shown[one.severity, one.rule] <= _LISTED:
            where = f"line {one.line}" if one.line else "the log"
            yield f"{where:<12}{one.severity:<9}{one.rule:<20}{one.message}"
    for (severity, rule), count in shown.items():
        if count > _LISTED:
            yield f"{'':<12}{severity:<9}{rule:<20}and {count - _LISTED:,} more; --json lists all."
    if not wrong:
        things = human.count(len(findings), "thing")
        odd = f" {things} in it {'is' if len(findings) == 1 else 'are'} odd." if findings else ""
        yield f"Nothing keeps the session from being resumed.{odd}"
        return
    yield f"\n{human.count(wrong, 'error')}, {human.count(len(findings) - wrong, 'warning')}."
    if not strict and any(one.severity == "error" and one.rule != "no-chain" for one in findings):
        yield f"`unspool repair {session}` writes a mended copy; `-n` shows what it would do."
