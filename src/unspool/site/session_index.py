"""The body of a session's first page: timeline, files, models, what could not be read."""

from collections import Counter
from collections.abc import Iterator

from unspool import human
from unspool.figures import tell_ends
from unspool.model import Agent, Block, Notice, Plan, Prompt, Push, Questionnaire, Text, ToolCall, Turn
from unspool.render.blocks import tail_sections
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.html.conversation import TimelineEvent
from unspool.render.html.elements import HtmlOptions, content, time_tag
from unspool.render.html.nodes import nodes_html
from unspool.render.html.prose import prose_html
from unspool.render.turns import earlier_summary
from unspool.render.view import View, is_shown, turns_and_forks
from unspool.site import summaries
from unspool.site.session_head import render_head
from unspool.site.session_navigation import branch_switcher, pager_links
from unspool.site.session_story import render_story
from unspool.site.session_view import SessionView, format_cost
from unspool.site.turn_layout import agent_summary, agent_title, copied_runs, fold_copied

SHORT = 300
"""Characters of a prompt that are shown at once, and from which on an answer is worth an excerpt."""
WHOLE = 20_000
"""Characters of a prompt that the timeline repeats; a longer one is whole on its page only."""


def _timeline(view: SessionView) -> str:
    """The turns of the live conversation, and where others leave it."""
    page = view.addresses.turn(view.session.turns[0].number) if view.session.turns else ""
    items = [
        html.timeline_item(elements.site_link(page, earlier_summary(earlier), "said"))
        for earlier in view.session.earlier
    ]
    steps = turns_and_forks(view.session.turns, {branch.after for branch in view.leaving[0]})
    for copied, run in copied_runs(steps):
        made = [
            html.timeline_item(branch_switcher(view, 0, step, 0)) if isinstance(step, int) else _turn(step, view)
            for step in run
        ]
        items += [html.timeline_item(fold_copied(copied, view, html.timeline(made)))] if copied else made
    return html.timeline(items)


def _turn(turn: Turn, view: SessionView) -> str:
    events = html.event_list(_events(turn, view))
    if turn.prompt is None:
        return html.timeline_item(events, 0) if events else ""
    href = view.addresses.turn(turn.number)
    link = elements.link_around(href, time_tag(turn.prompt.time)) if turn.prompt.time else ""
    return html.timeline_item(_asked(turn.prompt, view) + _did(turn, view) + events, turn.number, href, link)


def _asked(prompt: Prompt, view: SessionView) -> str:
    """The prompt: its beginning, which opens to the whole."""
    whole = summaries.prompt_markdown(prompt)
    if len(whole) <= SHORT:
        note = f" {elements.span('quiet', human.count(len(prompt.images), 'image'))}" if prompt.images else ""
        return elements.div("words", content(whole) + note)
    start = summaries.first_lines(whole, SHORT)
    if len(whole) > WHOLE:
        link = elements.site_link(view.addresses.link(prompt), f"all {len(whole):,} characters")
        return elements.div("words", f"{content(start)} {link}")
    return html.expandable_words(start, prose_html(whole, images=False))


def _did(turn: Turn, view: SessionView) -> str:
    """Tools used, time and money."""
    every = [block for block in turn.blocks if isinstance(block, ToolCall)]
    calls = Counter([call.name for call in every if call.state != "orphan"])
    tools = " · ".join([f"{number:,} {name}" for name, number in calls.most_common()])
    failures = tell_ends(Counter([call.end for call in every]))
    used = turn.usage.total
    took = (
        human.elapsed(turn.started, turn.ended),
        f"{human.tokens(used)} tokens" if used else "",
        format_cost(view.costs.of(turn)),
    )
    facts = [elements.fact(tools, human.count(calls.total(), "tool call"))] if tools else []
    facts += [elements.span("badtext", failures)] if failures else []
    return html.prompt_work("".join([*facts, *(elements.fact(text) for text in took if text)]))


def _events(turn: Turn, view: SessionView) -> Iterator[TimelineEvent]:
    """What came of a turn, in order."""
    for block in turn.blocks:
        match block:
            case ToolCall():
                yield from _call_events(block, turn, view)
            case Text() if len(block.text) >= SHORT:
                yield TimelineEvent("answer", _linked(block, summaries.plain_excerpt(block.text, SHORT), turn, view))
            case Notice(kind="compaction"):
                yield TimelineEvent("compaction", _linked(block, "Conversation compacted", turn, view))
            case Notice(kind="interruption"):
                yield TimelineEvent("stopped", _linked(block, "Interrupted by the user", turn, view), "stop")
            case Notice(kind="api-error" | "refusal"):
                words = summaries.shorten_line(block.text, 120) or "The request failed"
                yield TimelineEvent("error", _linked(block, words, turn, view), "stop")
    for push in view.recorded.get(turn.number, ()):
        yield _push_event(push)


