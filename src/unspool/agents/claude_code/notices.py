"""Lines of type system, attachment and progress: what happened around the conversation."""

from collections.abc import Iterator

from unspool.agents.claude_code.line import Line
from unspool.agents.claude_code.messages import parse_image, result_content
from unspool.agents.claude_code.prompts import _PROMPT_SEGMENTS, Segment, make_prompt, segments
from unspool.agents.values import items, mapping, text
from unspool.model import Event, Facts, Image, Json, Notice, Preserved, Prompt

_ENVELOPE = frozenset(
    {
        "type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp",
        "isSidechain", "userType", "cwd", "gitBranch", "version", "slug", "isMeta", "entrypoint", "content", "agentId",
        "forkedFrom", "promptId", "sessionKind",
    }
)  # fmt: skip
_SYSTEM_KINDS = {
    "compact_boundary": "compaction",
    "microcompact_boundary": "micro-compaction",
    "turn_duration": "duration",
    "stop_hook_summary": "hook",
    "api_error": "retry",
    "api_retry": "retry",
    "away_summary": "recap",
    "model_fallback": "model-switch",
    "model_refusal_fallback": "refusal",
    "api_refusal": "refusal",
    "informational": "info",
    "memory_saved": "memory",
    "permission_denied": "denied",
    "permission_retry": "denied",
    "": "info",
}
_ATTACHMENT_KINDS = {
    "nested_memory": "memory",
    "instructions": "memory",
    "relevant_memories": "memory",
    "plan_mode": "plan-mode",
    "plan_mode_exit": "plan-mode",
    "plan_mode_reentry": "plan-mode",
    "todo_reminder": "reminder",
    "task_reminder": "reminder",
    "critical_system_reminder": "reminder",
    "silent_turn_reminder": "reminder",
    "total_tokens_reminder": "reminder",
    "auto_mode": "reminder",
    "output_style": "reminder",
    "output_style_instructions": "reminder",
    "ultrathink_effort": "reminder",
    "unknown_command_fallback": "reminder",
    "auto_mode_exit": "reminder",
    "prompt_snapshot": "system-prompt",
    "environment": "environment",
    "model": "environment",
    "session_context": "environment",
    "date": "environment",
    "date_change": "environment",
    "remote_session_change": "environment",
    "skill_listing": "offer",
    "dynamic_skill": "offer",
    "agent_listing_delta": "offer",
    "deferred_tools_delta": "offer",
    "deferred_tools_record": "offer",
    "mcp_instructions_delta": "offer",
    "diagnostics": "ide",
    "selected_lines_in_ide": "ide",
    "opened_file_in_ide": "ide",
    "task_status": "task-notification",
    "teammate_mailbox": "teammate",
    "async_hook_response": "hook",
}
_TOLD_AS_RENDERED = frozenset({"environment", "memory", "offer", "plan-mode", "reminder"})
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"


def parse_system(event: Event, line: Line, data: dict[str, Json]) -> None:
    """Fill an event from a system line; a slash command typed by a person may stand in one."""
    subtype = text(data.get("subtype"))
    said = data.get("content")
    if said is None:
        said, _, _ = result_content(mapping(data.get("message")).get("content"), event.place)
    words = text(said)
    if subtype == "local_command" and _local_command(event, line, words):
        return
    kind = _SYSTEM_KINDS.get(subtype, "hook" if subtype.startswith("hook_") else subtype)
    facts = {key: value for key, value in data.items() if key not in _ENVELOPE}
    if subtype == "compact_boundary":
        event.boundary = True
        event.logical = text(data.get("logicalParentUuid"))
        event.preserved = _preserved(mapping(data.get("compactMetadata")))
    event.retracts = tuple(text(line) for line in items(data.get("retractedMessageUuids")))
    event.blocks = (Notice(event.place, kind, words, facts, event.id, event.time),)


def _preserved(about: dict[str, Json]) -> Preserved | None:
    if not (about.get("preservedSegment") or about.get("preservedMessages")):
        return None
    ends, messages = mapping(about.get("preservedSegment")), mapping(about.get("preservedMessages"))
    anchor = text(ends.get("anchorUuid")) or text(messages.get("anchorUuid"))
    lines = tuple(text(line) for line in items(messages.get("uuids")))
    return Preserved(text(ends.get("headUuid")), text(ends.get("tailUuid")), lines, anchor)


def _local_command(event: Event, line: Line, words: str) -> bool:
    found = segments(words)
    spoken = [segment for segment in found if segment.kind in _PROMPT_SEGMENTS and segment.kind]
    event.blocks = tuple(
        Notice(event.place, segment.kind, segment.text, segment.facts, event.id, event.time)
        for segment in found
        if segment.kind not in _PROMPT_SEGMENTS
    )
    if spoken:
        event.kind = "prompt"
        event.prompt = make_prompt(event, spoken, (), line)
    return bool(spoken or event.blocks)


