"""The story of a change: the sessions that led to a commit, a branch or a pull request, and what each did for it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal

import msgspec

from unspool.figures import calls_of, family, figures
from unspool.figures.compare import AskedPrompt
from unspool.figures.test_runs import find_test_runs
from unspool.model import Commit, Push, Session, Text, Turn
from unspool.prices import Cost, PriceTable

WorkReason = Literal["committed", "opened", "pushed", "on the branch", "led to it", "copied", "tried the same"]
"""Why a session belongs to a change."""


class ChangeName(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person calls a change by."""

    kind: Literal["commit", "branch", "pull request"]
    text: str
    repository: str = ""
    number: int = 0
    message: str = ""
    """The words of a commit, which is known by them where a rebase gave it another hash."""


class NamedPlan(msgspec.Struct, frozen=True):
    title: str
    status: str


class ChangeStep(msgspec.Struct, frozen=True):
    """A session, and what it did for the change."""

    session: str
    title: str
    agent: str
    project: str
    kind: str
    reasons: tuple[WorkReason, ...]
    started: datetime | None
    ended: datetime | None
    prompts: tuple[AskedPrompt, ...]
    """What was asked, without what was copied from another session."""
    left: tuple[AskedPrompt, ...]
    """What was asked on ways that were left, the first prompt of each."""
    plans: tuple[NamedPlan, ...]
    commits: tuple[Commit, ...]
    pulls: tuple[Push, ...]
    files: int
    """Files that were changed."""
    added: int
    removed: int
    tests: str
    """How the last run of tests ended; empty where there was none."""
    tests_passed: bool | None
    failed: int
    """Calls that failed."""
    tokens: int
    cost: Cost
    answer: str
    """The last words."""

    @property
    def landed(self) -> bool:
        """Whether what it did became part of the change, as far as is known."""
        return bool({"committed", "opened", "pushed"} & {*self.reasons})


class ChangeStory(msgspec.Struct, frozen=True):
    """A change with all sessions that led to it, in the order they began."""

    of: ChangeName
    title: str
    commits: tuple[Commit, ...]
    pulls: tuple[Push, ...]
    steps: tuple[ChangeStep, ...]
    tokens: int
    cost: Cost
    started: datetime | None
    ended: datetime | None


def tell_change(
    name: ChangeName, sessions: Iterable[tuple[Session, tuple[WorkReason, ...]]], prices: PriceTable
) -> ChangeStory:
    """The story of a change, from the sessions that belong to it and why they do."""
    steps = sorted((_step(session, reasons, prices) for session, reasons in sessions), key=_began)
    commits = {commit.hash: commit for step in steps for commit in step.commits if _is_meant(commit, name)}
    pulls = {pull.url: pull for step in steps for pull in step.pulls if pull.url}
    if name.kind == "pull request":
        pulls = {url: pull for url, pull in pulls.items() if pull.number == name.number}
    made, opened = tuple(commits.values()), tuple(pulls.values())
    return ChangeStory(
        name,
        _title(name, made, opened),
        made,
        opened,
        tuple(steps),
        sum(step.tokens for step in steps),
        sum((step.cost for step in steps), Cost()),
        min((step.started for step in steps if step.started is not None), default=None),
        max((step.ended for step in steps if step.ended is not None), default=None),
    )


_COUNTED = ("started", "ended", "files", "added", "removed", "tests", "tests_passed", "failed", "tokens", "cost")


def with_figures(story: ChangeStory, whole: ChangeStory) -> ChangeStory:
    """A story whose sessions were told without what must not leave, with the figures of the whole."""
    known = {step.session: step for step in whole.steps}
    steps = tuple(
        msgspec.structs.replace(step, **{name: getattr(known[step.session], name) for name in _COUNTED})
        if step.session in known
        else step
        for step in story.steps
    )
    return msgspec.structs.replace(
        story, steps=steps, tokens=whole.tokens, cost=whole.cost, started=whole.started, ended=whole.ended
    )


def _began(step: ChangeStep) -> datetime:
    return step.started or datetime.min.replace(tzinfo=UTC)


def _is_meant(commit: Commit, name: ChangeName) -> bool:
    if name.kind != "commit":
        return True
    by_hash = commit.hash.startswith(name.text) or name.text.startswith(commit.hash)
    return by_hash or (bool(name.message) and commit.message == name.message)


def _title(name: ChangeName, commits: tuple[Commit, ...], pulls: tuple[Push, ...]) -> str:
    """What the change is called, by what its sessions say."""
    if name.kind == "commit" and commits and commits[-1].message:
        return commits[-1].message
    if name.kind == "pull request" and pulls:
        return f"{pulls[-1].repository}#{pulls[-1].number}" if pulls[-1].repository else f"Pull request {name.number}"
    return name.text


def _step(session: Session, reasons: tuple[WorkReason, ...], prices: PriceTable) -> ChangeStep:
    counted = figures(session, prices)
    turns = [turn for turn in session.turns if not turn.copied]
    changed = [file for file in counted.files if file.writes]
    runs = list(find_test_runs(call for member in family(session) for call in calls_of(member)))
    ended = {True: "passed", False: "failed", None: "not known"}
    words = [block.text for turn in turns for block in turn.blocks if isinstance(block, Text) and block.text.strip()]
    return ChangeStep(
        session.id,
        session.title,
        session.agent,
        session.project,
        session.kind,
        reasons,
        session.started,
        session.ended,
        tuple(_asked(turns)),
        tuple(first for branch in session.branches for first in list(_asked(branch.turns))[:1]),
        tuple(NamedPlan(plan.title, plan.status) for plan in counted.plans),
        counted.commits,
        tuple(push for push in counted.pushes if push.kind == "pull-request"),
        len(changed),
        sum(file.added for file in changed),
        sum(file.removed for file in changed),
        runs[-1].said or ended[runs[-1].passed] if runs else "",
        runs[-1].passed if runs else None,
        counted.tool_errors,
        counted.usage.total + counted.agents_usage.total,
        counted.cost,
        words[-1] if words else "",
    )


def _asked(turns: Iterable[Turn]) -> Iterator[AskedPrompt]:
    for turn in turns:
        if turn.prompt is not None:
            said = turn.prompt.words.strip() or f"{turn.prompt.command} {turn.prompt.arguments}".strip()
            yield AskedPrompt(turn.number, said)
