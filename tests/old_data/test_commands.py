"""Every command, option and number of arguments that the old version took is taken today."""

import json
from collections.abc import Iterator
from typing import Any

import click

from tests.old_data.unpacked import HERE
from unspool.cli.group import cli


def taken(command: click.Command) -> set[str]:
    """The names of the options that a command takes."""
    options = (one for one in command.params if isinstance(one, click.Option))
    return {name for one in options for name in (*one.opts, *one.secondary_opts)}


def missing(old: dict[str, Any], command: click.Command | None, name: str) -> Iterator[str]:
    """What the old version took and a command does not."""
    if command is None:
        yield f"{name} is no command"
        return
    yield from (f"{name} {option}" for option in old["options"] if option not in taken(command))
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    if len(arguments) < old["arguments"] or any(one.required for one in arguments[old["arguments"] :]):
        yield f"{name} takes other arguments"
    for inner, one in old.get("commands", {}).items():
        context = click.Context(command, info_name=name)
        found = command.get_command(context, inner) if isinstance(command, click.Group) else None
        yield from missing(one, found, f"{name} {inner}")


def test_every_command_and_option_is_still_there() -> None:
    old = json.loads((HERE / "commands.json").read_text())
    assert len(old["commands"]) > 30
    assert list(missing(old, cli, "unspool")) == []


def test_what_is_missing_is_noticed() -> None:
    old = {"options": ["--gone", "--port"], "arguments": 0, "commands": {"vanish": {"options": [], "arguments": 0}}}
    assert list(missing(old, cli, "unspool")) == ["unspool --gone", "unspool vanish is no command"]
