"""`unspool schema`, `unspool completion`, help and version."""

import json
import re

import jsonschema
import pytest
from click.testing import CliRunner

from tests.cli.running import run
from unspool import __version__
from unspool.cli.group import COMMANDS, cli


def test_the_schema_is_a_schema() -> None:
    """`unspool schema` prints a valid JSON Schema of the version it names."""
    done = run("schema")
    assert done.code == 0
    data = json.loads(done.out)
    jsonschema.Draft202012Validator.check_schema(data)
    assert "unspool.session/1" in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(shell: str) -> None:
    """Each shell gets a script that completes `unspool`."""
    done = run("completion", shell)
    assert done.code == 0
    assert f"_UNSPOOL_COMPLETE={shell}_complete" in done.out


def test_completion_knows_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the script asks for is answered with the commands."""
    monkeypatch.setenv("_UNSPOOL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "unspool ")
    monkeypatch.setenv("COMP_CWORD", "1")
    done = run()
    assert [line.split(",")[1] for line in done.out.split()] == [name for name, _ in COMMANDS]


@pytest.mark.parametrize("arguments", [("-V",), ("--version",)], ids=" ".join)
def test_the_version(arguments: tuple[str, ...]) -> None:
    """-V prints name and version, and the commit where it is known."""
    assert re.fullmatch(rf"unspool {re.escape(__version__)}( \([0-9a-f]{{12}}\))?\n", run(*arguments).out)


@pytest.mark.parametrize("name", [name for name, _ in COMMANDS])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(name: str, flag: str) -> None:
    """Help begins with how to call it, says what the list of commands says, and explains every option."""
    done = run(name, flag)
    assert done.code == 0
    assert done.out.startswith(f"Usage: unspool {name} ")
    assert dict(COMMANDS)[name] in done.out


def test_the_quick_help_is_the_help() -> None:
    """What `unspool --help` prints at once is what the commands say themselves."""
    assert run("--help").out == CliRunner().invoke(cli, ["--help"], prog_name="unspool").output
