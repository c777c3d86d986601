"""What leaves through the doors: a session with values of every group is shared, and every byte of it is searched."""

import base64
import gzip
import html
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote

from bench.third_places import ARTEFACTS, lines
from bench.third_set import Labelled, share_gone

_EACH = {"form": 60, "named": 60, "gitleaks kind": 30, "private key": 8, "personal": 40}
"""Texts of each group in the session."""
_SESSION = "7e57ab1e-0000-4000-8000-00000000d002"
_LONG = 8
"""From this length on a value found once must be gone everywhere."""
CONTROL = "Zq7-control-value-that-was-put-in-by-hand"


class Value(NamedTuple):
    """A secret in the session, and whether its text alone tells that it is one."""

    group: str
    text: str
    found: bool


def tell(labels: list[Labelled], seed: int) -> None:
    """Print what of the values is left in each kind of artefact, and whether the audit says the same."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        values = _write(root, labels, Random(seed))
        found = sum(value.found for value in values)
        print(
            f"{len(values)} values in a session, each in its surroundings and once more alone; {found} are found there"
        )
        made = {
            "log": ["redact", _SESSION, "-o", str(root / "out.jsonl")],
            "page": ["share", _SESSION, "--html", "-o", str(root / "out.html"), "--yes"],
            "site": ["share", _SESSION, "--site", "-o", str(root / "out"), "--yes"],
            "bundle": ["share", _SESSION, "--bundle", "-o", str(root / "out.bundle"), "--yes"],
        }
        for name, command in made.items():
            artefact = Path(command[command.index("-o") + 1])
            done = _unspool(root, command)
            if done.returncode:
                print(f"{name}: ended with {done.returncode}: {done.stderr.decode()[-400:]}")
                continue
            _tell_of(name, artefact, values, root)


def _tell_of(name: str, artefact: Path, values: list[Value], root: Path) -> None:
    from unspool.redact.spread import is_common_word

    held = b"\n".join(_contents(artefact))
    left = [value for value in values if _stands(value.text, held)]
    audit = _unspool(root, ["redact", _SESSION, "--audit", str(artefact), "--json"])
    long = [value for value in left if value.found and len(value.text) >= _LONG]
    should = [value for value in long if not is_common_word(value.text)]
    told = json.loads(audit.stdout) if audit.stdout.startswith(b"{") else {}
    left_says = [(key, len(part)) for key, part in told.items() if isinstance(part, list)]
    words, rest = len(long) - len(should), len(left) - len(long)
    print(
        f"{name}: {len(held):,} bytes; left of what was found: {len(should)}, and {words} words that are asked about;"
        f" of what was not found or is short: {rest}"
    )
    agrees = "as" if bool(audit.returncode) == bool(should) else "NOT as"
    print(f"  audit ended with {audit.returncode}, {agrees} this search: {left_says}")
    for value in should:
        print(f"  LEFT {value.group}: {value.text[:60]}")
    planted = artefact if artefact.is_file() else next(artefact.rglob("*.html"))
    if name in {"page", "site", "log"}:
        planted.write_bytes(planted.read_bytes() + f"\n{CONTROL}\n".encode())
        print(f"  control found: {_stands(CONTROL, b''.join(_contents(artefact)))}")
        known = next(value.text for value in values if value.found and value.group == "form" and len(value.text) >= 20)
        planted.write_bytes(planted.read_bytes() + known.encode())
        again = _unspool(root, ["redact", _SESSION, "--audit", str(artefact)])
        print(f"  audit of a secret put back ends with {again.returncode}")


def _write(root: Path, labels: list[Labelled], random: Random) -> list[Value]:
    """Write the session's log and its subagent's; the values that are in it."""
    from unspool.redact.finder import Finder

    finder = Finder()
    chosen = [
        label
        for group, count in _EACH.items()
        for label in random.sample(
            [label for label in labels if label.group == group and label.encoding == "raw"], count
        )
    ]
    random.shuffle(chosen)
    main = lines("prompt", "Set the orders service up.", 0, _SESSION) + lines("task", "", 1, _SESSION)
    agent = lines("subagent", "Look at it.", 0, _SESSION)
    values = []
    for label in chosen:
        matches = finder.find(label.text)
        for secret, shown in zip(label.secrets, label.shown, strict=True):
            values.append(Value(label.group, secret, share_gone(label._replace(shown=(shown,)), matches) == 1))
        texts = [label.text, f"Once more: {random.choice(label.secrets)} is it."]
        for text, artefact in zip(texts, (label.artefact, random.choice(ARTEFACTS)), strict=True):
            log = agent if artefact == "subagent" else main
            log += lines(artefact, text, len(log), _SESSION)
    project = root / ".claude/projects/-srv-orders"
    folder = project / _SESSION / "subagents"
    folder.mkdir(parents=True)
    for path, log in ((project / f"{_SESSION}.jsonl", main), (folder / "agent-a1b2c3d4.jsonl", agent)):
        path.write_text("".join(json.dumps(entry) + "\n" for entry in log), encoding="utf-8")
    return values


def _unspool(root: Path, command: list[str]) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CLAUDE", "UNSPOOL"))}
    return subprocess.run(
        [sys.executable, "-m", "unspool", *command], capture_output=True, check=False, env=kept | {"HOME": str(root)}
    )


def _contents(path: Path) -> Iterator[bytes]:
    """Every byte of a file or folder, packed ones also unpacked, with the names of files."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            yield str(file.relative_to(path.parent)).encode()
            yield from _unpacked(file.read_bytes())


def _unpacked(data: bytes, depth: int = 0) -> Iterator[bytes]:
    yield data
    if depth > 3:
        return
    if data[:2] == b"\x1f\x8b":
        yield from _unpacked(gzip.decompress(data), depth + 1)
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from _unpacked(archive.read(name), depth + 1)
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                yield member.name.encode()
                if inner := tar.extractfile(member):
                    yield from _unpacked(inner.read(), depth + 1)
    for text in re.findall(rb"H4sI[A-Za-z0-9+/=]{20,}", data):
        with suppress(ValueError, OSError, zlib.error):
            yield from _unpacked(gzip.decompress(base64.b64decode(text)), depth + 1)


def _stands(value: str, held: bytes) -> bool:
    """Whether a value stands there, in any encoding."""
    escaped = json.dumps(value)[1:-1]
    texts = {value, escaped, json.dumps(escaped)[1:-1], html.escape(value), quote(value), quote(value, safe="")}
    texts |= {value.encode().hex(), "".join(f"\\u{ord(sign):04x}" for sign in value)}
    for shift in range(3):
        size = len(value.encode())
        coded = base64.b64encode(b"\0" * shift + value.encode()).decode()
        texts.add(coded[-(-shift * 4 // 3) + (shift > 0) : (shift + size) // 3 * 4])
    return any(len(text) >= 5 and text.encode() in held for text in texts)
