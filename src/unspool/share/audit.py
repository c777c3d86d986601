"""Searches what was made of a session for everything that is found in the session, whatever it is packed in."""

import binascii
import gzip
import hmac
import io
import json
import re
import tarfile
import zlib
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.errors import Unreadable, UsageProblem
from unspool.http import fetch
from unspool.redact.replacements import SecretMatch
from unspool.redact.spread import KnownValues
from unspool.share.choices import finding_id
from unspool.share.encryption import SealedData, ShareSecret, chunk_nonces, derive_keys, passphrase
from unspool.share.redact_files import PICTURES
from unspool.store.archive.keys import SHARE_ROUNDS
from unspool.store.library.inputs import is_url

_SEALED = re.compile(rb'<script type="application/json" id="sealed">(\{"format":"unspool.sealed/.*?)</script>', re.S)
_CHUNK = re.compile(rb'class="chunk">(.*?)</script>', re.S)
_PACKED = re.compile(rb"[A-Za-z0-9+/]{64,}={0,2}")
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOST = 1 << 30
"""Bytes that something packed is unpacked to at most."""
_DEPTH = 3
"""Packings inside each other that are opened."""
_ROUNDS = 10_000_000
_BLOCK = 1 << 20
_OVERLAP = 1 << 14

AskSecret = Callable[[str], str]
"""Asks a person for what opens an encrypted page, a `Key` or a `Passphrase`."""


class ArtefactPart(NamedTuple):
    """A file of an artefact, or what is packed in it; the place names each packing."""

    place: str
    data: bytes


class AuditLeak(msgspec.Struct, frozen=True):
    """Where a value of the session still stands; what it is stays unsaid."""

    rule: str
    kind: str
    id: str
    """As a review of the session names the value."""
    place: str
    at: int
    """The byte or character of the place, about where it stands."""


class AuditResult(NamedTuple):
    leaks: list[AuditLeak]
    parts: int
    """Files and packed contents that were searched."""
    pictures: list[str]
    """Places of pictures, whose pixels were not looked at."""


def open_artefact(name: str, ask: AskSecret) -> list[ArtefactPart]:
    """Everything a file, a folder or an address holds, unpacked and opened; Unreadable where that cannot be."""
    if "://" in name:
        if not is_url(name):
            raise UsageProblem("Only addresses with http: and https: can be searched.")
        address, _, fragment = name.partition("#")
        return list(_opened(ArtefactPart(address, fetch(address)), _DEPTH, _with_fragment(fragment, ask)))
    name, _, fragment = name.partition("#key=")
    path = Path(name)
    if not path.exists():
        raise Unreadable(f"There is no file or folder {name}.")
    asked = _with_fragment(f"key={fragment}" if fragment else "", ask)
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    parts: list[ArtefactPart] = []
    for file in files:
        place = file.relative_to(path.parent).as_posix()
        parts += _opened(ArtefactPart(place, file.read_bytes()), _DEPTH, asked)
    return parts


def _with_fragment(fragment: str, ask: AskSecret) -> AskSecret:
    return (lambda _: fragment) if fragment.startswith("key=") else ask


def _secret(how: str, ask: AskSecret) -> ShareSecret:
    if how == "passphrase":
        return passphrase(ask("Passphrase"))
    return ShareSecret("key", from_base64(ask("Key").rpartition("key=")[2]))


def _opened(part: ArtefactPart, depth: int, ask: AskSecret) -> Iterator[ArtefactPart]:
    """A part, and what is packed in it."""
    yield part
    if depth:
        for place, data in (*_sealed(part, ask), *_unpacked(part.data), *_encoded(part.data)):
            yield from _opened(ArtefactPart(f"{part.place} > {place}", data), depth - 1, ask)


