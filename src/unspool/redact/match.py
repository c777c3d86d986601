"""A stretch of text that must not leave."""

from typing import Literal, NamedTuple

Kind = Literal["secret", "personal", "term"]
"""A secret opens something; personal data names somebody; a term is what the sharer chose."""


class Match(NamedTuple):
    """What was found in a text, and where."""

    rule: str
    """The id of the rule, such as `github-token`."""
    kind: Kind
    value: str
    """What stands there in plain, whatever its disguise; never shown or logged."""
    start: int
    end: int
    """The stretch of the text as given, disguise included, that must go."""


class Finding(NamedTuple):
    """A match and the line of a log that holds it."""

    match: Match
    line: int
    path: str
    """Where in the line: message.content[0].text, toolUseResult.stdout, ..."""
    before: str
    after: str
    """Words around it, for a person to judge by; they hold no match themselves."""
    log: str = ""
    """Which log or other file of the session holds it, where there are several."""


def sound(text: str) -> str:
    """The text, with halves of characters told as escapes: it can be written anywhere."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
