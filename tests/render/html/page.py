"""A strict reader of markup for tests: what it lets pass can neither act nor ask for anything."""

import re
from html.parser import HTMLParser

_ANY = {"class", "id", "data-kind"}
_PLAIN = [
    "b",
    "blockquote",
    "br",
    "caption",
    "code",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "ins",
    "li",
    "mark",
    "p",
    "s",
    "span",
    "strong",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
]
ALLOWED = {
    **dict.fromkeys(_PLAIN, _ANY),
    "a": _ANY | {"href", "rel", "download", "title"},
    "b": _ANY | {"aria-hidden"},
    "div": _ANY | {"dir"},
    "details": _ANY | {"open"},
    "code": {"class", "title"},
    "img": {"src", "alt", "loading", "title"},
    "ol": {"start"},
    "pre": _ANY | {"aria-hidden"},
    "span": _ANY | {"title"},
}
_VOID = {"br", "hr", "img"}
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?: [a-z-]+(?:=\"[^\"<>]*\")?)*>")
_HREF = re.compile(r"https?://\S+|mailto:\S+|#\S*|(?!//)[\w./#?&=%~+-]+")
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_REL = "noopener noreferrer nofollow"


class Page(HTMLParser):
    """One fragment, read; AssertionError where it has anything that a page must not have."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.values: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        left = _TAG.sub("", markup)
        assert "<" not in left, left
        assert ">" not in left, left
        assert not _CONTROL.search(markup), repr(markup)
        self.feed(markup)
        self.close()
        assert self.open == [], markup

    @property
    def text(self) -> str:
        return "".join(self.words)

    @property
    def told(self) -> str:
        """All that a reader can learn: the text, and the values of attributes."""
        return self.text + "\n".join(self.values)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), attrs
        assert set(names) <= ALLOWED[tag], attrs
        if tag in ("dt", "dd"):
            self._end_name_or_value()
        self.tags.append(tag)
        self.values += [value for _, value in attrs if value]
        if tag == "a":
            self._follow({name: value or "" for name, value in attrs})
        if tag == "img":
            assert _IMAGE.fullmatch(dict(attrs)["src"] or ""), attrs
        if tag not in _VOID:
            self.open.append(tag)

    def _follow(self, given: dict[str, str]) -> None:
        assert "a" not in self.open, "a link in a link"
        href = given["href"]
        if "download" in given:
            assert re.fullmatch(r"data:application/pdf;base64,[A-Za-z0-9+/]+=*", href)
            return
        assert _HREF.fullmatch(href), href
        assert given.get("rel", "") == (_REL if href[:4].lower() == "http" else "")
        self.links.append(href)

    def _end_name_or_value(self) -> None:
        """In a list of names with values, the next one and the end of the list end the one before."""
        if self.open and self.open[-1] in ("dt", "dd"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag == "dl":
            self._end_name_or_value()
        assert self.open, tag
        assert self.open.pop() == tag, tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def squashed(text: str) -> str:
    """The text without the spaces, which layout may change."""
    return "".join(text.split())
