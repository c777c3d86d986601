"""The body of a session's first page: timeline, files, models, what could not be read."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from unspool import human
from unspool.doc import Heading, Node
from unspool.model import (
    Agent,
    Block,
    FileChange,
    Notice,
    Plan,
    Prompt,
    Push,
    Questionnaire,
    Text,
    ToolCall,
    Turn,
    Usage,
)
from unspool.render.blocks import tail_nodes
from unspool.render.html import conversation, elements
from unspool.render.html.elements import HtmlOptions, commit_link, content, time_tag
from unspool.render.html.nodes import nodes_html
from unspool.render.html.prose import prose_html
from unspool.render.view import View, is_shown, turns_and_forks
from unspool.site import summaries
from unspool.site.session_head import render_head
from unspool.site.session_navigation import branch_switcher, pager_links
from unspool.site.session_view import SessionView, format_cost
from unspool.site.turn_layout import agent_summary, agent_title

SHORT = 300
"""Characters of a prompt that are shown at once, and from which on an answer is worth an excerpt."""
WHOLE = 20_000
"""Characters of a prompt that the timeline repeats; a longer one is whole on its page only."""


class TimelineEvent(NamedTuple):
    """One thing that came of a prompt."""

    kind: str
    said: str
    """Markup."""
    tone: str = ""


def render_timeline(scene: SessionView) -> str:
    """The turns of the live conversation, and where others leave it."""
    items: list[str] = []
    for step in turns_and_forks(scene.session.turns, {branch.after for branch in scene.leaving[0]}):
        if isinstance(step, int):
            items.append(conversation.timeline_aside(branch_switcher(scene, 0, step, 0)))
        else:
            items.append(_item(step, scene))
    return conversation.timeline(items)


def _item(turn: Turn, scene: SessionView) -> str:
    events = conversation.event_list(conversation.event_item(*one) for one in timeline_events(turn, scene))
    if turn.prompt is None:
        return conversation.timeline_start(events) if events else ""
    href = scene.addresses.turn(turn.number)
    link = elements.link_around(href, time_tag(turn.prompt.time)) if turn.prompt.time else ""
    return conversation.timeline_prompt(
        turn.number, href, link, f"{_asked(turn.prompt, scene)}{_did(turn, scene)}{events}"
    )


def _asked(prompt: Prompt, scene: SessionView) -> str:
    """The prompt: its beginning, which opens to the whole."""
    whole = summaries.prompt_markdown(prompt)
    if len(whole) <= SHORT:
        pictures = human.count(len(prompt.images), "image") if prompt.images else ""
        note = f" {elements.quiet(pictures)}" if pictures else ""
        return conversation.prompt_words(content(whole) + note)
    start = summaries.first_lines(whole, SHORT)
    if len(whole) > WHOLE:
        link = elements.site_link(scene.addresses.link(prompt), f"all {len(whole):,} characters")
        return conversation.prompt_words(f"{content(start)} {link}")
    return conversation.expandable_words(start, prose_html(whole, images=False))


def _did(turn: Turn, scene: SessionView) -> str:
    """Tools used, time and money."""
    calls = Counter(block.name for block in turn.blocks if isinstance(block, ToolCall) and block.state != "orphan")
    tools = " · ".join(f"{number:,} {name}" for name, number in calls.most_common())
    failed = sum(isinstance(block, ToolCall) and block.state == "error" for block in turn.blocks)
    facts = (
        elements.fact(tools, human.count(calls.total(), "tool call")) if tools else "",
        elements.bad_fact(f"{failed:,} failed") if failed else "",
        *(elements.fact(text) for text in _took(turn, scene) if text),
    )
    return conversation.prompt_work("".join(facts))


def _took(turn: Turn, scene: SessionView) -> tuple[str, str, str]:
    used = turn.usage.total
    return (
        human.elapsed(turn.started, turn.ended),
        f"{human.tokens(used)} tokens" if used else "",
        format_cost(scene.costs.of(turn)),
    )


def timeline_events(turn: Turn, scene: SessionView) -> Iterator[TimelineEvent]:
    """What came of a turn, in order."""
    yield from _blocks(turn, scene)
    for push in scene.recorded.get(turn.number, ()):
        yield TimelineEvent("pull request", push_words(push), "commit-made")


def _blocks(turn: Turn, scene: SessionView) -> Iterator[TimelineEvent]:
    for block in turn.blocks:
        match block:
            case Text() if len(block.text) >= SHORT:
                yield TimelineEvent("answer", _linked(block, summaries.plain_excerpt(block.text, SHORT), turn, scene))
            case ToolCall():
                yield from _called(block, turn, scene)
            case Notice(kind="compaction"):
                yield TimelineEvent("compaction", _linked(block, "Conversation compacted", turn, scene))
            case Notice(kind="interruption"):
                yield TimelineEvent("stopped", _linked(block, "Interrupted by the user", turn, scene), "stop")
            case Notice(kind="api-error" | "refusal"):
                yield TimelineEvent(
                    "error",
                    _linked(block, summaries.shorten_line(block.text, 120) or "The request failed", turn, scene),
                    "stop",
                )


def _called(call: ToolCall, turn: Turn, scene: SessionView) -> Iterator[TimelineEvent]:
    match call.meaning:
        case Plan(title=name, status=status):
            tone = {"approved": "good", "rejected": "bad"}.get(status, "")
            said = _linked(call, summaries.shorten_line(name, 120) or "Plan", turn, scene)
            yield TimelineEvent("plan", f"{said} {elements.badge(status, tone)}", "plan")
        case Questionnaire(questions=asked):
            for question in asked:
                answer = (
                    elements.strong(summaries.shorten_line(question.answer, 120)) if question.answer else "no answer"
                )
                said = _linked(call, summaries.shorten_line(question.text, 160), turn, scene)
                yield TimelineEvent("question", f"{said} {answer}")
    for agent in scene.started(call):
        yield TimelineEvent("subagent", _agent_link(agent, scene), "agents")
    if call.call_id:
        yield from _committed(call, scene)


def _committed(call: ToolCall, scene: SessionView) -> Iterator[TimelineEvent]:
    paint = HtmlOptions(scene.repository)
    for commit in scene.commits.get(call.call_id, ()):
        said = f"{commit_link(commit.hash, paint)} {content(summaries.shorten_line(commit.message, 160))}"
        yield TimelineEvent("commit", f"{said} {elements.quiet(commit.branch)}", "commit-made")
    for push in scene.pushes.get(call.call_id, ()):
        yield TimelineEvent("push" if push.kind == "push" else "pull request", push_words(push), "commit-made")


def push_words(push: Push) -> str:
    """Where something went, as a link where it has one."""
    name = f"#{push.number} {push.repository}" if push.kind == "pull-request" else push.branch or push.url
    said = elements.web_link(push.url, name)
    return said if push.url.startswith(("https://", "http://")) else f"{said} {elements.quiet(push.repository)}"


def _linked(block: Block, words: str, turn: Turn, scene: SessionView) -> str:
    """Words that lead to where a block is told; to its turn where the block is left out."""
    shown = is_shown(block, scene.options.hide)
    href = scene.addresses.link(block) if shown else scene.addresses.turn(turn.number)
    return elements.site_link(href, words, "said")


_FULL = View(full=True)
_RAW = 200_000
"""Bytes of unreadable lines that are shown whole; beyond them each is cut."""


def index_body(scene: SessionView) -> str:
    """All of an index page."""
    happened = render_timeline(scene)
    if scene.options.single_page:
        happened = elements.card("Timeline", happened) if happened else ""
    elif happened:
        happened = f"{pager_links(scene.addresses.live)}{elements.label('Timeline')}{happened}"
    return render_head(scene) + scene.frame.inset + happened + "".join(_rest(scene))


def _rest(scene: SessionView) -> Iterator[str]:
    yield _loose(scene)
    yield _files(scene.counted.files)
    yield _models(scene)
    yield from _remains(scene)


def _loose(scene: SessionView) -> str:
    """Subagents that the timeline cannot show, because no call in the log accounts for them."""
    if not scene.untied or scene.options.single_page:
        return ""
    rows = conversation.event_list(conversation.agent_item(_agent_link(agent, scene)) for agent in scene.untied)
    return elements.card("Subagents that no call accounts for", rows, opened=True)


def _agent_link(agent: Agent, scene: SessionView) -> str:
    link = elements.site_link(scene.agent_href(agent), agent_title(agent))
    return f"{link} {elements.quiet(agent_summary(agent, scene))}"


def _files(files: Iterable[FileChange]) -> str:
    changed = sorted((file for file in files if file.writes), key=lambda file: file.path)
    if not changed:
        return ""
    table = conversation.files_table((file.path, file.created, file.added, file.removed) for file in changed)
    return elements.card(f"{human.count(len(changed), 'file')} changed", table)


def _models(scene: SessionView) -> str:
    used = [call for call in scene.counted.models if call.usage.total]
    if not used:
        return ""
    return elements.card(
        "Tokens by model", conversation.models_table((call.model, _tokens(call.usage)) for call in used)
    )


def _tokens(used: Usage) -> list[tuple[str, int]]:
    numbers = (used.input, used.output, used.cache_read, used.cache_write)
    return [(human.tokens(number), number) for number in numbers]


def _remains(scene: SessionView) -> Iterator[str]:
    """The todo list as it ended, the lines that could not be read, where all other lines went."""
    raw = sum(len(problem.raw) for problem in scene.session.problems)
    section: list[Node] = []
    for node in (*tail_nodes(scene.session, _FULL if raw <= _RAW else View()), None):
        if (node is None or isinstance(node, Heading)) and section:
            first, *rest = section
            if isinstance(first, Heading) and not (first.kind == "todos" and "todos" in scene.options.hide):
                name = human.joined(first.text, *first.notes)
                yield elements.card(
                    name, nodes_html(rest, HtmlOptions()), opened=first.kind != "lines", anchor=first.kind
                )
            section = []
        if node is not None:
            section.append(node)
