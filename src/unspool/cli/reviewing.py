"""Findings shown to a person at a terminal, one value at a time, to be replaced or kept."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from unspool import human
from unspool.cli import keeping
from unspool.export.inert import one_line

if TYPE_CHECKING:
    from unspool.redact.match import Finding
    from unspool.share.choices import Choices

_AROUND = 60
_SHOWN = 4
_WAYS = "[a]ccept  [k]eep  accept all of this [r]ule  accept [e]verything  [q]uit"


class Value(NamedTuple):
    """One value that was found, wherever it stands."""

    id: str
    rule: str
    kind: str
    shown: str
    """Enough of it to know it by; of a secret, its first characters."""
    places: int
    line: int
    path: str
    before: str
    after: str
    """Words around its first place, with the brackets that it stands in."""


def values(findings: "Sequence[Finding]") -> list[Value]:
    """What was found, each value once, in the order it stands; neither line nor context where there are many."""
    from unspool.share.choices import finding_id

    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(finding_id(one.match.rule, one.match.value), []).append(one)
    return [_value(name, ones) for name, ones in found.items()]


def _value(name: str, findings: "list[Finding]") -> Value:
    first = findings[0]
    match = first.match
    shown = f"{match.value[:_SHOWN]}…" if match.kind == "secret" else match.value
    before, after = one_line(f"{first.before}⟦")[-_AROUND:], one_line(f"⟧{first.after}")[:_AROUND]
    where = f"{first.path} in {first.log}" if "/" in first.log else first.path
    return Value(
        name, match.rule, match.kind, one_line(shown)[:80], len(findings), first.line, one_line(where), before, after
    )


def reviewed(findings: "Sequence[Finding]", choices: "Choices") -> "Choices":
    """The choices after a person has judged each value; click.Abort where they would rather not share."""
    from msgspec.structs import replace

    keep, accepted = set(choices.keep), set[str]()
    left = [value for value in values(findings) if value.rule not in keep and value.id not in keep]
    for number, value in enumerate(left, 1):
        if value.rule in accepted:
            continue
        _show(value, number, len(left))
        answer = _answer()
        if answer == "k":
            keep.add(value.id)
        elif answer == "r":
            accepted.add(value.rule)
        elif answer == "e":
            break
    return replace(choices, keep=frozenset(keep))


def _show(value: Value, number: int, total: int) -> None:
    places = human.count(value.places, "place")
    keeping.say(f"\n{number} of {total}  {value.rule} ({value.kind}), {places}, first in line {value.line}", err=True)
    keeping.say(f"  {value.path}", err=True)
    keeping.say(f"  {value.before}{value.shown}{value.after}", err=True)


def _answer() -> str:
    click.echo(f"  {_WAYS}", err=True)
    answer = click.prompt(
        "  ", default="a", show_default=False, prompt_suffix="> ", err=True, type=click.Choice(list("akreq")),
        show_choices=False,
    )  # fmt: skip
    if answer == "q":
        raise click.Abort
    return str(answer)


def told(listed: Sequence[Value]) -> list[str]:
    """The values as lines: id, rule, places, what is seen of it."""
    return [f"  {one.id}  {one.rule:28} {human.count(one.places, 'place'):>12}  {one.shown}" for one in listed]
