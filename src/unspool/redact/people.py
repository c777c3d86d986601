"""Who the sharer is: the names that would tell, from the environment, from the folders that sessions ran in and from
what their logs note of repositories."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath, PureWindowsPath

import msgspec

from unspool.redact.checks import is_user
from unspool.redact.match import Kind
from unspool.redact.rules import Rule

_HOME = re.compile(r"(?:^|[A-Za-z]:)[/\\]+(?:home|[Uu]sers)[/\\]+([^/\\]+)")
_SIGNED = re.compile(rb'Git user: ((?:[^"\\<>\x00-\x1f]|\\u[0-9a-fA-F]{4}){2,60})')
_SHORT = 3
_HOSTS = {"localhost", "host", "computer", "server", "docker", "runner", "pc", "desktop", "laptop", "ubuntu", "debian"}


class People(msgspec.Struct, frozen=True):
    """Names that are personal wherever they stand as a word."""

    users: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    homes: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()

    @classmethod
    def of(cls, environment: Mapping[str, str], cwds: Iterable[str] = (), signers: Iterable[str] = ()) -> "People":
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

    def rules(self) -> Iterator[Rule]:
        """What finds each of them as a word of its own."""
        for user in sorted(self.users):
            yield word("user-name", "personal", "user name", user, exact=len(user) <= 4)
        for host in sorted(self.hosts):
            yield word("host-name", "personal", "name of the machine", host)
        for mail in sorted(self.emails):
            yield word("email", "personal", "e-mail address", mail)


def signers(lines: Iterable[bytes]) -> set[str]:
    """The names that git signs with, as lines of a log note them."""
    found = {match[1] for line in lines if b"Git user: " in line for match in _SIGNED.finditer(line)}
    return {str(json.loads(f'"{name.decode("utf-8", "replace")}"')).strip() for name in found}


def _last(home: str) -> str:
    return PureWindowsPath(home).name if "\\" in home else PurePosixPath(home).name


def word(name: str, kind: Kind, about: str, text: str, *, exact: bool = False) -> Rule:
    """A rule that finds a text wherever it is no part of a longer word, in any case unless it must be exact."""
    flags = "" if exact else "(?i)"
    left = r"(?<![A-Za-z0-9])" if text[:1].isalnum() else ""
    right = r"(?![A-Za-z0-9])" if text[-1:].isalnum() else ""
    pattern = flags + left + re.escape(text) + right
    if text.isascii():
        return Rule(name, kind, about, pattern, keys=(text.lower(),), edge=False)
    return Rule(name, kind, about, pattern, scan=pattern, edge=False)
