"""Notices of a session (hooks, reminders, compactions, errors) as one-line folds that open to all they hold."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from unspool import human
from unspool.doc import Fields, Fold, Heading, Node, Picture, Prose, Terminal, Tone
from unspool.model import Image, Json, Notice
from unspool.tools import fields
from unspool.tools.ansi import styled_spans
from unspool.tools.summary import first_line


def image_picture(image: Image) -> Picture:
    """The image, called by its label or by where it lay."""
    return Picture(image.media_type, image.data, image.url, image.label or image.path)


class NoticeLine(NamedTuple):
    """What the folded row of a notice says."""

    summary: str
    outcome: str = ""
    tone: Tone = "quiet"


def notice_nodes(notice: Notice, level: int) -> Iterator[Node]:
    """A fold with everything the notice holds; a compaction is a divider of its own."""
    make = _LINES.get(notice.kind)
    name = notice.kind.replace("-", " ").replace("_", " ").strip().capitalize() or "Notice"
    line = make(notice) if make is not None else _with_words(notice, name)
    children = tuple(_children(notice))
    if notice.kind == "compaction":
        yield Heading("compaction", level, line.summary, notes=(line.outcome,) if line.outcome else ())
        if children:
            yield Fold("notice:compaction", "What the log says of it", "", "quiet", children=children)
        return
    yield Fold(f"notice:{notice.kind}", line.summary, line.outcome, line.tone, children=children)


def _children(notice: Notice) -> Iterator[Node]:
    told = notice.text if notice.kind != "progress" else ""  # which is a name for the machine, among its facts
    if told:
        yield Terminal(styled_spans(told)) if notice.kind in _VERBATIM else Prose(told)
    told_there = _OF_SUBAGENT if notice.kind == "progress" and notice.facts.get("agentId") else ()
    facts = {
        name: value
        for name, value in notice.facts.items()
        if name not in told_there and not _is_said(name, value, told)
    }
    if notice.kind == "system-prompt":
        yield Fields((("tools", ", ".join(_tool_names(notice)) or "as before"),))
    elif facts and not (notice.kind in _SAID_IN_WORDS and notice.text):
        yield Fields(tuple(_once((name, fields.json_text(value)) for name, value in facts.items())))
    yield from map(image_picture, notice.images)


def _once(facts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Facts by name; a long one that another says too, as it is or within more, is told by the name of that."""
    every = list(facts)
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


def _is_said(name: str, value: Json, words: str) -> bool:
    """Whether a fact stands in the words already: it is all of them, or one of two streams in them."""
    return value == words or (name in ("stdout", "stderr") and isinstance(value, str) and value.strip() in words)


def run_summary(kinds: Iterable[str]) -> str:
    """One line for notices that follow one another: how many, and of what kinds."""
    counts = Counter(kind.replace("-", " ") for kind in kinds)
    names = ", ".join(f"{name} ×{number}" if number > 1 else name for name, number in counts.most_common(6))
    more = f" and {len(counts) - 6} more kinds" if len(counts) > 6 else ""
    return f"{human.count(counts.total(), 'notice')}: {names}{more}"


def _known(notice: Notice) -> dict[str, Json]:
    """The facts, and those one level below them."""
    inner = (value for value in notice.facts.values() if isinstance(value, dict))
    return {**{name: value for facts in inner for name, value in facts.items()}, **notice.facts}


def _fact(notice: Notice, *names: str) -> str:
    """The first of these facts that says something in words."""
    known = _known(notice)
    return next((word for name in names if (word := _word(known.get(name)))), "")


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


def _number(notice: Notice, *names: str) -> int:
    known = _known(notice)
    found = (known.get(name) for name in names)
    numbers = (value for value in found if isinstance(value, (int, float)) and not isinstance(value, bool))
    return next((int(value) for value in numbers if abs(value) < 1e15), 0)


