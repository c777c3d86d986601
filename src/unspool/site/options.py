"""How a site is made: one frozen value that travels from the command line to every page."""

from typing import Literal

import msgspec

Theme = Literal["system", "light", "dark"]

KINDS = ("thinking", "tools", "notices", "agents", "todos", "images")
"""What can be left out of a site, and hidden by a reader in the browser."""


class SiteOptions(msgspec.Struct, frozen=True):
    """The default shows everything of a session, five prompts a page."""

    per_page: int = 5
    """Prompts on a page, at most: heavy ones are fewer."""
    single_page: bool = False
    """All of a session on its index page: timeline, turns, branches and subagents."""
    theme: Theme = "system"
    hide: frozenset[str] = frozenset()
    """Kinds of blocks that are not written at all; see `KINDS`. Plans and questions are never tools here."""
    self_contained: bool = False
    """Styles and scripts inside each page, so that one file can be mailed."""
    repository: str = ""
    """Where commits and files are linked to: owner/name or a web address; empty for what the log tells."""
