"""What a person typed, as a reader sees it: words, commands, shell lines, pictures, accepted plans."""

from collections.abc import Iterator

from unspool.doc import Code, Fields, Fold, Node, Prose, Terminal
from unspool.model import Plan, Prompt
from unspool.transcript.pictures import picture

_NOTES = {"queued": "queued while the agent worked", "memory": "to remember", "plan": "accepted plan"}


def prompt_notes(prompt: Prompt) -> tuple[str, ...]:
    """How the prompt came, where that is not plain typing."""
    origin = prompt.origin if prompt.origin not in ("", "typed", "human", prompt.kind) else ""
    mode = f"{prompt.mode} mode" if prompt.mode not in ("", "default") else ""
    return tuple(note for note in (_NOTES.get(prompt.kind, ""), origin, mode) if note)


def prompt_nodes(prompt: Prompt) -> Iterator[Node]:
    """Everything the prompt holds."""
    match prompt.kind:
        case "command":
            yield from _command(prompt)
        case "bash":
            yield Terminal((), command=prompt.text)
        case _ if prompt.plan is not None:
            yield _plan(prompt, prompt.plan)
        case _:
            if prompt.text:
                yield Prose(prompt.text)
    yield from (picture(image) for image in prompt.images)


def _command(prompt: Prompt) -> Iterator[Node]:
    typed = f"{prompt.command} {prompt.arguments}".strip()
    if typed:
        yield Code(typed)
    if prompt.text and prompt.text not in typed:
        yield Prose(prompt.text)


def _plan(prompt: Prompt, plan: Plan) -> Fold:
    children: list[Node] = [Prose(plan.text)] if plan.text and plan.text not in prompt.text else []
    if prompt.text:
        children.append(Prose(prompt.text))
    facts = (("feedback", plan.feedback), ("plan file", plan.path), ("planned in", prompt.source))
    known = tuple((name, value) for name, value in facts if value)
    if known:
        children.append(Fields(known))
    outcome = f"{plan.status}, edited by the user" if plan.edited else plan.status
    return Fold("plan", f"Plan: {plan.title}", outcome, "good", open=True, children=tuple(children))
