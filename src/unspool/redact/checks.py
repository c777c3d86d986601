"""What must hold of a match beside its pattern, by name: what only looks like a secret or a person is let through."""

import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from unspool.redact.letter_pairs import chance
from unspool.redact.named import is_named_secret
from unspool.redact.personal import PERSONAL_CHECKS
from unspool.redact.placeholders import is_made_up, is_placeholder

Check = Callable[[re.Match[str], str], bool]
"""The match and what of it must go, to whether it must."""

PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]{1,80}\]")
"""What replaces a secret; see `names`."""

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
    return not is_made_up(text)


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
    return _wordy(text) >= 0.4 and not _is_random(text)


def _wordy(text: str) -> float:
    """How much of a text is words."""
    return sum(len(word) for word in _WORD.findall(text) if len(word) > 3 and _VOWEL.search(word)) / max(1, len(text))


def _value(_: re.Match[str], value: str) -> bool:
    mixed = any(map(str.isdigit, value)) and (is_scattered(value) or _wordy(value) < 0.4)
    return is_value(value) and (mixed or _is_random(value))


def _mixed(_: re.Match[str], value: str) -> bool:
    scattered = is_scattered(value) or _is_random(value)
    return is_value(value) and scattered and any(map(str.isupper, value)) and any(map(str.islower, value))


def _is_random(value: str) -> bool:
    """Whether letters, with or without digits, are mixed as only chance mixes them."""
    return chance(value) >= 1.6 * len(value)


def _named(match: re.Match[str], value: str) -> bool:
    return is_named_secret(match, value)


def _assigned(_: re.Match[str], value: str) -> bool:
    """A value of chance: no word, name or path."""
    return not is_placeholder(value) and chance(value) >= 0.9 * len(value)


def is_password(value: str) -> bool:
    """Whether a value that stands where a password does is one: chance, or what somebody thought of."""
    if len(value) < 6 or is_placeholder(value) or value.startswith(("/", "~", ".", "-", "!", "=")):
        return False
    thought_of = any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and len(value) >= 8
    return thought_of or chance(value) >= max(6, 0.55 * len(value))


def _password(_: re.Match[str], value: str) -> bool:
    return is_password(value)


_DEFAULTED = re.compile(
    r"(?i)(?:(pass(?:word|wd|phrase)?|pwd)|secret|token|(?:api|access|private|secret|signing|auth|encryption|admin|app)[_-]?key)"
    r"(?:[_-]?(?:key|id|value|base))?[\"'`)\]\\]{0,8}[^\"'`\n\0]{0,80}$"
)
"""A name of a secret, and what stands between it and its default."""


def _default(match: re.Match[str], value: str) -> bool:
    named = _DEFAULTED.search(match.string, max(0, match.start() - 160), match.start())
    chosen = named is not None and named[1] is not None
    return named is not None and is_password(value) and (chosen or chance(value) >= 0.9 * len(value))


_SPOKEN = re.compile(
    r"(?i)\b(?:a|an|the|is|are|be|was|to|of|for|in|on|at|by|with|and|or|not|no|you|your|my|this|that|it|must|should|please"
    r"|enter|if|when|use|used|here|phrase|password|passphrase|example|words?|key|mnemonic|seed|from|will|can|test|junk)\b"
)
"""Words of sentences, which phrases that open something do not have."""


def _phrase(_: re.Match[str], value: str) -> bool:
    """Words that no sentence joins, as phrases that open something are made of; or groups of letters of chance."""
    words = value.split()
    if len(words) == 4 and all(len(word) == 4 for word in words):
        return chance("".join(words)) >= 14
    return len(words) >= 4 and len(set(words)) * 4 > len(words) * 3 and _SPOKEN.search(value) is None


