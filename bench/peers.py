"""Other people's programs that answer the same questions; scripts/bench installs them, by name.

None is given where a peer is not installed.
"""

import os
import shutil
import tempfile
from pathlib import Path

from bench.measure import Run, run


def ccusage(source: Path, session: Path | None = None) -> Run | None:
    """Tokens and cost of every session of `source`, or of one of them."""
    program = os.environ.get("UNSPOOL_CCUSAGE")
    if not program:
        return None
    which = ["--id", session.stem] if session else []
    return run([program, "session", "--json", "--offline", *which], {"CLAUDE_CONFIG_DIR": str(source)})


def claude_code_log(source: Path, session: Path | None = None) -> Run | None:
    """Its plain run over every session of `source`, or over one; it writes HTML beside the logs, so beside a copy."""
    program = os.environ.get("UNSPOOL_CLAUDE_CODE_LOG")
    if not program:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        if session:
            return run([program, shutil.copy(session, scratch)])
        projects = shutil.copytree(source / "projects", Path(scratch) / "projects")
        return run([program, "--all-projects", "--projects-dir", str(projects)])
