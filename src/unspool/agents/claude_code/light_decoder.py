"""A decoder that leaves the bulk of a line undecoded, for passes that only count.

It gives the same plain dictionaries as the full decoder, less the fields that hold file contents, results
and pictures, so that the same parser reads them. A line of an unexpected shape is decoded in full.
"""

from typing import Any, TypedDict

import msgspec

from unspool.agents.claude_code.messages import ROLES


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


class LightDecoder:
    """Decodes like a msgspec decoder, without the bulk. Plans and what became of them come whole, for titles."""

    def __init__(self, plans: frozenset[str] = frozenset()) -> None:
        self._light = msgspec.json.Decoder(_Line)
        self._whole = msgspec.json.Decoder()
        self._plans = set(plans)

    def decode(self, raw: bytes) -> Any:
        try:
            line = self._light.decode(raw)
        except msgspec.ValidationError:
            return self._whole.decode(raw)
        return self._whole.decode(raw) if self._tells_of_plan(line) else line

    def _tells_of_plan(self, line: _Line) -> bool:
        message = line.get("message")
        content = message.get("content") if message else None
        if not isinstance(content, list):
            return False
        for block in content:
            name, answered = block.get("name"), block.get("tool_use_id")
            if isinstance(name, str) and ROLES.get(name) == "plan":
                self._plans.add(str(block.get("id")))
                return True
            if self._plans and isinstance(answered, str) and answered in self._plans:
                return True
        return False
