"""Sites made as people make them: by the command line."""

from pathlib import Path

from click.testing import CliRunner

from unspool.cli.group import cli


def made(target: Path, *arguments: str) -> Path:
    """Run `unspool ARGUMENTS -o TARGET`; gives the target."""
    result = CliRunner().invoke(cli, [*arguments, "-o", str(target)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return target
