"""What the Markdown of a session says, as plain HTML of few tags: what documents with pages are made from."""

import html
from html.parser import HTMLParser

import comrak

from unspool.doc import Heading
from unspool.model import Session
from unspool.render.html.elements import is_safe_address, visible
from unspool.render.markdown import MarkdownImages, render_markdown
from unspool.render.transcript import transcript_nodes
from unspool.render.view import View

_KEPT = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "code", "table", "thead", "tbody", "tr", "th",
    "td", "blockquote", "em", "strong", "del", "br", "a", "img",
))  # fmt: skip
_STANDS_FOR = {"details": ("div", "fold"), "summary": ("p", "row")}
"""A document on paper opens nothing: a fold is a row, and below it what it holds."""
_PICTURE = "data:image/"
_BELOW = 3
"""By how many levels headings that somebody wrote stand below those of the document."""
_ROW = "▸ "


def document_html(session: Session, view: View) -> str:
    """The body of the document; nothing in it acts, or is anywhere else."""
    made, images = _PlainHtml(), MarkdownImages("inline", None)
    for node in transcript_nodes(session, view):
        made.deeper = 0 if isinstance(node, Heading) else _BELOW
        for markdown in render_markdown([node], images):
            made.feed(comrak.render_markdown(visible(markdown), _DIALECT, _PARSING, _RENDERING))
    made.close()
    return "".join(made.parts)


class _PlainHtml(HTMLParser):
    """Keeps the tags that documents know, with the attributes that they need; of any other, what is inside."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.deeper = 0
        self._lines = ""
        """What code is being read: `diff` is told line by line."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "input":
            self.parts.append("☑" if "checked" in given else "☐")
        elif tag in _STANDS_FOR:
            name, kind = _STANDS_FOR[tag]
            self.parts.append(f'<{name} class="{kind}">')
        elif tag in _KEPT:
            self.parts.append(f"<{self._level(tag)}{self._attributes(tag, given)}>")

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self._lines = ""
        if tag in _STANDS_FOR:
            self.parts.append(f"</{_STANDS_FOR[tag][0]}>")
        elif tag in _KEPT:
            self.parts.append(f"</{self._level(tag)}>")

    def handle_data(self, data: str) -> None:
        if data.startswith(_ROW) and self.parts[-1:] == ["<p>"]:  # a row that holds nothing
            self.parts[-1], data = '<p class="line">', data.removeprefix(_ROW)
        if not self._lines:
            self.parts.append(html.escape(data))
            return
        for line in data.splitlines(keepends=True):
            sign = {"+": "ins", "-": "del"}.get(line[:1])
            self.parts.append(f"<{sign}>{html.escape(line)}</{sign}>" if sign else html.escape(line))

    def _level(self, tag: str) -> str:
        return f"h{min(6, int(tag[1]) + self.deeper)}" if tag[0] == "h" and self.deeper else tag

    def _attributes(self, tag: str, given: dict[str, str]) -> str:
        if tag == "a" and is_safe_address(given.get("href", "")):
            return f' href="{html.escape(given["href"])}"'
        if tag == "img":
            source = given.get("src", "")
            shown = f' src="{html.escape(source)}"' if source.startswith(_PICTURE) else ""
            return f'{shown} alt="{html.escape(given.get("alt", ""))}"'
        if tag == "ol" and given.get("start", "").isdecimal():
            return f' start="{given["start"]}"'
        if tag == "code" and given.get("class") == "language-diff":
            self._lines = "diff"
        return ""


_DIALECT, _PARSING, _RENDERING = comrak.ExtensionOptions(), comrak.ParseOptions(), comrak.RenderOptions()
_DIALECT.table = _DIALECT.strikethrough = _DIALECT.tasklist = _DIALECT.autolink = True
_RENDERING.hardbreaks = True  # a line that was typed stays a line
_RENDERING.unsafe_ = True  # the writer's own folds are HTML, and its pictures data; what may stay is decided here
