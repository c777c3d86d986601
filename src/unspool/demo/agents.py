"""Subagents, in the three places Claude Code has kept them, and what comes back when one ends.

1.x wrote them inline as sidechains, 2.0 in a file beside the session, 2.1.2 and later in the session's folder,
with a sidecar that names the call. Nested agents lie flat beside their parents.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from unspool.demo.blocks import Block
from unspool.demo.recorded import Recorded

if TYPE_CHECKING:
    from unspool.demo.usage import Fields


class Agents(Recorded):
    """Calls that start another conversation."""

    def agent_use(self, kind: str, description: str, prompt: str, **arguments: Any) -> Block:
        """The call that starts a subagent, by the name the tool has in this version."""
        tool = "Agent" if self.since("2.1.63") else "Task"
        return self.use(tool, description=description, prompt=prompt, subagent_type=kind, **arguments)

    def subagent(
        self, use: Block, kind: str, description: str, build: Callable[[Self], object], background: bool = False
    ) -> Self:
        """Run a subagent: `build` writes its conversation after the prompt; its last words are the result.

        In the background, the result only says that it started; `notify` tells later that it ended.
        """
        child = self._child(use, kind, description)
        child.user(use["input"]["prompt"])
        if self.since("2.1.12") and not self.since("2.1.43"):
            self._watched(use, child)
        build(child)
        if not background:
            self.now = max(self.now, child.now)
        if self.since("2.0"):
            self.children.append(child)
        else:
            self.lines.extend(child.lines)
        return self._launched(use, child, description) if background else self._returned(use, child)

    def notify(self, use: Block, summary: str, result: str = "", status: str = "completed") -> Self:
        """The notice that a background agent or command has ended."""
        task = next(
            (child.agent for child in self.children if child.sidecar.get("toolUseId") == use["id"]), use["id"][-7:]
        )
        body = (
            f"\n<result>{result}</result>\n<usage>total_tokens: 18204\ntool_uses: 3\nduration_ms: 41000</usage>"
            if result
            else ""
        )
        text = (
            f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{use['id']}</tool-use-id>\n"
            f"<output-file>/tmp/claude/tasks/{task}.output</output-file>\n<status>{status}</status>\n"
            f"<summary>{summary}</summary>{body}\n</task-notification>"
        )
        self.prompt_id = self.ids.uuid()
        origin: Fields = {"origin": {"kind": "task-notification"}} if self.since("2.1.88") else {}
        return self.user(text, **origin, **({"promptSource": "system"} if self.since("2.1.161") else {}))

    def _child(self, use: Block, kind: str, description: str) -> Self:
        length = 17 if self.since("2.1.80") else 7 if self.since("2.1.2") else 8
        agent = "a" + self.ids.hexes(length - 1) if self.since("2.0") else ""
        seed = f"{self.seed}/{agent or use['id']}"
        child = replace(self, start=self.now, seed=seed, agent=agent, sidechain=True)
        child.sidecar = {"agentType": kind, "description": description, "toolUseId": use["id"]}
        if self.agent and self.since("2.1.172"):
            child.sidecar.update(parentAgentId=self.agent, spawnDepth=self.sidecar.get("spawnDepth", 1) + 1)
        child.prompt_id = self.prompt_id
        return child

    def _watched(self, use: Block, child: "Agents") -> None:
        """The progress line that repeats the agent's first line."""
        first = child.lines[0]
        shown = (
            {name: first[name] for name in ("type", "message", "uuid", "timestamp")} if isinstance(first, dict) else {}
        )
        data = {"message": shown, "normalizedMessages": [shown], "type": "agent_progress"}
        self.progress(
            {**data, "prompt": use["input"]["prompt"], "agentId": child.agent}, use["id"], f"agent_{self.ids.message()}"
        )

    def _returned(self, use: Block, child: "Agents") -> Self:
        report = child.last_words()
        detail: Fields = {"prompt": use["input"]["prompt"], "content": [self.text(report)]}
        if self.since("2.0"):
            detail = {"status": "completed", "agentId": child.agent, **detail}
        spent = int((child.now - child.start).total_seconds() * 1000)
        detail.update(totalDurationMs=spent, totalTokens=child.context, totalToolUseCount=len(child.lines_of_calls))
        tail = [self.text(f"agentId: {child.agent} (for resuming to continue this agent's work if needed)")]
        return self.result(use, [self.text(report), *(tail if self.since("2.1.2") else [])], detail)

    def _launched(self, use: Block, child: "Agents", description: str) -> Self:
        output = f"/tmp/claude/tasks/{child.agent}.output"  # noqa: S108 - a path in a made-up log
        detail = {"isAsync": True, "status": "async_launched", "agentId": child.agent, "description": description}
        detail.update(prompt=use["input"]["prompt"], outputFile=output)
        said = f"Async agent launched successfully.\nagentId: {child.agent}\noutput_file: {output}"
        return self.result(use, [self.text(said)], detail)

    def last_words(self) -> str:
        """The last text the assistant wrote; empty when there is none."""
        for line in reversed(self.lines):
            if isinstance(line, dict) and line.get("type") == "assistant":
                for block in line["message"]["content"]:
                    if block.get("type") == "text":
                        return str(block["text"])
        return ""
