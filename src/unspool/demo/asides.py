"""What happens around the conversation: system lines, progress, attachments, titles, snapshots, compaction."""

from collections.abc import Sequence
from typing import Any, Self

from unspool.demo.chain import Chain, stamp
from unspool.demo.usage import Fields

_CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. The conversation is"
    " summarized below:\n"
)


class Asides(Chain):
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
        owner, time = self.last or self.ids.uuid(), stamp(self.now)
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
