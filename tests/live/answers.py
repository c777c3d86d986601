"""The played model's answers as the services send them: the Messages, Responses and Gemini APIs."""

import base64
import json
import uuid
from typing import Any

from tests.live.billing import Used, tokens
from tests.live.steps import Step

Data = dict[str, Any]


def new_id(kind: str) -> str:
    """An id that no other answer has, in the form that the services give them."""
    return f"{kind}_01{uuid.uuid4().hex[:22]}"


def streamed(events: list[Data]) -> bytes:
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events).encode()


def error(status: int, message: str) -> Data:
    """The body of an error."""
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    return {
        "type": "error",
        "error": {"type": kinds.get(status, "api_error"), "message": message},
        "request_id": new_id("req"),
    }


def fitting(schema: Data, name: str = "answer") -> Any:
    """The least that fits a JSON Schema."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind == "object":
        wanted = schema.get("required") or list(schema.get("properties", {}))
        return {one: fitting(schema["properties"][one], one) for one in wanted}
    plain: Data = {"array": [], "boolean": False, "integer": 1, "number": 1, "null": None}
    return plain.get(kind, f"Played {name}")


# --- Messages API ------------------------------------------------------------------------------------------


def blocks(step: Step) -> list[Data]:
    """What a step holds, in the order in which a model sends it."""
    found: list[Data] = []
    if step.thinking is not None:
        signature = base64.b64encode(uuid.uuid4().bytes * 8).decode()
        found.append({"type": "thinking", "thinking": step.thinking, "signature": signature})
    if step.text:
        found.append({"type": "text", "text": step.text})
    found += [{"type": "tool_use", "id": new_id("toolu"), "name": one.name, "input": one.input} for one in step.calls]
    return [*found, *step.blocks]


def searched(question: str) -> list[Data]:
    """A search of the web, made by the service itself."""
    number = new_id("srvtoolu")
    hit = {"type": "web_search_result", "title": "Tides", "url": "https://example.org/tides", "page_age": "May 1, 2026"}
    hit["encrypted_content"] = base64.b64encode(b"tides").decode()
    quoted = {
        "type": "web_search_result_location",
        "url": hit["url"],
        "title": hit["title"],
        "cited_text": "Twice a day",
    }
    quoted["encrypted_index"] = base64.b64encode(b"index").decode()
    return [
        {"type": "server_tool_use", "id": number, "name": "web_search", "input": {"query": question}},
        {"type": "web_search_tool_result", "tool_use_id": number, "content": [hit]},
        {"type": "text", "text": "The tide turns twice a day.", "citations": [quoted]},
    ]


def _output(content: list[Data]) -> Data:
    thought = sum(len(one["thinking"]) or 400 for one in content if one["type"] == "thinking")
    said = sum(len(json.dumps(one)) for one in content if one["type"] != "thinking")
    details = {"thinking_tokens": tokens(thought) if thought else 0}
    return {"output_tokens": tokens(said + thought), "output_tokens_details": details}


def _prompt(used: Used) -> Data:
    return {
        "input_tokens": used.plain,
        "cache_creation_input_tokens": used.written + used.written_hour,
        "cache_read_input_tokens": used.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": used.written,
            "ephemeral_1h_input_tokens": used.written_hour,
        },
        "service_tier": "standard",
    }


def message(model: str, content: list[Data], used: Used, stop: str = "") -> Data:
    """A whole answer; why it stopped follows from what it holds unless told."""
    searches = sum(one["type"] == "server_tool_use" for one in content)
    usage = {**_prompt(used), **_output(content)}
    if searches:
        usage["server_tool_use"] = {"web_search_requests": searches, "web_fetch_requests": 0}
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop or ("tool_use" if any(one["type"] == "tool_use" for one in content) else "end_turn"),
        "stop_sequence": None,
        "usage": usage,
    }


def message_events(whole: Data) -> list[Data]:
    """The same answer, piece by piece."""
    first = {**whole["usage"], "output_tokens": 1}
    first.pop("output_tokens_details")
    begun = {**whole, "content": [], "stop_reason": None, "usage": first}
    events: list[Data] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(whole["content"]):
        empty, deltas = _parted(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": ending, "usage": whole["usage"]}, {"type": "message_stop"}]


def _parted(block: Data) -> tuple[Data, list[Data]]:
    match block["type"]:
        case "text":
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", [])]
            return {**block, "text": ""}, [*cited, {"type": "text_delta", "text": block["text"]}]
        case "thinking":
            thought = [{"type": "thinking_delta", "thinking": block["thinking"]}] if block["thinking"] else []
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*thought, signed]
        case "tool_use" | "server_tool_use":
            given = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            return {**block, "input": {}}, [given]
        case _:
            return block, []


# --- Responses API -----------------------------------------------------------------------------------------


def output_items(step: Step) -> list[Data]:
    """What a step holds, as items."""
    found: list[Data] = []
    if step.thinking is not None:
        summary = [{"type": "summary_text", "text": step.thinking}] if step.thinking else []
        sealed = base64.b64encode(uuid.uuid4().bytes * 8).decode()
        found.append({"type": "reasoning", "id": new_id("rs"), "summary": summary, "encrypted_content": sealed})
    if step.text:
        said = {"type": "output_text", "text": step.text, "annotations": []}
        found.append({"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed"})
        found[-1]["content"] = [said]
    for one in step.calls:
        item = {"id": new_id("fc"), "call_id": new_id("call"), "name": one.name, "status": "completed"}
        if list(one.input) == ["*"]:  # a tool that takes plain text
            found.append({"type": "custom_tool_call", **item, "input": one.input["*"]})
        else:
            found.append({"type": "function_call", **item, "arguments": json.dumps(one.input)})
    return found


def response_events(asked: Data, step: Step, used: Used) -> list[Data]:
    """An answer, item by item."""
    output = output_items(step)
    thought = sum(one["type"] == "reasoning" for one in output) * 100
    made = tokens(len(json.dumps(output))) + thought
    cached = used.read // 128 * 128 if used.read >= 1024 else 0
    usage = {
        "input_tokens": used.whole,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": used.whole + made,
    }
    whole = {"id": new_id("resp"), "object": "response", "status": "completed", "model": asked.get("model")}
    events: list[Data] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for index, item in enumerate(output):
        begun = {**item, "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return [*events, {"type": "response.completed", "response": {**whole, "output": output, "usage": usage}}]


# --- Gemini API --------------------------------------------------------------------------------------------


def candidate(asked: Data, step: Step, used: Used) -> Data:
    """An answer, which is sent in one piece."""
    parts: list[Data] = [{"text": step.thinking, "thought": True}] if step.thinking else []
    parts += [{"text": step.text}] if step.text else []
    parts += [{"functionCall": {"name": one.name, "args": one.input}} for one in step.calls]
    thought, made = (100 if step.thinking else 0), tokens(len(json.dumps(parts)))
    usage = {
        "promptTokenCount": used.whole,
        "cachedContentTokenCount": used.read,
        "candidatesTokenCount": made,
        "thoughtsTokenCount": thought,
        "totalTokenCount": used.whole + made + thought,
    }
    said = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {
        "candidates": [said],
        "usageMetadata": usage,
        "modelVersion": asked["model"],
        "responseId": new_id("resp"),
    }
