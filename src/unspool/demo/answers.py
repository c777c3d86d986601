"""What the assistant answers and what its tools return: one content block a line, as Claude Code writes it.

How stop_reason and the output figure are spread over the lines of one message follows the version.
"""

from collections.abc import Callable
from typing import Any, Self

from unspool.demo.blocks import Block
from unspool.demo.prompts import Prompts
from unspool.demo.usage import Fields, Tokens

Part = Block | Callable[[], object]
"""A block of a message, or something that happens while the message still streams."""

_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
    " new_string was NOT written to the file)."
)


class Answers(Prompts):
    """Lines of type assistant, and the results that answer their calls."""

    def assistant(
        self, *parts: Part, model: str = "", usage: Tokens | Fields | None = None, stop: str = "", **extra: Any
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

    def assistant_whole(self, *blocks: Block, model: str = "", usage: Tokens | Fields | None = None) -> Self:
        """One message on one line with all its blocks, as the web export has it."""
        message = self._message(list(blocks), model, "")
        ending = self._ending(message["stop_reason"], usage or self._tokens(list(blocks)), last=True)
        return self._say({**message, "content": list(blocks), **ending}, {"requestId": self.ids.request()})

    def synthetic(self, text: str, **extra: Any) -> Self:
        """A line that Claude Code itself puts into the assistant's mouth: an error, a limit."""
        message = self._message([self.text(text)], "<synthetic>", "stop_sequence")
        message.update(id=self.ids.uuid(), stop_sequence="", content=[self.text(text)])
        message["usage"] = Tokens(input=0, output=0).wire(self.version)
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

    def _ending(self, stop: str, tokens: Tokens | Fields, last: bool) -> Fields:
        """stop_reason and usage of one line, as the version spreads them over a message."""
        final = last or self.since("2.1.112")
        shown = stop if final and self.since("2.1.76") else None
        if not isinstance(tokens, Tokens):
            return {"stop_reason": shown, "usage": tokens}
        return {"stop_reason": shown, "usage": tokens.output_of(self._output(tokens.output, last)).wire(self.version)}

    def _output(self, output: int, last: bool) -> int:
        if self.since("2.1.98"):
            return output
        if self.since("2.1.12") and not self.since("2.1.30"):
            return min(output, 3)
        return output if last else min(output, 8)

    def _tokens(self, blocks: list[Block]) -> Tokens:
        """Figures in proportion: the window grows by what is said, and what it held is read from the cache."""
        said = sum(len(str(block)) for block in blocks) // 4 + 24
        write, read = self.ids.number(180, 2400) if self.context else 14_820, self.context
        self.context = read + write + said
        hour = write if self.since("2.1.80") else 0
        return Tokens(input=self.ids.number(2, 12), output=said, read=read, write=write, hour=hour)
