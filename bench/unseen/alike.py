"""Lines that hold no secret and nobody's name, and look as if they did."""

import base64
import string
from collections.abc import Callable, Iterator
from hashlib import md5, sha256
from random import Random
from uuid import UUID

Line = Callable[[Random], str]

_WORDS = (
    *("vessel", "quay", "anchor", "ledger", "route", "token", "secret", "password"),
    *("parser", "cache", "auth", "key", "session", "worker", "client", "stage"),
)


def alike(seed: int, lines: int) -> Iterator[str]:
    """So many lines, of every sort the same number."""
    random = Random(seed)
    for number in range(lines):
        yield _LINES[number % len(_LINES)](random)


def _hex(random: Random, length: int) -> str:
    return random.randbytes(length).hex()[:length]


def _b64(random: Random, count: int) -> str:
    return base64.b64encode(random.randbytes(count)).decode()


def _an(random: Random, length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(random.choices(letters, k=length))


def _word(random: Random) -> str:
    return random.choice(_WORDS)


def _uuid(random: Random) -> UUID:
    return UUID(bytes=random.randbytes(16), version=4)


_LINES: tuple[Line, ...] = (
    # digests and ids
    lambda random: f"{sha256(random.randbytes(8)).hexdigest()}  dist/{_word(random)}-1.{random.randrange(9)}.tar.gz",
    lambda random: f'ETag: "{md5(random.randbytes(8)).hexdigest()}"',  # noqa: S324  a look-alike
    lambda random: f"* {_hex(random, 9)} Merge branch '{_word(random)}-{random.randrange(99)}'",
    lambda random: f"image: registry.harbour.net/{_word(random)}@sha256:{_hex(random, 64)}",
    lambda random: (
        f"pod/{_word(random)}-{_hex(random, 10)}-{_an(random, 5, string.ascii_lowercase + string.digits)} Running"
    ),
    lambda random: f"trace_id={_hex(random, 32)} span_id={_hex(random, 16)} sampled=1",
    lambda random: f"ObjectId('{_hex(random, 24)}')",
    lambda random: f"request {_uuid(random)} took {random.randrange(900)} ms",
    lambda random: f'<script src="/_next/static/chunks/{random.randrange(999)}-{_hex(random, 16)}.js"></script>',
    lambda random: f"--hash=sha256:{_hex(random, 64)} \\",
    lambda random: f"  resolution: {{integrity: sha512-{_b64(random, 64)}}}",
    lambda random: f"  {_word(random)} (2.{random.randrange(9)}.1) sha256={_hex(random, 64)}",
    lambda random: f"//# sourceMappingURL=data:application/json;base64,{_b64(random, 120)}",
    lambda random: f"src:url(data:font/woff2;base64,d09GMgABAAAAA{_b64(random, 240)}) format('woff2')",
    lambda random: f'"mappings":"{";".join(_an(random, 4, string.ascii_uppercase) for _ in range(20))}"',
    lambda random: f"SHA256:{_b64(random, 32).rstrip('=')} crane@quay (ED25519)",
    lambda random: (
        f"-----BEGIN CERTIFICATE-----\nMIID{_b64(random, 45)}\n{_b64(random, 48)}\n-----END CERTIFICATE-----"
    ),
    lambda random: f"ssh-rsa AAAAB3NzaC1yc2E{_b64(random, 120)} crane",
    lambda random: f"gpg: key {_hex(random, 16).upper()}: public key imported",
    lambda random: f"nonce-{_b64(random, 16)}' 'strict-dynamic'",
    # code and documents
    lambda random: (
        f'    {_word(random)}_token: str | None = Field(None, alias="{_word(random)}Token{random.randrange(9)}")'
    ),
    lambda random: (
        f"const {_word(random)}Secret = process.env.{_word(random).upper()}_SECRET_{random.randrange(9)} ?? '';"
    ),
    lambda random: f"export API_KEY=<your {_word(random)} key>  # ask the {_word(random)} team",
    lambda random: f"Set `{_word(random).upper()}_API_KEY` to sk-xxxxxxxxxxxxxxxxxxxxxxxx and run it again.",
    lambda random: f"    assert mask('ghp_{'x' * 36}') == 'ghp_…'",
    lambda random: f"token = '{_word(random)}-{_word(random)}-{_word(random)}'",
    lambda random: f"def test_{_word(random)}_password_is_hashed_{random.randrange(99)}(client, {_word(random)}_key):",
    lambda random: f"primaryKey: ['{_word(random)}Id', '{_word(random)}Key{random.randrange(9)}'],",
    lambda random: f'<input type="password" name="password" placeholder="{_word(random)}" autocomplete="off">',
    lambda random: f".{_word(random)}__{_word(random)}--key-{random.randrange(99)}{{background:#{_hex(random, 6)}}}",
    lambda random: f"i18n.t('{_word(random)}.{_word(random)}.tokenExpired{random.randrange(9)}')",
    lambda random: f"var e=t({random.randrange(9999)}),n=r.n(e),o=function(e){{return n()(e,{random.randrange(99)})}};",
    lambda random: (
        f'<path d="M{random.randrange(99)}.{random.randrange(999)} {random.randrange(99)}l-{random.random():.3f}z"/>'
    ),
    lambda random: f"DATABASE_URL=postgres://postgres:postgres@localhost:5432/{_word(random)}_test",
    lambda random: f"secretKeyRef: {{name: {_word(random)}-credentials, key: {_word(random)}-token}}",
    lambda random: f"aws_secret_access_key = ${{{_word(random).upper()}_SECRET}}",
    lambda random: f"Authorization: Bearer ${{{{ secrets.{_word(random).upper()}_TOKEN }}}}",
    lambda random: f"max_tokens: {random.randrange(9999)}, total_tokens: {random.randrange(99999)}",
    lambda random: f"{_word(random)}Token.sol:{random.randrange(999)}: uint256 key = {random.randrange(10**18)};",
    lambda random: f"  ✓ rejects a wrong password for {_word(random)} ({random.randrange(900)} ms)",
    # numbers, names of machines, people of nobody
    lambda random: f"{_word(random)}@{random.randrange(20)}.{random.randrange(20)}.{random.randrange(20)}: deprecated",
    lambda random: f"@types/{_word(random)}@npm:^{random.randrange(20)}.0.{random.randrange(20)}",
    lambda random: f"git@github.com:{_word(random)}/{_word(random)}.git (fetch)",
    lambda random: f"listening on 127.0.0.1:{random.randrange(9999)}, ::1 and 0.0.0.0",
    lambda random: (
        f"Mozilla/5.0 Chrome/{random.randrange(140)}.0.{random.randrange(9999)}.{random.randrange(99)} Safari/537.36"
    ),
    lambda random: f"{random.randrange(10, 24)}:{random.randrange(10, 60)} link/ether 02:42:{_hex(random, 2)}:11:00:02",
    lambda random: f"/home/runner/work/{_word(random)}/{_word(random)}/index.ts:{random.randrange(99)}",
    lambda random: f"/Users/<name>/{_word(random)} and /home/user/{_word(random)}",
    lambda random: f"order +{random.randrange(10**6)} of {random.randrange(10**9)} at {random.random() * 90:.6f}",
    lambda random: f"noreply@{_word(random)}.example.com wrote to you@example.org",
)
