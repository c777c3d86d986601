"""Untrusted Markdown made safe to put into a Markdown document, and plain text made safe as Markdown.

Raw HTML is shown, never live; a code fence cannot swallow what follows; a link leads to the web or nowhere;
a picture from elsewhere becomes a link. Reading follows CommonMark line by line, and wherever a reader could
take a line in two ways, the line is rewritten so that there is only one.
"""

import html
import re
from collections.abc import Iterator
from string import punctuation
from urllib.parse import quote

from unspool.render.sanitize import one_line, safe_lines

_ACTIVE = re.compile(r"[<`~]|!\[|\]\s*[(:]")
_FENCE = re.compile(r"(?P<prefix>(?:[ >]++|(?:[-*+]|\d{1,9}[.)]) ++)*+)(?P<run>`{3,}+(?=[^`]*+$)|~{3,}+)(?P<info>.*)")
_CLOSING = re.compile(r"(?P<prefix>[ >]*)(?P<run>`{3,}|~{3,})[ \t]*")
_TICKS = re.compile(r"`+")
_AUTOLINK = re.compile(r"<(?:https?://[^\s<>`]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)>", re.ASCII)
_STEP = re.compile(r"(?P<url>(?i:(?:https?|ftp)://|www\.))|[\\`]|<(?=[A-Za-z/!?])|!(?=\[)|\](?=\s*[(:])")
_SPACE = re.compile(r"\s")
_PLACE = r"[^\s()<>`\\]{1,2000}"
_LINK = re.compile(
    rf"\]\(({_PLACE}(?:\({_PLACE}\))?)(?:[ ]+\"[^\"`\\<]{{0,500}}\")?\)"
    r"|\]:\s*((?:https?://|mailto:|[\w./#-]{1,200}(?=\s|$)))"
)
_SCHEME = re.compile(r"[^/?#]*?:")
_SAFE = ("http:", "https:", "mailto:")
_SPECIAL = re.compile(r"([\\`*\[\]<>&|~]|(?<!\w)_|_(?!\w))")
_OPENING = re.compile(r"\s*(?:#{1,6}(?=\s|$)|[-+=](?=[\s=-]|$)|\d{1,9}(?=[.)](?:\s|$)))")


def safe_markdown(markdown: str) -> str:
    """The Markdown as it was meant, with nothing in it that acts or reaches beyond itself."""
    found = safe_lines(markdown)
    text = "\n".join(found)
    return "\n".join(_lines(found)) if _ACTIVE.search(text) else text


def escape_markdown(text: str) -> str:
    """Plain text, on one line, as Markdown that shows exactly it."""
    said = _SPECIAL.sub(r"\\\1", one_line(text))
    found = _OPENING.match(said)
    if found is None:
        return said
    at = found.end() - (not found[0][-1].isdigit())
    return f"{said[:at]}\\{said[at:]}"


def escape_in_html(text: str) -> str:
    """Plain text, on one line, for the inside of an HTML element."""
    return html.escape(one_line(text))


def code_block(text: str, info: str = "") -> str:
    """Text as a code block whose fence is longer than any run of backticks in it."""
    found = safe_lines(text)
    longest = max((len(run) for line in found if "```" in line for run in _TICKS.findall(line)), default=2)
    fence = "`" * (max(2, longest) + 1)
    return "\n".join((fence + re.sub(r"[^\w+#.-]", "", info, flags=re.ASCII)[:40], *found, fence))


def link_address(target: str) -> str:
    """A web address so written that it ends where it should."""
    return quote(target, safe=":/?#@!$&*+,;=%~")


def is_web_address(target: str) -> bool:
    """True for an address that may become a link."""
    plain = re.sub(r"[\x00-\x20\x7f]", "", html.unescape(html.unescape(target.replace("\\", "")))).lower()
    return plain.startswith(_SAFE) or not _SCHEME.match(plain)


