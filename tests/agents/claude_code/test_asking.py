"""Print mode is used as a plain model."""

from unspool.agents import FORMATS


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_the_command_can_do_nothing_but_answer() -> None:
    """No tools, no servers of tools, no hooks, no settings of a project, and no log of its own."""
    command = FORMATS[0].ask("some-model", "Do this.")
    assert command[:2] == ["claude", "--print"]
    assert option(command, "--model") == "some-model"
    assert option(command, "--system-prompt") == "Do this."
    assert option(command, "--tools") == ""
    assert option(command, "--setting-sources") == "user"
    assert "disableAllHooks" in option(command, "--settings")
    assert {"--strict-mcp-config", "--no-session-persistence"} <= set(command)


def test_without_a_model_the_cheapest_is_asked() -> None:
    assert option(FORMATS[0].ask("", ""), "--model") == "haiku"
