"""Made corpora say what is in them: every figure is met exactly, opened whole and skimmed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.thorough import THOROUGH, tries
from unspool.figures import Figures, all_turns, calls_of, figures
from unspool.model import Overview, Session, Usage
from unspool.prices import PriceTable
from unspool.store.library import Library

SEEDS = (1, 2, 3) if THOROUGH else (1,)
MB = tries(20, 50)


class Made:
    """One made corpus, read once."""

    def __init__(self, source: Path) -> None:
        told = json.loads((source / "truth.json").read_text())["sessions"]
        self.truth: dict[str, dict[str, Any]] = {one["session"]: one for one in told}
        library = Library([source])
        prices = PriceTable.load()
        self.overviews = {one.id: one for one in library.overviews()}
        self.facts = {}
        self.skims = {}
        for log in library.logs():
            session = library.open(log)
            counted = figures(session, prices)
            self.facts[session.id] = _facts(session, counted)
            self.skims[session.id] = _skim(session, counted)


@pytest.fixture(scope="module", params=SEEDS)
def made(request: pytest.FixtureRequest, made_corpus: Callable[[int, int], Path]) -> Made:
    return Made(made_corpus(request.param, MB))


def test_every_session_is_found_and_no_other(made: Made) -> None:
    assert made.facts.keys() == made.truth.keys()
    assert made.overviews.keys() == made.truth.keys()


def test_every_figure_of_every_session_is_met(made: Made) -> None:
    differing = {
        f"{name} {key}": (told[key], made.facts[name][key])
        for name, told in made.truth.items()
        for key in made.facts[name]
        if key in told and _plain(key, told[key]) != made.facts[name][key]
    }
    assert differing == {}


def test_no_figure_of_the_truth_is_left_out(made: Made) -> None:
    told = {key for one in made.truth.values() for key in one}
    met = {key for one in made.facts.values() for key in one}
    assert told - met <= {"session", "needles", "bytes", "project"}


def test_a_session_without_a_source_is_linked_to_none(made: Made) -> None:
    linked = {name for name, one in made.facts.items() if one["source_session"]}
    assert linked == {name for name, one in made.truth.items() if one.get("source_session")}


def test_what_a_list_shows_agrees_with_the_whole_session(made: Made) -> None:
    shown = {name: _overview(one) for name, one in made.overviews.items()}
    differing = {
        f"{name} {key}": (shown[name][key], value)
        for name, whole in made.skims.items()
        for key, value in whole.items()
        if shown[name][key] != value
    }
    assert differing == {}


def _plain(key: str, told: Any) -> Any:
    if key == "plans":
        return [(plan["status"], plan["title"].strip()) for plan in told]
    return told


def _facts(session: Session, counted: Figures) -> dict[str, Any]:
    prompts = [turn.prompt for turn in all_turns(session) if turn.prompt is not None]
    left = [turn.prompt for branch in session.branches for turn in branch.turns if turn.prompt is not None]
    commands = sorted((prompt for prompt in prompts if prompt.kind == "command"), key=lambda one: one.place.line)
    sources = [link.session for link in session.links if link.relation == "source"]
    todos = session.todos.items
    return {
        "slug": session.slug,
        "prompts": counted.prompts.get("text", 0),
        "prompts_abandoned": sum(prompt.kind == "text" for prompt in left),
        "queued": counted.prompts.get("queued", 0),
        "commands": [prompt.command for prompt in commands],
        "bash": counted.prompts.get("bash", 0),
        "messages": counted.messages,
        "texts": counted.texts,
        "thinking": counted.thinking,
        "tool_calls": counted.tool_calls,
        "tool_errors": sum(call.result.error for call in calls_of(session) if call.result is not None),
        "commits": len(counted.commits),
        "images": counted.images,
        "compactions": counted.compactions,
        "questions": counted.questions,
        "malformed": counted.problems,
        "branches": counted.branches,
        "plans": [(plan.status, plan.title) for plan in counted.plans],
        "todos": [[item.text, item.status] for item in todos if not item.task],
        "tasks": [[item.text, item.status] for item in todos if item.task],
        "subagents": counted.agents,
        "agent_tool_calls": counted.agent_tool_calls,
        "source_session": sources[0] if sources else None,
        **_tokens("", "_tokens", counted.usage),
        **_tokens("agent_", "_tokens", counted.agents_usage),
    }


def _tokens(prefix: str, suffix: str, usage: Usage) -> dict[str, int]:
    return {
        f"{prefix}input{suffix}": usage.input,
        f"{prefix}output{suffix}": usage.output,
        f"{prefix}cache_read": usage.cache_read,
        f"{prefix}cache_write": usage.cache_write,
    }


def _skim(session: Session, counted: Figures) -> dict[str, Any]:
    return {
        "turns": counted.turns,
        "messages": counted.messages,
        "tool_calls": counted.tool_calls,
        "tool_errors": counted.tool_errors,
        "agents": counted.agents,
        "compactions": counted.compactions,
        "problems": len(session.problems),
        "lines": session.lines.total - session.lines.blank,
        "usage": counted.usage + counted.agents_usage,
        "title": session.title,
        "kind": session.kind,
        "started": session.started,
        "ended": session.ended,
        "slug": session.slug,
        "branch": session.branch,
        "cost": counted.cost.amount,
        "links": [(link.session, link.relation) for link in session.links],
    }


def _overview(shown: Overview) -> dict[str, Any]:
    kept = ("turns", "messages", "tool_calls", "tool_errors", "agents", "compactions", "problems", "lines", "usage")
    more = ("title", "kind", "started", "ended", "slug", "branch", "cost")
    linked = [(link.session, link.relation) for link in shown.links if link.relation != "copied-from"]
    return {**{name: getattr(shown, name) for name in (*kept, *more)}, "links": linked}