def parse_attachment(event: Event, data: dict[str, Json], facts: Facts) -> None:
    """Fill an event from an attachment line; a queued prompt is a person's word."""
    held = mapping(data.get("attachment"))
    kind = text(held.get("type"))
    for path, told in _loaded(kind, held):
        facts.note_loaded(path, told, event.time)
    if kind == "queued_command":
        _queued(event, held)
        return
    shown = _ATTACHMENT_KINDS.get(kind, "hook" if kind.startswith("hook_") else "attachment")
    about = {key: value for key, value in held.items() if key != "content" or not isinstance(value, str)}
    if kind == "prompt_snapshot":
        words = "\n\n".join(text(part).strip() for part in items(about.pop("systemPrompt", None)))
    else:
        words = text(held.get("content")) or (_rendered(data) if shown in _TOLD_AS_RENDERED else "")
    event.blocks = (Notice(event.place, shown, words, about, event.id, event.time),)


_SKILL_FOLDER = "Base directory for this skill: "


def _loaded(kind: str, held: dict[str, Json]) -> Iterator[tuple[str, str]]:
    """The context files that an attachment tells the model, each with its words."""
    if kind == "nested_memory":
        inner = mapping(held.get("content"))
        yield text(held.get("path")) or text(inner.get("path")), text(inner.get("content"))
    elif kind == "plan_file_reference":
        yield text(held.get("planFilePath")), text(held.get("planContent"))
    elif kind in ("instructions", "relevant_memories"):
        for one in map(mapping, items(held.get("files")) or items(held.get("memories"))):
            yield text(one.get("path")), text(one.get("content"))
    elif kind == "invoked_skills":
        for words in (text(mapping(one).get("content")) for one in items(held.get("skills"))):
            told, _, _ = words.partition("\n")  # what follows is the file without its head
            if told.startswith(_SKILL_FOLDER):
                yield f"{told.removeprefix(_SKILL_FOLDER).strip()}/SKILL.md", ""


def _rendered(data: dict[str, Json]) -> str:
    """The words that an attachment became for the model."""
    words = (text(mapping(part).get("content")).strip() for part in items(data.get("rendered")))
    return "\n\n".join(word.removeprefix(_REMINDER).removesuffix(_REMINDER_END).strip() for word in words if word)


def _queued(event: Event, held: dict[str, Json]) -> None:
    words, images = _queued_content(held.get("prompt"), event)
    mode = text(held.get("commandMode"))
    found = segments(words) if words or not images else []
    put = [segment for segment in found if segment.kind not in _PROMPT_SEGMENTS]
    typed = [segment for segment in found if segment.kind in _PROMPT_SEGMENTS]
    human = held.get("isMeta") is not True and mode in ("", "prompt", "bash") and _from_person(held)
    event.blocks = tuple(Notice(event.place, s.kind, s.text, s.facts, event.id, event.time) for s in put)
    if human and (typed or images):
        event.kind = "prompt"
        event.prompt = _queued_prompt(event, typed, images, mode)
        event.clears = event.prompt.command == "/clear"
        return
    note = Notice(event.place, mode or "attachment", words, {}, event.id, event.time, images)
    event.blocks = event.blocks or (note,)


def _from_person(held: dict[str, Json]) -> bool:
    return text(mapping(held.get("origin")).get("kind")) in ("", "human")


def _queued_prompt(event: Event, typed: list[Segment], images: tuple[Image, ...], mode: str) -> Prompt:
    words = "\n".join(segment.text for segment in typed)
    command = next((text(s.facts.get("name")) for s in typed if s.kind == "command"), "")
    kind = "bash" if mode == "bash" else "command" if command else "queued"
    arguments = next((text(s.facts.get("args")) for s in typed if s.kind == "command"), "")
    return Prompt(event.place, kind, words, event.id, event.time, command, arguments, images, origin="queued")  # type: ignore[arg-type]


def _queued_content(said: Json, event: Event) -> tuple[str, tuple[Image, ...]]:
    if isinstance(said, str):
        return said, ()
    words = [text(mapping(block).get("text")) for block in items(said)]
    images = tuple(
        parse_image(block, event.place)
        for block in items(said)
        if isinstance(block, dict) and block.get("type") == "image"
    )
    return "\n".join(word for word in words if word), images


def parse_progress(event: Event, data: dict[str, Json], facts: Facts) -> None:
    """Fill an event from a progress line; those of subagents tell which call started which."""
    held = mapping(data.get("data"))
    caller, agent = text(data.get("parentToolUseID")), text(held.get("agentId"))
    if caller and agent:
        facts.agents[agent] = caller
    event.blocks = (Notice(event.place, "progress", text(held.get("type")), held, event.id, event.time),)
