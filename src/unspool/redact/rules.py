"""The redaction rules: those of `forms.toml` and `rules.toml`, a person's own, and those made of personal names."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import msgspec

from unspool.errors import UsageProblem
from unspool.redact.checks import CHECKS, is_user
from unspool.redact.form_checks import FORM_CHECKS
from unspool.redact.forms import SecretForm
from unspool.redact.personal import rules_not_chosen
from unspool.redact.replacements import Kind

OWN = "redact.toml"
"""The file of a person's own rules, in the folder of the settings."""
_FILES = ("forms.toml", "rules.toml", "personal.toml")
"""Those of this package, in the order they are tried."""


class RedactionRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of what must not leave; `rules.toml` says what each field means."""

    id: str
    kind: Kind
    about: str
    pattern: str
    keys: tuple[str, ...] = ()
    scan: str = ""
    run: str = ""
    least: int = 0
    shape: tuple[str, ...] = ()
    back: str = ""
    token: bool = False
    before: int = 0
    reach: int = 0
    edge: bool = True
    group: int = 0
    entropy: float = 0.0
    check: str = ""
    match: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()


class RuleSet(msgspec.Struct, frozen=True):
    """Rules in the order they are tried."""

    rules: tuple[RedactionRule, ...]
    without: frozenset[str] = frozenset()
    """Rules that do not hold, by their ids; also those that are made of names of people and machines."""

    @property
    def version(self) -> str:
        """A short name for exactly these rules: reports tell by it what was looked for."""
        gone = msgspec.json.encode(sorted(self.without)) if self.without else b""
        return sha256(msgspec.json.encode(self.rules) + gone).hexdigest()[:12]

    def rule(self, name: str) -> RedactionRule | None:
        """The rule of that id."""
        return next((rule for rule in self.rules if rule.id == name), None)


@cache
def builtin_rules() -> RuleSet:
    """The rules of this package."""
    here = resources.files("unspool.redact")
    files = {name: here.joinpath(name).read_text("utf-8") for name in _FILES}
    return RuleSet(tuple(rule for name, text in files.items() for rule in _rules(tomllib.loads(text), name)))


def own_rules(path: Path, personal: str | None = None) -> RuleSet:
    """The rules of this package, and those of a file: one of the same id replaces, one in `without` goes.

    Personal data is looked for by the kinds that are chosen, or else by those that the file chooses. UsageProblem says
    what is wrong with the file or the choice; without both, the rules of this package.
    """
    rules, chosen = _read_own(path)
    gone = rules_not_chosen(chosen if personal is None else personal)
    return RuleSet(tuple(rule for rule in rules.rules if rule.id not in gone), rules.without | gone) if gone else rules


def _read_own(path: Path) -> tuple[RuleSet, str]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return builtin_rules(), "all"
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageProblem(f"The rules in {path} cannot be read: {error}.") from None
    if unknown := set(table) - {"rule", "form", "without", "personal"}:
        raise UsageProblem(
            f"{path} has {', '.join(sorted(unknown))}; there are only [[rule]], [[form]], without and personal."
        )
    chosen = table.get("personal", "all")
    kinds = chosen if isinstance(chosen, str) else ",".join(map(str, chosen)) or "none"
    mine = {rule.id: rule for rule in _rules(table, str(path))}
    gone = {str(name) for name in table.get("without", ())}
    kept = (rule for rule in builtin_rules().rules if rule.id not in gone | set(mine))
    return RuleSet((*kept, *mine.values()), frozenset(gone)), kinds


def _rules(table: dict[str, Any], where: str) -> Iterable[RedactionRule]:
    try:
        forms = msgspec.convert(table.get("form", ()), tuple[SecretForm, ...])
        made = msgspec.convert([form.fields() for form in forms], tuple[RedactionRule, ...])
        written = msgspec.convert(table.get("rule", ()), tuple[RedactionRule, ...]) + made
    except msgspec.ValidationError as error:
        raise UsageProblem(f"A rule in {where} is wrong: {error}.") from None
    rules = [_assembled(rule, table.get("pieces", {})) for rule in written]
    for rule in rules:
        if reason := rule_fault(rule):
            raise UsageProblem(f"The rule “{rule.id}” in {where} is wrong: {reason}.")
    return rules


def _assembled(rule: RedactionRule, pieces: Mapping[str, str]) -> RedactionRule:
    """The rule with the pieces that its pattern names."""
    pattern = rule.pattern
    for name, piece in pieces.items():
        pattern = pattern.replace(f"{{{name}}}", piece)
    return msgspec.structs.replace(rule, pattern=pattern) if pattern != rule.pattern else rule


def rule_fault(rule: RedactionRule) -> str:
    """Why a rule cannot be used; empty where it can."""
    if bool(rule.keys) + bool(rule.scan) + bool(rule.shape) != 1:
        return "it needs either keys or scan or shape"
    if rule.before < 0:
        return "its forms have no literal that stands at a certain place"
    if bool(rule.run) != (rule.least > 0) or (rule.run and not (rule.scan and rule.run.isascii())):
        return "run and least go together, with scan, and of ASCII"
    if any(key != key.lower() or not key.isascii() or not key for key in rule.keys):
        return "keys are in lower case, of ASCII, and not empty"
    if rule.check and rule.check not in CHECKS | FORM_CHECKS:
        return f"there is no check {rule.check}; there are {', '.join(CHECKS | FORM_CHECKS)}"
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", rule.id):
        return "an id has small letters, digits and hyphens"
    return _wrong_pattern(rule)


def _wrong_pattern(rule: RedactionRule) -> str:
    try:
        groups = re.compile(rule.pattern).groups
        re.compile(rule.scan)
        re.compile(f"[{rule.run}]" if rule.run else "")
        re.compile(rule.back if rule.reach or not rule.back else f"[{rule.back}]")
    except re.error as error:
        return f"its pattern is none: {error}"
    return "" if rule.group <= groups else f"its pattern has no group {rule.group}"


_HOME = re.compile(r"(?:^|[A-Za-z]:)[/\\]+(?:home|[Uu]sers)[/\\]+([^/\\]+)")
_SIGNED = re.compile(rb'Git user: ((?:[^"\\<>\x00-\x1f]|\\u[0-9a-fA-F]{4}){2,60})')
_SHORT = 3
_HOSTS = {"localhost", "host", "computer", "server", "docker", "runner", "pc", "desktop", "laptop", "ubuntu", "debian"}


class PersonalNames(msgspec.Struct, frozen=True):
    """Names that are personal wherever they stand as a word."""

    users: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    homes: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, environment: Mapping[str, str], cwds: Iterable[str] = (), signers: Iterable[str] = ()
    ) -> "PersonalNames":
        """Those of an environment (USER, HOME, HOSTNAME, EMAIL, ...), of the folders of sessions, and the full names
        among those that git signs with."""
        named = [environment.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")]
        homes = {home for name in ("HOME", "USERPROFILE") if (home := environment.get(name, ""))}
        users = {*named, *map(_last, homes), *(found[1] for cwd in cwds if (found := _HOME.match(cwd)))}
        users |= {name for name in signers if " " in name}  # one word alone may be any
        hosts = {environment.get(name, "") for name in ("HOSTNAME", "HOST", "COMPUTERNAME")}
        mails = {environment.get(name, "") for name in ("EMAIL", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")}
        return cls(
            frozenset(user for user in users if len(user) >= _SHORT and is_user(user)),
            frozenset(host for host in hosts if len(host) > _SHORT and host.lower() not in _HOSTS),
            frozenset(home for home in homes if is_user(_last(home)) and len(home) > 1),
            frozenset(mail for mail in mails if re.fullmatch(r"[^\s@]+@[^\s@]+", mail)),
        )

    def rules(self) -> Iterator[RedactionRule]:
        """What finds each of them as a word of its own."""
        for user in sorted(self.users):
            yield word_rule("user-name", "personal", "user name", user, exact=len(user) <= 4)
        for host in sorted(self.hosts):
            yield word_rule("host-name", "personal", "name of the machine", host)
        for mail in sorted(self.emails):
            yield word_rule("email", "personal", "e-mail address", mail)


def git_signers(lines: Iterable[bytes]) -> set[str]:
    """The names that git signs with, as lines of a log note them."""
    found = {match[1] for line in lines if b"Git user: " in line for match in _SIGNED.finditer(line)}
    return {str(json.loads(f'"{name.decode("utf-8", "replace")}"')).strip() for name in found}


def _last(home: str) -> str:
    return PureWindowsPath(home).name if "\\" in home else PurePosixPath(home).name


def word_rule(name: str, kind: Kind, about: str, text: str, *, exact: bool = False) -> RedactionRule:
    """A rule that finds a text wherever it is no part of a longer word, in any case unless it must be exact."""
    flags = "" if exact else "(?i)"
    left = r"(?<![A-Za-z0-9])" if text[:1].isalnum() else ""
    right = r"(?![A-Za-z0-9])" if text[-1:].isalnum() else ""
    pattern = flags + left + re.escape(text) + right
    if text.isascii():
        return RedactionRule(name, kind, about, pattern, keys=(text.lower(),), edge=False)
    return RedactionRule(name, kind, about, pattern, scan=pattern, edge=False)
