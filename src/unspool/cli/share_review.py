"""Findings reviewed at the terminal, and a session sent to a hub."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from unspool import human
from unspool.cli import hub_options
from unspool.cli import options as typed
from unspool.cli.output import say_line
from unspool.errors import UsageProblem
from unspool.render.sanitize import one_line

if TYPE_CHECKING:
    from unspool.hub_client.client import HubClient, UploadOptions
    from unspool.redact.replacements import SecretFinding
    from unspool.share.choices import ShareChoices
    from unspool.share.prepare import PreparedShare


_AROUND = 60
_SHOWN = 4
_WAYS = "[a]ccept  [k]eep  accept all of this [r]ule  accept [e]verything  [q]uit"


class ReviewedValue(NamedTuple):
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


def values_to_review(findings: "Sequence[SecretFinding]") -> list[ReviewedValue]:
    """What was found, each value once, in the order it stands; neither line nor context where there are many."""
    from unspool.share.choices import finding_id

    found: dict[str, list[SecretFinding]] = {}
    for one in findings:
        found.setdefault(finding_id(one.match.rule, one.match.value), []).append(one)
    return [_value(name, ones) for name, ones in found.items()]


def _value(name: str, findings: "list[SecretFinding]") -> ReviewedValue:
    first = findings[0]
    match = first.match
    shown = f"{match.value[:_SHOWN]}…" if match.kind == "secret" else match.value
    before, after = one_line(f"{first.before}⟦")[-_AROUND:], one_line(f"⟧{first.after}")[:_AROUND]
    where = f"{first.path} in {first.log}" if "/" in first.log else first.path
    return ReviewedValue(
        name, match.rule, match.kind, one_line(shown)[:80], len(findings), first.line, one_line(where), before, after
    )


def review_values(findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
    """The choices after a person has judged each value; click.Abort where they would rather not share."""
    from msgspec.structs import replace

    keep, accepted = set(choices.keep), set[str]()
    left = [value for value in values_to_review(findings) if value.rule not in keep and value.id not in keep]
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


def _show(value: ReviewedValue, number: int, total: int) -> None:
    places = human.count(value.places, "place")
    say_line(f"\n{number} of {total}  {value.rule} ({value.kind}), {places}, first in line {value.line}", err=True)
    say_line(f"  {value.path}", err=True)
    say_line(f"  {value.before}{value.shown}{value.after}", err=True)


def _answer() -> str:
    click.echo(f"  {_WAYS}", err=True)
    answer = click.prompt(
        "  ",
        default="a",
        show_default=False,
        prompt_suffix="> ",
        err=True,
        type=click.Choice(list("akreq")),
        show_choices=False,
    )
    if answer == "q":
        raise click.Abort
    return str(answer)


def review_summary(listed: Sequence[ReviewedValue]) -> list[str]:
    """The values as lines: id, rule, places, what is seen of it."""
    return [f"  {one.id}  {one.rule:28} {human.count(one.places, 'place'):>12}  {one.shown}" for one in listed]


_USUAL = "-"
OPTIONS = [
    click.option(
        "--hub", is_flag=False, flag_value=_USUAL, metavar="[URL]", help="Show it on a hub; the one signed in to last."
    ),
    click.option("--password-file", metavar="FILE", help="With --hub: ask readers for its first line; -: typed."),
    click.option("--expires", metavar="WHEN", help="With --hub: when it ends, such as 12h, 7d, 2030-01-31."),
    click.option("--raw/--no-raw", default=None, help="With --hub: whether the session can be downloaded."),
    click.option("--listed/--unlisted", default=None, help="With --hub: whether all of the hub find it."),
    click.option("--update", default="", metavar="ADDRESS", help="With --hub: in place of what is there."),
]


class HubTarget(NamedTuple):
    """How a hub is to show it."""

    hub: str | None
    password_file: str | None
    expires: str | None
    raw: bool | None
    listed: bool | None
    update: str

    @property
    def url(self) -> str:
        """The hub that is named; empty for the usual one."""
        return "" if self.hub in (None, _USUAL) else str(self.hub)

    def check(self, form: str | None) -> None:
        """UsageProblem where it cannot be shown like that."""
        if self.hub is None and any(value not in (None, "") for value in self[1:]):
            raise UsageProblem(
                "--password-file, --expires, --raw, --listed and --update say how a hub shows it: add --hub."
            )
        if self.hub is not None and form is not None:
            raise UsageProblem(f"--hub and --{form} are two shares: make them one after the other.")
        if self.update:
            from unspool.hub_client.client import share_name

            share_name(self.update)


class HubSending(NamedTuple):
    """A hub that is ready to be sent something."""

    client: "HubClient"
    options: "UploadOptions"
    update: str

    def sent(self, share: "PreparedShare") -> list[str]:
        """Send it; where it is."""
        from unspool.files import scratch_folder
        from unspool.hub_client.client import upload_share
        from unspool.share.publish import write_bundle

        with scratch_folder() as folder:
            bundle = write_bundle(share, folder / "bundle.tar.gz")
            return [upload_share(self.client, bundle, self.options, self.update).url]


def hub_sending(placed: HubTarget) -> HubSending:
    """The hub that is meant, before anything is judged: nobody works in vain for one that does not let them in."""
    from unspool.hub_client.client import UploadOptions

    client = hub_options.hub_client(placed.url)
    client.ask("GET", "/api/me")
    password = (
        typed.read_secret(placed.password_file, "Password of the share", twice=True) if placed.password_file else None
    )
    options = UploadOptions(password=password, expires=placed.expires, raw=placed.raw, listed=placed.listed)
    return HubSending(client, options, placed.update)
