"""Claude Code's print mode, used as a plain model: it can neither use a tool nor leave a log."""

_CHEAPEST = "haiku"
_QUIET = '{"disableAllHooks": true}'


def print_mode_command(model: str, system: str) -> list[str]:
    """The command that takes a prompt on its input and prints the answer.

    The user's own settings hold, for they may say how to sign in; those of a project do not.
    """
    return [
        "claude",
        "--print",
        *("--output-format", "text"),
        *("--model", model or _CHEAPEST),
        *("--system-prompt", system),
        *("--tools", ""),
        "--strict-mcp-config",
        *("--setting-sources", "user"),
        *("--settings", _QUIET),
        "--no-session-persistence",
    ]
