"""`unspool redact`: what in sessions must not leave, and a log without it."""

import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_json, say_line
from unspool.errors import Unreadable, UsageProblem
from unspool.files import write_atomically
from unspool.render.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from unspool.agents import FoundLog
    from unspool.redact.finder import Finder
    from unspool.redact.replacements import SecretFinding
    from unspool.redact.rules import RuleSet
    from unspool.share.audit import ArtefactPart
    from unspool.store.library import Library

_LISTED = 5
"""Values of one rule in one log that are printed; `--json` has all findings."""
_PLACES, _AROUND = 3, 40
"""Surroundings of a value that are printed, and characters of each on either side."""
_NEAR = 12
"""Words built on names that are printed."""
_IMAGE = re.compile(rb'"media_type": ?"image/')


class _Log(NamedTuple):
    session: str
    path: str
    findings: "list[SecretFinding]"
    pictures: int
    """Pictures among its lines, whose pixels nothing looked at."""
    binary: bool = False
    """Whether it is no text, so that what it holds was not looked at."""
    near: tuple[str, ...] = ()
    """Words of the whole session that are built on a name that was found."""


@click.command("redact")
@click.argument("session", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write the log without what was found.")
@click.option("--archive", "everything", is_flag=True, help="Look through all sessions, kept ones too; say where.")
@click.option("--term", "terms", multiple=True, metavar="WORD", help="Look for this too. May be given several times.")
@click.option("--secrets", is_flag=True, help="Tell only secrets, not names, addresses and home folders.")
@options.personal
@click.option(
    "--audit", metavar="ARTEFACT", help="Search a finished file, folder or address for what the session holds."
)
@click.option("--passphrase-file", default="-", metavar="FILE", help="With --audit: what opens it; -: typed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every finding.")
@options.sources
def command(session: str | None, output: str | None, everything: bool, library: "Library", **given: Any) -> None:
    """Tell what in a session must not leave: keys, passwords, names, addresses.

    \b
    unspool redact latest                       each value found, by rule, with its first line and place
    unspool redact 3f2a --term Acme --json
    unspool redact 3f2a -o clean.jsonl          the log without them; it still resumes
    unspool redact 3f2a --personal names,phones  of personal data, names and phone numbers alone
    unspool redact --archive --secrets          which of all your sessions hold keys, and where
    unspool redact --audit talk.html            whether anything of its session is left in what you made of it

    Keys are found through escapes, base64, line breaks and other disguises. What is found is never printed whole.
    In the log that -o writes, the same is replaced by the same, later too: digests of it are kept on this machine. Your
    own rules go into redact.toml beside the settings. What was found in one place is found in all others, in any
    encoding. --audit opens pages, bundles, sites and encrypted shares, finds their session by its id or takes the one
    that you name, prints where something of it still stands, and ends with 1 where it does; values that are short or
    words of everyday are not looked for, and are counted. Nothing is found with
    certainty: read what you give away.
    """
    rules, terms = options.redaction_rules(given["personal"]), given["terms"]
    if given["audit"]:
        if everything or output:
            raise UsageProblem("--audit searches one artefact: leave --archive and -o out.")
        _audit(session, library, rules, given)
        return
    if everything == bool(session) or (everything and output):
        raise UsageProblem("Name one session, or give --archive alone to look through all of them.")
    logs = _all(library, rules, terms) if everything else _one(library, session or "", output, rules, terms)
    kinds = {"secret", "term"} if given["secrets"] else {"secret", "term", "personal"}
    found = (log._replace(findings=[one for one in log.findings if one.match.kind in kinds]) for log in logs)
    if output == "-":
        list(found)  # the log has the output for itself
    elif given["as_json"]:
        print_json({"rules": rules.version, "logs": [_data(log) for log in found if log.findings]})
    else:
        _print(found, rules.version, everything=everything)


def _one(
    library: "Library", session: str, output: str | None, rules: "RuleSet", terms: tuple[str, ...]
) -> "Iterator[_Log]":
    """The log of a session, which is written without what is found where that is asked for, and what belongs to it."""
    from unspool.store.library.discover import recognise_lines

    found = library.resolve(session)
    if isinstance(found, str):
        lines = _lines(found)
        finder = _finder([lines], rules, terms)
        name = recognise_lines(lines, session).owner(lines) or session
        if output is not None:
            _write(name, lines, finder, output)
        log = _looked(name, found, lines, finder)
        yield log._replace(near=_near(log.findings, [lines]))
        return
    with library.located(found) as here:
        files = _files(found, here)
        finder = _finder([lines for _, lines in files], rules, terms)
        if output is not None:
            _write(found.session_id, _lines(here.path), finder, output)
        logs = [_looked(found.session_id, place, lines, finder) for place, lines in files]
        near = _near([one for log in logs for one in log.findings], [lines for _, lines in files])
        yield from (log._replace(near=near) for log in logs)


def _near(findings: "list[SecretFinding]", files: list[list[bytes]]) -> tuple[str, ...]:
    """Words of the files that are built on a name that was found in them."""
    from unspool.redact.spread import names_in, near_names
    from unspool.share.redact_files import words_with

    matches = [one.match for one in findings]
    words = words_with(names_in(matches), (b"".join(lines) for lines in files))
    return tuple(match.value for match in near_names(matches, words))


def _all(library: "Library", rules: "RuleSet", terms: tuple[str, ...]) -> "Iterator[_Log]":
    """Every log of every session, with what belongs to it."""
    for found in library.logs():
        with library.located(found) as here:
            files = _files(found, here)
            finder = _finder([lines for _, lines in files], rules, terms)
            yield from (_looked(found.session_id, place, lines, finder) for place, lines in files)


def _files(found: "FoundLog", here: "FoundLog") -> list[tuple[str, list[bytes]]]:
    """The files of a session, which are `here`, by where they are or were; what cannot be read is told."""
    agents = [agent.path for agent in here.agents]
    beside = (str(path) for path in sorted(here.home.rglob("*")) if path.is_file() and not path.is_symlink())
    files = []
    for path in dict.fromkeys([here.path, *agents, *beside]):
        place = path if here is found else os.path.join(found.root, os.path.relpath(path, here.root))  # noqa: PTH118
        try:
            files.append((place, _lines(path)))
        except (OSError, Unreadable) as error:
            say_line(f"unspool: {place} is left out: {error}", err=True)
    return files


def _audit(session: str | None, library: "Library", rules: "RuleSet", given: dict[str, Any]) -> None:
    """Say where an artefact still holds something that is found in its session; exit code 1 where it does."""
    from unspool.redact.spread import is_spread
    from unspool.share.audit import audit_parts, open_artefact

    parts = open_artefact(given["audit"], lambda what: options.read_secret(given["passphrase_file"], what))
    sessions = _sessions_of(parts, session, library)
    kinds = {"secret", "term"} if given["secrets"] else {"secret", "term", "personal"}
    logs = [log for one in sessions for log in _one(library, one, None, rules, given["terms"])]
    values = {one.match.value: one.match for log in logs for one in log.findings if one.match.kind in kinds}
    looked_for = [match for match in values.values() if is_spread(match)]
    result = audit_parts(parts, looked_for)
    if given["as_json"]:
        print_json(
            {
                "rules": rules.version,
                "sessions": sessions,
                "values": len(looked_for),
                "not_looked_for": len(values) - len(looked_for),
                "parts": result.parts,
                "not_looked_at": result.pictures,
                "leaks": result.leaks,
            }
        )
    else:
        for leak in result.leaks:
            say_line(f"{leak.id}  {leak.kind:<10}{leak.rule:<22}{leak.place}, at {leak.at:,}")
        left, of = len({leak.id for leak in result.leaks}), human.count(len(looked_for), "value")
        found = (
            f"{left:,} of {of} still {'stands' if left == 1 else 'stand'} there" if left else f"None of {of} is left"
        )
        say_line(f"{found}; {human.count(result.parts, 'part')} searched, rules {rules.version}.")
        if skipped := len(values) - len(looked_for):
            are = "is short or a word" if skipped == 1 else "are short or words"
            say_line(f"Not looked for: {human.count(skipped, 'value')} that {are}.")
        if result.pictures:
            say_line(f"Not looked at: the pixels of {human.count(len(result.pictures), 'picture')}.")
    if result.leaks:
        sys.exit(1)


def _sessions_of(parts: "list[ArtefactPart]", session: str | None, library: "Library") -> list[str]:
    """The session that is named, or those of this machine whose ids the artefact tells."""
    from unspool.share.audit import session_ids

    if session:
        return [session]
    here = {found.session_id for found in library.logs()}
    found = [one for one in session_ids(parts) if one in here]
    if not found:
        raise UsageProblem("Which session it was made of is not told in it, or that is not here: name the session.")
    return found


def _lines(path: str) -> list[bytes]:
    from unspool.store.library.inputs import open_log

    with open_log(path) as stream:
        return list(stream)


def _looked(session: str, path: str, lines: list[bytes], finder: "Finder") -> _Log:
    from unspool.redact.log import scan_lines

    pictures = sum(len(_IMAGE.findall(line)) for line in lines)
    binary = bool(lines) and b"\0" in lines[0][:4096]
    return _Log(session, path, list(scan_lines(lines, finder)), pictures, binary)


def _finder(files: "list[list[bytes]]", rules: "RuleSet", terms: tuple[str, ...]) -> "Finder":
    """Finds what files of a session hold, each value wherever it stands in any of them."""
    from unspool.redact.finder import Finder
    from unspool.redact.log import decode_line, matches_in_lines
    from unspool.redact.rules import PersonalNames, git_signers
    from unspool.redact.spread import spread_values

    values = (decode_line(line) for lines in files for line in lines if b'"cwd"' in line)
    folders = {value["cwd"] for value in values if isinstance(value, dict) and isinstance(value.get("cwd"), str)}
    signers = {name for lines in files for name in git_signers(lines)}
    finder = Finder(rules, PersonalNames.of(os.environ, folders, signers), terms)
    return spread_values(finder, (match for lines in files for match in matches_in_lines(lines, finder)))


def _write(session: str, lines: list[bytes], finder: "Finder", output: str) -> None:
    """The log without what was found; what replaced what stays in the user's own folder."""
    from unspool.redact.log import redact_lines
    from unspool.share import choices
    from unspool.share.select_files import file_stem
    from unspool.store.library.discover import recognise_lines

    session = file_stem(session)  # as a share of it calls it: the same is replaced by the same in both
    names = choices.named_by(choices.load_replacements(session))
    writer = recognise_lines(lines, session).writer
    shared = lines if writer is None else [line for line in lines if not writer.is_request_record(line)]
    made = list(redact_lines(shared, finder, names))
    choices.save_replacements(session, names.mapping())
    if output == "-":
        sys.stdout.buffer.writelines(made)
    else:
        write_atomically(Path(output), made)
        say_line(output, err=True)


def _print(logs: "Iterable[_Log]", rules: str, *, everything: bool) -> None:
    """Each value once, in one session or in each log of all, with its surroundings; then what was not looked at."""
    kinds: Counter[str] = Counter()
    found: list[SecretFinding] = []
    pictures, binary, main = 0, 0, ""
    near: dict[str, None] = {}
    for log in logs:
        pictures, binary = pictures + log.pictures, binary + log.binary
        kinds.update(one.match.kind for one in log.findings)
        near |= dict.fromkeys(log.near)
        found += (one._replace(log=log.path) for one in log.findings)
        if everything and found:
            say_line(f"{log.session}  {log.path}")
            _print_values(found, log.path)
            found = []
        main = main or log.path
    skipped = _print_values(found, main)
    counted = human.joined(*(f"{count:,} {kind}" for kind, count in kinds.most_common()))
    say_line(f"\n{counted}" if kinds else "Nothing was found.")
    if near:
        say_line(f"Built on a name, and staying unless --term says it: {', '.join(list(near)[:_NEAR])}.")
    if skipped:
        are = "it is short or a word" if skipped == 1 else "they are short or words"
        say_line(f"Looked for only where a rule finds it: {human.count(skipped, 'value')}, since {are}.")
    unseen = [f"the pixels of {human.count(pictures, 'picture')}"] if pictures else []
    unseen += [f"what {human.count(binary, 'binary file')} {'hold' if binary > 1 else 'holds'}"] if binary else []
    say_line(f"Rules {rules}." + (f" Not looked at: {' and '.join(unseen)}." if unseen else ""))


def _print_values(findings: "list[SecretFinding]", log: str) -> int:
    """Print each value once, with how often it stands in a log and where else; gives how many are not looked for
    everywhere."""
    from unspool.redact.spread import is_spread

    values: dict[tuple[str, str], list[SecretFinding]] = {}
    for one in findings:
        values.setdefault((one.match.rule, one.match.value), []).append(one)
    shown: Counter[str] = Counter()
    for (rule, _), ones in values.items():
        shown[rule] += 1
        if shown[rule] <= _LISTED:
            _print_value(ones, log)
    for rule, count in shown.items():
        if count > _LISTED:
            say_line(f"{'':<12}{'':<10}{rule:<22}and {count - _LISTED:,} more; --json lists all.")
    return sum(not is_spread(ones[0].match) for ones in values.values())


def _print_value(findings: "list[SecretFinding]", log: str) -> None:
    """A value with its first place, and each of its surroundings once."""
    one, masked = findings[0], mask_secret(findings[0])
    more = f", {human.count(len(findings), 'place')}" if len(findings) > 1 else ""
    where, other = f"line {one.line}", f" in {one.log}" if one.log != log else ""
    say_line(f"{where:<12}{one.match.kind:<10}{one.match.rule:<22}{masked:<10}{one.path}{more}{other}")
    around = dict.fromkeys(
        (one_line(f"{each.before}⟦")[-_AROUND:], one_line(f"⟧{each.after}")[:_AROUND]) for each in findings
    )
    for before, after in list(around)[:_PLACES]:
        if (before, after) != ("⟦", "⟧"):
            say_line(f"{'':<12}{before}{masked}{after}")
    for place in dict.fromkeys(each.log for each in findings if each.log not in (log, one.log)):
        say_line(f"{'':<12}also in {place}")


def mask_secret(finding: "SecretFinding") -> str:
    value = finding.match.value
    return f"{value[:4] if len(value) >= 16 else value[:1]}…"


def _data(log: _Log) -> dict[str, Any]:
    findings = []
    for one in log.findings:
        found = {"rule": one.match.rule, "kind": one.match.kind, "line": one.line, "place": one.path}
        findings.append({**found, "masked": mask_secret(one), "length": len(one.match.value)})
    told = {"session": log.session, "path": log.path, "findings": findings}
    return {**told, "pictures_not_looked_at": log.pictures, "near_names": log.near}
