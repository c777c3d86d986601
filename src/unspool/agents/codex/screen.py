"""What Codex told its screen: prompts, ends of calls, plans, reviews, interruptions. What items say too is left to
them, and only lies beside the conversation."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from unspool.agents.codex.outputs import ENDS, HOSTED, ToolEnd, is_end
from unspool.agents.events import as_notice, as_unknown, beside, called, picture
from unspool.agents.values import items, mapping, text, whole
from unspool.model import Event, Image, Json, Place

if TYPE_CHECKING:
    from unspool.agents.codex.parse import CodexParser

HOSTED_CALL = "\0hosted"
"""Under which the end of a call is kept that the provider answers, whose item names none."""
_TROUBLE = {"error": "api-error", "stream_error": "retry", "warning": "info", "deprecation_notice": "info"}
_REVIEW = ("entered_review_mode", "exited_review_mode", "EnteredReviewMode", "ExitedReviewMode")
_QUIET = frozenset(
    {
        "agent_message", "agent_message_delta", "agent_reasoning", "agent_reasoning_raw_content", "context_compacted",
        "agent_reasoning_section_break", "background_event", "dynamic_tool_call_request", "exec_approval_request",
        "exec_command_begin", "exec_command_output_delta", "apply_patch_approval_request", "elicitation_request",
        "hook_started", "hook_completed", "image_generation_begin", "item_started", "mcp_startup_complete",
        "mcp_startup_update", "mcp_tool_call_begin", "model_reroute", "patch_apply_begin", "plan_update",
        "raw_response_item", "request_user_input", "session_configured", "shutdown_complete", "skills_update_available",
        "terminal_interaction", "thread_settings_applied", "turn_diff", "undo_completed", "undo_started",
        "view_image_tool_call", "web_search_begin", "collab_agent_spawn_begin", "collab_agent_interaction_begin",
        "collab_agent_interaction_end", "collab_waiting_begin", "collab_waiting_end", "collab_close_begin",
        "collab_close_end", "collab_resume_begin", "collab_resume_end",
    }
)  # fmt: skip
_QUIET_ITEMS = frozenset(
    {"AgentMessage", "Reasoning", "ImageView", "ContextCompaction", "HookPrompt", "Extension", "Sleep"}
)


def told(
    parser: "CodexParser", said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]
) -> Event:
    """The event of an `event_msg`."""
    kind = text(said.get("type"))
    found: Event | None = None
    if kind == "token_count":
        info = mapping(said.get("info"))
        parser.facts.window = whole(info.get("model_context_window")) or parser.facts.window
        found = parser.used(info.get("last_token_usage"), info.get("total_token_usage"), (place, time))
    elif kind == "item_completed":
        return _item(parser, said, place, time, data)
    elif kind == "user_message":
        event = parser.begin(place, time, "prompt")
        found = parser.prompt(event, text(said.get("message")), _images(event, said), told=True)
    elif kind in ("task_started", "turn_started"):
        parser.facts.window = whole(said.get("model_context_window")) or parser.facts.window
        parser.turn(text(said.get("turn_id")), started=True)
    elif is_end(kind):
        call = text(said.get("call_id")) or text(said.get("callId"))
        found = _ended(parser, kind, call, said, (place, time))
    elif kind in ("sub_agent_activity", "collab_agent_spawn_end"):
        _spawned(parser, said)
    elif kind == "thread_name_updated":
        parser.renamed(text(said.get("thread_name")))
    elif kind not in _QUIET:
        found = _happened(parser, kind, said, place, time, data)
    return found or beside(place, kind or "event_msg", data)


def _happened(parser: "CodexParser", kind: str, said: dict[str, Any], place: Place, time: datetime | None,
              data: dict[str, Json]) -> Event | None:  # fmt: skip
    """What happened around the conversation."""
    if kind in ("task_complete", "turn_complete"):
        wrong = said.get("error")
        words = text(wrong) or text(mapping(wrong).get("message"))
        return as_notice(parser.begin(place, time, "error"), "api-error", words, mapping(wrong)) if wrong else None
    if kind == "turn_aborted":
        reason = text(said.get("reason"))
        return as_notice(
            parser.begin(place, time, "abort"), "interruption", "" if reason == "interrupted" else reason, said
        )
    if kind == "thread_rolled_back":
        return parser.roll_back(parser.begin(place, time, "rollback"), min(whole(said.get("num_turns")), 1_000_000))
    if kind in _TROUBLE:
        words = text(said.get("message")) or text(said.get("summary"))
        return as_notice(parser.begin(place, time, "trouble"), _TROUBLE[kind], words, said)
    if kind == "thread_goal_updated":
        goal = mapping(said.get("goal"))
        words = text(goal.get("objective")) or text(said.get("objective"))
        return as_notice(parser.begin(place, time, "goal"), "goal", words, said)
    if kind in _REVIEW:
        return _review(parser.begin(place, time, "review"), said)
    return as_unknown(parser.begin(place, time, "unknown"), kind or "event_msg", data)


def _item(
    parser: "CodexParser", said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]
) -> Event:
    """What the item of a turn tells that was completed."""
    item = mapping(said.get("item"))
    kind, own = text(item.get("type")), text(item.get("id"))
    parser.turn(text(said.get("turn_id")))
    found: Event | None = None
    if kind == "UserMessage":
        event = parser.begin(place, time, "prompt", own)
        content = items(item.get("content"))
        words = "\n".join(text(mapping(one).get("text")) for one in content if mapping(one).get("type") == "text")
        found = parser.prompt(event, words, _item_images(event, content), told=True)
    elif kind == "Plan":
        parser.go_on()
        event = parser.begin(place, time, "plan", own)
        words = parser.plan = text(item.get("text"))
        found = parser.say(event, (called(event, parser.message, event.id, "plan", {"plan": words}, "plan"),))
    elif is_end(kind):
        found = _ended(parser, kind, own, item, (place, time))
    elif kind in ("CollabAgentToolCall", "SubAgentActivity"):
        _spawned(parser, item)
    elif kind in _REVIEW:
        found = _review(parser.begin(place, time, "review", own), item)
    elif kind not in _QUIET_ITEMS:
        found = as_unknown(parser.begin(place, time, "unknown"), kind or "item", data)
    return found or beside(place, kind or "item_completed", data)


def _ended(parser: "CodexParser", kind: str, call: str, said: dict[str, Any],
           at: tuple[Place, datetime | None]) -> Event | None:  # fmt: skip
    if kind in HOSTED:
        held = {name: said[name] for name in ("query", "results", "saved_path") if said.get(name)}
        parser.ends[HOSTED_CALL] = ToolEnd(held, None)
        return None
    return parser.ended(call, ENDS[kind](said), at)


def _spawned(parser: "CodexParser", said: dict[str, Any]) -> None:
    """Note which call started a subagent."""
    call = text(said.get("event_id")) or text(said.get("call_id")) or text(said.get("id"))
    threads = [said.get("agent_thread_id"), said.get("new_thread_id"), *items(said.get("receiver_thread_ids"))]
    starts = said.get("tool", "spawn_agent") in ("spawn_agent", "spawnAgent")
    for thread in filter(None, map(text, threads)):
        if call and starts:
            parser.facts.agents.setdefault(thread, call)


def _review(event: Event, said: dict[str, Any]) -> Event:
    """The beginning of a review, or what it found."""
    found = mapping(said.get("review_output"))
    words = [text(said.get("user_facing_hint")) or text(said.get("review")), text(found.get("overall_explanation"))]
    for finding in map(mapping, items(found.get("findings"))):
        where = mapping(finding.get("code_location"))
        path, line = text(where.get("absolute_file_path")), mapping(where.get("line_range")).get("start")
        head = " ".join(filter(None, (text(finding.get("title")), f"({path}:{line})" if path else "")))
        words.append(f"- {head}\n  {text(finding.get('body'))}".rstrip())
    return as_notice(event, "review", "\n\n".join(filter(None, words)), {"found": len(items(found.get("findings")))})


def _images(event: Event, said: dict[str, Any]) -> tuple[Image, ...]:
    shown = [picture(event, "", url=text(one)) for one in items(said.get("images")) if text(one)]
    return (*shown, *_named(event, items(said.get("local_images"))))


def _item_images(event: Event, content: list[Any]) -> tuple[Image, ...]:
    held = [mapping(one) for one in content]
    shown = [picture(event, "", url=text(one.get("image_url")) or text(one.get("url"))) for one in held
             if one.get("type") in ("image", "input_image")]  # fmt: skip
    return (
        *shown,
        *_named(event, [one.get("path") for one in held if one.get("type") in ("local_image", "localImage")]),
    )


def _named(event: Event, paths: list[Any]) -> list[Image]:
    """Pictures that the log names by their paths."""
    return [Image(event.place, "image/png", path=text(one), id=event.id, time=event.time) for one in paths if text(one)]
