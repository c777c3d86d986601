"""What must not leave, as data: the rules of this package and a person's own on top."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from unspool.errors import UsageProblem
from unspool.redact.checks import CHECKS
from unspool.redact.match import Kind

OWN = "redact.toml"
"""The file of a person's own rules, in the folder of the settings."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of what must not leave; `rules.toml` says what each field means."""

    id: str
    kind: Kind
    about: str
    pattern: str
    keys: tuple[str, ...] = ()
    scan: str = ""
    back: str = ""
    token: bool = False
    near: bool = False
    edge: bool = True
    group: int = 0
    entropy: float = 0.0
    check: str = ""
    match: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()


class RuleSet(msgspec.Struct, frozen=True):
    """Rules in the order they are tried."""

    rules: tuple[Rule, ...]

    @property
    def version(self) -> str:
        """A short name for exactly these rules: reports tell by it what was looked for."""
        return sha256(msgspec.json.encode(self.rules)).hexdigest()[:12]

    def rule(self, name: str) -> Rule | None:
        """The rule of that id."""
        return next((rule for rule in self.rules if rule.id == name), None)


@cache
def builtin() -> RuleSet:
    """The rules of this package."""
    text = resources.files("unspool.redact").joinpath("rules.toml").read_text("utf-8")
    return RuleSet(tuple(_rules(tomllib.loads(text), "rules.toml")))


def own(path: Path) -> RuleSet:
    """The rules of this package, and those of a file: one of the same id replaces, one in `without` goes.

    UsageProblem says what is wrong with the file; without one, the rules of this package.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return builtin()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageProblem(f"The rules in {path} cannot be read: {error}.") from None
    if unknown := set(table) - {"rule", "without"}:
        raise UsageProblem(f"{path} has {', '.join(sorted(unknown))}; there are only [[rule]] and without.")
    mine = {rule.id: rule for rule in _rules(table, str(path))}
    gone = {str(name) for name in table.get("without", ())} | set(mine)
    return RuleSet((*(rule for rule in builtin().rules if rule.id not in gone), *mine.values()))


def _rules(table: dict[str, Any], where: str) -> Iterable[Rule]:
    try:
        rules = msgspec.convert(table.get("rule", ()), tuple[Rule, ...])
    except msgspec.ValidationError as error:
        raise UsageProblem(f"A rule in {where} is wrong: {error}.") from None
    for rule in rules:
        if reason := wrong(rule):
            raise UsageProblem(f"The rule “{rule.id}” in {where} is wrong: {reason}.")
    return rules


def wrong(rule: Rule) -> str:
    """Why a rule cannot be used; empty where it can."""
    if bool(rule.keys) == bool(rule.scan):
        return "it needs either keys or scan"
    if any(key != key.lower() or not key.isascii() or not key for key in rule.keys):
        return "keys are in lower case, of ASCII, and not empty"
    if rule.check and rule.check not in CHECKS:
        return f"there is no check {rule.check}; there are {', '.join(CHECKS)}"
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", rule.id):
        return "an id has small letters, digits and hyphens"
    return _wrong_pattern(rule)


def _wrong_pattern(rule: Rule) -> str:
    try:
        groups = re.compile(rule.pattern).groups
        re.compile(rule.scan)
        re.compile(f"[{rule.back}]" if rule.back else "")
    except re.error as error:
        return f"its pattern is none: {error}"
    return "" if rule.group <= groups else f"its pattern has no group {rule.group}"
