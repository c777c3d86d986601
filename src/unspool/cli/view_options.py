"""The options that say what of a session to show; commands get them as one View."""

from typing import Any

import click

from unspool.cli import options, settings
from unspool.errors import NotFound
from unspool.model import Session
from unspool.render.view import View


def view_options(*, whole: bool) -> options.Decorator:
    """Options for a command that takes `view`; `whole`: everything is shown unless asked otherwise."""
    return options.as_argument(
        "view",
        _view,
        click.option("--full/--short", default=whole, help="Long outputs whole, or cut.", show_default=True),
        click.option("--no-thinking", is_flag=True, help="Leave out the model's thinking."),
        click.option("--no-tools", is_flag=True, help="Leave out tool calls; plans and questions stay."),
        click.option("--no-notices", is_flag=True, help="Leave out hooks, reminders and other notices."),
        click.option(
            "--turn",
            "turns",
            callback=options.turn_ranges,
            metavar="3..7",
            help="Only these turns: 3, 3..7, 5.., 1,4.",
        ),
        click.option("--branch", type=click.IntRange(min=0), default=0, metavar="N", help="Follow abandoned branch N."),
        click.option(
            "--with-subagents/--no-subagents",
            "agents",
            default=whole,
            help="Subagents' conversations in place, or not.",
            show_default=True,
        ),
    )


def _view(no_thinking: bool, no_tools: bool, no_notices: bool, **given: Any) -> View:
    zone = settings.chosen_zone()
    return View(thinking=not no_thinking, tools=not no_tools, notices=not no_notices, zone=zone, **given)


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
