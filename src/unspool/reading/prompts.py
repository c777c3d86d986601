"""Prompts and plans of a session: those that were queued, what a session is called after them, what kind it is."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from unspool.model import Facts, Notice, Place, Plan, Prompt, SessionKind, ToolCall, Turn
from unspool.reading.ledger import stable_hash

_TITLE = 200
_PLAN_HEAD = 800
"""How much of a plan tells it from others."""
Unsent = list[Prompt | Notice]
_Item = tuple[str, Place, datetime | None]


def unsent_prompts(facts: Facts, known: Counter[int]) -> Unsent:
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


def prompt_hash(prompt: Prompt) -> int:
    """A hash of what was typed, white space folded, as the queue would hold it."""
    if prompt.kind == "command":
        return hash(_folded(f"{prompt.command} {prompt.arguments}"))
    return hash(_folded(("!" if prompt.kind == "bash" else "") + prompt.text))


def _folded(text: str) -> str:
    return " ".join(text.split())


def session_kind(facts: Facts, first: Prompt | None, *, conversed: bool) -> SessionKind:
    """The kind of a session that has lines, from its facts and its first prompt."""
    if not conversed:
        return "stub"
    if first is not None and first.kind == "plan":
        return "implementation"
    if facts.first_mode == "plan":
        return "planning"
    if facts.background:
        return "background"
    return "headless" if facts.headless else "interactive"


def plans_in_order(turns: tuple[Turn, ...]) -> list[Plan]:
    """Every plan of the turns, in the order of the log, whichever branch it stands on."""
    calls = [block for turn in turns for block in turn.blocks if isinstance(block, ToolCall)]
    found = [(call.place.offset, call.meaning) for call in calls if isinstance(call.meaning, Plan)]
    prompts = [turn.prompt for turn in turns if turn.prompt is not None]
    found += [(prompt.place.offset, prompt.plan) for prompt in prompts if prompt.plan is not None]
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def plans_of(turns: tuple[Turn, ...]) -> list[Plan]:
    """Plans in the order they were put forward; an accepted one that only repeats an earlier one is that one."""
    return [plan for _, _, plan in placed_plans(turns)]


def placed_plans(turns: Iterable[Turn]) -> list[tuple[Turn, Place, Plan]]:
    """The same, each with its turn and the place of the prompt or call that it stands in."""
    found: list[tuple[Turn, Place, Plan]] = []
    for turn in turns:
        if turn.prompt is not None and turn.prompt.plan is not None:
            plan = turn.prompt.plan
            known = (one.text.strip() for _, _, one in found)
            if not any(plan.text.strip().startswith(text) for text in known if text):
                found.append((turn, turn.prompt.place, plan))
        calls = (block for block in turn.blocks if isinstance(block, ToolCall))
        found += [(turn, call.place, call.meaning) for call in calls if isinstance(call.meaning, Plan)]
    return found


def plan_title(plans: list[Plan]) -> str:
    approved = next((plan.title for plan in plans if plan.status == "approved"), "")
    return approved or (plans[0].title if plans else "")


def prompt_title(prompts: list[Prompt]) -> str:
    """The first thing a person really said, on one line; a command only where nothing else was said."""
    for prompt in prompts:
        if prompt.kind in ("text", "queued", "memory") and prompt.text.strip():
            return shorten_title(prompt.text)
    for prompt in prompts:
        words = f"{prompt.command} {prompt.arguments}" if prompt.kind == "command" else prompt.words
        if words.strip():
            return shorten_title(f"! {words}" if prompt.kind == "bash" else words)
    return ""


def shorten_title(text: str) -> str:
    words = " ".join(text[: 4 * _TITLE].split())
    return words if len(words) <= _TITLE else words[: _TITLE - 1] + "…"


def plan_key(plan: Plan) -> int:
    """The same for a plan and for the prompt that implements it."""
    return stable_hash(" ".join(plan.text[:_PLAN_HEAD].split())[: _PLAN_HEAD // 2]) if plan.text.strip() else 0
