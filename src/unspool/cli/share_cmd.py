"""`unspool share`: a session shown to others, without what must not leave."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import hub_sharing, keeping, options, sharing
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.library import Library
    from unspool.redact.match import Finding
    from unspool.redact.rules import RuleSet
    from unspool.share.ask import Ask
    from unspool.share.choices import Choices
    from unspool.share.prepare import Share
    from unspool.share.sealing import Secret


@click.command("share")
@click.argument("session")
@sharing.asked
@options.sources
def command(
    session: str, left: sharing.Left, target: sharing.Target, manner: sharing.Manner, library: "Library"
) -> None:
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
    from unspool.share.chain import chained
    from unspool.share.choices import remember
    from unspool.share.prepare import prepared

    names = chained(library, session) if manner.chain else [library.resolve(session)]
    seen, secret = _Seen(manner, left.keep), _secret(target)
    to = hub_sharing.sending(target.placed) if target.placed.hub is not None and not manner.dry_run else None
    with prepared(library, names, _ask(left, target, seen)) as share:
        made = [] if manner.dry_run else to.sent(share) if to is not None else _made(share, target, library, secret)
        if not manner.dry_run:
            remember(share.project, share.choices)
    _tell(share, made, seen, manner)


class _Seen:
    """What a review was shown."""

    def __init__(self, manner: sharing.Manner, keep: tuple[str, ...]) -> None:
        self.manner, self._keep = manner, keep
        self.findings: Sequence[Finding] = ()
        self.rules: RuleSet | None = None

    def review(self, findings: "Sequence[Finding]", choices: "Choices") -> "Choices":
        from unspool.cli.reviewing import reviewed

        self.findings = findings
        self._check()
        if self.manner.yes or self.manner.dry_run:
            return choices
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageProblem(
                "Nothing was made: there is no terminal to show what was found on. --dry-run lists it, --yes replaces "
                "all of it."
            )
        return reviewed(findings, choices)

    def _check(self) -> None:
        """NotFound where something is to be kept that is neither a rule nor was found: it may be misspelt."""
        from unspool.share.choices import finding_id

        found = {rule.id for rule in self.rules.rules} if self.rules is not None else set()
        found |= {one.match.rule for one in self.findings}
        found |= {finding_id(one.match.rule, one.match.value) for one in self.findings}
        if unknown := [name for name in self._keep if name not in found]:
            known = ", ".join(sorted({one.match.rule for one in self.findings})) or "nothing"
            raise NotFound(f"Nothing found is called “{unknown[0]}”, so it cannot be kept. Found: {known}.")


def _secret(target: sharing.Target) -> "Secret | None":
    """What will open it, asked for before anything is judged; None where it is not encrypted."""
    if not target.encrypt and not target.passphrase_file:
        return None
    from unspool.cli.encrypting import secret_of

    return secret_of(target.passphrase_file)


def _ask(left: sharing.Left, target: sharing.Target, seen: _Seen) -> "Ask":
    from unspool.app.config.place import folder
    from unspool.redact.rules import OWN, own
    from unspool.share.ask import Ask

    seen.rules = own(folder() / OWN)
    return Ask(left.choices, seen.rules, target.title, seen.review, rehearsed=seen.manner.dry_run)


def _made(share: "Share", target: sharing.Target, library: "Library", secret: "Secret | None") -> list[str]:
    """Make what was asked for; where it is."""
    from unspool.share.bundle import write_bundle
    from unspool.share.pages import Pages
    from unspool.site.options import SiteOptions

    pages = Pages(share, SiteOptions(), library.prices, target.url)
    match target.form:
        case "html" | "site" if secret is not None:
            from unspool.cli.encrypting import told
            from unspool.share.locked import write_locked, write_locked_folder

            write = write_locked if target.form == "html" else write_locked_folder
            return told(write(share, library.prices, target.path or Path(), secret), secret)
        case "html":
            return [str(path) for path in pages.write_file(target.path or Path())]
        case "site":
            return [str(pages.write_folder(target.path or Path()))]
        case "bundle":
            path = target.path or Path(f"{share.main.session.id[:8]}.tar.gz")
            return [str(write_bundle(share, path))]
        case _:
            from unspool.share.gist import publish

            gist = publish(share, SiteOptions(), library.prices, public=target.public)
            return [f"Gist: {gist.address}", f"Preview: {gist.preview}"]


def _tell(share: "Share", made: list[str], seen: _Seen, manner: sharing.Manner) -> None:
    from unspool.cli.reviewing import told, values

    listed = values(seen.findings)
    if manner.as_json:
        data: dict[str, Any] = {"made": made, "report": share.report, "findings": [one._asdict() for one in listed]}
        keeping.print_json(data)
        return
    for line in made:
        keeping.say(line)
    if manner.dry_run:
        keeping.say("\n".join(told(listed)) or "  Nothing was found.")
    told_of = f"If it were shared: {share.report.note()}" if manner.dry_run else share.report.note()
    keeping.say(told_of, err=bool(made))
