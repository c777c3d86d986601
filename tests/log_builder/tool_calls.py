"""Builds calls with their results: everyday tools, subagents and plans."""

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Self

from tests.log_builder.answers import RequestLines
from tests.log_builder.lines import Fields, LogLines
from tests.log_builder.prompts import Block


class AgentLines(RequestLines):
    """Calls that start another conversation."""

    def agent_use(self, kind: str, description: str, prompt: str, **arguments: Any) -> Block:
        """The call that starts a subagent, by the name the tool has in this version."""
        tool = "Agent" if self.since("2.1.63") else "Task"
        return self.use(tool, description=description, prompt=prompt, subagent_type=kind, **arguments)

    def subagent(
        self,
        use: Block,
        kind: str,
        description: str,
        build: Callable[[Self], object],
        background: bool = False,
        logged: bool = True,
    ) -> Self:
        """Run a subagent: `build` writes its conversation after the prompt; its last words are the result.

        In the background, the result only says that it started; `notify` tells later that it ended. One that is not
        `logged` has no log of its own: progress lines repeat all of its lines.
        """
        child = self._child(use, kind, description)
        child.user(use["input"]["prompt"])
        if self.since("2.1.12") and not self.since("2.1.43"):
            self.watched(use, child)
        build(child)
        if not logged:
            for number in range(1, len(child.lines)):
                self.watched(use, child, number)
            return self._returned(use, child)
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

    def watched(self, use: Block, child: LogLines, number: int = 0) -> None:
        """The progress line that repeats a line of the agent, the first where no other is named."""
        line = child.lines[number]
        kept = ("type", "message", "requestId", "uuid", "timestamp")
        shown = {name: line[name] for name in kept if name in line} if isinstance(line, dict) else {}
        data = {"message": shown, "normalizedMessages": [shown], "type": "agent_progress"}
        self.progress(
            {**data, "prompt": use["input"]["prompt"], "agentId": child.agent}, use["id"], f"agent_{self.ids.message()}"
        )

    def _returned(self, use: Block, child: "AgentLines") -> Self:
        report = child.last_words()
        detail: Fields = {"prompt": use["input"]["prompt"], "content": [self.text(report)]}
        if self.since("2.0"):
            detail = {"status": "completed", "agentId": child.agent, **detail}
        spent = int((child.now - child.start).total_seconds() * 1000)
        detail.update(totalDurationMs=spent, totalTokens=child.context, totalToolUseCount=len(child.lines_of_calls))
        tail = [self.text(f"agentId: {child.agent} (for resuming to continue this agent's work if needed)")]
        return self.result(use, [self.text(report), *(tail if self.since("2.1.2") else [])], detail)

    def _launched(self, use: Block, child: "AgentLines", description: str) -> Self:
        output = f"/tmp/claude/tasks/{child.agent}.output"
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


Fate = Literal["approved", "rejected", "cleared", "pending"]


class PlanLines(AgentLines):
    """Calls of ExitPlanMode and what became of them."""

    def plan(self, text: str, fate: Fate, feedback: str = "", edited: str = "", say: str = "") -> Self:
        """Present a plan. `cleared`: accepted with the context cleared, which looks like a refusal here."""
        use = self.use("ExitPlanMode", **self._plan_input(text))
        self.assistant(self.think(), *([self.text(say)] if say else []), use)
        self.file(f"plans/{self.plan_name}", (edited or text).encode())
        if fate == "approved":
            return self._approve(use, text, edited)
        if fate == "rejected":
            return self.rejected(use, feedback)
        return self._clear(use, text) if fate == "cleared" else self

    def implement(self, text: str, planning: LogLines) -> Self:
        """The first prompt of a session that an accepted plan opened, pointing at the session that made it."""
        extra: Fields = {"planContent": text} if self.since("2.1.29") else {}
        return self.prompt(_order(text, f"{planning.home}/{planning.path}"), **extra)

    @property
    def plan_name(self) -> str:
        """The file name of this session's plan."""
        return f"{self.slug or 'plan'}.md"

    @property
    def plan_path(self) -> str:
        """Where the plan is kept, as the log names it."""
        return f"{self.home}/plans/{self.plan_name}"

    def _plan_input(self, text: str) -> Fields:
        return {"plan": text, "planFilePath": self.plan_path} if self.since("2.1.80") else {"plan": text}

    def _approve(self, use: Block, text: str, edited: str) -> Self:
        said = "User has approved your plan. You can now start coding. Start with updating your todo list if applicable"
        detail: Fields = {"plan": edited or text, "isAgent": False}
        if self.since("2.1.7"):
            mark = " (edited by user)" if edited else ""
            detail["filePath"] = self.plan_path
            said += f"\n\nYour plan has been saved to: {self.plan_path}\n\n## Approved Plan{mark}:\n{edited or text}"
        if edited:
            detail["planWasEdited"] = True
        return self.result(use, said, detail)

    def _clear(self, use: Block, text: str) -> Self:
        self.rejected(use)
        if self.since("2.1.12"):
            return self
        return self.interrupt(tool=True).prompt(_order(text, f"{self.home}/{self.path}"))


