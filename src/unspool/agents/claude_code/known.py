"""Every type of line and every field that Claude Code is known to write, so that a new one is noticed."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from unspool.agents.records import Survey, UnknownSighting
from unspool.agents.values import text
from unspool.model import Json


def _fields(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ENVELOPE = _fields(
    "type subtype uuid parentUuid logicalParentUuid sessionId session_id timestamp isSidechain agentId userType "
    "entrypoint cwd gitBranch version slug isMeta teamName agentName sessionKind forkedFrom promptId"
)
CHAIN: dict[str, frozenset[str]] = {
    "user": _fields(
        "message toolUseResult sourceToolAssistantUUID sourceToolUseID promptSource origin permissionMode "
        "permissionDecision todos thinkingMetadata imagePasteIds planContent isCompactSummary summarizeMetadata "
        "isVisibleInTranscriptOnly toolDenialKind toolDenialUnanswered userFeedback interruptedMessageId "
        "interruptedByShutdown toolEndsTurn turnCompanion turnOrigin turnPosition queuePriority queueSkipAttachments "
        "classifierMetaLines mcpMeta sandboxed durationMs parent_tool_use_id tool_use_result"
    ),
    "assistant": _fields(
        "message requestId requestRef requestedModel isApiErrorMessage error errorDetails apiErrorStatus apiError "
        "isAbortedMidStream supersedesUuids effort perTurnEffort apiBlockIndex thinkingDurationMs thinkingDisplay "
        "toolInputStreamMs promptCacheRequested madeBy serverClassifierRequest advisorModel wireToolInputs "
        "wireIngestContext attributionSkill attributionAgent attributionPlugin attributionMcpServer attributionMcpTool "
        "usage parent_tool_use_id"
    ),
    "system": _fields(
        "content level toolUseID compactMetadata microcompactMetadata commandRun contextUsage durationMs messageCount "
        "pendingBackgroundAgentCount pendingWorkflowCount hookCount hookInfos hookErrors hookAdditionalContext "
        "preventedContinuation stopReason hasOutput error cause source retryInMs retryAttempt maxRetries url "
        "originalModel fallbackModel trigger direction scope apiRefusalCategory apiRefusalExplanation "
        "refusedUserMessageUuid retractedMessageUuids requestId message tools mcp_servers model permissionMode "
        "slash_commands apiKeySource output_style agents skills plugins"
    ),
    "attachment": _fields("attachment rendered renderedRole renderedBesideToolResult renderedInHumanTurn"),
    "progress": _fields("data toolUseID parentToolUseID"),
}
"""Lines of the conversation, and the fields that each may have beside those of every line."""

SIDE: dict[str, frozenset[str]] = {
    "summary": _fields("summary leafUuid"),
    "custom-title": _fields("customTitle"),
    "ai-title": _fields("aiTitle"),
    "agent-name": _fields("agentName"),
    "agent-color": _fields("agentColor"),
    "agent-setting": _fields("agentSetting"),
    "tag": _fields("tag"),
    "last-prompt": _fields("lastPrompt leafUuid"),
    "mode": _fields("mode"),
    "permission-mode": _fields("permissionMode mode"),
    "queue-operation": _fields("operation content reason"),
    "file-history-snapshot": _fields("messageId snapshot isSnapshotUpdate"),
    "file-history-delta": _fields("messageId snapshotMessageId trackingPath backup"),
    "pr-link": _fields("prNumber prUrl prRepository"),
    "worktree-state": _fields("worktreeSession"),
    "relocated": _fields("relocatedCwd"),
    "frame-link": _fields("path frameUrl title"),
    "bridge-session": _fields("bridgeSessionId lastSequenceNum ownerAccountUuid ownerOrganizationUuid"),
    "atis-latch": _fields("atis"),
    "cost-state": _fields(
        "totalCostUSD totalAPIDuration totalAPIDurationWithoutRetries totalToolDuration totalDuration totalLinesAdded "
        "totalLinesRemoved startTime modelUsage hasUnknownModelCost"
    ),
    "continued-in": _fields("continuedInSessionId"),
    "fork-context-ref": _fields("forkedSessionId"),
    "content-replacement": _fields("replacements"),
    "tools-used": _fields("tools"),
    "api-request": _fields("id base keep tail shapeHash params querySource cacheControl requestDigest"),
    "api-request-shape": _fields("shapeHash shape"),
    "api-request-blob": _fields("hash message"),
    "started": _fields("key"),
    "launched": _fields("key"),
    "result": _fields(
        "key result is_error duration_ms duration_api_ms num_turns total_cost_usd usage modelUsage permission_denials "
        "structured_output errors stop_reason terminal_reason fast_mode_state ttft_ms"
    ),
}
"""Lines beside the conversation whose fields are known."""

_OPAQUE = _fields(
    "attribution-snapshot task-summary history-suppression ended-by-model isolation-latch observer-ref "
    "saved_hook_context artifact-autoreact-ledger artifact-comment-monitor dev-mods memory-mode repl-mode "
    "session-owner derived-from data-flow-records data-flow-incomplete resume-head-vouch marble-origami-commit "
    "marble-origami-snapshot marble-origami-reset speculation-accept agent_metadata teleported-from stream_event "
    "rate_limit_event tool_progress tool_use_summary prompt_suggestion conversation_reset auth_status keep_alive "
    "control_request control_response control_cancel_request active_goal command_lifecycle"
)
"""Lines beside the conversation that are known by name alone: records of the agent's own, of its print mode or SDK."""

