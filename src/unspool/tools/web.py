"""The web: pages fetched and searches made, by the agent or by the model's provider."""

from urllib.parse import urlsplit

from unspool import human
from unspool.model import Json, ToolCall
from unspool.tools import fields as data
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_FETCH = ("WebFetch", "web_fetch")
NAMES: tuple[str, ...] = (*_FETCH, "WebSearch", "web_search")

_LINKS = "\nLinks: ["


def describe(call: ToolCall) -> CallDescription:
    by_address = isinstance(call.input, dict) and isinstance(call.input.get("url"), str)
    return _fetched(call) if call.name in _FETCH or by_address else _searched(call)


def _fetched(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    url = given.need("url")
    parts = urlsplit(url)
    code, size = detail.number("code"), detail.number("bytes")
    status = "" if code is None else f"{code:.0f} {detail.text('codeText')}".rstrip()
    outcome = summary.join_facts(status, "" if size is None else human.size(size), detail.took("durationMs"))
    asked = (*nodes.link_nodes(url), *nodes.prose_nodes(given.text("prompt")), *given.rest())
    answer = nodes.prose_nodes(nodes.result_text(call) or detail.text("result"))
    where = f"{parts.netloc}{parts.path.rstrip('/')}" if parts.netloc else url
    return CallDescription(f"{call.name} {where}", outcome, (*asked, *answer))


def _searched(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    query = given.need("query")
    seconds = detail.number("durationSeconds")
    found, whole = _found(call, detail.items("results"))
    number = sum(len(page) == 2 for page in found)
    shown = tuple(
        node for page in found for node in (nodes.prose_nodes(page[0]) if len(page) == 1 else nodes.link_nodes(*page))
    )
    counted = human.count(number, "result") if nodes.good_result(call) else ""
    outcome = summary.join_facts(counted, "" if seconds is None else human.duration(seconds))
    return CallDescription(f"{call.name} {query}", outcome, (*given.rest(), *shown), parts=whole)


_Found = list[tuple[str, ...]]
"""(address, title) of a page, or (words,) said about the pages."""


def _found(call: ToolCall, results: list[Json]) -> tuple[_Found, bool]:
    """What was found, and whether the unknown pieces of the answer are part of it."""
    result = nodes.good_result(call)
    if result is None:
        return [], False
    if results:
        told = ([(entry,)] if isinstance(entry, str) else _pages(entry) for entry in results if entry is not None)
        return [item for some in told for item in some], False
    pages = [page for part in result.parts for page in _pages(part)]
    if pages:
        return [*pages, *([(result.text,)] if result.text else [])], True
    return _told(result.text), False


def _pages(value: Json) -> _Found:
    """The pages that an object lists, or the one page that it is."""
    fields = ToolFields(value)
    return [_page(ToolFields(item)) for item in (fields.items("content") if "content" in fields else [value])]


def _page(fields: ToolFields) -> tuple[str, str]:
    url = fields.need("url")
    return url, fields.text("title") or url


def _told(text: str) -> _Found:
    """Pages from the text of a result, which lists them as JSON on a line of their own."""
    head, links, rest = text.partition(_LINKS)
    if not links:
        return [(text,)] if text else []
    line, _, tail = rest.partition("\n")
    return [*(_page(ToolFields(page)) for page in data.parse_json("[" + line)), (tail or head,)]
