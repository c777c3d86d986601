"""A person, as a request knows them."""

from typing import NamedTuple


class Person(NamedTuple):
    """Whoever asks. `scope` is what their token is good for: all, read or push."""

    id: str
    name: str
    admin: bool = False
    scope: str = "all"
    by: str = "token"
    """How they came in: token, browser (a cookie), proxy (an identity header)."""

    @property
    def known(self) -> bool:
        """Whether it is anybody at all."""
        return bool(self.id)


ANYBODY = Person("", "anonymous", by="")
"""Whoever did not say who they are."""
HUB = Person("", "the hub", admin=True, by="")
"""The hub itself, where it does something by itself."""
