"""Notices of a session (hooks, reminders, compactions, errors) as one-line folds that open to all they hold."""

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter

import msgspec

from unspool import human
from unspool.doc import Fields, Fold, Heading, Node, Picture, Prose, Terminal, Tone
from unspool.model import Image, Json, Notice
from unspool.tools import fields
from unspool.tools.ansi import styled_spans
from unspool.tools.summary import first_line


def image_picture(image: Image) -> Picture:
    """The image, called by its label or by where it lay."""
    return Picture(image.media_type, image.data, image.url, image.label or image.path)


class NoticeLine(msgspec.Struct, frozen=True):
    """What the folded row of a notice says."""

    summary: str
    outcome: str = ""
    tone: Tone = "quiet"


def notice_nodes(notice: Notice, level: int) -> Iterator[Node]:
    """A fold with everything the notice holds; a compaction is a divider of its own."""
    make, known = _LINES.get(notice.kind), _known(notice.facts)
    if make is not None:
        line = make(notice, known)
    else:
        name = notice.kind.replace("-", " ").replace("_", " ").strip().capitalize() or "Notice"
        line = _with_words(notice, known, name)
    children = tuple(_children(notice))
    if notice.kind == "compaction":
        yield Heading("compaction", level, line.summary, notes=(line.outcome,) if line.outcome else ())
        if children:
            yield Fold("notice:compaction", "What the log says of it", "", "quiet", children=children)
        return
    yield Fold(f"notice:{notice.kind}", line.summary, line.outcome, line.tone, children=children)


def _children(notice: Notice) -> list[Node]:
    told = notice.text if notice.kind != "progress" else ""  # which is a name for the machine, among its facts
    children: list[Node] = []
    if told:
        children.append(Terminal(styled_spans(told)) if notice.kind in _VERBATIM else Prose(told))
    if notice.kind == "system-prompt":
        children.append(Fields((("tools", ", ".join(_tool_names(notice)) or "as before"),)))
    elif not (notice.kind in _SAID_IN_WORDS and notice.text) and (facts := _facts(notice, told)):
        children.append(Fields(tuple(facts)))
    children += map(image_picture, notice.images)
    return children


def _facts(notice: Notice, told: str) -> list[tuple[str, str]]:
    """What the notice says besides its words, by name."""
    told_there = _OF_SUBAGENT if notice.kind == "progress" and notice.facts.get("agentId") else ()
    facts = [
        (name, value if isinstance(value, str) else fields.json_text(value))
        for name, value in notice.facts.items()
        if value != told and name not in told_there and not (name in _STREAMS and _is_in(value, told))
    ]
    long = sum([len(said) >= _LONG_FACT for _, said in facts])
    return facts if long < 2 else list(_once(facts))


