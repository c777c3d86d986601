"""What must go from a copy so that the model's provider accepts it, whatever was asked for."""

from collections import defaultdict
from collections.abc import Iterator

from unspool.agents.writing import Cuts, LogWriter
from unspool.copies.conversation import CopyLines, has_block, result_ids
from unspool.model import Event, Result, Text, Thinking, ToolCall

Lines = list[Event]


def add_required_cuts(
    conversation: CopyLines, cuts: Cuts, writer: LogWriter, *, altered: bool = False, shown: bool = False
) -> Cuts:
    """Add to the cuts, in place, what a sound copy needs; gives them back.

    `altered`: every line may be another. `shown`: it is read by people, so that reasoning stays whoever signed it.
    """
    last = len(conversation.segments) - 1
    for number, segment in enumerate(conversation.segments):
        _speak(segment, cuts)
        if number or not conversation.forgot:
            _open(segment, cuts)
        _pair(segment, cuts)
        before = conversation.preserved if number == last else ()
        if not shown:
            _unbind(segment, cuts, writer, altered or any(is_touched(event, cuts) for event in before))
        _end(segment, cuts)
    return cuts


def is_touched(event: Event, cuts: Cuts) -> bool:
    """Whether a line may be another after the cuts."""
    line = event.id
    if line in cuts.lines or line in cuts.thinking or line in cuts.images or line in cuts.texts:
        return True
    if line in cuts.untold or line in cuts.news or line in cuts.blank or line in cuts.twice:
        return True
    if event.meta and cuts.calls:
        return True
    for block in event.blocks:
        if isinstance(block, ToolCall | Result) and (block.call_id in cuts.calls or (line, block.call_id) in cuts.gone):
            return True
    return False


def vanishes(event: Event, cuts: Cuts) -> bool:
    """Whether nothing is left of a line after the cuts, as far as that is plain without reading it again."""
    if event.id in cuts.lines:
        return True
    if event.prompt is not None or not event.blocks:
        return False
    return all(
        isinstance(block, ToolCall | Result)
        and (cuts.calls.get(block.call_id) == "remove" or (event.id, block.call_id) in cuts.gone)
        for block in event.blocks
    )


def _pair(lines: Lines, cuts: Cuts) -> None:
    """Every call has exactly one result and every result a call: what is alone goes, and so does what is double."""
    calls: dict[str, list[str]] = defaultdict(list)
    results: dict[str, list[str]] = defaultdict(list)
    for event in lines:
        if event.id in cuts.lines:
            continue
        for block in event.blocks:
            if isinstance(block, ToolCall) and not block.server:
                calls[block.call_id].append(event.id)
        for call in result_ids(event) if event.turn else ():  # else it only tells how a call ended that was answered
            results[call].append(event.id)
    served = {
        block.call_id for event in lines for block in event.blocks if isinstance(block, ToolCall) and block.server
    }
    for call in calls.keys() ^ results.keys():
        if call not in served:
            cuts.gone.update((line, call) for line in (*calls.get(call, ()), *results.get(call, ())))
    for call in calls.keys() & results.keys():
        called, answered = list(dict.fromkeys(calls[call])), list(dict.fromkeys(results[call]))
        cuts.gone.update((line, call) for line in (*called[1:], *answered[:-1]))
        if len(called) < len(calls[call]) or len(answered) < len(results[call]):
            cuts.twice.update((called[0], answered[-1]))


def _speak(lines: Lines, cuts: Cuts) -> None:
    for event in lines:
        if not event.turn:
            continue
        blank = [block for block in event.blocks if isinstance(block, Text) and not block.text.strip()]
        if blank:
            cuts.blank.add(event.id)
        silent = event.prompt is None and len(blank) == len(event.blocks)
        if silent or (event.prompt is not None and _empty(event)):
            cuts.lines.add(event.id)


def _empty(event: Event) -> bool:
    prompt = event.prompt
    return prompt is not None and not (
        prompt.text.strip() or prompt.images or prompt.command or prompt.arguments or prompt.plan or event.blocks
    )


def _open(lines: Lines, cuts: Cuts) -> None:
    """A conversation begins with the user."""
    for event in lines:
        if event.turn and event.id not in cuts.lines:
            if event.part is None and not result_ids(event):
                return
            cuts.lines.add(event.id)


def _unbind(lines: Lines, cuts: Cuts, writer: LogWriter, altered: bool) -> None:
    """Reasoning that nobody signed goes; what is bound to the words before it goes once one of them has changed."""
    changed = altered
    for event in lines:
        bound = changed and event.part is not None and has_block(event, Thinking) and writer.binds(event.part.model)
        if bound or _unsigned(event):
            cuts.thinking.add(event.id)
        changed = changed or is_touched(event, cuts)


def _end(lines: Lines, cuts: Cuts) -> None:
    """No message is reasoning alone, or ends in it."""
    messages: dict[str, Lines] = defaultdict(list)
    for event in lines:
        if event.part is not None:
            messages[event.part.message].append(event)
    for events in messages.values():
        for line, is_thinking in reversed([pair for event in events for pair in _left(event, cuts)]):
            if not is_thinking:
                break
            cuts.thinking.add(line)


def _left(event: Event, cuts: Cuts) -> Iterator[tuple[str, bool]]:
    """What remains of a line: (line, whether it is reasoning), a pair for each block."""
    if event.id in cuts.lines:
        return
    for block in event.blocks:
        if isinstance(block, Thinking):
            if event.id not in cuts.thinking:
                yield event.id, True
        elif isinstance(block, ToolCall):
            gone = (event.id, block.call_id) in cuts.gone or cuts.calls.get(block.call_id) == "remove"
            if not gone:
                yield event.id, False
        elif not (isinstance(block, Text) and event.id in cuts.blank and not block.text.strip()):
            yield event.id, False


def _unsigned(event: Event) -> bool:
    return any(isinstance(block, Thinking) and not block.signature for block in event.blocks)
