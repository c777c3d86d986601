"""Who shortens: anything that answers a request within a time."""

from threading import Event
from typing import NamedTuple, Protocol


class Ask(NamedTuple):
    """One request."""

    system: str
    """What to do."""
    content: str
    """What to do it with."""
    most: int
    """Tokens that an answer may have."""


class Failed(Exception):
    """This attempt failed."""

    def __init__(self, words: str, *, again: bool = True, pause: float | None = None) -> None:
        super().__init__(words)
        self.again = again
        """Whether the same request may do better later."""
        self.pause = pause
        """Seconds for which nothing at all should be asked."""


class Refused(Exception):
    """Every request would fail as this one did."""


class Provider(Protocol):
    """A model that can be asked, from several threads at once."""

    name: str
    """Where passages are sent, for a person to agree to."""
    model: str
    """Empty where it is left to the provider."""
    width: int
    """How many requests at once are usual."""

    def ask(self, ask: Ask, seconds: float, stop: Event) -> str:
        """The answer, as it came. Failed or Refused where there is none within the seconds; sooner when `stop` is
        set, where that can be done."""