BESIDE = frozenset(SIDE) | _OPAQUE

ATTACHMENTS = _fields(
    "instructions output_style_instructions unknown_command_fallback credential_org prompt_render_point "
    "thinking_drop tool_results_cut context_sections project_doc_reads "
    "hook_success hook_additional_context hook_blocking_error hook_non_blocking_error hook_error_during_execution "
    "hook_cancelled hook_stopped_continuation hook_system_message hook_permission_decision async_hook_response "
    "async_hook_response_batch queued_command file already_read_file compact_file_reference pdf_reference directory "
    "edited_text_file edited_image_file selected_lines_in_ide opened_file_in_ide diagnostics nested_memory "
    "relevant_memories plan_file_reference plan_mode plan_mode_exit plan_mode_reentry auto_mode auto_mode_exit "
    "todo_reminder task_reminder task_status skill_listing dynamic_skill invoked_skills agent_listing_delta "
    "deferred_tools_delta deferred_tools_record mcp_instructions_delta mcp_resource agent_mention command_permissions "
    "date date_change environment model session_context prompt_snapshot remote_session_change goal_status "
    "output_style critical_system_reminder token_usage total_tokens_reminder budget_usd max_turns_reached "
    "ultrathink_effort ultra_effort_enter ultra_effort_exit batching_reminder_sent silent_turn_reminder "
    "bash_output_audience_note read_truncation_notice companion_intro teammate_mailbox teammate_shutdown_batch "
    "team_context structured_output image document at_mention_reference"
)

SUBTYPES = _fields(
    "compact_boundary microcompact_boundary local_command turn_duration stop_hook_summary api_error api_retry "
    "away_summary informational bridge_status scheduled_task_fire agents_killed memory_saved permission_retry "
    "session_start error model_fallback model_refusal_fallback model_refusal_no_fallback api_refusal "
    "permission_denied init status "
    "thinking_tokens task_started task_progress task_updated task_notification background_tasks_changed hook_started "
    "hook_progress hook_response local_command_output notification memory_recall files_persisted "
    "session_state_changed session_writes_lost plugin_install commands_changed elicitation_complete "
    "worker_shutting_down mirror_error vcs_state_changed code_change_published cloud_session_delta dev_intent"
)
"""Kinds of a system line."""


_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_any = msgspec.json.Decoder().decode


def survey(stream: Iterable[bytes]) -> Survey:
    """What is new in the lines of a log, and what it says of its own cost; no more of a line is decoded than needed."""
    found = Survey()
    asked: dict[str, str] = {}
    version = ""
    for number, raw in enumerate(stream, 1):
        try:
            fields = _decode(raw)
            kind = _value(fields, "type")
            version = text(_value(fields, "version")) or version
            for name in _news(kind, fields):
                found.unknown.setdefault(name, UnknownSighting(0, version, number)).count += 1
            if kind == "cost-state":
                cost = _value(fields, "totalCostUSD")
                found.reported_cost = float(cost) if isinstance(cost, int | float) else found.reported_cost
            elif kind == "api-request":
                asked[text(_value(fields, "id"))] = text(_value(fields, "querySource"))
            elif kind == "assistant" and "requestRef" in fields:
                asked.pop(text(_value(fields, "requestRef")), None)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue  # a damaged line is another check's affair
    found.unbilled = tuple(asked.values())
    return found


def _news(kind: Json, fields: Mapping[str, msgspec.Raw]) -> Iterator[str]:
    """Names of what is new, decoding only what may be."""
    if not isinstance(kind, str):
        return iter(())
    usual = CHAIN.get(kind) or SIDE.get(kind, frozenset())
    wanted = {"type", "subtype", "attachment"} | (fields.keys() - usual - _ENVELOPE)
    return unknown({name: _decode_any(fields[name]) for name in wanted & fields.keys()})


def _value(fields: Mapping[str, msgspec.Raw], name: str) -> Json:
    return _decode_any(fields[name]) if name in fields else None


def unknown(data: Mapping[str, Json]) -> Iterator[str]:
    """Names of what is new in a line: its type, its kind, or fields that hold words (`user.newField`)."""
    kind = data.get("type")
    if not isinstance(kind, str):
        return
    if kind not in CHAIN:
        if kind not in BESIDE:
            yield kind
        elif kind in SIDE:
            yield from _new_fields(kind, data, SIDE[kind])
        return
    if kind == "attachment" and isinstance(held := data.get("attachment"), dict):
        name = held.get("type")
        if isinstance(name, str) and name not in ATTACHMENTS:
            yield f"attachment/{name}"
    if kind == "system" and isinstance(name := data.get("subtype"), str) and name not in SUBTYPES:
        yield f"system/{name}"
    yield from _new_fields(kind, data, CHAIN[kind])


def _new_fields(kind: str, data: Mapping[str, Json], fields: frozenset[str]) -> Iterator[str]:
    return (
        f"{kind}.{name}"
        for name, value in data.items()
        if name not in fields and name not in _ENVELOPE and _has_words(value)
    )


def _has_words(value: Json) -> bool:
    """Whether a value holds a text that a person may have written: more than one word, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if " " in one.strip():
                return True
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False