def _call_events(call: ToolCall, turn: Turn, view: SessionView) -> list[TimelineEvent]:
    """What came of a call; nothing, of most."""
    events = list(_meant_events(call, turn, view)) if call.meaning is not None else []
    events += [_agent_event(agent, view) for agent in view.started(call)]
    if call.call_id in view.commits or call.call_id in view.pushes:
        events += _sent_events(call.call_id, view)
    return events


def _meant_events(call: ToolCall, turn: Turn, view: SessionView) -> Iterator[TimelineEvent]:
    """Plans and questions."""
    match call.meaning:
        case Plan(title=name, status=status):
            tone = {"approved": "good", "rejected": "bad"}.get(status, "")
            words = _linked(call, summaries.shorten_line(name, 120) or "Plan", turn, view)
            yield TimelineEvent("plan", f"{words} {elements.span(f'badge {tone}', status)}", "plan")
        case Questionnaire(questions=asked):
            for question in asked:
                said = summaries.shorten_line(question.answer or "", 120)
                answer = elements.strong(said) if said else elements.span("quiet", "no answer")
                words = _linked(call, summaries.shorten_line(question.text, 160), turn, view)
                yield TimelineEvent("question", f"{words} {answer}")


def _sent_events(call_id: str, view: SessionView) -> Iterator[TimelineEvent]:
    """What a call committed and pushed; calls without an id are not told apart."""
    if not call_id:
        return
    for commit in view.commits.get(call_id, ()):
        link = elements.commit_link(commit.hash, HtmlOptions(view.repository))
        words = f"{content(summaries.shorten_line(commit.message, 160))} {elements.span('quiet', commit.branch)}"
        yield TimelineEvent("commit", f"{link} {words}", "commit-made")
    yield from map(_push_event, view.pushes.get(call_id, ()))


def _agent_event(agent: Agent, view: SessionView) -> TimelineEvent:
    link = elements.site_link(view.agent_href(agent), agent_title(agent))
    return TimelineEvent("subagent", f"{link} {elements.span('quiet', agent_summary(agent, view))}", "agents")


def _push_event(push: Push) -> TimelineEvent:
    """Where something went, as a link where it has one."""
    pull = push.kind == "pull-request"
    name = f"#{push.number} {push.repository}" if pull else push.branch or push.url
    link = elements.link(push.url, content(name))
    if not push.url.startswith(("https://", "http://")):
        link = f"{link} {elements.span('quiet', push.repository)}"
    return TimelineEvent("pull request" if push.kind != "push" else "push", link, "commit-made")


def _linked(block: Block, words: str, turn: Turn, view: SessionView) -> str:
    """Words that lead to where a block is; to its turn where the block is left out."""
    shown = is_shown(block, view.options.hide)
    return elements.site_link(view.addresses.link(block) if shown else view.addresses.turn(turn.number), words, "said")


_RAW = 200_000
"""Bytes of unreadable lines that are shown whole; beyond them each is cut."""


def index_body(view: SessionView) -> str:
    """All of an index page."""
    timeline = _timeline(view)
    if timeline and view.options.single_page:
        timeline = elements.card("Timeline", timeline)
    elif timeline:
        timeline = f"{pager_links(view.addresses.live)}{elements.label('Timeline')}{timeline}"
    return render_head(view) + render_story(view) + view.frame.inset + timeline + "".join(_rest(view))


def _rest(view: SessionView) -> Iterator[str]:
    """Subagents that the timeline cannot show, because no call in the log accounts for them; files, models, the end."""
    if view.untied and not view.options.single_page:
        events = html.event_list(_agent_event(agent, view) for agent in view.untied)
        yield elements.card("Subagents that no call accounts for", events, opened=True)
    if changed := sorted((file for file in view.counted.files if file.writes), key=lambda file: file.path):
        table = html.files_table((file.path, file.created, file.added, file.removed) for file in changed)
        yield elements.card(f"{human.count(len(changed), 'file')} changed", table)
    if models := [(call.model, call.usage) for call in view.counted.models if call.usage.total]:
        yield elements.card("Tokens by model", html.models_table(models))
    raw = sum(len(problem.raw) for problem in view.session.problems)
    for heading, nodes in tail_sections(view.session, View(full=raw <= _RAW)):
        if heading.kind not in view.options.hide:
            name, inside = human.joined(heading.text, *heading.notes), nodes_html(nodes, HtmlOptions())
            yield elements.card(name, inside, opened=heading.kind != "lines", anchor=heading.kind)
