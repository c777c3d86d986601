"""A tiny MCP server on standard input and output, in plain JSON-RPC: tools that work, fail, show, and allow others."""

import base64
import json
import sys
from typing import Any

from tests.live.picture import dot

Data = dict[str, Any]

_ANY: Data = {"type": "object", "properties": {}}
_TOOLS: list[Data] = [
    {
        "name": "high",
        "description": "The next high tide",
        "inputSchema": {**_ANY, "properties": {"port": {"type": "string"}}},
    },
    {"name": "broken", "description": "Always fails", "inputSchema": _ANY},
    {"name": "chart", "description": "A picture of the tide", "inputSchema": _ANY},
    {"name": "allow", "description": "Answers permission questions", "inputSchema": _ANY},
]


def answered(method: str, given: Data) -> Data | None:
    """The result of a request; None where there is no such method."""
    match method:
        case "initialize":
            able: Data = {"tools": {}, "resources": {}, "prompts": {}}
            told = {"name": "tides", "version": "1.0.0"}
            return {"protocolVersion": given.get("protocolVersion"), "capabilities": able, "serverInfo": told}
        case "tools/list":
            return {"tools": _TOOLS}
        case "resources/list":
            return {"resources": [{"uri": "tides://today", "name": "today", "mimeType": "text/plain"}]}
        case "resources/read":
            return {
                "contents": [{"uri": "tides://today", "mimeType": "text/plain", "text": "High at 06:12 and 18:40."}]
            }
        case "prompts/list":
            return {"prompts": [{"name": "forecast", "description": "Ask for a forecast"}]}
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": "Forecast the tide."}}]}
        case "tools/call":
            return called(str(given.get("name")), given.get("arguments") or {})
        case "ping":
            return {}
        case _:
            return None


def called(name: str, given: Data) -> Data:
    """The result of a tool."""
    match name:
        case "high":
            port = given.get("port", "here")
            return {
                "content": [_text(f"High tide at {port}: 06:12")],
                "structuredContent": {"port": port, "at": "06:12"},
            }
        case "chart":
            shown = {"type": "image", "data": base64.b64encode(dot()).decode(), "mimeType": "image/png"}
            return {"content": [_text("The tide:"), shown]}
        case "allow":
            answer = {"behavior": "allow", "updatedInput": given.get("input") or {}}
            return {"content": [_text(json.dumps(answer))]}
        case _:
            return {"content": [_text("the tide is out")], "isError": True}


def _text(text: str) -> Data:
    return {"type": "text", "text": text}


def main() -> None:
    """Answer line by line until the input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            continue
        result = answered(asked["method"], asked.get("params") or {})
        outcome = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **outcome}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
