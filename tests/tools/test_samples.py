"""Real calls and answers, as they stand in logs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.calls import called
from unspool import tools
from unspool.model import ToolCall


def blocks(folder: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            for block in data["message"]["content"]:
                yield block, data.get("toolUseResult")


def sampled(folder: Path) -> list[ToolCall]:
    """Every sampled call, answered by the samples of its tool or not at all."""
    found = list(blocks(folder))
    uses = {block["id"]: block for block, _ in found if block.get("type") == "tool_use"}
    answers = {block["tool_use_id"]: (block, detail) for block, detail in found if block.get("type") == "tool_result"}
    return [_paired(use, *answers.get(key, (None, None))) for key, use in uses.items()]


def _paired(use: dict[str, Any], answer: dict[str, Any] | None, detail: Any) -> ToolCall:
    if answer is None:
        return called(use["name"], use["input"], None)
    content = answer["content"]
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    return called(use["name"], use["input"], text, detail=detail, error=bool(answer.get("is_error")))


def test_real_calls_are_shown_by_their_own_renderer(shared: Path) -> None:
    """Each is understood, not shown by its plain fields; the one exception is a question of an invented shape."""
    folder = shared / "corpora" / "samples" / "tools"
    if not folder.is_dir():
        pytest.skip("the shared folder has no corpora/samples")
    calls = sampled(folder)
    assert len({call.name for call in calls}) > 15
    for call in calls:
        shown = tools.renderer(call).describe(call)
        assert tools.describe(call).summary.startswith((call.name, "Plan: ")), shown
        assert call.name in tools.renderer(call).NAMES
