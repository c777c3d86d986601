"""The story of a change as a page: who made it, what led to it, what was tried, what it cost."""

from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from unspool import human
from unspool.agents import agent_name
from unspool.figures.change_story import ChangeStep, ChangeStory
from unspool.render.html import elements
from unspool.render.html.elements import HtmlOptions, content
from unspool.render.html.prose import prose_html
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame, PageTemplate, Preview, as_markup, fill_template
from unspool.site.session_view import format_cost
from unspool.site.summaries import shorten_line

_WORDS, _ANSWER = 400, 900
_COMMITS = 40


class ShownStep(NamedTuple):
    """A session of a story as its page shows it."""

    step: ChangeStep
    href: str
    role: str
    tone: str
    when: Markup
    by: str
    prompts: list[tuple[int, str]]
    answer: Markup
    facts: list[Markup]


def change_role(step: ChangeStep) -> tuple[str, str]:
    """What a session did for a change, in a word, and the tone of that."""
    if step.landed:
        return "made it", "good"
    if step.kind == "planning" or (step.plans and not step.files):
        return "planned it", "plan"
    if "tried the same" in step.reasons:
        return "tried the same, committed nothing", "warn"
    if "copied" in step.reasons:
        return "a copy that went its own way", "warn"
    return ("worked on it", "") if "on the branch" in step.reasons else ("led to it", "")


def change_body(story: ChangeStory, href: Callable[[ChangeStep], str]) -> str:
    """The body of the page; `href` leads to a session, or is empty where it is not shown."""
    steps = [_shown(step, href(step)) for step in story.steps]
    took = human.elapsed(story.started, story.ended)
    facts = [
        human.count(len(steps), "session"),
        human.count(sum(len(step.prompts) for step in story.steps), "prompt"),
        f"{took} from first to last" if took else "",
        f"{human.tokens(story.tokens)} tokens" if story.tokens else "",
        format_cost(story.cost),
    ]
    html = HtmlOptions(story.pulls[-1].repository if story.pulls else "")
    commits = [
        as_markup(f"{elements.commit_link(commit.hash, html)} {content(shorten_line(commit.message, 120))}")
        for commit in story.commits[-_COMMITS:]
    ]
    return fill_template(
        "change.html",
        kind=story.of.kind,
        title=story.title,
        facts=[fact for fact in facts if fact],
        pulls=[as_markup(elements.link(pull.url, content(pull.url))) for pull in story.pulls],
        commits=commits,
        more=len(story.commits) - len(commits),
        steps=steps,
    )


def change_page(story: ChangeStory, options: SiteOptions, note: str = "") -> str:
    """The whole story in one page that needs nothing else; `note` says at its foot how it was made."""
    frame = Frame(preview=Preview(f"{story.of.kind}: {human.count(len(story.steps), 'session')}", note=note))
    body = change_body(story, lambda _: "")
    return PageTemplate(options, frame).page(f"The story of {story.title}", body)


def _shown(step: ChangeStep, href: str) -> ShownStep:
    role, tone = change_role(step)
    prompts = [(prompt.number, shorten_line(prompt.words, _WORDS) or "(empty)") for prompt in step.prompts]
    answer = step.answer.strip()
    end = answer.rfind(" ", 0, _ANSWER) if len(answer) > _ANSWER else len(answer)
    begun = f"{answer[:end]}{' …' if end < len(answer) else ''}"
    return ShownStep(
        step,
        href,
        role,
        tone,
        as_markup(elements.time_tag(step.started)) if step.started is not None else as_markup(""),
        human.joined(agent_name(step.agent), human.elapsed(step.started, step.ended)),
        prompts,
        as_markup(prose_html(begun, images=False)),
        _facts(step),
    )


def _facts(step: ChangeStep) -> list[Markup]:
    """What came of a session, in a few words each."""
    found = []
    if step.files:
        signs = f"{elements.span('plus', f'+{step.added:,}')} {elements.span('minus', f'−{step.removed:,}')}"
        found.append(f"{elements.strong(f'{step.files:,}')} {'file' if step.files == 1 else 'files'} {signs}")
    if step.commits:
        found.append(content(human.count(len(step.commits), "commit")))
    if step.tests:
        tone = {True: "good", False: "bad", None: "quiet"}[step.tests_passed]
        found.append(f"last tests {elements.span(tone, step.tests)}")
    if step.failed:
        found.append(content(f"{human.count(step.failed, 'call')} failed"))
    cost = format_cost(step.cost)
    return [as_markup(one) for one in (*found, content(cost) if cost else "") if one]
