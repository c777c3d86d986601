"""Token and organisation for Claude's web sessions: from flags, the environment, or where Claude Code keeps them.

In that order: UNSPOOL_WEB_TOKEN, CLAUDE_CODE_OAUTH_TOKEN, then the macOS keychain for the token;
UNSPOOL_WEB_ORGANIZATION, then `.claude.json` for the organisation. Nothing is written or kept.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from unspool.errors import UsageProblem
from unspool.formats.claude_code.values import text
from unspool.formats.remote import Account

_ITEM = "Claude Code-credentials"
_ASKING = 120
"""Seconds: the keychain may ask the user first."""


def completed(account: Account) -> Account:
    """The account with what was missing; UsageProblem says how to give what cannot be found."""
    token = account.token or _environment("UNSPOOL_WEB_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN") or _keychain()
    if not token:
        raise UsageProblem(
            "No access token: give --token, set UNSPOOL_WEB_TOKEN, or sign in to Claude Code on this Mac "
            "so that its keychain item can be read."
        )
    organization = account.organization or _environment("UNSPOOL_WEB_ORGANIZATION") or _organization()
    if not organization:
        raise UsageProblem(
            "No organisation: give --org-uuid, set UNSPOOL_WEB_ORGANIZATION, or sign in to Claude Code "
            "so that .claude.json names it."
        )
    base = account.base or _environment("UNSPOOL_WEB_URL")
    return Account(_one_line(token, "token"), _one_line(organization, "organisation"), base)


def _environment(*names: str) -> str:
    return next((found for name in names if (found := os.environ.get(name, "").strip())), "")


def _one_line(value: str, what: str) -> str:
    """What goes into a header must not end it."""
    if not value.isprintable() or not value.isascii():
        raise UsageProblem(f"The {what} holds characters that no {what} has.")
    return value


def _keychain() -> str:
    program = shutil.which("security")
    if program is None:
        return ""
    command = [program, "find-generic-password", "-s", _ITEM, "-w"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ASKING, check=False)  # noqa: S603  a fixed command
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return _within(done.stdout, "claudeAiOauth", "accessToken") if done.returncode == 0 else ""


def _organization() -> str:
    folders = [Path(part) for part in (os.environ.get("CLAUDE_CONFIG_DIR", ""),) if part]
    for folder in (*folders, Path.home()):
        try:
            found = _within((folder / ".claude.json").read_bytes(), "oauthAccount", "organizationUuid")
        except OSError:
            continue
        if found:
            return found
    return ""


def _within(data: bytes, *keys: str) -> str:
    """The text under these keys; empty where the data is anything else."""
    try:
        value: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return text(value).strip()