def _with_words(notice: Notice, name: str, tone: Tone = "quiet") -> NoticeLine:
    words = first_line(notice.text) or _fact(notice, "content", "message", "summary")
    words = words or _fact(notice, "type").replace("_", " ")
    return NoticeLine(f"{name}: {words}" if words else name, "", tone)


def _named(name: str, tone: Tone = "quiet") -> Callable[[Notice], NoticeLine]:
    return lambda notice: _with_words(notice, name, tone)


def _plain(name: str, tone: Tone = "quiet") -> Callable[[Notice], NoticeLine]:
    def line(notice: Notice) -> NoticeLine:
        return NoticeLine(name, human.count(notice.text.count("\n") + 1, "line") if notice.text else "", tone)

    return line


def _milliseconds(notice: Notice, *names: str) -> str:
    number = _number(notice, *names)
    return human.duration(number / 1000) if number else ""


def _hook(notice: Notice) -> NoticeLine:
    words = _fact(notice, "hookName", "hook_name", "hookEvent", "hook_event", "command", "hookInfos")
    words = words or first_line(notice.text)
    code = _number(notice, "exit_code", "exitCode")
    blocked = any(_known(notice).get(key) for key in ("blockingError", "preventedContinuation"))
    failed = bool(blocked or code or _known(notice).get("hookErrors"))
    said = "blocked" if blocked else f"exit code {code}" if code else "failed" if failed else ""
    why = _fact(notice, *_REASONS, *(("stderr",) if failed else ()))
    took = _milliseconds(notice, "duration_ms", "durationMs")
    named = ": ".join(dict.fromkeys(filter(None, ("Hook", words, why))))
    outcome = said or _fact(notice, "outcome", "decision")
    return NoticeLine(named, human.joined(outcome, took), "bad" if failed else "quiet")


def _progress(notice: Notice) -> NoticeLine:
    kind = notice.text.removesuffix("_progress").replace("_", " ")
    words = _fact(notice, "hookName", "hookEvent", "toolName", "taskDescription", "query", "command")
    took = _number(notice, "elapsedTimeSeconds")
    return NoticeLine(f"Progress: {human.joined(kind, words)}", human.duration(took) if took else "")


def _compaction(notice: Notice) -> NoticeLine:
    before = _number(notice, "pre_tokens", "preTokens", "before")
    after = _number(notice, "post_tokens", "postTokens", "after")
    arrow = f"{human.tokens(before)} → {human.tokens(after)} tokens" if after else f"{human.tokens(before)} tokens"
    took = _milliseconds(notice, "duration_ms", "durationMs")
    return NoticeLine("Conversation compacted", human.joined(_fact(notice, "trigger"), arrow if before else "", took))


def _micro_compaction(notice: Notice) -> NoticeLine:
    saved = _number(notice, "tokens_saved", "tokensSaved", "saved")
    outcome = f"{human.tokens(saved)} tokens saved" if saved else ""
    return NoticeLine("Old tool results cleared from the window", outcome)


def _retry(notice: Notice) -> NoticeLine:
    attempt = _number(notice, "attempt", "retryAttempt")
    limit = _number(notice, "max_retries", "maxRetries", "limit")
    wait = _milliseconds(notice, "retry_in_ms", "retryInMs", "wait_ms")
    tried = f"attempt {attempt}" + (f" of {limit}" if limit else "") if attempt else ""
    why = first_line(notice.text) or _fact(notice, "status", "message", "error")
    summary = f"Request tried again: {why}" if why else "Request tried again"
    return NoticeLine(summary, human.joined(tried, wait), "warn")


def _switch(notice: Notice) -> NoticeLine:
    before = _fact(notice, "from", "before", "originalModel", "original_model")
    after = _fact(notice, "to", "after", "fallbackModel", "fallback_model", "model")
    arrow = f"{before} → {after}" if before and after else after
    return NoticeLine(f"Model: {arrow}", "", "warn") if arrow else _with_words(notice, "Model switched", "warn")


