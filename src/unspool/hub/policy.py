"""Policy at the door: what the hub lets in, for all of it and for a project, and what of a file it does not."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from unspool.errors import UsageProblem
from unspool.hub.store.database import Database
from unspool.redact.policy import Place as Finding
from unspool.redact.policy import Policy, parsed, places

__all__ = ["Finding", "Policy", "policy_of", "refused", "said", "save"]

_SETTING = "policy"
_MOST = 100
"""Findings that are told of."""
_SAID = 5


def policy_of(db: Database, project: str = "") -> Policy:
    """What holds for a project, by its id, or else for all of the hub."""
    own = db.row("SELECT policy FROM project WHERE id = ?", project) if project else None
    found = own if own and own[0] else db.row("SELECT value FROM setting WHERE key = ?", _SETTING)
    return parsed(found[0]) if found and found[0] else Policy()


def save(db: Database, text: str, project: str = "") -> Policy:
    """Have a policy hold from now on; UsageProblem says what is wrong with it. An empty text: the usual one."""
    policy = parsed(text) if text else Policy()
    kept = msgspec.json.encode(policy, order="deterministic").decode() if text else ""
    if not project:
        put = "INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
        db.run(put, _SETTING, kept)
    elif not db.run("UPDATE project SET policy = ? WHERE id = ?", kept, project):
        raise UsageProblem("There is no such project.")
    return policy


def refused(files: Iterable[tuple[str, Path]], policy: Policy) -> list[Finding]:
    """What of some files, each by its name and where it lies, must not come in: rules and places, never the secret."""
    if not policy.refused:
        return []
    finder = policy.finder(policy.refused)
    return list(islice((one for name, path in files for one in places(name, path, finder)), _MOST))


def said(findings: Sequence[Finding]) -> str:
    """What was found, in a sentence."""
    told = [f"{one.rule} in {one.file}, line {one.line}{one.place and f' ({one.place})'}" for one in findings[:_SAID]]
    more = len(findings) - len(told)
    rest = f", and {more} more" if more else ""
    return f"Policy keeps this out: {'; '.join(told)}{rest}. Nothing was kept."