_COMMANDS = re.compile(
    r"(?:^|[^\w.-]|\\[nrt]|\[[\d;]*m)(?:sshpass|mysql\w*|mariadb\w*|(?:docker|podman|nerdctl|crane|helm|oc|buildah|skopeo|oras|az|twine)(?=[^\n|;&]*"
    r"\s(?:login|upload|create)\b)|cqlsh|nxc|crackmapexec|evil-winrm|hydra|ncftp\w*|rdesktop|xfreerdp|psexec\S*|supabase|7z\w?|unrar|rar"
    r"|bcp|ipmitool|mosquitto_\w+|sqlcmd|zip|unzip|redis-cli|valkey-cli|https?|ldap\w+|openssl|codecov|anaconda|doctl|vercel|snmp\w+"
    r"|ssh-keygen|mongo\w*|vncviewer|lftp|expect|isql|tsql|clickhouse\S*|influx|arangosh|cypher-shell|pscp|plink|winscp|smbmap|keytool)"
    r"(?:\.exe|\.py)?\s[^\n;|&\0]*$"
)
"""Programs that take a password, a key or a token by an option of one letter, and what follows them."""


def _command(match: re.Match[str], value: str) -> bool:
    """A password behind a short option of a command that takes one so."""
    before = match.string[max(0, match.start(1) - 200) : match.start(1)].rpartition("\n")[2]
    joined = before[-1:].isalpha()
    known = _COMMANDS.search(before)
    return known is not None and ":" not in value[1:6] and (_assigned if joined else _password)(match, value)


def _argument(_: re.Match[str], value: str) -> bool:
    """A value of chance that is no address, file or name of an algorithm."""
    return (
        not is_placeholder(value) and value.strip("0123456789.:") != "" and chance(value) >= max(10, 1.1 * len(value))
    )


def _url(_: re.Match[str], value: str) -> bool:
    low = value.lower().strip("[]{}()")
    if is_placeholder(value) or low in _GENERIC_PASSWORDS or value.startswith(("$", "{", "<", "%", "[", "*")):
        return False
    return not value.isdigit() and value.upper() != value.strip() + "_" and low not in {"postgres", "mysql", "p@ss"}


_SPACE = r"(?:\s|\\+[nrt]){1,12}"
_NETRC = re.compile(
    rf"(?i)(?:\b|(?<=\\[nrt]))machine{_SPACE}[\w-]{{1,80}}(?:\.[\w-]{{1,80}}){{1,6}}{_SPACE}(?:login{_SPACE}[^\s\0]{{1,120}}?{_SPACE})?$"
)


def _netrc(match: re.Match[str], value: str) -> bool:
    known = _NETRC.search(match.string, max(0, match.start() - 500), match.start())
    return known is not None and _url(match, value)


def _cookie(_: re.Match[str], value: str) -> bool:
    return any(len(part) >= 16 and is_scattered(part) and is_value(part) for part in re.split(r"[=;\s]+", value))


def _block(_: re.Match[str], value: str) -> bool:
    body = re.sub(r"-----[A-Z0-9 ]+-----|\\[nrt]|[^A-Za-z0-9+/]", "", value)
    return len(body) >= 40 and len(set(body)) > 12 and not is_made_up(value[:400])


def _hash(_: re.Match[str], value: str) -> bool:
    return len(set(value)) > 12 and not re.search(r"[xX]{4}|\.{4}", value)


def is_user(name: str) -> bool:
    """Whether a user's name tells who it is."""
    return len(name) > 1 and name.lower() not in _USERS and not re.fullmatch(r"user-?\d+|\d+|[._-]+", name)


def _user(_: re.Match[str], value: str) -> bool:
    return is_user(value)


_SERVICES = frozenset(
    {
        "postgres", "mysql", "redis", "nginx", "apache", "www-data", "daemon", "systemd", "messagebus", "git",
        "jenkins", "docker", "build", "builder", "worker", "service", "mongodb", "nixbld",
    }
)  # fmt: skip
"""Accounts of programs."""


def _account_name(_: re.Match[str], value: str) -> bool:
    return is_user(value) and value not in _SERVICES and not value.startswith("_")


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
    _value, _mixed, _named, _assigned, _password, _command, _argument, _url, _netrc, _cookie, _default, _phrase, _block,
    _hash, _user, _account_name, _email, _ipv4, _ipv6, _phone,
)  # fmt: skip
CHECKS = {check.__name__.lstrip("_"): check for check in _CHECKS} | PERSONAL_CHECKS
"""The checks that a rule may name."""
