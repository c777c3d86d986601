"""`unspool lint`: what keeps a session from being resumed."""

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from unspool.cli import options
from unspool.cli.output import print_json, say_line

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
    findings = _findings(session, library, strict=strict)
    wrong = [one for one in findings if one.severity == "error"]
    if as_json:
        print_json({"sound": not wrong, "findings": findings})
    else:
        _print(session, findings, strict=strict)
    if wrong:
        sys.exit(1)


def _findings(session: str, library: "Library", *, strict: bool) -> "list[LintFinding]":
    from unspool.copies.original import open_lines

    with open_lines(library, session) as (lines, writer):
        return writer.lint(lines, strict=strict)


def _print(session: str, findings: "list[LintFinding]", *, strict: bool) -> None:
    from unspool import human

    wrong = sum(one.severity == "error" for one in findings)
    shown: Counter[tuple[str, str]] = Counter()
    for one in findings:
        shown[one.severity, one.rule] += 1
        if shown[one.severity, one.rule] <= _LISTED:
            where = f"line {one.line}" if one.line else "the log"
            say_line(f"{where:<12}{one.severity:<9}{one.rule:<20}{one.message}")
    for (severity, rule), count in shown.items():
        if count > _LISTED:
            say_line(f"{'':<12}{severity:<9}{rule:<20}and {count - _LISTED:,} more; --json lists all.")
    if not wrong:
        odd = f" {human.count(len(findings), 'thing')} in it {_is(len(findings))} odd." if findings else ""
        say_line(f"Nothing keeps the session from being resumed.{odd}")
        return
    say_line(f"\n{human.count(wrong, 'error')}, {human.count(len(findings) - wrong, 'warning')}.")
    if not strict and any(one.severity == "error" and one.rule != "no-chain" for one in findings):
        say_line(f"`unspool repair {session}` writes a mended copy; `-n` shows what it would do.")


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
