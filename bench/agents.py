"""Logs of many agents together: a first sync beside the peer that reads as many, tokens beside peers', and each
reader by bytes a second."""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from bench import agent_tokens, agentsview, corpus
from bench.measure import run
from bench.table import Row

_AIM = 2.0
HOMES = {"codex": ".codex", "pi": ".pi", "copilot": ".copilot", "gemini": ".gemini", "droid": ".factory"}
"""Where each agent's folder of the real examples belongs below a home."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def rows(shared: Path, mb: int) -> Iterator[Row]:
    examples = shared / "corpora" / "agents"
    if not examples.is_dir():
        yield Row("agents", "no real logs of other agents in ../shared")
        return
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "home"
        made = mixed_home(examples, home, mb)
        yield from _sync(home, made)
        yield from agent_tokens.rows(shared, Path(scratch) / "examples")
    yield from _readers(shared)


def mixed_home(examples: Path, home: Path, mb: int) -> int:
    """A home with so many megabytes of real logs, each again and again under new ids; how many bytes it is."""
    logs = [(agent, path) for agent in HOMES for path in sorted((examples / agent).rglob("*.json*")) if path.is_file()]
    size, number = 0, 0
    while size < mb * 1e6:
        for agent, path in logs:
            place = path.relative_to(examples / agent).as_posix()
            data = path.read_bytes()
            for old in set(_ID.findall(place)) | set(_ID.findall(data[:400].decode(errors="replace"))):
                new = str(uuid5(NAMESPACE_URL, f"{old}/{number}"))
                data = data.replace(old.encode(), new.encode())
                place = place.replace(old, new).replace(f"-{old[:8]}.json", f"-{new[:8]}.json")
            target = home / HOMES[agent] / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            size += len(data)
        number += 1
    return size


def _sync(home: Path, size: int) -> Iterator[Row]:
    what, aim = f"first sync of {size / 1e6:.0f} MB of {len(HOMES)} agents", f"{_AIM:.1f}x"
    env = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "XDG_DATA_HOME": str(home / ".local" / "share")}
    ours = run([sys.executable, "-m", "unspool", "sync", "-q", "--archive", str(home / "kept")], env)
    if ours.failed:
        yield Row(what, ours.failed, aim=aim, met=False)
        return
    if agentsview.program() is None:
        yield Row(what, f"{ours.seconds:.2f} s, {size / 1e6 / ours.seconds:.0f} MB/s")
        return
    theirs = run([agentsview.program() or "agentsview", "sync"], agentsview.quiet(home))
    shutil.rmtree(home / ".agentsview", ignore_errors=True)
    ratio = theirs.seconds / ours.seconds
    beside = theirs.failed or f"agentsview {theirs.seconds:.2f} s"
    yield Row(what, f"{ours.seconds:.2f} s", beside, f"{ratio:.1f}x", aim, ratio >= _AIM)


_READ = """
import sys, time
from pathlib import Path
from unspool.store.library import Library
from unspool.store.library.read import count_log
library = Library([Path(one) for one in sys.argv[1:]])
logs = [log for log in library.logs() if not log.path.endswith(".zst")]
size = sum(log.total_size for log in logs)
best = float("inf")
for _ in range(3):
    begun = time.process_time()
    for log in logs:
        count_log(log)
    best = min(best, time.process_time() - begun)
print(size / 1e6 / best)
"""


def _readers(shared: Path) -> Iterator[Row]:
    """Megabytes a second of CPU, of rollouts beside our own reader of Claude Code."""
    rates = {}
    for name, folders in {
        "Claude Code": (shared / "corpora" / "claude",),
        "Codex": (shared / "corpora" / "codex", shared / "corpora" / "agents" / "codex"),
    }.items():
        got = run([sys.executable, "-c", _READ, *map(str, folders)], {"PYTHONPATH": str(corpus.ROOT / "src")})
        rates[name] = 0.0 if got.failed else float(got.output)
    claude, codex = rates["Claude Code"], rates["Codex"]
    ratio = codex / claude if claude else 0.0
    what = "reading rollouts of Codex, beside our reader of Claude Code"
    yield Row(what, f"{codex:.0f} MB/s", f"{claude:.0f} MB/s", f"{ratio:.2f}x", "1.0x", ratio >= 1)
