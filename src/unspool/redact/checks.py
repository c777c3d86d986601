"""What must hold of a match beside its pattern, by name: what only looks like a secret or a person is let through."""

import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from unspool.redact.personal import PERSONAL_CHECKS

Check = Callable[[re.Match[str], str], bool]
"""The match and what of it must go, to whether it must."""

PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]{1,80}\]")
"""What replaces a secret; see `names`."""

_NO_VALUE = re.compile(
    r"(?i:example|placeholder|redacted|change.?me|\byour|[_-]your|dummy|sample|not.?a.?real|insert.?|replace.?|goes.?here"
    r"|foobar|abcdefgh)"
    r"|x{4}|X{4}|\*\*\*|\.\.\.|\.env\b|^(?i:env)[.\[]|^os\.|^process\.|^[$%{<@&]|\$\{|0123456789|1234567890"
)
_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|/|-)[A-Za-z_$]?[\w$]*)*")
_WORD = re.compile(r"[A-Z]?[a-z]{3,}|\b[A-Z]{4,}\b|(?<=_)[A-Z]{4,}|[A-Z]{4,}(?=_)")
_VOWEL = re.compile(r"(?i)[aeiouy]")
_GENERIC_PASSWORDS = {"password", "passwd", "pass", "secret", "pwd", "user", "admin", "root", "test", "token", "key"}
_USERS = frozenset(
    {
        "user", "users", "username", "shared", "public", "default", "runner", "root", "admin", "ubuntu", "debian",
        "vscode", "codespace", "node", "app", "dev", "guest", "you", "me", "all", "name", "someone", "someuser",
        "youruser", "your-name", "yourname", "test", "testuser", "tester", "user1", "alice", "bob", "jane", "john",
        "jdoe", "johndoe", "janedoe", "foo", "bar", "example", "runneradmin", "linuxbrew", "circleci", "gitpod",
        "vagrant", "ec2-user", "jovyan", "coder", "container", "www", "home", "nonexistent", "nobody", "fake", "xxx",
        "redacted", "agent", "sandbox", "containeruser",
        "containeradministrator",
    }
)  # fmt: skip
_MAIL_HOSTS = re.compile(
    r"(?i)(?:^|\.)(?:example\.(?:com|org|net|edu)|example|invalid|test|localhost|local|internal|host|domain|email\.com"
    r"|domain\.com|test\.com|company\.com|mail\.com|acme\.com|foo\.com|bar\.com|sentry\.io|users\.noreply\.github\.com)$"
)
_LOGIN = re.compile(r"://[^\s/@]{0,80}:$")
"""Before the password of an address."""
_MAIL_NAMES = re.compile(
    r"(?i)(?:no-?reply|do-?not-?reply|git|hg|svn|user|username|you|your[._-]?\w*|me|test\w*|someone|name|foo|bar|email"
    r"|admin|root|info|support|hello|contact|security|sales|actions?|bot|example|x+|a|b|user-\d+)"
)
_FILES = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "mjs", "cjs", "ts", "jsx", "tsx", "css", "scss", "py",
        "md", "json", "html", "htm", "txt", "yml", "yaml", "toml", "lock", "go", "rs", "java", "service", "socket",
        "target", "timer", "sh", "rb", "php", "vue", "min", "map", "dist", "src", "lib", "exe", "dll", "so", "jar",
        "war", "zip", "gz", "tar", "tgz", "whl",
    }
)  # fmt: skip
_VERSION = re.compile(
    r"(?i)(?:\bv|versions?\W{0,4}|\bver\W{0,3}|release\W{0,3}|==|~=|>=|<=|\^|~|[A-Za-z]/|build\W{0,3})$"
)


def entropy(text: str) -> float:
    counts, length = Counter(text), len(text)
    return -sum(count / length * math.log2(count / length) for count in counts.values()) if length else 0.0


def is_value(text: str) -> bool:
    """Whether a text can be a secret at all, and does not say itself that it is none."""
    return not _NO_VALUE.search(text) and len(set(text)) > 4


