"""Policy at the door: what the hub lets in, for all of it and for a project, and what of a file it does not."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec

from unspool.errors import UsageProblem
from unspool.hub.errors import PolicyViolation
from unspool.hub.store.database import Database, get_setting, set_setting
from unspool.redact.finder import Finder
from unspool.redact.policy import PolicyFinding as Finding
from unspool.redact.policy import RedactionPolicy, find_in_file, parse_policy
from unspool.redact.rebuild import redact_text
from unspool.redact.replacements import ReplacementNames
from unspool.redact.rules import builtin_rules

_SETTING = "policy"
_MOST = 100
"""Findings that are told of."""
_SAID = 5
_LOG = ".jsonl"
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff", b"BZh", b"\xfd7zXZ")
"""How what is packed begins, or written in characters of two bytes."""


def policy_of(db: Database, project: str = "") -> RedactionPolicy:
    """What holds for a project, by its id, or else for all of the hub."""
    own = db.row("SELECT policy FROM project WHERE id = ?", project) if project else None
    text = own[0] if own and own[0] else get_setting(db, _SETTING)
    return parse_policy(text) if text else RedactionPolicy()


def save_policy(db: Database, text: str, project: str = "") -> RedactionPolicy:
    """Have a policy hold from now on; UsageProblem says what is wrong with it. An empty text: the usual one."""
    policy = parse_policy(text) if text else RedactionPolicy()
    kept = msgspec.json.encode(policy, order="deterministic").decode() if text else ""
    if not project:
        set_setting(db, _SETTING, kept)
    elif not db.run("UPDATE project SET policy = ? WHERE id = ?", kept, project):
        raise UsageProblem("There is no such project.")
    return policy


def policy_findings(files: Iterable[tuple[str, Path]], policy: RedactionPolicy) -> list[Finding]:
    """What of some files, each by its name and where it lies, must not come in: rules and places, never the secret."""
    if not policy.refused:
        return []
    finder = _finder(policy)
    return list(islice((one for name, path in files for one in _places(name, path, finder)), _MOST))


@lru_cache(maxsize=2)
def _finder(policy: RedactionPolicy) -> Finder:
    """The same for each push: it remembers what it looked through, so a session that grew is mostly known already."""
    return policy.finder(policy.refused)


def _places(name: str, path: Path, finder: Finder) -> Iterator[Finding]:
    """What a file's name and its content hold."""
    shown = redact_text(name, finder, ReplacementNames())[0]
    yield from (Finding(one.rule, one.kind, shown, 0, "its name") for one in finder.find(name))
    yield from find_in_file(name, path, finder)


def is_packed(name: str, path: Path) -> bool:
    """Whether a file is a log that readers unpack: the door would look past what is in it."""
    if _LOG not in name:
        return False
    with path.open("rb") as file:
        return file.read(8).startswith(_PACKED)


def check_title(title: str, policy: RedactionPolicy) -> None:
    """PolicyViolation where a title must not come in."""
    if found := policy.finder(policy.refused).find(title):
        raise PolicyViolation(findings_sentence([Finding(one.rule, one.kind, "the title", 0, "") for one in found]))


def findings_sentence(findings: Sequence[Finding]) -> str:
    named = []
    for one in findings[:_SAID]:
        line = f", line {one.line}" if one.line else ""
        named.append(f"{one.rule} in {one.file}{line}{one.place and f' ({one.place})'}")
    more = len(findings) - len(named)
    rest = f", and {more} more" if more else ""
    return f"Policy keeps this out: {'; '.join(named)}{rest}. Nothing was kept. Rules {builtin_rules().version}."
