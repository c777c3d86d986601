"""Requests written down beside the conversation, as Claude Code does since 2.1.28x."""

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

from unspool.demo.answers import Answers
from unspool.demo.usage import Fields

if TYPE_CHECKING:
    from unspool.demo.blocks import Block


def digest(value: Any) -> str:
    """The name of a message or shape: keys sorted, no blanks."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


class Recorded(Answers):
    """Lines of type api-request, with the shapes and blobs that they name."""

    def attached(self, kind: str, rendered: str, role: str = "system", **held: Any) -> Self:
        """Something that the agent tells the model unasked, with the words that it became."""
        words = f"<system-reminder>\n{rendered}\n</system-reminder>"
        extra: Fields = {"rendered": [{"content": words}], "renderedRole": role} if rendered else {}
        return self.put({"attachment": {"type": kind, **held}, "type": "attachment"}, extra)

    def sends(self, system: str, tools: list[Fields], *reminders: str, purpose: str = "repl_main_thread") -> Self:
        """Write down the request that the next answer answers: all that was said so far, after the reminders."""
        shape: Fields = {"system": [{"type": "text", "text": system}], "tools": tools}
        told = [{"role": "system", "content": [{"type": "text", "text": words}]} for words in reminders]
        before: list[Fields] = [line for line in self.lines if isinstance(line, dict)]
        if not any(line.get("shapeHash") == digest(shape) for line in before):
            self.side("api-request-shape", shapeHash=digest(shape), shape=shape, timestamp=self.tick())
        for message in told:
            if not any(line.get("hash") == digest(message) for line in before):
                self.side("api-request-blob", hash=digest(message), message=message)
        keys = [digest(message) for message in (*told, *self._said(before))]
        earlier = [line for line in before if line["type"] == "api-request"]
        base, kept = (earlier[-1]["id"], self._keys(earlier)) if earlier else ("", [])
        keep = next((at for at, (old, new) in enumerate(zip(kept, keys, strict=False)) if old != new), len(kept))
        request = self.ids.uuid()
        self.side(
            "api-request",
            id=request,
            **({"base": base} if base else {}),
            keep=keep,
            tail=keys[keep:],
            shapeHash=digest(shape),
            params={"model": self.model, "max_tokens": 32_000, "output_config": {"effort": "high"}},
            querySource=purpose,
            cacheControl=[{"path": ["system", 0], "value": {"type": "ephemeral"}}],
            requestDigest=digest([shape, keys]),
            timestamp=self.tick(),
            version=self.version,
        )
        self.request_ref = request
        return self

    @staticmethod
    def _keys(earlier: list[Fields]) -> list[str]:
        keys: list[str] = []
        for line in earlier:
            keys = [*keys[: line["keep"]], *line["tail"]]
        return keys

    @staticmethod
    def _said(lines: list[Fields]) -> list[Fields]:
        """The conversation as messages: an answer joined from its lines, a user's line as it is."""
        said: list[Fields] = []
        answers: dict[str, list[Block]] = {}
        for line in lines:
            message = line.get("message")
            if line["type"] == "user" and isinstance(message, dict):
                content = message["content"]
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
                said.append({"role": "user", "content": blocks})
            elif line["type"] == "assistant" and isinstance(message, dict):
                if message["id"] not in answers:
                    answers[message["id"]] = []
                    said.append({"role": "assistant", "content": answers[message["id"]]})
                answers[message["id"]].extend(message["content"])
        return said
