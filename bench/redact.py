"""How much is found, how much is falsely told, and how fast: beside session-share's patterns and detect-secrets."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.labelled import NAMED, Labelled, is_in, labelled, lookalikes
from bench.table import Row
from unspool.redact.finder import Finder
from unspool.redact.log import scan

LOOKALIKES = 28_000
RECALL, SPEED = 0.99, 20
_LOGS = 12_000_000
"""Bytes of real logs that speed is measured on."""
_VALUE = r"""["']?\s*[:=]\s*["']?"""
SESSION_SHARE = tuple(
    re.compile(pattern)
    for pattern in (
        r"sk-[A-Za-z0-9]{20,}",
        r"sk-ant-[A-Za-z0-9-]{20,}",
        r"ghp_[A-Za-z0-9]{36}",
        r"gho_[A-Za-z0-9]{36}",
        r"github_pat_[A-Za-z0-9_]{22,}",
        r"xoxb-[A-Za-z0-9-]{24,}",
        r"xoxp-[A-Za-z0-9-]{24,}",
        r"npm_[A-Za-z0-9]{36}",
        r"AKIA[A-Z0-9]{16}",
        r"(?i)bearer [A-Za-z0-9._-]{20,}",
        *(
            rf"-----BEGIN {kind}-----[\s\S]*?-----END {kind}-----"
            for kind in (
                "RSA PRIVATE KEY",
                "OPENSSH PRIVATE KEY",
                "(?:EC|DSA|ENCRYPTED) PRIVATE KEY",
                "PRIVATE KEY",
                "PGP PRIVATE KEY BLOCK",
            )
        ),
        r"postgres(?:ql)?://[^\s:]+:[^\s@]+@\S+",
        r"mysql://[^\s:]+:[^\s@]+@\S+",
        r"mongodb(?:\+srv)?://[^\s:]+:[^\s@]+@\S+",
        r"redis://[^\s:]*:[^\s@]+@\S+",
        rf"(?i)(?:password|passwd|pwd|secret){_VALUE}[^\s\"']{{8,}}",
        rf"(?i)api[_-]?key{_VALUE}[A-Za-z0-9_-]{{16,}}",
        rf"(?i)secret[_-]?key{_VALUE}[A-Za-z0-9_-]{{16,}}",
        rf"(?i)(?:auth|access)[_-]?token{_VALUE}[A-Za-z0-9_-]{{16,}}",
    )
)
"""The 23 patterns of session-share, as its description has them."""

_PEER = """
import bisect, json, sys, tempfile
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
texts = json.load(sys.stdin)
starts, line = [], 1
for text in texts:
    starts.append(line)
    line += text.count("\\n") + 1
with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file, default_settings():
    file.write("\\n".join(texts))
    file.flush()
    secrets = SecretsCollection()
    secrets.scan_file(file.name)
found = [[] for _ in texts]
for _, one in secrets:
    found[bisect.bisect_right(starts, one.line_number) - 1].append(one.secret_value)
print(json.dumps(found))
"""

Search = Callable[[list[str]], list[list[str]]]
"""Texts to what is found in each."""


class Figures(NamedTuple):
    """How well a way of finding does on the labelled set."""

    recall: float
    named: float
    false: int
    seconds: float


def rows(shared: Path) -> Iterator[Row]:
    """Recall, false alarms and speed, each beside those that are there."""
    labels, others = list(labelled()), list(lookalikes(1, LOOKALIKES))
    ours = _figures(_ours, labels, others)
    theirs = {name: _figures(search, labels, others) for name, search in _peers().items()}
    beside = _told(theirs, lambda one: f"{one.recall:.1%}")
    yield Row("secrets found, disguised", f"{ours.recall:.1%}", beside, "", f">= {RECALL:.0%}", ours.recall >= RECALL)
    yield Row("values found by name, disguised", f"{ours.named:.1%}", _told(theirs, lambda one: f"{one.named:.1%}"))
    false = _told(theirs, lambda one: f"{one.false:,}")
    few = ours.false <= LOOKALIKES // 10_000
    yield Row(f"false alarms in {LOOKALIKES:,} lines", f"{ours.false:,}", false, "", "<= 1 in 10,000", few)
    size = sum(len(text) for text in others) / 1e6
    yield Row("look-alikes, MB/s", f"{size / ours.seconds:.1f}", _told(theirs, lambda one: f"{size / one.seconds:.1f}"))
    if logs := _logs(shared):
        speed = _speed(logs)
        yield Row("real logs scanned, MB/s a core", f"{speed:.1f}", "", "", f">= {SPEED}", speed >= SPEED)


def _told(theirs: dict[str, Figures], figure: Callable[[Figures], str]) -> str:
    return ", ".join(f"{name}: {figure(one)}" for name, one in theirs.items())


def _figures(search: Search, labels: list[Labelled], others: list[str]) -> Figures:
    found = search([label.text for label in labels])
    hits = {named: [0, 0] for named in (False, True)}
    for label, values in zip(labels, found, strict=True):
        tally = hits[label.rule in NAMED]
        tally[0] += is_in(label, values)
        tally[1] += 1
    start = time.perf_counter()
    false = sum(bool(values) for values in search(others))
    return Figures(hits[False][0] / hits[False][1], hits[True][0] / hits[True][1], false, time.perf_counter() - start)


def _ours(texts: list[str]) -> list[list[str]]:
    finder = Finder()
    return [[match.value for match in finder.find(text)] for text in texts]


def _session_share(texts: list[str]) -> list[list[str]]:
    return [[match[0] for pattern in SESSION_SHARE for match in pattern.finditer(text)] for text in texts]


def _detect_secrets(texts: list[str]) -> list[list[str]]:
    command = [os.environ["UNSPOOL_DETECT_SECRETS"], "-c", _PEER]
    done = subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True, check=True)
    found: list[list[str]] = json.loads(done.stdout)
    return found


def _peers() -> dict[str, Search]:
    """Those that can be run: UNSPOOL_DETECT_SECRETS is a Python that has detect-secrets."""
    found: dict[str, Search] = {"session-share": _session_share}
    if os.environ.get("UNSPOOL_DETECT_SECRETS"):
        found["detect-secrets"] = _detect_secrets
    return found


def _logs(shared: Path) -> list[bytes]:
    """Lines of real logs."""
    lines: list[bytes] = []
    size = 0
    for path in sorted((shared / "corpora").rglob("*.jsonl")):
        if size < _LOGS:
            lines += path.read_bytes().splitlines(keepends=True)
            size += path.stat().st_size
    return lines


def _speed(lines: list[bytes]) -> float:
    """Megabytes a second of this process's own time, best of three."""
    best = 1e9
    for _ in range(3):
        finder = Finder()
        start = time.process_time()
        for _finding in scan(lines, finder):
            pass
        best = min(best, time.process_time() - start)
    return sum(map(len, lines)) / 1e6 / best