def _task(notice: Notice) -> NoticeLine:
    words = _fact(notice, "summary", "description") or first_line(notice.text)
    status = _fact(notice, "status")
    tone: Tone = "bad" if status in ("failed", "killed", "error") else "good" if status == "completed" else "quiet"
    return NoticeLine(f"Background task: {words}" if words else "Background task", status, tone)


def _mail(who: str) -> Callable[[Notice], NoticeLine]:
    def line(notice: Notice) -> NoticeLine:
        sender = _fact(notice, "teammate_id", "from-name", "from_name", "from", "name", "sender")
        name = f"{who} {sender}" if sender else who
        return _with_words(notice, name)

    return line


def _attachment(notice: Notice) -> NoticeLine:
    kind = _fact(notice, "type", "attachment", "kind", "what").replace("_", " ")
    path = _fact(notice, "displayPath", "filename", "path", "planFilePath")
    return NoticeLine(f"Attached: {human.joined(kind, path)}" if kind or path else "Attached")


def _environment(notice: Notice) -> NoticeLine:
    kind = _fact(notice, "type").replace("_", " ")
    words = _fact(notice, "workingDirectory", "marketingName", "date", "newDate", "commit")
    name = _ENVIRONMENT.get(kind, kind.capitalize())
    return NoticeLine(f"{name}: {words}" if words else name)


def _offer(notice: Notice) -> NoticeLine:
    """Tools, agents or skills that the model may use from here on."""
    kind = _fact(notice, "type")
    name = next((name for word, name in _OFFERS.items() if word in kind), "On offer")
    listed = next((found for key in _OFFERED if isinstance(found := notice.facts.get(key), list) and found), [])
    names = [word for one in listed if (word := _word(one))]
    gone = next((found for key in _WITHDRAWN if isinstance(found := notice.facts.get(key), list) and found), [])
    outcome = human.joined(f"{len(names):,}" if names else "", f"{len(gone):,} withdrawn" if gone else "")
    return NoticeLine(f"{name}: {first_line(', '.join(names), 60)}" if names else name, outcome)


def _memory(notice: Notice) -> NoticeLine:
    """Instructions from files, by the names of these."""
    files = notice.facts.get("files")
    named = (one.get("path") for one in (files if isinstance(files, list) else ()) if isinstance(one, dict))
    words = ", ".join(filter(None, map(_word, named))) or _fact(notice, "displayPath", "path")
    return NoticeLine(f"Memory: {first_line(words, 100)}") if words else _with_words(notice, "Memory")


def _system_prompt(notice: Notice) -> NoticeLine:
    tools = len(_tool_names(notice))
    size = f"{len(notice.text):,} characters" if notice.text else ""
    return NoticeLine("System prompt", human.joined(size, human.count(tools, "tool") if tools else ""))


def _tool_names(notice: Notice) -> list[str]:
    tools = notice.facts.get("tools")
    return [word for tool in tools if (word := _word(tool))] if isinstance(tools, list) else []


def _ide(notice: Notice) -> NoticeLine:
    what = _fact(notice, "notice", "filename", "path").replace("_", " ")
    return _with_words(notice, f"Editor ({what})" if what else "Editor")


def _duration(notice: Notice) -> NoticeLine:
    took = _milliseconds(notice, "duration_ms", "durationMs")
    return NoticeLine(f"Turn took {took}" if took else "Turn ended")


def _refusal(notice: Notice) -> NoticeLine:
    why = first_line(notice.text) or _fact(notice, "apiRefusalExplanation", "explanation", "category")
    return NoticeLine(f"The model refused: {why}" if why else "The model refused", "", "bad")


def _queue(notice: Notice) -> NoticeLine:
    name = {"enqueue": "Queued", "dequeue": "Sent from the queue", "remove": "Taken in while working"}
    operation = _fact(notice, "operation")
    return _with_words(notice, name.get(operation, f"Queue {operation}".strip()))


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
_LINES: dict[str, Callable[[Notice], NoticeLine]] = {
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
