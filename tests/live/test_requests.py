"""The requests that a log keeps are those that the agent sent: every message, tool and word of the system prompt."""

import json
from typing import Any

from tests.live.conftest import Live
from unspool.store.library.read import recorded_requests

_BILLING = "x-anthropic-billing-header"
"""How a block of the system prompt begins that no log keeps."""


def essence(body: dict[str, Any]) -> str:
    """What a request says, without what is about sending it: breakpoints of the cache, effort, billing."""
    messages = [{"role": one["role"], "content": _blocks(one["content"])} for one in body["messages"]]
    system = [block for block in _blocks(body.get("system", [])) if not block["text"].startswith(_BILLING)]
    tools = [{name: value for name, value in tool.items() if name != "cache_control"} for tool in body.get("tools", [])]
    return json.dumps([body["model"], system, tools, messages], sort_keys=True)


def _blocks(content: Any) -> list[dict[str, Any]]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in blocks]


def test_kept_requests_are_what_was_sent(live_claude: Live) -> None:
    sent = {
        essence(body)
        for runs in live_claude.runs.values()
        for one in runs
        for body in one.requests
        if "messages" in body
    }
    differing, kept = [], 0
    for name, path in live_claude.logs():
        recorded = recorded_requests(str(path))
        assert recorded is not None
        for request in filter(None, map(recorded.get, recorded)):
            kept += 1
            if not request.complete or essence(request.body) not in sent:
                differing.append(f"{name}: {request.id} ({request.purpose}) of {path}")
    assert kept > len(live_claude.sessions)
    assert not differing, "\n" + "\n".join(differing)
