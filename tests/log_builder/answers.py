"""Builds assistant lines and tool results, and requests recorded beside the conversation."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Self

from tests.log_builder.lines import DemoTokens, Fields
from tests.log_builder.prompts import Block, PromptLinesBuilder

Part = Block | Callable[[], object]
"""A block of a message, or something that happens while the message still streams."""

_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
    " new_string was NOT written to the file)."
)


class AnswerLines(PromptLinesBuilder):
    """Lines of type assistant, and the results that answer their calls."""

    def assistant(
        self, *parts: Part, model: str = "", usage: DemoTokens | Fields | None = None, stop: str = "", **extra: Any
    ) -> Self:
        """One message, a line a block; a callable among the blocks runs between their lines."""
        blocks = [part for part in parts if not callable(part)]
        message, request = self._message(blocks, model, stop), self.ids.request()
        tokens = usage or self._tokens(blocks)
        above, said = self.last, 0
        for part in parts:
            if callable(part):
                part()
                continue
            said += 1
            if said > 1 and self.since("2.1"):
                self.last = above
            last = said == len(blocks)
            index = {"apiBlockIndex": said - 1} if self.since("2.1.250") else {}
            ending = self._ending(message["stop_reason"], tokens, last)
            self._say({**message, "content": [part], **ending}, {"requestId": request, **index, **extra})
            above = self.last
        return self

    @property
    def last_message(self) -> str:
        """The id of the message whose line was written last; empty when there is none."""
        for line in reversed(self.lines):
            if isinstance(line, dict) and line["type"] == "assistant":
                return str(line["message"]["id"])
        return ""

    def assistant_whole(self, *blocks: Block, model: str = "", usage: DemoTokens | Fields | None = None) -> Self:
        """One message on one line with all its blocks, as the web export has it."""
        message = self._message(list(blocks), model, "")
        ending = self._ending(message["stop_reason"], usage or self._tokens(list(blocks)), last=True)
        return self._say({**message, "content": list(blocks), **ending}, {"requestId": self.ids.request()})

    def synthetic(self, text: str, **extra: Any) -> Self:
        """A line that Claude Code itself puts into the assistant's mouth: an error, a limit."""
        message = self._message([self.text(text)], "<synthetic>", "stop_sequence")
        message.update(id=self.ids.uuid(), stop_sequence="", content=[self.text(text)])
        message["usage"] = DemoTokens(input=0, output=0).wire(self.version)
        return self.put({"type": "assistant", "message": message}, extra)

    def result(
        self,
        use: Block,
        content: str | list[Block],
        detail: Any = None,
        error: bool = False,
        parent: str = "",
        **extra: Any,
    ) -> Self:
        """The answer to a call; since 2.1 it hangs below the line of its call, before that below the last line."""
        block: Block = {"tool_use_id": use["id"], "type": "tool_result", "content": content}
        if error or use["name"] == "Bash":
            block["is_error"] = error
        if detail is None and error:
            detail = f"Error: {content}"
        told: Fields = {} if detail is None else {"toolUseResult": detail}
        source = self.lines_of_calls.get(use["id"])
        if source and self.since("2.1"):
            self.last = source
            told["sourceToolAssistantUUID"] = source
        self.last = parent or self.last
        return self.user([block], **{**told, **extra})

    def rejected(self, use: Block, feedback: str = "") -> Self:
        """The person refused the call, perhaps saying what they want instead."""
        how = (
            f" To tell you how to proceed, the user said:\n{feedback}"
            if feedback
            else " STOP what you are doing and wait for the user to tell you how to proceed."
        )
        extra: Fields = {"toolDenialKind": "user-rejected"} if self.since("2.1.204") else {}
        if feedback and self.since("2.1.204"):
            extra["userFeedback"] = feedback
        detail = f"Error: {_REJECTED}{how}" if feedback else "User rejected tool use"
        return self.result(use, _REJECTED + how, detail, error=True, **extra)

    def spilled(self, use: Block, text: str, preview: int = 2000) -> Self:
        """A result too big for the log: a preview here, the whole in a file of the session."""
        name = f"{use['id']}.txt"
        path = f"{self.folder}/{self.session_id}/tool-results/{name}"
        self.file(path, text.encode())
        size = f"{len(text.encode()) / 1024:.1f}KB"
        kept = f"{self.home}/{path}"
        shown = (
            f"<persisted-output>\nOutput too large ({size}). Full output saved to: {kept}\n\n"
            f"Preview (first 2KB):\n{text[:preview]}\n...\n</persisted-output>"
        )
        detail: Fields = {"stdout": text[:preview], "stderr": "", "interrupted": False, "isImage": False}
        if self.since("2.1.87"):
            detail.update(persistedOutputPath=kept, persistedOutputSize=len(text.encode()))
        return self.result(use, shown, detail)

    def _message(self, blocks: list[Block], model: str, stop: str) -> Fields:
        calls = any(block.get("type") == "tool_use" for block in blocks)
        return {
            "model": model or self.model,
            "id": self.ids.message(),
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": stop or ("tool_use" if calls else "end_turn"),
            "stop_sequence": None,
        }

    def _say(self, message: Fields, extra: Fields) -> Self:
        effort = {"effort": "high"} if self.since("2.1.212") else {}
        recorded = {"requestRef": self.request_ref} if self.request_ref else {}
        self.put({"message": message, "type": "assistant"}, {**effort, **recorded, **extra})
        for block in message["content"]:
            if block.get("type") == "tool_use":
                self.lines_of_calls[block["id"]] = str(self.last)
        return self

    def _ending(self, stop: str, tokens: DemoTokens | Fields, last: bool) -> Fields:
        """stop_reason and usage of one line, as the version spreads them over a message."""
        final = last or self.since("2.1.112")
        shown = stop if final and self.since("2.1.76") else None
        if not isinstance(tokens, DemoTokens):
            return {"stop_reason": shown, "usage": tokens}
        return {"stop_reason": shown, "usage": tokens.output_of(self._output(tokens.output, last)).wire(self.version)}

    def _output(self, output: int, last: bool) -> int:
        if self.since("2.1.98"):
            return output
        if self.since("2.1.12") and not self.since("2.1.30"):
            return min(output, 3)
        return output if last else min(output, 8)

    def _tokens(self, blocks: list[Block]) -> DemoTokens:
        """Figures in proportion: the window grows by what is said, and what it held is read from the cache."""
        said = sum(len(str(block)) for block in blocks) // 4 + 24
        write, read = self.ids.number(180, 2400) if self.context else 14_820, self.context
        self.context = read + write + said
        hour = write if self.since("2.1.80") else 0
        return DemoTokens(input=self.ids.number(2, 12), output=said, read=read, write=write, hour=hour)


def request_digest(value: Any) -> str:
    """The name of a message or shape: keys sorted, no blanks."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


class RequestLines(AnswerLines):
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
        if not any(line.get("shapeHash") == request_digest(shape) for line in before):
            self.side("api-request-shape", shapeHash=request_digest(shape), shape=shape, timestamp=self.tick())
        for message in told:
            if not any(line.get("hash") == request_digest(message) for line in before):
                self.side("api-request-blob", hash=request_digest(message), message=message)
        keys = [request_digest(message) for message in (*told, *self._said(before))]
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
            shapeHash=request_digest(shape),
            params={"model": self.model, "max_tokens": 32_000, "output_config": {"effort": "high"}},
            querySource=purpose,
            cacheControl=[{"path": ["system", 0], "value": {"type": "ephemeral"}}],
            requestDigest=request_digest([shape, keys]),
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