def is_scattered(text: str) -> bool:
    """Whether letters and digits are mixed as chance mixes them, not as in names with a number."""
    kinds = [2 if char.isdigit() else 1 if char.isupper() else 0 for char in text if char.isalnum()]
    changes = [(a, b) for a, b in pairwise(kinds) if a != b]
    digits = sum(2 in change for change in changes)
    if 2 not in kinds:
        return False
    return digits >= max(3, len(kinds) // 12) or (len(changes) * 3 > len(kinds) and _wordy(text) < 0.4)


def is_name(text: str) -> bool:
    """Whether a text is made of words."""
    return _wordy(text) >= 0.4


def _wordy(text: str) -> float:
    """How much of a text is words."""
    return sum(len(word) for word in _WORD.findall(text) if len(word) > 3 and _VOWEL.search(word)) / max(1, len(text))


def _value(_: re.Match[str], value: str) -> bool:
    return is_value(value) and any(map(str.isdigit, value)) and (is_scattered(value) or _wordy(value) < 0.4)


def _mixed(_: re.Match[str], value: str) -> bool:
    return is_value(value) and is_scattered(value) and any(map(str.isupper, value)) and any(map(str.islower, value))


def _assigned(match: re.Match[str], value: str) -> bool:
    """A value long enough and of chance; a dotted name, a path and a call are code."""
    of_chance = is_scattered(value) or (_kinds(value) == 3 and _wordy(value) < 0.5)
    if not is_value(value) or not of_chance or match.string[match.end() : match.end() + 1] in {"(", "["}:
        return False
    return not (_CODE.fullmatch(value) and _wordy(value) > 0.5)


def _password(match: re.Match[str], value: str) -> bool:
    if not is_value(value) or value.lower() in _GENERIC_PASSWORDS or value.startswith(("/", "~", ".", "-", "!", "=")):
        return False
    if not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    after = match.string[match.end() : match.end() + 1]
    quoted = match.string[match.start(match.re.groups) - 1] in "\"'`"
    return quoted or (after not in {"(", "[", "."} and _unquoted(match, value))


def _kinds(value: str) -> int:
    """How many there are of small letters, capitals and digits."""
    return sum(any(map(kind, value)) for kind in (str.islower, str.isupper, str.isdigit))


def _unquoted(match: re.Match[str], value: str) -> bool:
    """An unquoted value may be code: a name with a number in it, or a call, is; a line of YAML ends with it."""
    rest = match.string[match.end() : match.end() + 2]
    ends = rest[:1] in {"", "\n", "\r"} or rest in {"\\n", "\\r"}
    tight = match.re.groups < 2 or match[1] in {"=", ":"} or (match[1] == ": " and ends)
    random = is_scattered(value) and _wordy(value) < 0.3
    return random or not _CODE.fullmatch(value) or (tight and "_" not in value and "." not in value)


def _url(_: re.Match[str], value: str) -> bool:
    low = value.lower().strip("[]{}()")
    if _NO_VALUE.search(value) or low in _GENERIC_PASSWORDS or value.startswith(("$", "{", "<", "%", "[", "*")):
        return False
    return not value.isdigit() and value.upper() != value.strip() + "_" and low not in {"postgres", "mysql", "p@ss"}


_SPACE = r"(?:\s|\\+[nrt]){1,12}"
_NETRC = re.compile(
    rf"(?i)(?:\b|(?<=\\[nrt]))machine{_SPACE}[\w-]{{1,80}}(?:\.[\w-]{{1,80}}){{1,6}}{_SPACE}login{_SPACE}[^\s\0]{{1,120}}?{_SPACE}$"
)


def _netrc(match: re.Match[str], value: str) -> bool:
    known = _NETRC.search(match.string, max(0, match.start() - 500), match.start())
    return known is not None and _url(match, value)


def _cookie(_: re.Match[str], value: str) -> bool:
    return any(len(part) >= 16 and is_scattered(part) and is_value(part) for part in re.split(r"[=;\s]+", value))


def _block(_: re.Match[str], value: str) -> bool:
    body = re.sub(r"-----[A-Z0-9 ]+-----|\\[nrt]|[^A-Za-z0-9+/]", "", value)
    return len(body) >= 40 and len(set(body)) > 12 and not _NO_VALUE.search(value[:400])


def _hash(_: re.Match[str], value: str) -> bool:
    return len(set(value)) > 12 and not re.search(r"[xX]{4}|\.{4}", value)


def is_user(name: str) -> bool:
    """Whether a user's name tells who it is."""
    return len(name) > 1 and name.lower() not in _USERS and not re.fullmatch(r"user-?\d+|\d+|[._-]+", name)


def _user(_: re.Match[str], value: str) -> bool:
    return is_user(value)


def _email(match: re.Match[str], value: str) -> bool:
    name, _at, host = value.rpartition("@")
    if _LOGIN.search(match.string, max(0, match.start() - 100), match.start()):
        return False
    if _MAIL_HOSTS.search(host) or _MAIL_NAMES.fullmatch(name):
        return False
    return not _is_file(host)


def _is_file(host: str) -> bool:
    """Whether what follows an @ is the name of a file; that of an address and an ending is not."""
    rest, _, end = host.rpartition(".")
    before, _, last = rest.rpartition(".")
    return end.lower() in _FILES and not (before and last.isalpha() and last.lower() not in _FILES)


def _ipv4(match: re.Match[str], value: str) -> bool:
    before = match.string[max(0, match.start() - 12) : match.start()]
    return not _VERSION.search(before) and _address(value)


def _ipv6(_: re.Match[str], value: str) -> bool:
    return value.count(":") >= 3 and any(map(str.isdigit, value)) and _address(value)


_NOWHERE = ("192.0.2.", "198.51.100.", "203.0.113.", "255.", "0.")
_PUBLIC_NAMES = {"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "169.254.169.254"}


def _address(value: str) -> bool:
    """Whether it is an address of some machine: neither of documents, nor of every machine, nor a mask."""
    try:
        found = ipaddress.ip_address(value)
    except ValueError:
        return False
    if found.is_loopback or found.is_unspecified or found.is_multicast or value in _PUBLIC_NAMES:
        return False
    nowhere = value.startswith(_NOWHERE) or value.endswith((".0", ".255"))
    documents = found.version == 6 and (found in _DOCUMENTS or value.lower().startswith("fe80"))
    small = found.version == 4 and all(int(part) < 20 for part in value.split(".")) and not value.startswith("10.")
    return not (nowhere or documents or small)


_DOCUMENTS = ipaddress.ip_network("2001:db8::/32")


def _phone(_: re.Match[str], value: str) -> bool:
    return 10 <= sum(map(str.isdigit, value)) <= 15 and "555" not in value


_CHECKS: tuple[Check, ...] = (
    _value, _mixed, _assigned, _password, _url, _netrc, _cookie, _block, _hash, _user, _email, _ipv4, _ipv6, _phone,
)  # fmt: skip
CHECKS = {check.__name__.lstrip("_"): check for check in _CHECKS} | PERSONAL_CHECKS
"""The checks that a rule may name."""
