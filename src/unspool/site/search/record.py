"""One findable thing of a session: what kind it is, where it stands, what it says."""

from typing import Literal, NamedTuple, get_args

Kind = Literal["prompt", "title", "plan", "question", "answer", "agent", "thinking", "tool", "notice"]

KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order of rank: what people said and were told is found before what the agent did.

`agent` is what was said to and by a subagent; what it thought and did is `thinking` and `tool` like any other.
"""


class Record(NamedTuple):
    """Text of one block, cut to what is worth finding; controls and escapes already made inert."""

    kind: Kind
    link: str
    """Page and anchor, relative to the session's folder."""
    time: int
    """Seconds since 1970; 0 where the log has no time."""
    text: str