def _lines(found: list[str]) -> Iterator[str]:
    at = 0
    while at < len(found):
        opened = _FENCE.fullmatch(found[at])
        if opened is None:
            yield _inline(found[at])
            at += 1
            continue
        end = _end(found, at, opened)
        yield from _block(found, at, end, opened)
        at = end + 1


def _end(found: list[str], at: int, opened: re.Match[str]) -> int:
    """Where the fence that opens at a line is closed; beyond the last line where it is not."""
    quoted = ">" in opened["prefix"]
    for place in range(at + 1, len(found)):
        if _closes(found[place], opened):
            return place
        if quoted and not found[place].lstrip().startswith(">"):
            return place - 1
    return len(found)


def _closes(line: str, opened: re.Match[str]) -> bool:
    closing = _CLOSING.fullmatch(line)
    if closing is None or (">" in closing["prefix"] and ">" not in opened["prefix"]):
        return False
    return closing["run"].startswith(opened["run"])


def _block(found: list[str], at: int, end: int, opened: re.Match[str]) -> Iterator[str]:
    """A fence as it stands where all readers agree on it, else at the left margin, where all do."""
    prefix = opened["prefix"]
    indent = len(prefix)
    body = found[at + 1 : end]
    opening = opened["run"] + opened["info"].replace("|", " ")  # some readers see the head of a table first
    stands = not prefix.strip() and indent <= 3 and end < len(found) and _indent(found[end]) == indent
    if stands and all(_indent(line) >= indent or not line.strip() for line in body):
        yield prefix + opening
        yield from found[at + 1 : end + 1]
        return
    if prefix.strip():
        yield from ("", prefix.rstrip())  # after an empty line a lone mark cannot make a heading of the line above
    closed = end < len(found) and end > at and _closes(found[end], opened)
    yield opening
    for line in body if closed else found[at + 1 : end + 1]:
        quoted = ">" in prefix
        yield re.sub(r"^[ >]*?> ?", "", line) if quoted else line[min(len(prefix), _indent(line)) :]
    yield opened["run"]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _inline(line: str) -> str:
    if not _ACTIVE.search(line):
        return line
    parts: list[str] = []
    at = linked = 0
    while (found := _STEP.search(line, at)) is not None:
        parts.append(line[at : found.start()])
        if found["url"]:
            piece, at = found[0], found.end()
            if at >= linked:
                space = _SPACE.search(line, at)
                linked = space.start() if space else len(line)
        else:
            piece, at = _step(line, found.start(), found.start() < linked)
        parts.append(piece)
    return "".join((*parts, line[at:]))


def _step(line: str, at: int, linked: bool) -> tuple[str, int]:
    """What stands for the active character at a place, and where reading goes on."""
    match line[at]:
        case "\\":
            after = line[at + 1 : at + 2]
            if after == "<":
                return "&lt;", at + 2
            return (line[at : at + 2], at + 2) if after in punctuation else ("\\", at + 1)
        case "`":
            # An address that is no more than written out may take backticks with it, so that none open code there.
            return ("\\`", at + 1) if linked else _code(line, at)
        case "<":
            link = _AUTOLINK.match(line, at)
            return (link[0], link.end()) if link else ("&lt;", at + 1)
        case "!":
            return "\\!", at + 1
        case _:
            link = _LINK.match(line, at)
            return ("]" if link and is_web_address(link[1] or link[2]) else "\\]"), at + 1


def _code(line: str, at: int) -> tuple[str, int]:
    """A code span that ends on its line stays one; other backticks are only backticks.

    A table's cells are cut at bars before code is seen: what holds a bar may be no code, so it is none.
    """
    opened = _TICKS.match(line, at)
    run = opened[0] if opened else "`"
    start = at + len(run)
    closing = next((found for found in _TICKS.finditer(line, start) if found[0] == run), None)
    if closing is None or "|" in line[start : closing.start()].replace("\\|", ""):
        return "\\`" * len(run), start
    return line[at : closing.end()], closing.end()
