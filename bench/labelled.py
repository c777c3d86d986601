"""Made-up secrets of every rule in every disguise, and texts that only look like secrets. Nothing here is anybody's."""

import base64
import html
import json
import quopri
import re
import textwrap
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha1, sha256
from random import Random
from typing import NamedTuple
from uuid import UUID

from unspool.redact.forms import CLASSES
from unspool.redact.rules import RedactionRule, builtin_rules

_LETTERS = {
    name: "".join(char for char in map(chr, range(0x21, 0x7F)) if re.match(f"[{letters}]", char))
    for name, letters in CLASSES.items()
}
_BLANK = re.compile(rf"<({'|'.join(sorted(CLASSES, key=len, reverse=True))})(\d+)>")
_HEADER = re.compile(r"-----[A-Z ]+-----")
"""Of a private key: no secret by itself."""
NAMED = frozenset(
    {
        *("password", "named-secret", "bearer-token", "authorization", "cookie", "url-password", "curl-user", "pgpass"),
        *("command-password", "piped-secret", "argument-secret", "jwk-member", "address-signature", "address-code"),
        *(
            "oracle-password",
            "wifi-password",
            "broker-password",
            "azure-app-configuration",
            "told-password",
            "login-pair",
        ),
        *("passphrase", "turned-password", "sidekiq-key", "aws-key-pair", "default-secret"),
    }
)
"""Rules of values that only what stands beside them makes a secret; all other secrets have a form of their own."""


class Labelled(NamedTuple):
    """A text and the secret that it holds in some disguise."""

    rule: str
    disguise: str
    text: str
    secret: str


def is_in(label: Labelled, values: Iterable[str]) -> bool:
    """Whether one of the values found holds the secret: its letters and digits, however it was wrapped and padded."""
    return any(_bare(label.secret) in _bare(value) for value in values)


def _bare(value: str) -> str:
    return re.sub(r"%3[Dd]|\\+[nr]|[^A-Za-z0-9]", "", value)


def filled(example: str, random: Random) -> str:
    """An example of a rule with its blanks filled."""
    return _BLANK.sub(lambda blank: _some(blank[1], int(blank[2]), random), example.replace("<>", ""))


def _some(kind: str, length: int, random: Random) -> str:
    letters = _LETTERS[kind]
    while True:
        text = "".join(random.choices(letters, k=length))
        digits = kind in {"dig", "low", "let"} or length < 8 or sum(map(str.isdigit, text)) >= 2
        if digits and text[0].isalnum() and text[-1].isalnum():
            return text


def _wrapped(between: str, width: int = 30) -> Callable[[str], str]:
    def wrap(text: str) -> str:
        if re.fullmatch("[a-z]+(?: [a-z]+)+", text):  # words are broken between them
            return between.join(textwrap.wrap(text, width))
        return between.join(text[at : at + width] for at in range(0, len(text), width))

    return wrap


def _larger(text: str) -> str:
    return base64.b64encode(f"# settings of the shop\nname: harbour\n{text}\nport: 80\n".encode()).decode()


DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": lambda text: f"I ran it with {text} and it worked",
    "quoted": lambda text: f'value("{text}")',
    "json": lambda text: json.dumps({"out": f"a\n{text}\nb"}),
    "json in json": lambda text: json.dumps(json.dumps({"out": f"a\n{text}\nb"})),
    "json three deep": lambda text: json.dumps(json.dumps(json.dumps({"out": f"a\n{text}\nb"}))),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 of more": _larger,
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(f"~~~{text}".encode()).decode().rstrip("="),
    "base64 in lines": lambda text: base64.encodebytes(f"one line\n{text}\nanother line of text".encode()).decode(),
    "address": lambda text: "https://shop.net/?q=" + urllib.parse.quote(text, safe=""),
    "entities": lambda text: f"<p>{html.escape(text).replace('_', '&#95;').replace('-', '&#x2d;')}</p>",
    "unicode escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "hex": lambda text: text.encode().hex(),
    "zero width": lambda text: "\u200b".join(text[at : at + 7] for at in range(0, len(text), 7)),
    "quoted-printable": lambda text: quopri.encodestring(("x" * 50 + " = " + text).encode()).decode(),
    "wrapped": _wrapped("\n"),
    "wrapped and indented": _wrapped("\n      "),
    "shell": _wrapped("\\\n"),
    "diff": lambda text: "+" + _wrapped("\n+")(text),
    "colours": lambda text: f"\x1b[31m{text}\x1b[0m",
}
"""What a secret may be found in."""