def _once(every: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Facts by name; a long one that another says too, as it is or within more, is told by the name of that."""
    known: dict[str, str] = {}
    few = every if len(every) <= _COMPARED else []  # a log may hold any number of them
    long = [(name, said) for name, said in few if len(said) >= _LONG_FACT]
    for name, said in every:
        first = known.setdefault(said, name)
        if len(said) < _LONG_FACT:
            yield name, said
        elif first != name:
            yield name, f"the same as {first}"
        else:
            within = next((other for other, more in long if len(more) > len(said) and said in more), "")
            yield name, f"part of {within}" if within else said


def _is_in(stream: Json, words: str) -> bool:
    """Whether one of two streams stands in the words already."""
    return isinstance(stream, str) and stream.strip() in words


def run_summary(kinds: Iterable[str]) -> str:
    """One line for notices that follow one another: how many, and of what kinds."""
    counts: dict[str, int] = {}
    for kind in kinds:
        name = kind.replace("-", " ")
        counts[name] = counts.get(name, 0) + 1
    often = sorted(counts.items(), key=itemgetter(1), reverse=True)[:6]
    names = ", ".join([f"{name} ×{number}" if number > 1 else name for name, number in often])
    more = f" and {len(counts) - 6} more kinds" if len(counts) > 6 else ""
    return f"{human.count(sum(counts.values()), 'notice')}: {names}{more}"


_Known = dict[str, Json]
"""The facts of a notice, and those one level below them."""


def _known(facts: _Known) -> _Known:
    inner = [value for value in facts.values() if isinstance(value, dict)]
    if not inner:
        return facts
    return {name: value for one in (*inner, facts) for name, value in one.items()}


def _fact(known: _Known, *names: str) -> str:
    """The first of these facts that says something in words."""
    for name in names:
        if (value := known.get(name)) is not None and (word := _word(value)):
            return word
    return ""


def _word(value: Json, depth: int = 3) -> str:
    """Words of a value: its own, or those of its most telling part a few levels down."""
    match value:
        case str():
            return first_line(value)
        case dict() if depth:
            return next((word for name in _TELLING if (word := _word(value.get(name), depth - 1))), "")
        case [first, *_] if depth:
            return _word(first, depth - 1)
        case int() | float() if not isinstance(value, bool):
            return first_line(fields.json_text(value), 40)
        case _:
            return ""


def _number(known: _Known, *names: str) -> int:
    for name in names:
        value = known.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15:
            return int(value)
    return 0


_Line = Callable[[Notice, _Known], NoticeLine]


def _with_words(notice: Notice, known: _Known, name: str, tone: Tone = "quiet") -> NoticeLine:
    words = first_line(notice.text) or _fact(known, "content", "message", "summary")
    words = words or _fact(known, "type").replace("_", " ")
    return NoticeLine(f"{name}: {words}" if words else name, "", tone)


def _named(name: str, tone: Tone = "quiet") -> _Line:
    return lambda notice, known: _with_words(notice, known, name, tone)


def _plain(name: str, tone: Tone = "quiet") -> _Line:
    def line(notice: Notice, known: _Known) -> NoticeLine:
        return NoticeLine(name, human.count(notice.text.count("\n") + 1, "line") if notice.text else "", tone)

    return line


def _milliseconds(known: _Known, *names: str) -> str:
    number = _number(known, *names)
    return human.duration(number / 1000) if number else ""


def _hook(notice: Notice, known: _Known) -> NoticeLine:
    words = _fact(known, "hookName", "hook_name", "hookEvent", "hook_event", "command", "hookInfos")
    words = words or first_line(notice.text)
    code = _number(known, "exit_code", "exitCode")
    blocked = any(known.get(key) for key in ("blockingError", "preventedContinuation"))
    failed = bool(blocked or code or known.get("hookErrors"))
    said = "blocked" if blocked else f"exit code {code}" if code else "failed" if failed else ""
    why = _fact(known, *_REASONS, *(("stderr",) if failed else ()))
    took = _milliseconds(known, "duration_ms", "durationMs")
    named = ": ".join(dict.fromkeys(filter(None, ("Hook", words, why))))
    outcome = said or _fact(known, "outcome", "decision")
    return NoticeLine(named, human.joined(outcome, took), "bad" if failed else "quiet")


def _progress(notice: Notice, known: _Known) -> NoticeLine:
    kind = notice.text.removesuffix("_progress").replace("_", " ")
    words = _fact(known, "hookName", "hookEvent", "toolName", "taskDescription", "query", "command")
    took = _number(known, "elapsedTimeSeconds")
    return NoticeLine(f"Progress: {human.joined(kind, words)}", human.duration(took) if took else "")


def _compaction(notice: Notice, known: _Known) -> NoticeLine:
    before = _number(known, "pre_tokens", "preTokens", "before")
    after = _number(known, "post_tokens", "postTokens", "after")
    arrow = f"{human.tokens(before)} → {human.tokens(after)} tokens" if after else f"{human.tokens(before)} tokens"
    took = _milliseconds(known, "duration_ms", "durationMs")
    return NoticeLine("Conversation compacted", human.joined(_fact(known, "trigger"), arrow if before else "", took))


def _micro_compaction(notice: Notice, known: _Known) -> NoticeLine:
    saved = _number(known, "tokens_saved", "tokensSaved", "saved")
    outcome = f"{human.tokens(saved)} tokens saved" if saved else ""
    return NoticeLine("Old tool results cleared from the window", outcome)


def _retry(notice: Notice, known: _Known) -> NoticeLine:
    attempt = _number(known, "attempt", "retryAttempt")
    limit = _number(known, "max_retries", "maxRetries", "limit")
    wait = _milliseconds(known, "retry_in_ms", "retryInMs", "wait_ms")
    tried = f"attempt {attempt}" + (f" of {limit}" if limit else "") if attempt else ""
    why = first_line(notice.text) or _fact(known, "status", "message", "error")
    summary = f"Request tried again: {why}" if why else "Request tried again"
    return NoticeLine(summary, human.joined(tried, wait), "warn")


def _switch(notice: Notice, known: _Known) -> NoticeLine:
    before = _fact(known, "from", "before", "originalModel", "original_model")
    after = _fact(known, "to", "after", "fallbackModel", "fallback_model", "model")
    arrow = f"{before} → {after}" if before and after else after
    return NoticeLine(f"Model: {arrow}", "", "warn") if arrow else _with_words(notice, known, "Model switched", "warn")


def _task(notice: Notice, known: _Known) -> NoticeLine:
    words = _fact(known, "summary", "description") or first_line(notice.text)
    status = _fact(known, "status")
    tone: Tone = "bad" if status in ("failed", "killed", "error") else "good" if status == "completed" else "quiet"
    return NoticeLine(f"Background task: {words}" if words else "Background task", status, tone)


def _mail(who: str) -> _Line:
    def line(notice: Notice, known: _Known) -> NoticeLine:
        sender = _fact(known, "teammate_id", "from-name", "from_name", "from", "name", "sender")
        name = f"{who} {sender}" if sender else who
        return _with_words(notice, known, name)

    return line


def _attachment(notice: Notice, known: _Known) -> NoticeLine:
    kind = _fact(known, "type", "attachment", "kind", "what").replace("_", " ")
    path = _fact(known, "displayPath", "filename", "path", "planFilePath")
    return NoticeLine(f"Attached: {human.joined(kind, path)}" if kind or path else "Attached")


def _environment(notice: Notice, known: _Known) -> NoticeLine:
    kind = _fact(known, "type").replace("_", " ")
    words = _fact(known, "workingDirectory", "marketingName", "date", "newDate", "commit")
    name = _ENVIRONMENT.get(kind, kind.capitalize())
    return NoticeLine(f"{name}: {words}" if words else name)


def _offer(notice: Notice, known: _Known) -> NoticeLine:
    """Tools, agents or skills that the model may use from here on."""
    kind = _fact(known, "type")
    name = next((name for word, name in _OFFERS.items() if word in kind), "On offer")
    listed = next((found for key in _OFFERED if isinstance(found := notice.facts.get(key), list) and found), [])
    names = [word for one in listed if (word := _word(one))]
    gone = next((found for key in _WITHDRAWN if isinstance(found := notice.facts.get(key), list) and found), [])
    outcome = human.joined(f"{len(names):,}" if names else "", f"{len(gone):,} withdrawn" if gone else "")
    return NoticeLine(f"{name}: {first_line(', '.join(names), 60)}" if names else name, outcome)


def _memory(notice: Notice, known: _Known) -> NoticeLine:
    """Instructions from files, by the names of these."""
    files = notice.facts.get("files")
    named = (one.get("path") for one in (files if isinstance(files, list) else ()) if isinstance(one, dict))
    words = ", ".join(filter(None, map(_word, named))) or _fact(known, "displayPath", "path")
    return NoticeLine(f"Memory: {first_line(words, 100)}") if words else _with_words(notice, known, "Memory")


def _system_prompt(notice: Notice, known: _Known) -> NoticeLine:
    tools = len(_tool_names(notice))
    size = f"{len(notice.text):,} characters" if notice.text else ""
    return NoticeLine("System prompt", human.joined(size, human.count(tools, "tool") if tools else ""))


def _tool_names(notice: Notice) -> list[str]:
    tools = notice.facts.get("tools")
    return [word for tool in tools if (word := _word(tool))] if isinstance(tools, list) else []


def _ide(notice: Notice, known: _Known) -> NoticeLine:
    what = _fact(known, "notice", "filename", "path").replace("_", " ")
    return _with_words(notice, known, f"Editor ({what})" if what else "Editor")


def _duration(notice: Notice, known: _Known) -> NoticeLine:
    took = _milliseconds(known, "duration_ms", "durationMs")
    return NoticeLine(f"Turn took {took}" if took else "Turn ended")


def _refusal(notice: Notice, known: _Known) -> NoticeLine:
    why = first_line(notice.text) or _fact(known, "apiRefusalExplanation", "explanation", "category")
    return NoticeLine(f"The model refused: {why}" if why else "The model refused", "", "bad")


def _queue(notice: Notice, known: _Known) -> NoticeLine:
    name = {"enqueue": "Queued", "dequeue": "Sent from the queue", "remove": "Taken in while working"}
    operation = _fact(known, "operation")
    return _with_words(notice, known, name.get(operation, f"Queue {operation}".strip()))


_STREAMS = ("stdout", "stderr")
_REASONS = ("blockingError", "permissionDecisionReason", "stopReason", "hookErrors", "reason", "message")
"""Where a hook says why, the most telling first."""
_TELLING = ("message", "formatted", "model", "blockingError", "name", "command", "type")
_COMPARED = 24
"""Facts of a notice, at most, for each long one to be looked for in the others."""
_LONG_FACT = 60
_OF_SUBAGENT = ("message", "normalizedMessages", "prompt")
"""What a progress line repeats of a subagent, whose conversation has it."""
_SAID_IN_WORDS = frozenset({"environment", "offer"})
"""Notices whose words are all that their facts hold."""
_ENVIRONMENT = {
    "session context": "Context at the start",
    "remote session change": "Attribution of commits",
    "date change": "Date",
}
_OFFERS = {
    "tools": "Tools on offer",
    "agent": "Agents on offer",
    "skill": "Skills on offer",
    "mcp": "Instructions of MCP servers",
}
_OFFERED = ("addedNames", "addedTypes", "names", "skillNames", "entries")
_WITHDRAWN = ("removedNames", "removedTypes")
_VERBATIM = frozenset({"command-output", "bash-output", "hook", "api-error", "retry", "attachment"})
_LINES: dict[str, _Line] = {
    "api-error": _named("The request failed", "bad"),
    "log-gone": _named("Only traces are left", "bad"),
    "attachment": _attachment,
    "bash-output": _plain("Output", "plain"),
    "caveat": _plain("Note to the model: what follows came from local commands"),
    "command-output": _plain("Output of the command", "plain"),
    "compaction": _compaction,
    "denied": _named("Not permitted", "bad"),
    "duration": _duration,
    "environment": _environment,
    "goal": _named("Goal"),
    "hook": _hook,
    "ide": _ide,
    "info": _named("Note"),
    "interruption": _plain("Interrupted by the user", "warn"),
    "memory": _memory,
    "memory-input": _named("Added to memory"),
    "micro-compaction": _micro_compaction,
    "model-switch": _switch,
    "offer": _offer,
    "meta": _named("Put in by the agent"),
    "peer": _mail("Message from session"),
    "progress": _progress,
    "queue": _queue,
    "recap": _named("Recap"),
    "refusal": _refusal,
    "reminder": _named("Reminder to the model"),
    "retry": _retry,
    "summary": _plain("Summary of the conversation so far"),
    "synopsis": _named("Summary up to here"),
    "system-prompt": _system_prompt,
    "task-notification": _task,
    "teammate": _mail("Message from teammate"),
    "tick": _named("Tick"),
}
