"""Who the sharer is: the names that would tell, from the environment and from the folders that sessions ran in."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath, PureWindowsPath

import msgspec

from unspool.redact.checks import is_user
from unspool.redact.match import Kind
from unspool.redact.rules import Rule

_HOME = re.compile(r"(?:^|[A-Za-z]:)[/\\]+(?:home|[Uu]sers)[/\\]+([^/\\]+)")
_SHORT = 3
_HOSTS = {"localhost", "host", "computer", "server", "docker", "runner", "pc", "desktop", "laptop", "ubuntu", "debian"}


class People(msgspec.Struct, frozen=True):
    """Names that are personal wherever they stand as a word."""

    users: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    homes: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()

    @classmethod
    def of(cls, environment: Mapping[str, str], cwds: Iterable[str] = ()) -> "People":
        """Those of an environment (USER, HOME, HOSTNAME, EMAIL, ...) and of the folders of sessions."""
        named = [environment.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")]
        homes = {home for name in ("HOME", "USERPROFILE") if (home := environment.get(name, ""))}
        users = {*named, *map(_last, homes), *(found[1] for cwd in cwds if (found := _HOME.match(cwd)))}
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