def labelled(seed: int = 1, rules: tuple[RedactionRule, ...] | None = None) -> Iterator[Labelled]:
    """Every example of every secret in every disguise."""
    random = Random(seed)
    for rule in rules or builtin_rules().rules:
        if rule.kind != "secret":
            continue
        for example in rule.match:
            for name, disguise in DISGUISES.items():
                text = filled(example, random)
                found = re.search(rule.pattern, text)
                secret = _HEADER.sub("", found[rule.group] if found else text)
                yield Labelled(rule.id, name, disguise(text), secret.rstrip("=\n"))


def lookalikes(seed: int = 1, lines: int = 20_000) -> Iterator[str]:
    """Lines of what fills logs and is no secret: digests, ids, locks, code, styles, pictures, versions."""
    random = Random(seed)
    for number in range(lines):
        yield _LOOKALIKES[number % len(_LOOKALIKES)](random)


def _bytes(random: Random, count: int) -> bytes:
    return random.randbytes(count)


def _word(random: Random) -> str:
    return random.choice(_WORDS)


_WORDS = (
    "harbour",
    "crane",
    "ship",
    "token",
    "secret",
    "password",
    "key",
    "auth",
    "session",
    "client",
    "handler",
    "parse",
)

_LOOKALIKES: tuple[Callable[[Random], str], ...] = (
    lambda random: f"commit {sha1(_bytes(random, 9)).hexdigest()}",  # noqa: S324  a look-alike of git's
    lambda random: f"index {_bytes(random, 4).hex()[:7]}..{_bytes(random, 4).hex()[:7]} 100644",
    lambda random: f"sha256:{sha256(_bytes(random, 9)).hexdigest()}",
    lambda random: f'"integrity": "sha512-{base64.b64encode(_bytes(random, 64)).decode()}"',
    lambda random: f'"id": "{UUID(bytes=_bytes(random, 16))}", "parent": "{UUID(bytes=_bytes(random, 16))}"',
    lambda random: f"data:image/png;base64,iVBORw0KGgo{base64.b64encode(_bytes(random, 300)).decode()}",
    lambda random: (
        f"github.com/{_word(random)}/{_word(random)} v1.{random.randrange(99)}.0 h1:"
        f"{base64.b64encode(_bytes(random, 32)).decode()}"
    ),
    lambda random: f'checksum = "{sha256(_bytes(random, 9)).hexdigest()}"',
    lambda random: f"const {_word(random)}Key = get{_word(random).title()}Token{random.randrange(9)}();",
    lambda random: f"{_word(random)}_token = os.environ['{_word(random).upper()}_TOKEN_{random.randrange(9)}']",
    lambda random: f"password = getpass.getpass('{_word(random)} password: ')",
    lambda _: 'API_KEY="your-api-key-here"',
    lambda _: "OPENAI_API_KEY=sk-your-key-here-1234",
    lambda _: "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    lambda _: "DATABASE_URL=postgres://user:password@localhost:5432/app",
    lambda random: f".btn-{_word(random)}-{random.randrange(99)}{{color:#{_bytes(random, 3).hex()};margin:0 1px}}",
    lambda random: (
        "!function(e,t){" + "".join(f"var {_word(random)[:2]}{n}=e[{n}]||t.{_word(random)};" for n in range(9))
    ),
    lambda random: (
        f"Chrome/{random.randrange(90, 140)}.0.{random.randrange(9999)}.{random.randrange(200)} Safari/537.36"
    ),
    lambda random: f"version {random.randrange(9)}.{random.randrange(9)}.{random.randrange(9)}.{random.randrange(9)}",
    lambda random: f"    at {_word(random)}.{_word(random)}TokenProvider2 (src/{_word(random)}/index.ts:41:7)",
    lambda random: (
        f"src/{_word(random)}/{_word(random)}_secret_manager_test.py::test_{_word(random)}_key_rotation PASSED"
    ),
    lambda random: f"tokens: {random.randrange(10**6)}, cache_read_input_tokens: {random.randrange(10**8)}",
    lambda random: f"secretName: {_word(random)}-tls-{random.randrange(99)}",
    lambda random: (
        f"{random.randrange(10, 24)}:{random.randrange(10, 60)}:17.123 INFO {_word(random)}::{_word(random)}"
    ),
    lambda random: f"the {_word(random)} is the password: please ask the {_word(random)} master for it",
    lambda random: (
        f"toolu_01{''.join(random.choices(_LETTERS['an'], k=22))} msg_01{''.join(random.choices(_LETTERS['an'], k=22))}"
    ),
    lambda random: (
        f"-rw-r--r-- 1 root root {random.randrange(10**6)} Jan  2 10:20 {_word(random)}-key-{random.randrange(99)}.pem"
    ),
    lambda random: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base64.b64encode(_bytes(random, 32)).decode()[:42]}x",
)