def _order(text: str, transcript: str) -> str:
    return (
        f"Implement the following plan:\n\n{text}\n\n\nIf you need specific details from before exiting plan mode (like"
        f" exact code snippets, error messages, or content you generated), read the full transcript at: {transcript}"
    )


Lead = tuple[Block, ...]
"""What is said before a call in the same message."""


class ToolLines(PlanLines):
    """Calls that come with their answer."""

    def call(
        self, name: str, arguments: Fields, answer: str | list[Block], detail: Any = None, lead: Lead = ()
    ) -> Self:
        """Any tool: the call and the answer it got."""
        use = self.use(name, **arguments)
        return self.assistant(*lead, use).result(use, answer, detail)

    def failed(self, name: str, arguments: Fields, message: str, lead: Lead = ()) -> Self:
        """Any tool that answered with an error."""
        use = self.use(name, **arguments)
        return self.assistant(*lead, use).result(use, message, error=True)

    def ran(self, command: str, stdout: str, about: str = "", lead: Lead = (), **detail: Any) -> Self:
        """A shell command that ended well."""
        told = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **detail}
        return self.call("Bash", {"command": command, "description": about}, stdout, told, lead)

    def read(self, path: str, content: str, lead: Lead = ()) -> Self:
        count = content.count("\n") + 1
        file = {"filePath": path, "content": content, "numLines": count, "startLine": 1, "totalLines": count}
        shown = "\n".join(f"{at:6d}→{line}" for at, line in enumerate(content.split("\n"), 1))
        return self.call("Read", {"file_path": path}, shown, {"type": "text", "file": file}, lead)

    def wrote(self, path: str, content: str, original: str | None = None, lead: Lead = ()) -> Self:
        """A file written whole, new or over what was there."""
        fresh = original is None
        said = f"File created successfully at: {path}" if fresh else f"The file {path} has been updated successfully."
        detail: Fields = {"type": "create" if fresh else "update", "filePath": path, "content": content}
        detail.update(
            structuredPatch=[] if original is None else structured_patch(original, content), originalFile=original
        )
        return self.call("Write", {"file_path": path, "content": content}, said, detail, lead)

    def edited(self, path: str, original: str, old: str, new: str, lead: Lead = ()) -> Self:
        """One passage of a file replaced."""
        arguments = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        detail: Fields = {"filePath": path, "oldString": old, "newString": new, "originalFile": original}
        detail["structuredPatch"] = structured_patch(original, original.replace(old, new, 1))
        said = f"The file {path} has been updated successfully."
        return self.call("Edit", arguments, said, {**detail, "userModified": False, "replaceAll": False}, lead)


def structured_patch(before: str, after: str) -> list[Fields]:
    """The hunks between two texts, in Claude Code's structured form."""
    old, new = before.splitlines(), after.splitlines()
    hunks: list[Fields] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        first, last = group[0], group[-1]
        lines: list[str] = []
        for tag, a, b, c, d in group:
            lines += [f" {line}" for line in old[a:b]] if tag == "equal" else [f"-{line}" for line in old[a:b]]
            lines += [] if tag == "equal" else [f"+{line}" for line in new[c:d]]
        sizes = {"oldStart": first[1] + 1, "oldLines": last[2] - first[1], "newStart": first[3] + 1}
        hunks.append({**sizes, "newLines": last[4] - first[3], "lines": lines})
    return hunks
