"""The command line: one file a command, or a family of them.

Bare `--help` and `--version` are answered before anything is imported: they are what a newcomer and a script
try first. A test holds `help.txt` to what the commands say themselves.
"""

import gc
import sys

HELP = __file__.replace("__init__.py", "help.txt")
_OBJECTS = 50_000
"""Made before garbage is looked for: modules that are loaded are none, nor is most of what is read."""


def main() -> None:
    """Run the command line and end with its exit code."""
    if sys.argv[1:] in (["--help"], ["-h"]):
        with open(HELP, encoding="utf-8") as text:  # noqa: PTH123  pathlib alone would double the time
            sys.stdout.write(text.read())
        return
    if sys.argv[1:] in (["--version"], ["-V"]):
        from unspool.build_info import version_line

        sys.stdout.write(f"{version_line()}\n")
        return
    gc.set_threshold(_OBJECTS, 20, 50)
    try:
        from unspool.cli.group import run

        code = run()
    except KeyboardInterrupt:  # before the commands are there to answer it
        code = 130
    if "duckdb" not in sys.modules:  # which complains of what is left at the end
        gc.freeze()  # all goes with the process: nothing need be looked through once more
    sys.exit(code)
