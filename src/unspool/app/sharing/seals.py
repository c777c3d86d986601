"""Who can open what is made: whoever has it, whoever has its key, whoever knows its passphrase."""

from collections.abc import Mapping
from typing import Literal

from unspool.errors import UsageProblem
from unspool.share.sealing import Secret, passphrase, random_key

Seal = Literal["open", "key", "passphrase"]
LABELS: dict[Seal, str] = {
    "open": "Whoever has it",
    "key": "Only with a key, which you pass on with the link",
    "passphrase": "Only with a passphrase",
}
"""Each of them, as a person chooses it."""


def seal_of(text: str) -> Seal:
    """The seal of that name; UsageProblem where there is none."""
    for one in LABELS:
        if one == text:
            return one
    raise UsageProblem("What is shared opens for all (open), by a key, or by a passphrase.")


def secret_of(seal: Seal, sent: Mapping[str, str]) -> Secret | None:
    """What will open it; None where nothing is needed."""
    if seal == "open":
        return None
    if seal == "key":
        return random_key()
    words = sent.get("passphrase", "")
    if words != sent.get("again", ""):
        raise UsageProblem("The two passphrases differ, so nothing was made; type them again.")
    return passphrase(words)
