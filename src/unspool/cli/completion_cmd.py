"""`unspool completion`: completion for the user's shell."""

import click
from click.shell_completion import get_completion_class

from unspool.errors import UsageProblem


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
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
