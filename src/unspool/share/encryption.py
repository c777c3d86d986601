"""Encrypts a share into one HTML page that a key or passphrase opens in the browser."""

import gzip
import html
import json
import os
import re
import unicodedata
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import pbkdf2_hmac, sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from unspool.errors import UsageProblem
from unspool.render.html import elements
from unspool.site.page_template import as_markup, fill_template
from unspool.store.archive.keys import SHARE_ROUNDS, check_length

FORMAT: Final = "unspool.sealed/1"
CHUNK: Final = 1 << 20
_PURPOSE = b"unspool.sealed/1 key and commitment"
_BITS = 256


class ShareSecret(NamedTuple):
    """What opens a sealed page."""

    how: Literal["key", "passphrase"]
    data: bytes

    @property
    def fragment(self) -> str:
        """What is added to the address of the page; nothing where a passphrase is asked for."""
        return f"#key={to_base64(self.data)}" if self.how == "key" else ""


class SealedData(NamedTuple):
    header: bytes
    """The parameters, as JSON; authenticated."""
    chunks: tuple[bytes, ...]


def random_key() -> ShareSecret:
    """A key that nobody has had before."""
    return ShareSecret("key", os.urandom(_BITS // 8))


def passphrase(words: str) -> ShareSecret:
    """A passphrase, the same however its letters are composed; UsageProblem where it is too short to protect."""
    return ShareSecret("passphrase", unicodedata.normalize("NFC", check_length(words)).encode("utf-8"))


def seal(data: bytes, secret: ShareSecret) -> SealedData:
    """The data under the secret, with fresh salt and nonces."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, prefix = os.urandom(32), os.urandom(7)
    key, commitment = derive_keys(secret, salt, SHARE_ROUNDS)
    facts: dict[str, Any] = {"format": FORMAT, "cipher": "AES-256-GCM", "chunk": CHUNK, "secret": secret.how}
    if secret.how == "passphrase":
        facts |= {"kdf": "PBKDF2-HMAC-SHA-256", "iterations": SHARE_ROUNDS}
    random = {"salt": salt, "prefix": prefix, "commitment": commitment}
    facts |= {"derive": "HKDF-SHA-256", **{name: to_base64(value) for name, value in random.items()}}
    header = json.dumps(facts, separators=(",", ":")).encode("ascii")
    pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)] or [b""]
    nonces = chunk_nonces(prefix, len(pieces))
    cipher = AESGCM(key)
    made = (cipher.encrypt(nonce, piece, header) for nonce, piece in zip(nonces, pieces, strict=True))
    return SealedData(header, tuple(made))


def to_base64(data: bytes) -> str:
    """Bytes in base64 as addresses have it, without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def derive_keys(secret: ShareSecret, salt: bytes, iterations: int) -> tuple[bytes, bytes]:
    """The key to encrypt with, and the commitment to it."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    master = secret.data
    if secret.how == "passphrase":
        master = pbkdf2_hmac("sha256", secret.data, salt, iterations)
    both = HKDF(SHA256(), 64, salt, _PURPOSE).derive(master)
    return both[:32], both[32:]


def chunk_nonces(prefix: bytes, count: int) -> Iterator[bytes]:
    """A nonce for each chunk, which tells the last one."""
    return (prefix + number.to_bytes(4) + bytes([number == count - 1]) for number in range(count))


FIRST = "index.html"
_HERE = Path(__file__).parent
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_LONGEST = 1 << 20
"""Bytes of a page among which what tells that it is sealed stands."""
_HASH = re.compile(r"'sha256-[A-Za-z0-9+/]{43}='")


def encrypted_page(files: Mapping[str, bytes], secret: ShareSecret) -> bytes:
    """One HTML file that opens to these files, `index.html` or the first page of them before the others.

    Pages must be self-contained; UsageProblem where one is not, or where there is none.
    """
    pages = [name for name in files if name.endswith(".html")]
    if not pages:
        raise UsageProblem("There is no page to encrypt.")
    made = seal(pack_files(files, FIRST if FIRST in files else pages[0]), secret)
    style, script = _static("sealed.css"), _static("sealed.js")
    policies = [_policy(name, files[name]) for name in pages]
    styles, scripts = [_hash(style), *_of(policies, "style-src")], [_hash(script), *_of(policies, "script-src")]
    permitted = f"style-src {' '.join(styles)}; script-src {' '.join(scripts)}"
    return fill_template(
        "sealed.html",
        policy=f"default-src 'none'; img-src data:; {permitted}; base-uri 'none'; form-action 'none'",
        style=as_markup(elements.style_inside(style)),
        script=as_markup(elements.script_inside(script)),
        header=as_markup(made.header.decode("ascii")),
        facts=json.loads(made.header),
        chunks=[as_markup(b64encode(chunk).decode("ascii")) for chunk in made.chunks],
    ).encode("utf-8")


def is_sealed(page: Path) -> bool:
    """Whether a file is such a page."""
    with page.open("rb") as file:
        return b'<script type="application/json" id="sealed">{"format":"unspool.sealed/' in file.read(_LONGEST)


def pack_files(files: Mapping[str, bytes], first: str) -> bytes:
    """The files as one: the length of a list in four bytes, the list of names and sizes, what they hold; compressed."""
    names = [first, *(name for name in files if name != first)]
    listed = json.dumps([[name, len(files[name])] for name in names]).encode("ascii")
    whole = b"".join((len(listed).to_bytes(4), listed, *(files[name] for name in names)))
    return gzip.compress(whole, 6, mtime=0)


def _policy(name: str, page: bytes) -> dict[str, str]:
    """What a page permits itself, by directive."""
    found = _POLICY.search(page, 0, 4096)
    told = html.unescape(found[1].decode("utf-8")) if found else ""
    parts = (part.strip().partition(" ") for part in told.split(";"))
    policy = {directive: sources for directive, _, sources in parts}
    if any("'sha256-" not in policy.get(one, "") or "'self'" in policy[one] for one in ("script-src", "style-src")):
        raise UsageProblem(f"{name} needs files beside it, so it cannot be encrypted; make self-contained pages.")
    return policy


def _of(policies: Iterable[Mapping[str, Any]], directive: str) -> list[str]:
    """The hashes that any of the policies permits, each once."""
    return list(dict.fromkeys(one for policy in policies for one in _HASH.findall(policy[directive])))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _static(name: str) -> str:
    return _HERE.joinpath("static", name).read_text("utf-8").replace("\r\n", "\n")
