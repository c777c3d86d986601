"""Copies of logs in memory, and what they say."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from bench.resumed_messages import rebuilt
from unspool.agents import ClaudeCode, FoundLog
from unspool.copies.copy_plan import CopyPlan, CopyRequest, plan_copy
from unspool.copies.original import OriginalLog
from unspool.copies.treatment import PRESETS, Treatment

SESSION = "11111111-2222-4333-8444-555555555555"
NONE = PRESETS["none"]
TREATMENTS: dict[str, Treatment] = {
    **PRESETS,
    "some": Treatment(keep_tool_turns=2, truncate=50),
    "stub": Treatment(strip_tools=70, mode="stub", strip_thinking=0),
    "truncate": Treatment(strip_tools=100, mode="truncate", strip_thinking=0),
    "thinking": Treatment(strip_thinking=50),
    "bare": Treatment(drop_images=True, drop_snapshots=True, drop_side=True, drop_compacted=True),
}


def original(lines: Iterable[bytes]) -> OriginalLog:
    data = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
    return OriginalLog(data, FoundLog(f"/logs/{SESSION}.jsonl", SESSION, ClaudeCode.id, len(data), 0.0))


def draught(lines: Iterable[bytes], treatment: Treatment = NONE, wish: CopyRequest | None = None) -> CopyPlan:
    return plan_copy(original(lines), treatment, wish or CopyRequest())


def copied(lines: Iterable[bytes], treatment: Treatment = NONE, wish: CopyRequest | None = None) -> list[bytes]:
    """The lines of a copy."""
    return list(draught(lines, treatment, wish).copy.chunks())


def decoded(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def said(lines: Sequence[bytes], *kinds: str) -> list[tuple[str, str]]:
    """(role, words) of every text that the agent would send, in order; of these kinds of block alone."""
    return [
        (message["role"], json.dumps(block, sort_keys=True))
        for message in rebuilt(list(lines))
        for block in message["content"]
        if block["type"] in (kinds or ("text",))
    ]


def faults(lines: Iterable[bytes]) -> list[str]:
    """What the validator says of a copy."""
    return [f"{one.line} {one.rule}" for one in ClaudeCode().writer.lint(lines, strict=True) if one.severity == "error"]
