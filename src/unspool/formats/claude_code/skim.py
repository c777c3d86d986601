"""A decoder that leaves the bulk of a line undecoded, for passes that only count.

It gives the same plain dictionaries as the full decoder, less the fields that hold file contents, results
and pictures, so that the same parser reads them. A line of an unexpected shape is decoded in full.
"""

from typing import Any, TypedDict

import msgspec


class _Block(TypedDict, total=False):
    type: Any
    id: Any
    name: Any
    text: Any
    tool_use_id: Any
    is_error: Any
    signature: Any


class _Message(TypedDict, total=False):
    id: Any
    role: Any
    model: Any
    stop_reason: Any
    usage: Any
    content: str | list[_Block] | None


class _Attachment(TypedDict, total=False):
    type: Any
    prompt: Any
    commandMode: Any
    isMeta: Any
    origin: Any


class _Progress(TypedDict, total=False):
    type: Any
    agentId: Any


class _Line(TypedDict, total=False):
    type: Any
    subtype: Any
    uuid: Any
    parentUuid: Any
    sessionId: Any
    session_id: Any
    timestamp: Any
    isSidechain: Any
    agentId: Any
    isMeta: Any
    isCompactSummary: Any
    teamName: Any
    cwd: Any
    gitBranch: Any
    version: Any
    slug: Any
    entrypoint: Any
    sessionKind: Any
    forkedFrom: Any
    permissionMode: Any
    promptSource: Any
    origin: Any
    planContent: Any
    requestId: Any
    isApiErrorMessage: Any
    parent_tool_use_id: Any
    parentToolUseID: Any
    sourceToolUseID: Any
    message: _Message | None
    attachment: _Attachment | None
    data: _Progress | None
    content: Any
    operation: Any
    summary: Any
    leafUuid: Any
    customTitle: Any
    aiTitle: Any
    agentName: Any
    prNumber: Any
    prUrl: Any
    prRepository: Any
    worktreeSession: Any
    relocatedCwd: Any
    continuedInSessionId: Any
    totalCostUSD: Any
    total_cost_usd: Any


class Skimmer:
    """Decodes like a msgspec decoder, without the bulk. Plans and what became of them are wanted whole, for titles."""

    def __init__(self) -> None:
        self._light = msgspec.json.Decoder(_Line)
        self._whole = msgspec.json.Decoder()

    def decode(self, raw: bytes) -> Any:
        if b"ExitPlanMode" in raw or b"exit_plan_mode" in raw or b"has approved" in raw:
            return self._whole.decode(raw)
        try:
            return self._light.decode(raw)
        except msgspec.ValidationError:
            return self._whole.decode(raw)
