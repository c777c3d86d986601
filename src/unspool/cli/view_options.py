"""The options that say what of a session to show; commands get them as one View."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from unspool.cli import options, settings
from unspool.errors import NotFound
from unspool.model import Session
from unspool.render.view import View

Command = Callable[..., Any]


def view_options(*, whole: bool) -> Callable[[Command], Command]:
    """Options for a command that takes `view`; `whole`: everything is shown unless asked otherwise."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*args: Any, **given: Any) -> Any:
            return command(*args, view=_view(given), **given)

        wrapped: Command = run
        for option in reversed(_options(whole=whole)):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def _options(*, whole: bool) -> list[Callable[[Command], Command]]:
    turns = "Only these turns: 3, 3..7, 5.., 1,4."
    return [
        click.option("--full/--short", default=whole, help="Long outputs whole, or cut.", show_default=True),
        click.option("--no-thinking", is_flag=True, help="Leave out the model's thinking."),
        click.option("--no-tools", is_flag=True, help="Leave out tool calls; plans and questions stay."),
        click.option("--no-notices", is_flag=True, help="Leave out hooks, reminders and other notices."),
        click.option("--turn", "turns", callback=options.turn_ranges, metavar="3..7", help=turns),
        click.option("--branch", type=click.IntRange(min=0), default=0, metavar="N", help="Follow abandoned branch N."),
        click.option(
            "--with-subagents/--no-subagents",
            default=whole,
            help="Subagents' conversations in place, or not.",
            show_default=True,
        ),
    ]


def _view(given: dict[str, Any]) -> View:
    return View(
        thinking=not given.pop("no_thinking"),
        tools=not given.pop("no_tools"),
        notices=not given.pop("no_notices"),
        full=given.pop("full"),
        turns=given.pop("turns"),
        branch=given.pop("branch"),
        agents=given.pop("with_subagents"),
        zone=settings.chosen_zone(),
    )


def check_view(session: Session, view: View) -> None:
    """NotFound where the view asks for a branch or turns that the session does not have."""
    numbers = [one.number for one in session.branches]
    if view.branch and view.branch not in numbers:
        listed = ", ".join(map(str, numbers)) or "none"
        raise NotFound(f"Session {session.id} has no branch {view.branch}; its branches: {listed}.")
    every = [turn.number for turn in session.turns]
    every += [turn.number for branch in session.branches for turn in branch.turns]
    if view.turns and not any(view.has_turn(number) for number in every):
        raise NotFound(f"Session {session.id} has no such turn; its last is {max(every, default=0)}.")
