"""The logs that are measured: a made corpus, kept in `.cache`; one huge log; one log with a huge line.

A corpus larger than LARGEST_MB is copies of one of that size. Where the corpus maker is not at hand the package's demo
stands in for it, copied until it is large enough.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import copies

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "corpora"
MB = 1_000_000
LARGEST_MB = 500
"""The maker writes some 15 MB a second."""
SESSION = "0b3c7d1e-5f2a-4c8b-9d6e-1a2b3c4d5e6f"

# What must differ where a log goes on with a copy of itself: ids of lines, messages, requests and calls.
IDS = re.compile(rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b(?:msg|req|toolu)_\w+")


def made(shared: Path, seed: int, mb: int) -> Path:
    """A corpus of the maker in `shared`, with its truth.json unless it is copies; the same arguments give the same."""
    maker = shared / "tools" / "make_corpus.py"
    digest = _digest(maker.read_bytes())

    def make(folder: Path) -> None:
        command = [sys.executable, str(maker), str(folder), "--mb", str(mb), "--seed", str(seed)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    # The maker takes its words from the standard library, so another Python makes other bytes.
    version = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    if mb <= LARGEST_MB:
        return _kept(f"made-{seed}-{mb}mb-py{version}-{digest}", make)
    one = made(shared, seed, LARGEST_MB)
    return _copied(one.name, one / "projects", mb)


def repeated(template: Path, mb: int, kind: str = "made") -> Path:
    """A source of `mb` MB made of copies of the projects in `template`, each with names of its own; made or real."""
    logs = b"".join(path.read_bytes() for path in sorted(template.rglob("*.jsonl")))
    return _copied(f"{kind}-{_digest(logs)}", template, mb)


def described(source: Path) -> str:
    """How large a source is, and whether its logs are made or real."""
    is_made = source.is_relative_to(CACHE) and "-of-real-" not in source.name
    return f"{size(source) / 1e6:.0f} MB {'made' if is_made else 'real'}"


def huge_log(template: Path, mb: int, folder: Path) -> None:
    """Make `folder` a source with one log of `mb` MB: the log `template` again and again as one long session."""
    with _only_log(folder, template.stem).open("wb") as out:
        for chunk in _copies(template.read_bytes()):
            out.write(chunk)
            if out.tell() >= mb * MB:
                break


def long_line(mb: int, folder: Path) -> None:
    """Make `folder` a source with one log whose last line, an answer of a tool, is `mb` MB long."""
    with _only_log(folder, SESSION).open("wb") as out:
        for line in _dialogue():
            head, hole, tail = line.partition(b"HOLE")
            out.write(head)
            for _ in range(mb if hole else 0):
                out.write(b"0123456789abcdef" * (MB // 16))
            out.write(tail)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the same disk as what is kept, gone afterwards."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        yield Path(folder)


def size(source: Path) -> int:
    """Bytes of all logs under `source`."""
    return sum(path.stat().st_size for path in source.rglob("*.jsonl"))


def warm(source: Path) -> None:
    """Read every file of `source` once, so that no measurement waits for the disk."""
    for path in source.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                while stream.read(MB):
                    pass


def largest(source: Path) -> Path:
    """The largest session log under `source`, subagents left out."""
    logs = [path for path in source.rglob("*.jsonl") if "agent-" not in path.name]
    return max(logs, key=lambda path: path.stat().st_size)


def _kept(name: str, make: Callable[[Path], None]) -> Path:
    """`CACHE/name`, made by `make` unless it is there; whole or not at all, also with several makers at once."""
    place = CACHE / name
    if place.is_dir():
        return place
    with scratch() as folder:
        making = folder / name
        making.mkdir()
        make(making)
        try:
            making.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    return place


def _only_log(folder: Path, session: str) -> Path:
    path = folder / "projects" / "-home-ada-loom" / f"{session}.jsonl"
    path.parent.mkdir(parents=True)
    return path


def _copied(name: str, template: Path, mb: int) -> Path:
    def make(folder: Path) -> None:
        copies.copy(template, folder / "projects", mb)

    way = _digest(copies.NAMES.pattern)
    return _kept(f"copies-{mb}mb-{way}-of-{name}", make)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _renumbered(name: bytes, number: int) -> bytes:
    """Another id of the same shape."""
    return name + b"x%x" % number if b"_" in name else name[:-7] + b"%07x" % number


def _copies(log: bytes) -> Iterator[bytes]:
    """The log again and again, each copy with fresh ids and hung on the one before; the session id stays."""
    pieces, ids = IDS.split(log), IDS.findall(log)
    session = max(set(ids), key=ids.count)
    last = re.findall(rb'"uuid":"([^"]+)"', log)[-1]
    above = b"null"
    for number in range(1, 1 << 28):
        fresh = (name if name == session else _renumbered(name, number) for name in ids)
        chunk = b"".join(part for pair in zip(pieces, [*fresh, b""], strict=True) for part in pair)
        yield chunk.replace(b'"parentUuid":null', b'"parentUuid":' + above, 1)
        above = b'"' + _renumbered(last, number) + b'"'


def _dialogue() -> Iterator[bytes]:
    """A call and its answer, with a HOLE where the answer's text belongs."""
    common = {"sessionId": SESSION, "cwd": "/home/ada/loom", "version": "2.1.100"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat big"}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "HOLE"}
    usage = {"input_tokens": 10, "output_tokens": 20}
    message = {"id": "msg_1", "role": "assistant", "model": "claude-opus-4-6", "content": [call], "usage": usage}
    lines = (
        {"type": "user", "message": {"role": "user", "content": "Show me the big file"}},
        {"type": "assistant", "requestId": "req_1", "message": message},
        {"type": "user", "message": {"role": "user", "content": [answer]}},
    )
    for number, line in enumerate(lines):
        parent = f"00000000-0000-4000-8000-{number - 1:012d}" if number else None
        place = {"uuid": f"00000000-0000-4000-8000-{number:012d}", "parentUuid": parent}
        stamp = {"timestamp": f"2026-11-01T10:00:0{number}.000Z"}
        yield json.dumps({**place, **stamp, **common, **line}, separators=(",", ":")).encode() + b"\n"
