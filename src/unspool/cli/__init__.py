"""The command line: one file a command.

Bare `--help` and `--version` are answered before anything is imported: they are what a newcomer and a script
try first. A test holds `help.txt` to what the commands say themselves.
"""

import sys

from unspool import __version__

HELP = __file__.replace("__init__.py", "help.txt")


def main() -> None:
    """Run the command line and end with its exit code."""
    if sys.argv[1:] in (["--help"], ["-h"]):
        with open(HELP, encoding="utf-8") as text:  # noqa: PTH123  pathlib alone would double the time
            sys.stdout.write(text.read())
        return
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"unspool {__version__}\n")
        return
    try:
        from unspool.cli.group import run

        code = run()
    except KeyboardInterrupt:  # before the commands are there to answer it
        code = 130
    sys.exit(code)
