"""Sessions made up by hand, and the builder that makes them: a tour of everything a log can hold.

Imports the standard library only. `write_demo` gives the same bytes every time.
"""

from pathlib import Path

from unspool.demo.sessions import sessions


def write_demo(root: Path) -> Path:
    """Write the demo's sessions below root as Claude Code would, in `root/projects`; gives root."""
    for log in sessions():
        log.write(root)
    return root
