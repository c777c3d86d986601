"""Pages as a gist, through GitHub's own program `gh`, which knows who the user is.

Pages must be self-contained: a gist holds files side by side and its viewers load one at a time.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unspool.errors import UnspoolError, UsageProblem
from unspool.human import size

VIEWER = "https://gisthost.github.io/?"
LARGEST = 10_000_000
"""Bytes of a file that GitHub still gives out whole."""
MOST = 300
"""Files that GitHub lists of a gist."""
TOGETHER = 50_000_000
_SECONDS = 600
_ADDRESS = re.compile(r"https?://\S+/([0-9A-Za-z]+)\s*$", re.M)


class Gist(NamedTuple):
    """Where a gist is, and where it can be seen as pages."""

    address: str
    preview: str


def fits(files: Sequence[Path]) -> str:
    """Why these files cannot be a gist, in a sentence; empty where they can."""
    sizes = {file.name: file.stat().st_size for file in files}
    name, most = max(sizes.items(), key=lambda item: item[1])
    if most > LARGEST:
        return f"{name} has {size(most)}, and a gist gives out at most {size(LARGEST)} a file."
    if sum(sizes.values()) > TOGETHER:
        return f"The pages have {size(sum(sizes.values()))} together, and a gist takes about {size(TOGETHER)}."
    return f"There are {len(files)} pages, and a gist lists at most {MOST} files." if len(files) > MOST else ""


def publish(files: Sequence[Path], description: str, *, public: bool) -> Gist:
    """Make a gist of the files, secret unless it is to be public."""
    program = shutil.which("gh")
    if program is None:
        raise UsageProblem("--gist needs GitHub's program gh: https://cli.github.com; then run gh auth login.")
    visibility = ["--public"] if public else []
    command = [program, "gist", "create", *visibility, "--desc", description, "--", *map(str, files)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603  no shell, our own files
    except subprocess.TimeoutExpired:
        raise UnspoolError(
            f"gh did not finish within {_SECONDS // 60} minutes; look whether the gist is there."
        ) from None
    found = _ADDRESS.search(done.stdout.decode(errors="replace"))
    if done.returncode != 0 or found is None:
        said = (done.stderr or done.stdout).decode(errors="replace").strip() or "it gave no reason"
        raise UnspoolError(f"gh could not make the gist: {said}")
    return Gist(found[0].strip(), f"{VIEWER}{found[1]}/index.html")
