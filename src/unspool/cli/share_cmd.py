"""`unspool share`: a session shown to others, without what must not leave."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from unspool.cli import options, share_review
from unspool.cli.output import print_json, say_line
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.redact.replacements import SecretFinding
    from unspool.redact.rules import RuleSet
    from unspool.share.choices import ShareChoices, ShareSettings
    from unspool.share.encryption import ShareSecret
    from unspool.share.prepare import PreparedShare
    from unspool.store.library import Library


def secret_of(passphrase_file: str) -> "ShareSecret":
    """A fresh key where no file is named; else the passphrase that is its first line, `-` being asked for."""
    from unspool.share.encryption import passphrase, random_key

    return (
        passphrase(options.read_secret(passphrase_file, "Passphrase", twice=True)) if passphrase_file else random_key()
    )


def encrypted_lines(file: Path, secret: "ShareSecret") -> list[str]:
    """Where the file is and how it is opened, a line each."""
    if secret.how == "passphrase":
        return [str(file)]
    return [
        str(file),
        f"Link: {file.resolve().as_uri()}{secret.fragment}",
        f"Key: {secret.fragment} goes behind its address, wherever it is put; without it nobody can open it.",
    ]


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
            **{name: said for name, said in kinds.items() if said is not None},
        )


class ShareTarget(NamedTuple):
    """What is made, and where it goes."""

    form: Form | None
    path: Path | None
    title: str
    url: str
    public: bool
    encrypt: bool
    passphrase_file: str
    placed: share_review.HubTarget


class ShareManner(NamedTuple):
    """How it is asked and told."""

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
    click.option("--fresh", is_flag=True, help="Do not use what was chosen for this project before."),
]
_TARGET = [
    click.option("--html", "form", flag_value="html", help="One HTML file that needs nothing else."),
    click.option("--site", "form", flag_value="site", help="A folder of pages."),
    click.option("--bundle", "form", flag_value="bundle", help="One file that `unspool import` goes on with."),
    click.option("--gist", "form", flag_value="gist", help="A secret gist, through gh."),
    click.option("-o", "--output", "path", metavar="PATH", type=click.Path(path_type=Path), help="Where it goes."),
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
    placed = share_review.HubTarget(**{name: given.pop(name) for name in share_review.HubTarget._fields})
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
@options.as_argument("target", _target, *_TARGET, *share_review.OPTIONS)
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
    unspool share 3f2a --html -o x.html --term Acme --keep email

    Everything is made from lines in which what was found is replaced already: the same by the same, so that the
    session still reads and resumes. What replaced what stays on this machine. On a terminal each finding is shown
    first; elsewhere nothing is made unless --yes accepts them all. Choices are remembered for the project. The turn
    that shares a session is no part of what is shared, nor are branches that were left.
    """
    from unspool.share.choices import save_choices
    from unspool.share.prepare import prepare_shares, sessions_of_chain

    _check(target, manner)
    names = sessions_of_chain(library, session) if manner.chain else [library.resolve(session)]
    seen, secret = _Seen(manner, left.keep), _secret(target)
    to = share_review.hub_sending(target.placed) if target.placed.hub is not None and not manner.dry_run else None
    with prepare_shares(library, names, _ask(left, target, seen)) as share:
        made = [] if manner.dry_run else to.sent(share) if to is not None else _made(share, target, library, secret)
        if not manner.dry_run:
            save_choices(share.project, share.choices)
    _tell(share, made, seen, manner)


class _Seen:
    """What a review was shown."""

    def __init__(self, manner: ShareManner, keep: tuple[str, ...]) -> None:
        self.manner, self._keep = manner, keep
        self.findings: Sequence[SecretFinding] = ()
        self.rules: RuleSet | None = None

    def review(self, findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
        from unspool.cli.share_review import review_values

        self.findings = findings
        self._check()
        if self.manner.yes or self.manner.dry_run:
            return choices
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageProblem(
                "Nothing was made: there is no terminal to show what was found on. --dry-run lists it, --yes replaces "
                "all of it."
            )
        return review_values(findings, choices)

    def _check(self) -> None:
        """NotFound where something is to be kept that is neither a rule nor was found: it may be misspelt."""
        from unspool.share.choices import finding_id

        found = {rule.id for rule in self.rules.rules} if self.rules is not None else set()
        found |= {one.match.rule for one in self.findings}
        found |= {finding_id(one.match.rule, one.match.value) for one in self.findings}
        if unknown := [name for name in self._keep if name not in found]:
            known = ", ".join(sorted({one.match.rule for one in self.findings})) or "nothing"
            raise NotFound(f"Nothing found is called “{unknown[0]}”, so it cannot be kept. Found: {known}.")


def _secret(target: ShareTarget) -> "ShareSecret | None":
    """What will open it, asked for before anything is judged; None where it is not encrypted."""
    if not target.encrypt and not target.passphrase_file:
        return None

    return secret_of(target.passphrase_file)


def _ask(left: LeftOut, target: ShareTarget, seen: _Seen) -> "ShareSettings":
    from unspool.config import config_folder
    from unspool.redact.rules import OWN, own_rules
    from unspool.share.choices import ShareSettings

    seen.rules = own_rules(config_folder() / OWN)
    return ShareSettings(left.choices, seen.rules, target.title, seen.review, rehearsed=seen.manner.dry_run)


def _made(share: "PreparedShare", target: ShareTarget, library: "Library", secret: "ShareSecret | None") -> list[str]:
    """Make what was asked for; where it is."""
    from unspool.share.publish import SharePages, write_bundle
    from unspool.site.options import SiteOptions

    pages = SharePages(share, SiteOptions(), library.prices, target.url)
    match target.form:
        case "html" | "site" if secret is not None:
            from unspool.share.publish import write_encrypted, write_encrypted_folder

            write = write_encrypted if target.form == "html" else write_encrypted_folder
            return encrypted_lines(write(share, library.prices, target.path or Path(), secret), secret)
        case "html":
            return [str(path) for path in pages.write_file(target.path or Path())]
        case "site":
            return [str(pages.write_folder(target.path or Path()))]
        case "bundle":
            path = target.path or Path(f"{share.main.session.id[:8]}.tar.gz")
            return [str(write_bundle(share, path))]
        case _:
            from unspool.share.publish import publish_share_gist

            gist = publish_share_gist(share, SiteOptions(), library.prices, public=target.public)
            return [f"Gist: {gist.address}", f"Preview: {gist.preview}"]


def _tell(share: "PreparedShare", made: list[str], seen: _Seen, manner: ShareManner) -> None:
    from unspool.cli.share_review import review_summary, values_to_review

    listed = values_to_review(seen.findings)
    if manner.as_json:
        data: dict[str, Any] = {"made": made, "report": share.report, "findings": [one._asdict() for one in listed]}
        print_json(data)
        return
    for line in made:
        say_line(line)
    if manner.dry_run:
        say_line("\n".join(review_summary(listed)) or "  Nothing was found.")
    told_of = f"If it were shared: {share.report.note()}" if manner.dry_run else share.report.note()
    say_line(told_of, err=bool(made))
