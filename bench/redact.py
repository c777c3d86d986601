"""How much is found, how much is falsely told, and how fast: beside session-share's patterns and detect-secrets."""

import json
import os
import re
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.labelled import NAMED, Labelled, is_in, labelled, lookalikes
from bench.table import Row
from bench.third_set import GROUPS, by_kind, generate, share_gone
from bench.unseen import Seen, every, is_gone
from bench.unseen.alike import alike
from bench.unseen.worn import LATER
from unspool.redact.finder import Finder
from unspool.redact.log import scan_lines
from unspool.redact.replacements import SecretMatch

LOOKALIKES = 28_000
"""Lines of each of the two sets of look-alikes."""
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

Search = Callable[[list[str]], list[list[SecretMatch]]]
"""Texts to what is found in each."""


class Figures(NamedTuple):
    """How well a way of finding does: on the set that the rules were made with, and on one that they were not."""

    recall: float
    named: float
    groups: dict[str, float]
    false: int
    seconds: float


def rows(shared: Path, seed: int | None = None) -> Iterator[Row]:
    """Recall, false alarms and speed, each beside those that are there; on the third set of a seed, or of a new one."""
    others = [*lookalikes(1, LOOKALIKES), *alike(1, LOOKALIKES)]
    later = [seen._replace(group=f"later {seen.group}") for seen in every(worn=LATER)]
    sets = list(labelled()), [*every(), *later], others
    ours = _figures(_ours, *sets)
    theirs = {name: _figures(search, *sets) for name, search in _peers().items()}

    def row(what: str, figure: Callable[[Figures], str], aim: str = "", met: bool | None = None) -> Row:
        return Row(
            what, figure(ours), ", ".join(f"{name}: {figure(one)}" for name, one in theirs.items()), "", aim, met
        )

    aim = f">= {RECALL:.0%}"
    yield row("secrets found, disguised", lambda one: f"{one.recall:.1%}", aim, ours.recall >= RECALL)
    yield row("values found by name, disguised", lambda one: f"{one.named:.1%}")
    form = ours.groups["form"]
    yield row("second set: secrets", lambda one: f"{one.groups['form']:.1%}", aim, form >= RECALL)
    yield row("second set: values by name", lambda one: f"{one.groups['named']:.1%}")
    yield row("second set: personal data", lambda one: f"{one.groups['personal']:.1%}")
    yield row("surroundings never mended for: secrets", lambda one: f"{one.groups['later form']:.1%}")
    yield row("the same: values by name", lambda one: f"{one.groups['later named']:.1%}")
    few = ours.false <= len(others) // 10_000
    yield row(f"false alarms in {len(others):,} look-alikes", lambda one: f"{one.false:,}", "<= 1 in 10,000", few)
    size = sum(map(len, others)) / 1e6
    yield row("look-alikes, line by line, MB/s", lambda one: f"{size / one.seconds:.2f}")
    yield from _third(secrets.randbelow(10**6) if seed is None else seed)
    if logs := _logs(shared):
        speed = _speed(logs)
        yield Row("real logs scanned, MB/s a core", f"{speed:.1f}", "", "", f">= {SPEED}", speed >= SPEED)


def _third(seed: int) -> Iterator[Row]:
    """Recall on a set that nobody has seen before."""
    labels = generate(seed)
    texts = [label.text for label in labels]
    shares = {
        name: by_kind(
            [(label, share_gone(label, found)) for label, found in zip(labels, search(texts), strict=True)],
            lambda label: label.group,
        )
        for name, search in {"": _ours, **_peers()}.items()
    }
    ours = shares.pop("")
    for group, share in ours.items():
        aim = GROUPS.get(group)
        yield Row(
            f"third set, seed {seed}: {group}" + ("" if aim else "s left alone"),
            f"{share:.1%}",
            ", ".join(f"{name}: {theirs[group]:.1%}" for name, theirs in shares.items()),
            "",
            f">= {aim:.0%}" if aim else "",
            share >= aim if aim else None,
        )


def _figures(search: Search, labels: list[Labelled], unseen: list[Seen], others: list[str]) -> Figures:
    found = search([label.text for label in labels])
    hits: dict[bool, list[bool]] = {False: [], True: []}
    for label, matches in zip(labels, found, strict=True):
        hits[label.rule in NAMED].append(is_in(label, [match.value for match in matches]))
    groups: dict[str, list[bool]] = {}
    for seen, matches in zip(unseen, search([seen.text for seen in unseen]), strict=True):
        groups.setdefault(seen.group, []).append(is_gone(seen, matches))
    start = time.process_time(), time.perf_counter()
    false = sum(map(bool, search(others)))
    spent = time.process_time() - start[0] if search is not _detect_secrets else time.perf_counter() - start[1]
    shares = {group: fmean(gone) for group, gone in groups.items()}
    return Figures(fmean(hits[False]), fmean(hits[True]), shares, false, spent)


def _ours(texts: list[str]) -> list[list[SecretMatch]]:
    finder = Finder()
    return [finder.find(text) for text in texts]


def _session_share(texts: list[str]) -> list[list[SecretMatch]]:
    return [
        [
            SecretMatch("", "secret", found[0], *found.span())
            for pattern in SESSION_SHARE
            for found in pattern.finditer(text)
        ]
        for text in texts
    ]


def _detect_secrets(texts: list[str]) -> list[list[SecretMatch]]:
    command = [os.environ["UNSPOOL_DETECT_SECRETS"], "-c", _PEER]
    done = subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True, check=True)
    found: list[list[str]] = json.loads(done.stdout)
    return [[_at(text, value) for value in values] for text, values in zip(texts, found, strict=True)]


def _at(text: str, value: str) -> SecretMatch:
    """A value that was told, where it first stands."""
    start = max(0, text.find(value))
    return SecretMatch("", "secret", value, start, start + len(value) if value in text else start)


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
        for _finding in scan_lines(lines, finder):
            pass
        best = min(best, time.process_time() - start)
    return sum(map(len, lines)) / 1e6 / best
