"""What the markup of nodes depends on besides the nodes: where links lead and whether pictures are shown."""

from collections.abc import Callable

import msgspec


def _nowhere(_session: str) -> str:
    return ""


class Paint(msgspec.Struct, frozen=True):
    """How nodes become markup. The default makes no link into a repository or to another session."""

    repository: str = ""
    """The web address of the repository that commits and files are linked into; empty for none."""
    commit: str = ""
    """The commit that links to files show; empty for the newest."""
    images: bool = True
    """False names pictures and documents instead of putting them into the page."""
    session_href: Callable[[str], str] = _nowhere
    """The address of another session by its id; empty where it has none."""
