"""`unspool schema` and `completion`."""

import click
from click.shell_completion import get_completion_class

from unspool.cli.output import print_json
from unspool.errors import UsageProblem
from unspool.render.json import session_schema


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of exported sessions.

    The schema is versioned (unspool.session/1): a new version means that a reader has to change.
    """
    print_json(session_schema())


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the shell completion script.

    \b
    bash   unspool completion bash > ~/.local/share/bash-completion/completions/unspool
    zsh    unspool completion zsh > ~/.zfunc/_unspool
    fish   unspool completion fish > ~/.config/fish/completions/unspool.fish
    """
    from unspool.cli.group import cli

    found = get_completion_class(shell)
    if found is None:
        raise UsageProblem(f"There is no completion for {shell}.")
    click.echo(found(cli, {}, "unspool", "_UNSPOOL_COMPLETE").source())
