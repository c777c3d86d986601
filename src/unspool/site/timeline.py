"""A session at a glance: every prompt, and under it what came of it, each with a link to where it is told."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from unspool import human
from unspool.export.html import Paint, bits, commit_link, content, listed, prose, when
from unspool.model import Block, Notice, Plan, Prompt, Push, Questionnaire, Text, ToolCall, Turn
from unspool.site import brief
from unspool.site.address import agent_anchor
from unspool.site.bill import money
from unspool.site.blocks import wanted
from unspool.site.rail import switcher
from unspool.site.scene import Scene
from unspool.site.subagents import gist, title

SHORT = 300
"""Characters of a prompt that are shown at once, and from which on an answer is worth an excerpt."""
WHOLE = 20_000
"""Characters of a prompt that the timeline repeats; a longer one is whole on its page only."""


class Happening(NamedTuple):
    """One thing that came of a prompt."""

    kind: str
    said: str
    """Markup."""
    tone: str = ""


def timeline(scene: Scene) -> str:
    """The turns of the live conversation, and where others leave it."""
    items: list[str] = []
    afters = {branch.after for branch in scene.leaving[0]}
    for turn in scene.session.turns:
        items.append(_item(turn, scene))
        if turn.number in afters:
            items.append(listed.aside(switcher(scene, 0, turn.number, 0)))
    return listed.timeline(items)


def _item(turn: Turn, scene: Scene) -> str:
    events = listed.events(listed.event(*one) for one in happenings(turn, scene))
    if turn.prompt is None:
        return listed.before_prompts(events) if events else ""
    href = scene.addresses.turn(turn.number)
    link = bits.around(href, when(turn.prompt.time)) if turn.prompt.time else ""
    return listed.asked(turn.number, href, link, f"{_asked(turn.prompt, scene)}{_did(turn, scene)}{events}")


def _asked(prompt: Prompt, scene: Scene) -> str:
    """The prompt: its beginning, which opens to the whole."""
    whole = brief.whole(prompt)
    if len(whole) <= SHORT:
        pictures = human.count(len(prompt.images), "image") if prompt.images else ""
        note = f" {bits.quiet(pictures)}" if pictures else ""
        return listed.words(content(whole) + note)
    start = brief.start(whole, SHORT)
    if len(whole) > WHOLE:
        link = bits.lead(scene.addresses.link(prompt), f"all {len(whole):,} characters")
        return listed.words(f"{content(start)} {link}")
    return listed.unfolding(start, prose(whole, images=False))


def _did(turn: Turn, scene: Scene) -> str:
    """Tools used, time and money."""
    calls = Counter(block.name for block in turn.blocks if isinstance(block, ToolCall) and block.state != "orphan")
    tools = " · ".join(f"{number:,} {name}" for name, number in calls.most_common())
    failed = sum(isinstance(block, ToolCall) and block.state == "error" for block in turn.blocks)
    facts = (
        bits.fact(tools, human.count(calls.total(), "tool call")) if tools else "",
        bits.bad_fact(f"{failed:,} failed") if failed else "",
        *(bits.fact(text) for text in _took(turn, scene) if text),
    )
    return listed.done("".join(facts))


def _took(turn: Turn, scene: Scene) -> tuple[str, str, str]:
    used = turn.usage.total
    return (
        human.elapsed(turn.started, turn.ended),
        f"{human.tokens(used)} tokens" if used else "",
        money(scene.bill.of(turn)),
    )


def happenings(turn: Turn, scene: Scene) -> Iterator[Happening]:
    """What came of a turn, in order."""
    yield from _blocks(turn, scene)
    for push in scene.recorded.get(turn.number, ()):
        yield Happening("pull request", push_words(push), "commit-made")


def _blocks(turn: Turn, scene: Scene) -> Iterator[Happening]:
    for block in turn.blocks:
        match block:
            case Text() if len(block.text) >= SHORT:
                yield Happening("answer", _linked(block, brief.plain(block.text, SHORT), turn, scene))
            case ToolCall():
                yield from _called(block, turn, scene)
            case Notice(kind="compaction"):
                yield Happening("compaction", _linked(block, "Conversation compacted", turn, scene))
            case Notice(kind="interruption"):
                yield Happening("stopped", _linked(block, "Interrupted by the user", turn, scene), "stop")
            case Notice(kind="api-error" | "refusal"):
                yield Happening(
                    "error", _linked(block, brief.flat(block.text, 120) or "The request failed", turn, scene), "stop"
                )


def _called(call: ToolCall, turn: Turn, scene: Scene) -> Iterator[Happening]:
    match call.meaning:
        case Plan(title=name, status=status):
            tone = {"approved": "good", "rejected": "bad"}.get(status, "")
            said = _linked(call, brief.flat(name, 120) or "Plan", turn, scene)
            yield Happening("plan", f"{said} {bits.badge(status, tone)}", "plan")
        case Questionnaire(questions=asked):
            for question in asked:
                answer = bits.strong(brief.flat(question.answer, 120)) if question.answer else "no answer"
                said = _linked(call, brief.flat(question.text, 160), turn, scene)
                yield Happening("question", f"{said} {answer}")
    for agent in scene.started(call):
        chapter = scene.addresses.agents[agent.id]
        href = f"#{agent_anchor(agent)}" if scene.options.single_page else chapter.first
        said = f"{bits.lead(href, title(agent))} {bits.quiet(gist(agent, scene))}"
        yield Happening("subagent", said, "agents")
    if call.call_id:
        yield from _committed(call, scene)


def _committed(call: ToolCall, scene: Scene) -> Iterator[Happening]:
    paint = Paint(scene.repository)
    for commit in scene.commits.get(call.call_id, ()):
        said = f"{commit_link(commit.hash, paint)} {content(brief.flat(commit.message, 160))}"
        yield Happening("commit", f"{said} {bits.quiet(commit.branch)}", "commit-made")
    for push in scene.pushes.get(call.call_id, ()):
        yield Happening("push" if push.kind == "push" else "pull request", push_words(push), "commit-made")


def push_words(push: Push) -> str:
    """Where something went, as a link where it has one."""
    name = f"#{push.number} {push.repository}" if push.kind == "pull-request" else push.branch or push.url
    said = bits.lead_out(push.url, name)
    return said if push.url.startswith(("https://", "http://")) else f"{said} {bits.quiet(push.repository)}"


def _linked(block: Block, words: str, turn: Turn, scene: Scene) -> str:
    """Words that lead to where a block is told; to its turn where the block is left out."""
    shown = wanted(block, scene.options.hide)
    href = scene.addresses.link(block) if shown else scene.addresses.turn(turn.number)
    return bits.lead(href, words, "said")
