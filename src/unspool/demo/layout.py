"""Logs laid out on disk as Claude Code leaves them: sessions, subagents, sidecars, spilled results, plans."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from unspool.demo.chain import Chain


def tree(log: Chain) -> dict[str, bytes]:
    """Every file of a session, by its path below the agent's home."""
    files: dict[str, bytes] = {}
    for one in _with_agents(log):
        files[one.path] = one.to_bytes()
        if one.sidecar and one.since("2.1.20"):
            files[one.path.removesuffix(".jsonl") + ".meta.json"] = json.dumps(one.sidecar).encode()
        files.update(one.files)
    return files


def write(log: Chain, root: Path) -> Path:
    """Write a session and its companions below root; gives the path of its log. Files are as old as its last line."""
    for name, data in tree(log).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (log.now.timestamp(), log.now.timestamp()))
    return root / log.path


def _with_agents(log: Chain) -> Iterator[Chain]:
    yield log
    for child in log.children:
        yield from _with_agents(child)
