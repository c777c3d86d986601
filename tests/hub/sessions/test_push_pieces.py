"""What a hub refuses of a push, piece by piece: what is not what was promised, hides something, or leads elsewhere."""

import struct
from hashlib import sha256

import msgspec
import pytest
import zstandard

from tests.hub.sessions.team import Machine, Team, sessions
from unspool.hub_client.manifest import FilePiece, ManifestFile, make_manifest

KEY = "11111111-2222-4333-8444-555555555555"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"no zstd at all", 400),
        (zstandard.compress(b"something else"), 400),
        (zstandard.compress(bytes(17 * 1024 * 1024)), 413),
        (zstandard.compress(b""), 400),
        (bytes(5 * 1024 * 1024), 413),
    ],
    ids=["not packed", "another digest", "a bomb", "empty", "too large"],
)
def test_a_piece_that_is_not_what_it_should_be_is_refused(machine: Machine, data: bytes, status: int) -> None:
    digest = sha256(b"what was promised").hexdigest()
    answer = machine.member.client.ask("PUT", f"/api/projects/harbour/blobs/{digest}", data)
    assert answer.status == status
    assert machine.rows("blob") == 0


_SKIPPED = struct.pack("<II", 0x184D2A50, 6) + b"hidden"
"""A frame that every reader leaves out."""


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"", b""), (b"", b"hidden"), (b"", _SKIPPED), (b"", zstandard.compress(b"hidden")), (_SKIPPED, b"")],
    ids=["plain", "bytes", "left out", "a second one", "left out at first"],
)
def test_a_piece_is_kept_as_it_came_where_it_hides_nothing(
    small_crew: Team, machine: Machine, before: bytes, after: bytes
) -> None:
    data = b"what was promised" * 100
    digest, packed = sha256(data).hexdigest(), zstandard.ZstdCompressor(write_checksum=True).compress(data)
    answer = machine.member.client.ask("PUT", f"/api/projects/harbour/blobs/{digest}", before + packed + after)
    assert answer.status == 204
    blobs = small_crew.store.blobs
    kept = b"".join(blobs.packed(digest)[1])
    assert (kept == packed) is (not before + after)
    assert b"hidden" not in kept
    assert b"".join(blobs.read(digest)) == data


@pytest.mark.parametrize(
    "name",
    [
        "../x.jsonl",
        "/etc/passwd",
        f"{KEY}/../../x",
        f"{KEY}/.ssh",
        f"{KEY}//x",
        f"{KEY}/a\\b",
        "other.jsonl",
        f"{KEY}/",
    ],
)
def test_names_that_lead_elsewhere_are_refused(machine: Machine, name: str) -> None:
    data = b'{"type":"summary"}\n'
    piece = FilePiece(sha256(data).hexdigest(), len(data))
    whole = make_manifest(KEY, [ManifestFile(f"{KEY}.jsonl", (piece,)), ManifestFile(name, (piece,))])
    answer = machine.member.client.send("POST", "/api/projects/harbour/sessions", msgspec.to_builtins(whole))
    assert answer.status == 400
    assert sessions(machine) == []


@pytest.mark.parametrize("change", [{"state": "0" * 64}, {"key": ".."}, {"files": []}, {"more": 1}, {"key": "a/b"}])
def test_a_manifest_that_is_none_is_refused(machine: Machine, change: dict[str, object]) -> None:
    data = b'{"type":"summary"}\n'
    whole = make_manifest(KEY, [ManifestFile(f"{KEY}.jsonl", (FilePiece(sha256(data).hexdigest(), len(data)),))])
    given = {**msgspec.to_builtins(whole), **change}
    assert machine.member.client.send("POST", "/api/projects/harbour/sessions", given).status == 400
