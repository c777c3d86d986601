"""What is asked of a share."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from unspool.redact.match import Finding
from unspool.redact.rules import RuleSet
from unspool.share.choices import Choices

Review = Callable[[Sequence[Finding], Choices], Choices]
"""Shows a person what was found, and gives the choices as they are then."""


class Ask(NamedTuple):
    """How a session is shared."""

    choices: Callable[[str], Choices]
    """What was chosen, by the session's project."""
    rules: RuleSet
    title: str = ""
    review: Review | None = None
    """None: everything found goes, but for what the choices let stay."""
    environment: Mapping[str, str] = os.environ
    rehearsed: bool = False
    """Whether nothing will be made of it, so that nothing is remembered."""
    names: Mapping[str, str] = {}
    """What things were called in a rehearsal, which they go on being called."""
