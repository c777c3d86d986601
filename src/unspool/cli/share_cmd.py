"""`unspool share`: a session shown to others, without what must not leave, once its findings were judged."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from unspool import human
from unspool.cli import hub_options, options
from unspool.cli.output import is_interactive, print_result, progress, say_line
from unspool.errors import NotFound, UsageProblem
from unspool.render.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unspool.redact.replacements import SecretFinding
    from unspool.redact.rules import RuleSet
    from unspool.share.choices import ShareChoices
    from unspool.share.encryption import ShareSecret
    from unspool.share.prepare import PreparedShare
    from unspool.store.library import Library


_AROUND = 60
_SHOWN = 4
_PLACES = 4
"""Surroundings of a value that are shown."""
_WAYS = "[a]ccept  [k]eep  accept all of this [r]ule  accept [e]verything  [q]uit"


class ReviewedValue(NamedTuple):
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
    others: tuple[str, ...] = ()
    """Other surroundings, each once."""


def values_to_review(findings: "Sequence[SecretFinding]") -> list[ReviewedValue]:
    """What was found, each value once, in the order it stands; neither line nor context where there are many."""
    from unspool.share.choices import finding_id

    found: dict[str, list[SecretFinding]] = {}
    for one in findings:
        found.setdefault(finding_id(one.match.rule, one.match.value), []).append(one)
    return [_reviewed(name, ones) for name, ones in found.items()]


def _reviewed(name: str, findings: "list[SecretFinding]") -> ReviewedValue:
    first = findings[0]
    match = first.match
    shown = f"{match.value[:_SHOWN]}…" if match.kind == "secret" else match.value
    around = dict.fromkeys(map(_around, findings))
    before, after = next(iter(around))
    shown = one_line(shown)[:80]
    others = tuple(f"{one}{shown}{two}" for one, two in list(around)[1:_PLACES])
    where = f"{first.path} in {first.log}" if "/" in first.log else first.path
    places = len(findings)
    return ReviewedValue(
        name, match.rule, match.kind, shown, places, first.line, one_line(where), before, after, others
    )


def _around(finding: "SecretFinding") -> tuple[str, str]:
    return one_line(f"{finding.before}⟦")[-_AROUND:], one_line(f"⟧{finding.after}")[:_AROUND]


def review_values(findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
    """The choices after a person has judged each value; click.Abort where they would rather not share."""
    from msgspec.structs import replace

    from unspool.redact.spread import ASKED

    keep, accepted, answers = set(choices.keep), set[str](), click.Choice(list("akreq"))
    spread = set(choices.spread)
    left = [value for value in values_to_review(findings) if value.rule not in keep and value.id not in keep]
    for number, value in enumerate(left, 1):
        if value.rule in accepted:
            spread |= {value.id} if value.rule in ASKED else set()
            continue
        where = f"{human.count(value.places, 'place')}, first in line {value.line}"
        say_line(f"\n{number} of {len(left)}  {value.rule} ({value.kind}), {where}", err=True)
        around = "\n  ".join((f"{value.before}{value.shown}{value.after}", *value.others))
        say_line(f"  {value.path}\n  {around}\n  {_WAYS}", err=True)
        usual = "k" if value.rule in ASKED else "a"
        answer = click.prompt(
            "  ", usual, type=answers, show_default=False, show_choices=False, prompt_suffix="> ", err=True
        )
        if answer == "q":
            raise click.Abort
        if answer == "e":
            break
        if answer == "r":
            accepted.add(value.rule)
        if value.rule in ASKED:
            spread = spread - {value.id} if answer == "k" else spread | {value.id}
        elif answer == "k":
            keep.add(value.id)
    return replace(choices, keep=frozenset(keep), spread=frozenset(spread))


Form = Literal["html", "site", "bundle", "gist"]


class LeftOut(NamedTuple):
    """What is asked to be left out; None: as it was chosen for the project before."""

    without: tuple[tuple[int, int], ...]
    thinking: bool | None
    tools: bool | None
    images: bool | None
    subagents: bool | None
    terms: tuple[str, ...]
    keep: tuple[str, ...]
    personal: str | None
    fresh: bool

    def choices(self, project: str) -> "ShareChoices":
        """These choices over those that were made for the project before."""
        from msgspec.structs import replace

        from unspool.share.choices import ShareChoices, load_choices

        before = ShareChoices() if self.fresh else load_choices(project)
        kinds = {"thinking": self.thinking, "tools": self.tools, "images": self.images, "subagents": self.subagents}
        return replace(
            before,
            without=self.without,
            terms=tuple(dict.fromkeys((*before.terms, *self.terms))),
            keep=before.keep | set(self.keep),
            **{name: wanted for name, wanted in kinds.items() if wanted is not None},
        )


class ShareTarget(NamedTuple):
    form: Form | None
    path: Path | None
    title: str
    url: str
    public: bool
    encrypt: bool
    passphrase_file: str
    placed: hub_options.HubTarget


class ShareManner(NamedTuple):
    yes: bool
    dry_run: bool
    as_json: bool
    chain: bool


_LEFT = [
    click.option("--without", callback=options.turn_ranges, metavar="TURNS", help="Leave whole turns out: 3,7..9."),
    click.option("--thinking/--no-thinking", default=None, help="Whether reasoning is shared."),
    click.option("--tools/--no-tools", default=None, help="Whether what tools answered is shared."),
    click.option("--images/--no-images", default=None, help="Whether pictures are shared."),
    click.option("--subagents/--no-subagents", default=None, help="Whether subagents' conversations are shared."),
    click.option("--term", "terms", multiple=True, metavar="WORD", help="Replace this word too. May be repeated."),
    click.option("--keep", multiple=True, metavar="RULE|ID", help="Let this stay: a rule, or one finding by its id."),
    options.personal,
    click.option("--fresh", is_flag=True, help="Do not use what was chosen for this project before."),
]
_TARGET = [
    click.option("--html", "form", flag_value="html", help="One HTML file that needs nothing else."),
    click.option("--site", "form", flag_value="site", help="A folder of pages."),
    click.option("--bundle", "form", flag_value="bundle", help="One file that `unspool import` goes on with."),
    click.option("--gist", "form", flag_value="gist", help="A secret gist, through gh."),
    click.option("-o", "--output", "path", metavar="PATH", type=options.PATH, help="Where it goes."),
    click.option("--title", default="", metavar="TEXT", help="What it is called."),
    click.option("--url", default="", metavar="URL", help="Where a folder will be found, for link previews."),
    click.option("--public", is_flag=True, help="Make the gist a public one."),
    click.option("--encrypt", is_flag=True, help="With --html or --site: only its key opens it, which is printed."),
    click.option("--passphrase-file", default="", metavar="FILE", help="Encrypt with its first line; -: typed."),
]
_MANNER = [
    click.option("--chain", is_flag=True, help="Share the sessions before and after it, too."),
    click.option("-y", "--yes", is_flag=True, help="Replace everything found, without asking."),
    click.option("-n", "--dry-run", is_flag=True, help="Tell what is found; make nothing."),
    click.option("--json", "as_json", is_flag=True, help="Tell as JSON."),
]


def _target(**given: Any) -> ShareTarget:
    placed = hub_options.HubTarget(**{name: given.pop(name) for name in hub_options.HubTarget._fields})
    return ShareTarget(**given, placed=placed)


def _check(target: ShareTarget, manner: ShareManner) -> None:
    """UsageProblem where what is asked for cannot be made."""
    target.placed.check(target.form)
    if target.form is None and target.placed.hub is None and not manner.dry_run:
        raise UsageProblem(
            "Say what to make: --html, --site, --bundle, --gist or --hub; --dry-run tells what is found."
        )
    if target.form in ("html", "site") and target.path is None and not manner.dry_run:
        raise UsageProblem(f"--{target.form} needs -o: where it goes.")
    if target.form == "gist" and target.path is not None:
        raise UsageProblem("A gist goes to no file: leave -o out.")
    if target.public and target.form != "gist":
        raise UsageProblem("--public says something of a gist: add --gist.")
    if (target.encrypt or target.passphrase_file) and target.form not in ("html", "site"):
        raise UsageProblem("What is encrypted are pages: add --html or --site.")


@click.command("share")
@click.argument("session")
@options.as_argument("target", _target, *_TARGET, *hub_options.SHARE_OPTIONS)
@options.as_argument("left", LeftOut, *_LEFT)
@options.as_argument("manner", ShareManner, *_MANNER)
@options.sources
def command(session: str, left: LeftOut, target: ShareTarget, manner: ShareManner, library: "Library") -> None:
    """Show a session to others, without what must not leave.

    \b
    unspool share 3f2a --dry-run                    what is found in it: keys, names, addresses, home folders
    unspool share 3f2a --html -o talk.html          one file to mail, once you have judged each finding
    unspool share 3f2a --html -o talk.html --encrypt
                                                    the same, opened only by the link that is printed
    unspool share 3f2a --site -o talk/ --no-tools   a folder of pages, without what tools answered
    unspool share 3f2a --site -o talk/ --chain      with the sessions before and after it
    unspool share 3f2a --bundle --yes               a file that `unspool import` goes on with; all found is replaced
    unspool share 3f2a --gist --without 3,7..9      a secret gist, without these turns
    unspool share 3f2a --hub --expires 7d           on your team's hub, at a link that nobody can guess
    unspool share latest --hub --follow             the same, which grows with the session until Ctrl-C
    unspool share 3f2a --html -o x.html --term Acme --keep email

    Everything is made from lines in which what was found is replaced already: the same by the same, so that the
    session still reads and resumes. What replaced what stays on this machine. On a terminal each finding is shown
    first; elsewhere nothing is made unless --yes accepts them all. Choices are remembered for the project. The turn
    that shares a session is no part of what is shared, nor are branches that were left.
    """
    from unspool.share.choices import ShareSettings, save_choices
    from unspool.share.prepare import prepare_shares, sessions_of_chain, work_of

    _check(target, manner)
    names = sessions_of_chain(library, session) if manner.chain else [library.resolve(session)]
    followed = hub_options.followed_log(library, names[0]) if target.placed.follow else None
    secret = _secret(target)
    send = hub_options.hub_sender(target.placed) if target.placed.hub is not None and not manner.dry_run else None
    with ExitStack() as drawn:
        advance = drawn.enter_context(progress(work_of(names), "Looking for secrets"))
        review = _Review(manner, left.keep, options.redaction_rules(left.personal), drawn.close)
        wanted = ShareSettings(
            left.choices, review.rules, target.title, review, rehearsed=manner.dry_run, advance=advance
        )
        share = drawn.enter_context(prepare_shares(library, names, wanted))
        made = [] if manner.dry_run else [send(share).url] if send else _made(share, target, library, secret)
        if not manner.dry_run:
            save_choices(share.project, share.choices)
    _tell(share, made, review, manner)
    if followed is not None and send is not None:
        again = ShareSettings(lambda _: share.choices, review.rules, target.title)
        hub_options.follow_share(library, followed, names, again, send)


class _Review:
    """Has findings judged, and keeps them for what is told at the end."""

    def __init__(
        self, manner: ShareManner, keep: tuple[str, ...], rules: "RuleSet", looked_through: "Callable[[], None]"
    ) -> None:
        self._manner, self._keep, self.rules, self._looked_through = manner, keep, rules, looked_through
        self.findings: Sequence[SecretFinding] = ()

    def __call__(self, findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
        self.findings = findings
        self._looked_through()
        self._check()
        if self._manner.yes or self._manner.dry_run:
            return choices
        if not is_interactive():
            raise UsageProblem(
                "Nothing was made: there is no terminal to show what was found on. --dry-run lists it, --yes replaces "
                "all of it."
            )
        return review_values(findings, choices)

    def _check(self) -> None:
        """NotFound where something is to be kept that is neither a rule nor was found: it may be misspelt."""
        from unspool.share.choices import finding_id

        found = {rule.id for rule in self.rules.rules} | {one.match.rule for one in self.findings}
        found |= {finding_id(one.match.rule, one.match.value) for one in self.findings}
        if unknown := [name for name in self._keep if name not in found]:
            known = ", ".join(sorted({one.match.rule for one in self.findings})) or "nothing"
            raise NotFound(f"Nothing found is called “{unknown[0]}”, so it cannot be kept. Found: {known}.")


def _secret(target: ShareTarget) -> "ShareSecret | None":
    """What will open it, asked for before anything is judged; None where it is not encrypted."""
    from unspool.share.encryption import passphrase, random_key

    if target.passphrase_file:
        return passphrase(options.read_secret(target.passphrase_file, "Passphrase", twice=True))
    return random_key() if target.encrypt else None


def _made(share: "PreparedShare", target: ShareTarget, library: "Library", secret: "ShareSecret | None") -> list[str]:
    """Make what was asked for; where it is."""
    from unspool.share import publish
    from unspool.site.options import SiteOptions

    path = target.path or Path()
    pages = publish.SharePages(share, SiteOptions(), library.prices, target.url)
    match target.form:
        case "html" | "site" if secret is not None:
            file = publish.write_encrypted(share, library.prices, path, secret, folder=target.form == "site")
            if secret.how == "passphrase":
                return [str(file)]
            key = f"Key: {secret.fragment} goes behind its address, wherever it is put; without it nobody can open it."
            return [str(file), f"Link: {file.resolve().as_uri()}{secret.fragment}", key]
        case "html":
            return [str(page) for page in pages.write_file(path)]
        case "site":
            return [str(pages.write_folder(path))]
        case "bundle":
            return [str(publish.write_bundle(share, target.path or Path(f"{share.main.session.id[:8]}.tar.gz")))]
        case _:
            gist = publish.publish_share_gist(share, SiteOptions(), library.prices, public=target.public)
            return [f"Gist: {gist.address}", f"Preview: {gist.preview}"]


def _tell(share: "PreparedShare", made: list[str], review: _Review, manner: ShareManner) -> None:
    listed = values_to_review(review.findings)
    found = [f"  {one.id}  {one.rule:28} {human.count(one.places, 'place'):>12}  {one.shown}" for one in listed]
    summary = (found or ["  Nothing was found."]) if manner.dry_run else []
    data = {"made": made, "report": share.report, "findings": [one._asdict() for one in listed]}
    print_result(data, [*made, *summary], as_json=manner.as_json)
    if not manner.as_json:
        note = share.report.note()
        say_line(f"If it were shared: {note}" if manner.dry_run else note, err=bool(made))
