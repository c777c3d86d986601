"""Builds user lines, content blocks, and the system, progress and attachment lines around them."""

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Self

from tests.log_builder.lines import Fields, LogLines, format_time

Block = Fields


class ContentBlocks(LogLines):
    """Makers of content blocks; they draw ids from the log they are made for."""

    def think(self, text: str = "") -> Block:
        """Reasoning; without text, only its signature, as most logs since 2.1.100 have it."""
        return {"type": "thinking", "thinking": text, "signature": self.ids.signature()}

    def redacted(self) -> Block:
        """Reasoning that the provider encrypted."""
        return {"type": "redacted_thinking", "data": self.ids.signature()}

    def text(self, text: str) -> Block:
        return {"type": "text", "text": text}

    def use(self, name: str, **arguments: Any) -> Block:
        """A tool call; hand it to `result` to answer it."""
        block: Block = {"type": "tool_use", "id": self.ids.tool(), "name": name, "input": arguments}
        return {**block, "caller": {"type": "direct"}} if self.since("2.1.80") else block

    def server_use(self, name: str, **arguments: Any) -> Block:
        """A tool the provider runs itself."""
        return {
            "type": "server_tool_use",
            "id": self.ids.tool().replace("toolu", "srvtoolu"),
            "name": name,
            "input": arguments,
        }

    def image(self, png: bytes, media_type: str = "image/png") -> Block:
        """A picture inside the log."""
        data = base64.b64encode(png).decode("ascii")
        return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def make_png(width: int, height: int, rows: bytes) -> bytes:
    """A greyscale PNG of those pixels, one byte each, row after row."""
    scanlines = b"".join(b"\0" + rows[at : at + width] for at in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(scanlines, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. The conversation is"
    " summarized below:\n"
)


class SideLines(LogLines):
    """Lines that are no one's words."""

    def system(self, subtype: str, **fields: Any) -> Self:
        """A system line; without a subtype, chatter as 1.x wrote it."""
        kind = {"subtype": subtype} if subtype else {}
        return self.put({"type": "system", **kind, **fields, "isMeta": False})

    def progress(self, data: Fields, parent: str = "", tool: str = "") -> Self:
        """A progress line (2.1.12 to 2.1.80) of the call with the id `parent`."""
        owner = parent or tool or self.ids.uuid()
        return self.put({"type": "progress", "data": data, "toolUseID": tool or owner, "parentToolUseID": owner})

    def attachment(self, kind: str, **fields: Any) -> Self:
        """An attachment (since 2.1.91): hooks, files, reminders, queued prompts."""
        return self.put({"attachment": {"type": kind, **fields}, "type": "attachment"})

    def hook(self, event: str, command: str, stdout: str = "", **fields: Any) -> Self:
        """A hook that ran well, as the version notes it."""
        name = "SessionStart:startup" if event == "SessionStart" else event
        if not self.since("2.1.12"):
            text = f"\x1b[1m{name}\x1b[22m [{command}] completed successfully"
            return self.system("", content=text, level="info", **fields)
        if not self.since("2.1.91"):
            return self.progress({"type": "hook_progress", "hookEvent": event, "hookName": name, "command": command})
        told = {"content": stdout, "stdout": stdout, "stderr": "", "exitCode": 0, "command": command, "durationMs": 41}
        call = fields.pop("toolUseID", None) or self.ids.uuid()
        return self.attachment("hook_success", hookName=name, toolUseID=call, hookEvent=event, **told, **fields)

    def compact(
        self, trigger: str, summary: str, tokens: int = 156_000, keep: Sequence[str] = (), **metadata: Any
    ) -> Self:
        """A compaction: the boundary, which starts a new chain, and its summary; `keep` lists uuids that stay."""
        before, anchor = self.last, self.ids.uuid()
        self.last, self.context = None, 0
        facts = {"trigger": trigger, "preTokens": tokens, **metadata, **_preserved(anchor, keep)}
        boundary = {
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
        }
        self.put({"logicalParentUuid": before, **boundary, "level": "info", "compactMetadata": facts})
        message = {"role": "user", "content": _CONTINUED + summary}
        shown = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        return self.put({"type": "user", "message": message, **shown}, {"uuid": anchor})

    def title(self, text: str) -> Self:
        """The name a person gave with /rename."""
        return self.side("custom-title", customTitle=text)

    def ai_title(self, text: str) -> Self:
        """The name Claude Code made up."""
        return self.side("ai-title", aiTitle=text)

    def summary(self, text: str, leaf: str) -> Self:
        """A title of old, of whichever conversation owns that leaf."""
        return self.side("summary", summary=text, leafUuid=leaf)

    def snapshot(self, *paths: str) -> Self:
        """A checkpoint of files before they change."""
        owner, time = self.last or self.ids.uuid(), format_time(self.now)
        kept = {
            path: {"backupFileName": f"{self.ids.hexes(16)}@v1", "version": 1, "backupTime": time} for path in paths
        }
        held = {"messageId": owner, "trackedFileBackups": kept, "timestamp": time}
        return self.side("file-history-snapshot", messageId=owner, snapshot=held, isSnapshotUpdate=bool(paths))

    def queue(self, operation: str, content: str | None = None) -> Self:
        """What became of the queue of typed prompts: enqueue, dequeue, remove, popAll."""
        said = {} if content is None else {"content": content}
        fields = {"operation": operation, "timestamp": self.tick(), "sessionId": self.session_id, **said}
        return self.side("queue-operation", **fields)


def _preserved(anchor: str, keep: Sequence[str]) -> Fields:
    """How a boundary names the lines that hang below the summary from now on."""
    if not keep:
        return {}
    kept = list(keep)
    segment = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
    return {"preservedSegment": segment, "preservedMessages": {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}}


_CAVEAT = (
    "Caveat: The messages below were generated by the user while running local commands. DO NOT respond to these"
    " messages or otherwise consider them in your response unless the user explicitly asks you to."
)


class PromptLinesBuilder(SideLines, ContentBlocks):
    """Lines of type user that are not results."""

    def user(self, content: str | list[Block], **extra: Any) -> Self:
        """A user line of any content, without a guess at what it is."""
        group: Fields = {"promptId": self.prompt_id} if self.since("2.1.76") else {}
        return self.put({**group, "type": "user", "message": {"role": "user", "content": content}}, extra)

    def prompt(self, text: str, images: Sequence[bytes] = (), **extra: Any) -> Self:
        """A prompt sent from the input box, with pictures pasted into it."""
        self.prompt_id = self.ids.uuid()
        fields = self._how_sent()
        if not images:
            return self.user(text, **{**fields, **extra})
        pasted = [self.image(png) for png in images]
        fields["imagePasteIds"] = list(range(1, len(pasted) + 1))
        return self.user([self.text(text), *pasted], **{**fields, **extra})

    def command(self, name: str, args: str = "", stdout: str | None = None, body: str = "") -> Self:
        """A slash command: a local one with its output, or one whose `body` is expanded into a prompt."""
        self.prompt_id = self.ids.uuid()
        called = (
            f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n"
            f"            <command-args>{args}</command-args>"
        )
        if body:
            return self.user(called).user([self.text(body)], isMeta=True)
        self.caveat().user(called)
        return self if stdout is None else self.user(f"<local-command-stdout>{stdout}</local-command-stdout>")

    def local_command(self, name: str, args: str = "", stdout: str = "") -> Self:
        """A local command as system lines, the way later versions note many of them."""
        called = f"<command-name>/{name}</command-name><command-message>{name}</command-message>"
        self.system("local_command", content=f"{called}<command-args>{args}</command-args>", level="info")
        answered = f"<local-command-stdout>{stdout}</local-command-stdout>"
        return self.system("local_command", content=answered, level="info")

    def bash(self, line: str, stdout: str = "", stderr: str = "") -> Self:
        """A line typed in bash mode, and what it printed."""
        self.prompt_id = self.ids.uuid()
        self.caveat().user(f"<bash-input>{line}</bash-input>")
        return self.user(f"<bash-stdout>{stdout}</bash-stdout><bash-stderr>{stderr}</bash-stderr>")

    def queued(self, text: str) -> Self:
        """A prompt typed while the assistant worked: taken up in the turn, or (before 2.1.97) sent after it."""
        self.queue("enqueue", text)
        if not self.since("2.1.97"):
            return self.queue("dequeue").prompt(text)
        self.queue("remove")
        origin = {"origin": {"kind": "human"}} if self.since("2.1.193") else {}
        return self.attachment(
            "queued_command", prompt=text, commandMode="prompt", **origin, timestamp=format_time(self.now)
        )

    def meta(self, text: str, **extra: Any) -> Self:
        """Text that Claude Code puts into the conversation itself."""
        return self.user(text, isMeta=True, **extra)

    def caveat(self) -> Self:
        """The warning in front of local commands."""
        return self.meta(f"<local-command-caveat>{_CAVEAT}</local-command-caveat>" if self.since("2.0.60") else _CAVEAT)

    def interrupt(self, tool: bool = False, **extra: Any) -> Self:
        """Esc: the assistant stops, or the tool it was about to use."""
        return self.user([self.text(f"[Request interrupted by user{' for tool use' if tool else ''}]")], **extra)

    def _how_sent(self) -> Fields:
        fields: Fields = {}
        if self.since("1.0.117") and not self.since("2.1.162"):
            fields["thinkingMetadata"] = {"maxThinkingTokens": 31999} if self.since("2.1.20") else _THINKING_LEVEL
        if self.since("2.0.64") and not self.since("2.1.162"):
            fields["todos"] = []
        if self.since("2.1.12"):
            fields["permissionMode"] = self.mode
        if self.since("2.1.161"):
            fields["promptSource"] = "sdk" if self.entrypoint.startswith("sdk") else "typed"
        return fields


_THINKING_LEVEL = {"level": "high", "disabled": False, "triggers": []}
