"""The version of unspool, and which commit this copy was made of: written into a release, looked up in a checkout.

It is asked before anything else is loaded, so it does without pathlib, which would double the time.
"""

import os

VERSION = "0.1.0"

_PACKAGE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_COMMIT = "commit.txt"
"""The file in the package that a release is built with; git ignores it."""


def version_line() -> str:
    """Name, version and, where it is known, commit."""
    made_of = commit()
    return f"unspool {VERSION}" + (f" ({made_of[:12]})" if made_of else "")


def commit(package: str = _PACKAGE) -> str:
    """The commit that a package was made of, in full; empty where nobody knows."""
    top = os.path.dirname(os.path.dirname(package))  # noqa: PTH120
    try:
        return _text(package, _COMMIT)
    except OSError:
        pass
    try:
        return _checked_out(top) if os.path.exists(os.path.join(top, "pyproject.toml")) else ""  # noqa: PTH110, PTH118
    except (OSError, ValueError, StopIteration):
        return ""


def _checked_out(top: str) -> str:
    """What is checked out in a folder, read without git, which may not be there."""
    folder = os.path.join(top, ".git")  # noqa: PTH118
    if os.path.isfile(folder):  # noqa: PTH113  a work tree
        folder = os.path.join(top, _text(folder).partition(":")[2].strip())  # noqa: PTH118
    head = _text(folder, "HEAD")
    if not head.startswith("ref: "):
        return head
    name, places = head[5:], [folder]
    if os.path.isfile(os.path.join(folder, "commondir")):  # noqa: PTH113, PTH118
        places.append(os.path.join(folder, _text(folder, "commondir")))  # noqa: PTH118
    for place in places:
        try:
            return _text(place, name)
        except OSError:
            continue
    packed = _text(places[-1], "packed-refs").splitlines()
    return next(line.split()[0] for line in packed if line.endswith(f" {name}"))


def _text(*parts: str) -> str:
    with open(os.path.join(*parts), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read().strip()
