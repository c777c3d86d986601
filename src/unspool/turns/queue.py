"""Prompts typed while the agent worked that no other line holds.

Older logs record them only in the queue: put in, then taken out again, either to become the next prompt (a
line of its own) or to be slipped into the running turn (no line at all). Each is shown once.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from unspool.model import Facts, Notice, Place, Prompt

Unsent = list[Prompt | Notice]
_Item = tuple[str, Place, datetime | None]


def unsent(facts: Facts, known: Counter[int]) -> Unsent:
    """Queued words that are in no prompt: absorbed ones as prompts, forgotten ones as notices.

    `known` counts the prompts that stand in lines of their own, by `words`; it is used up.
    """
    absorbed, waiting = _replay(facts)
    found: Unsent = [
        Prompt(place, "queued", text, time=time, origin="queued") for text, place, time in _unknown(absorbed, known)
    ]
    found += [Notice(place, "queue", text, time=time) for text, place, time in _unknown(waiting, known)]
    return found


def _unknown(items: list[_Item], known: Counter[int]) -> Iterator[_Item]:
    for item in items:
        folded = _folded(item[0])
        if known[hash(folded)] > 0:
            known[hash(folded)] -= 1
        elif folded and not folded.startswith("<"):
            yield item


def _replay(facts: Facts) -> tuple[list[_Item], list[_Item]]:
    """(taken out, left or put back) in order."""
    queue: list[_Item] = []
    taken: list[_Item] = []
    left: list[_Item] = []
    for operation, text, place, time in facts.queue:
        if operation == "enqueue":
            queue.append((text, place, time))
        elif operation == "popAll":
            left += queue
            queue = []
        elif operation in ("dequeue", "remove") and queue:
            at = next((i for i, item in enumerate(queue) if text and item[0] == text), 0)
            said, _, _ = queue.pop(at)
            taken.append((said, place, time))
    return taken, left + queue


def words(prompt: Prompt) -> int:
    """A hash of what was typed, white space folded, as the queue would hold it."""
    if prompt.kind == "command":
        return hash(_folded(f"{prompt.command} {prompt.arguments}"))
    return hash(_folded(("!" if prompt.kind == "bash" else "") + prompt.text))


def _folded(text: str) -> str:
    return " ".join(text.split())
