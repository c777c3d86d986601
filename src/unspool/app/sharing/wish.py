"""What a person wishes of a share: what is chosen of the session, what it is called, whether its chain goes along."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from unspool.app.sharing.decide import Known, decided
from unspool.errors import UsageProblem
from unspool.share.choices import Choices

LONGEST = 200
"""Characters of a title."""


class Wish(msgspec.Struct, frozen=True):
    """All that decides what is shared; how it is packed is none of it."""

    choices: Choices = Choices()
    title: str = ""
    """Empty: the session's own."""
    chain: bool = False
    """Whether the sessions that it is chained to are shared too."""


def wished(wish: Wish, sent: Mapping[str, str], known: Known) -> Wish:
    """The wish after a form; UsageProblem where it says nothing that can be done."""
    if "title" in sent:
        return replace(wish, title=_title(sent["title"]))
    if "chain" in sent:
        return replace(wish, chain=_chain(sent["chain"]))
    return replace(wish, choices=decided(wish.choices, sent, known))


def _title(text: str) -> str:
    """On one line."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        raise UsageProblem(f"A title has at most {LONGEST} characters.")
    return text


def _chain(text: str) -> bool:
    if text not in ("whole", "one"):
        raise UsageProblem("The chain is shared “whole”, or “one” session of it.")
    return text == "whole"