def _unpacked(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data[:2] == b"\x1f\x8b":
        try:
            inflated = zlib.decompressobj(31).decompress(data, _MOST)
        except zlib.error as error:
            raise Unreadable(f"What is packed cannot be unpacked: {error}.") from None
        yield "unpacked", inflated
    elif data[257:262] == b"ustar":
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.isfile() else None
                    yield member.name, file.read() if file is not None else b""
        except (tarfile.TarError, EOFError) as error:
            raise Unreadable(f"A bundle cannot be unpacked: {error}.") from None


def _encoded(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What stands in base64 and is packed, such as a search index; plain text in base64 is searched where it stands."""
    for number, found in enumerate(_PACKED.finditer(data), 1):
        if found[0].startswith((b"H4sI", b"eJ", b"eN", b"eA")):
            try:
                packed = b64decode(found[0] + b"=" * (-len(found[0]) % 4))
                yield f"base64 {number}", zlib.decompressobj(47).decompress(packed, _MOST)
            except (zlib.error, binascii.Error):
                continue


def _sealed(part: ArtefactPart, ask: AskSecret) -> Iterator[tuple[str, bytes]]:
    """The files of an encrypted page."""
    found = _SEALED.search(part.data)
    if found is None:
        return
    try:
        chunks = tuple(map(b64decode, _CHUNK.findall(part.data)))
        secret = _secret(json.loads(found[1])["secret"], ask)
        data = gzip.decompress(unseal(SealedData(found[1], chunks), secret))
        at = 4 + int.from_bytes(data[:4], "big")
        for name, size in json.loads(data[4:at]):
            yield str(name), data[at : at + size]
            at += size
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise Unreadable(f"{part.place} is encrypted, and damaged: {error}.") from None


def unseal(sealed: SealedData, secret: ShareSecret) -> bytes:
    """What was sealed; Unreadable where the secret is another one, or anything was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    facts = json.loads(sealed.header)
    rounds = facts.get("iterations", SHARE_ROUNDS)
    if rounds > _ROUNDS:
        raise Unreadable("Opening the page would take too long: it asks for too many rounds.")
    key, commitment = derive_keys(secret, from_base64(facts["salt"]), rounds)
    if not hmac.compare_digest(commitment, from_base64(facts["commitment"])):
        raise Unreadable("This does not open the page: it was made with another key or passphrase.")
    nonces = chunk_nonces(from_base64(facts["prefix"]), len(sealed.chunks))
    try:
        pieces = [AESGCM(key).decrypt(*pair, sealed.header) for pair in zip(nonces, sealed.chunks, strict=True)]
    except InvalidTag:
        raise Unreadable("This page was changed or damaged since it was made.") from None
    return b"".join(pieces)


def from_base64(text: str) -> bytes:
    """The bytes of base64 as addresses have it; Unreadable where it is none."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise Unreadable("The key is cut off or mistyped.") from None


def session_ids(parts: Iterable[ArtefactPart]) -> list[str]:
    """The ids that may be those of sessions, the most frequent first."""
    counts: dict[str, int] = {}
    for part in parts:
        for found in _ID.findall(part.data):
            counts[found.decode()] = counts.get(found.decode(), 0) + 1
    return sorted(counts, key=lambda one: -counts[one])


def audit_parts(parts: Iterable[ArtefactPart], values: Iterable[SecretMatch]) -> AuditResult:
    """Where any of the values stands in any part or its name, in whatever encoding."""
    known = KnownValues(values)
    leaks: dict[tuple[str, str, int], AuditLeak] = {}
    pictures, searched = [], 0
    for part in parts:
        searched += 1
        if part.data.startswith(PICTURES):
            pictures.append(part.place)
        named = known.find(part.place)
        place = part.place
        for match in reversed(named):
            place = f"{place[: match.start]}…{place[match.end :]}"
        for at, match in (*((0, one) for one in named), *_matches(part.data, known)):
            leak = AuditLeak(match.rule, match.kind, finding_id(match.rule, match.value), place, at)
            leaks.setdefault((leak.id, leak.place, at), leak)
    return AuditResult(list(leaks.values()), searched, pictures)


def _matches(data: bytes, known: KnownValues) -> Iterator[tuple[int, SecretMatch]]:
    """What some bytes hold, in blocks that overlap: neither a block's end nor characters that are none hide it."""
    for start in range(0, max(1, len(data)), _BLOCK):
        block = data[start : start + _BLOCK + _OVERLAP]
        for match in known.find(block.decode("utf-8", "replace")):
            yield start + match.start, match
    if b"\0" in data[:4096]:
        for encoding in ("utf-16-le", "utf-16-be"):
            yield from ((match.start * 2, match) for match in known.find(data.decode(encoding, "replace")))
