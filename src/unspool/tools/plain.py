"""Tools that need no more than a summary: which field they are about, which is prose, which tells the outcome."""

from collections.abc import Mapping

import msgspec

from unspool.model import ToolCall
from unspool.tools import data, reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown


class About(msgspec.Struct, frozen=True):
    """The fields of one tool that say most. Of each tuple but `prose` the first that is there counts."""

    subject: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    link: tuple[str, ...] = ()


def describe(call: ToolCall, table: Mapping[str, About]) -> Shown:
    """A call of a tool in the table."""
    about, given, detail = table[call.name], Given(call.input), reply.detail(call)
    subject = _subject(given, about)
    prose = tuple(node for key in about.prose for node in reply.prose(given.text(key)))
    outcome = next((data.text(value) for key in about.outcome if (value := detail.take(key)) is not None), "")
    links = reply.link(detail.first(*about.link))
    shown = (*prose, *given.rest(), *reply.printed(reply.text(call)), *links)
    return Shown(f"{call.name} {subject}", outcome, shown)


def _subject(given: Given, about: About) -> str:
    """What the call is about. A short text is said by the summary; a longer one is shown whole as well."""
    key = next((key for key in about.subject if key in given), "")
    value = given.see(key)
    if isinstance(value, str) and key not in about.prose and words.line(value) == value:
        given.take(key)
    return "" if value is None else data.text(value)
