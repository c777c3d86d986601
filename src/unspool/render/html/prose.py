"""Untrusted Markdown and pictures as safe HTML; raw HTML is shown as it was typed."""

import html
import re

import comrak

from unspool import human
from unspool.doc import Picture
from unspool.render.html.elements import HtmlOptions, content, escape, is_safe_address, link, rel, visible
from unspool.tools.ansi import special_characters

_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DOCUMENT = "application/pdf"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HELD = re.compile(r"data:(image/[a-z]+);base64,", re.IGNORECASE)
_NOT_IN_NAME = re.compile(r"[^\w. -]+")


def picture_figure(node: Picture, options: HtmlOptions) -> str:
    """The picture itself, a document to keep, or what is known of one that is not here."""
    kind, data = node.media_type.lower(), _clean(node.data)
    if options.images and data and kind in _SHOWN:
        name = f"<figcaption>{content(node.label)}</figcaption>" if node.label else ""
        alt = escape(node.label or "picture")
        image = f'<img src="{options.picture_href(kind, data)}" alt="{alt}" loading="lazy">'
        return f'<figure class="picture" data-kind="image">{image}{name}</figure>'
    if options.images and data and kind == _DOCUMENT:
        href = f'href="{options.picture_href(kind, data)}"'
        name = _NOT_IN_NAME.sub("-", node.label.replace("\\", "/").rpartition("/")[2])[:80].strip(". -") or "document"
        name = escape(name if name.lower().endswith(".pdf") else f"{name}.pdf")
        return f'<p class="file" data-kind="image"><a {href} download="{name}">{_named(node)}</a></p>'
    named = _named(node)
    if is_safe_address(node.url):
        named = link(node.url, named)
    elif node.url:
        named = f"{named} ({content(node.url)})"
    return f'<p class="file" data-kind="image">{named}</p>'


def _clean(data: str) -> str:
    """Data in base64 without its line breaks; empty where it is anything else."""
    if not data.isascii():
        return ""
    packed = "".join(data.split()) if "\n" in data or "\r" in data or " " in data else data
    return "" if packed.rstrip("=").encode().translate(None, _BASE64) else packed


def _named(node: Picture) -> str:
    what = "image" if node.media_type.lower().startswith("image/") else "document"
    size = human.size(len(node.data) * 3 // 4) if node.data else ""
    return content(f"{what}: {human.joined(node.label, node.media_type, size)}")


_LESS, _COLON, _AT = "\ufdd0", "\ufdd1", "\ufdd2"
_ENCODED = "%EF%B7%90"
_MEANT = (("%EF%B7%91", ":"), (_COLON, ":"), ("%EF%B7%92", "@"), (_AT, "@"))
_RAW = re.compile(r"<(?=[A-Za-z/!?])(?!https?://|mailto:|[\w.+-]{1,64}@)(?<!\]\(<)")
_UNREADABLE = re.compile("[\x00\ud800-\udfff\ufdd0-\ufdef]")
_SIGN = re.compile(r"@|&(?:commat|#0*64|#[xX]0*40);")
_MAILS = 200  # the reader goes one call deeper for each, and without end the process would die of it
_BARE = "p|em|strong|del|ul|ol|li|table|thead|tbody|tr|th|td|blockquote|pre|code"
_TAG = re.compile(rf"<(?!/?(?:{_BARE})>)(?P<tag>[^<>]*)>?")
_QUOTE_IN_TAG = re.compile('="[^"]*&quot;')
_LINK = re.compile(r'a href="(?P<to>[^"]*)"(?: title="(?P<title>[^"]*)")?')
_IMAGE = re.compile(r'img src="(?P<to>[^"]*)" alt="(?P<alt>[^"]*)"(?: title="(?P<title>[^"]*)")? /')
_CODE = re.compile(r'code(?: (?:class="language-|data-meta=")[^"]*")+')
_SAID = re.compile(r'(class="language-|data-meta=")([^"]*)')
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}", re.ASCII)
_NUMBERED = re.compile(r'ol start="\d{1,9}"')
_FIXED = {
    "br /": "<br>",
    "hr /": "<hr>",
    'input type="checkbox" disabled="" /': "☐",
    'input type="checkbox" checked="" disabled="" /': "☑",
    **{f"{end}h{level}": f"<{end}h{min(6, level + 2)}>" for end in ("", "/") for level in range(1, 7)},
    'th align="left"': "<th>",
    'td align="left"': "<td>",
    'th align="center"': '<th class="mid">',
    'td align="center"': '<td class="mid">',
    'th align="right"': '<th class="end">',
    'td align="right"': '<td class="end">',
}

LONG_CELL = 30
"""Characters of a cell whose column is not squeezed where there is little room."""
_CELL = re.compile(rf'<td(?: class="(\w+)")?>(?=(?:(?!</td>).){{{LONG_CELL}}})', re.DOTALL)


def prose_html(markdown: str, images: bool = True) -> str:
    """The Markdown as HTML. `images` False names the pictures that the text itself holds."""
    special = special_characters(markdown)
    made = comrak.render_markdown(_hidden(markdown, special), _DIALECT, _PARSING, _RENDERING)
    if "&quot;" in made and _QUOTE_IN_TAG.search(made) is None:  # between tags quotes mean nothing
        made = made.replace("&quot;", '"')
    made = _TAG.sub(_TagFilter(images), made)
    if "<td" in made:
        made = _CELL.sub(lambda found: f'<td class="{f"{found[1]} " if found[1] else ""}long">', made)
    if not made.isascii():
        made = made.replace(_LESS, "&lt;").replace(_COLON, ":").replace(_AT, "@")
    return visible(made) if special or "&" in markdown else made  # which may write a character by its number


_WORDS = 3000
_ANY_TAG = re.compile(r"<[^>]*>")
_BREAK = re.compile(r"<pre.*?</pre>|</(?:p|li|h\d|t[dhr])>|<br[^>]*>", re.DOTALL)


def prose_words(markdown: str) -> str:
    """The first words of the Markdown on one line, without its signs and its blocks of code."""
    made = _BREAK.sub(" ", prose_html(markdown.strip()[:_WORDS], images=False))
    return " ".join(html.unescape(_ANY_TAG.sub("", made)).split())


def _hidden(markdown: str, special: str) -> str:
    """The Markdown with marks for what the reader must not see as what it is; `special` are its special characters."""
    if special and _UNREADABLE.search(special) is not None:
        markdown = _UNREADABLE.sub(lambda found: visible(found[0]), markdown)
    if "<" in markdown:
        markdown = _RAW.sub(_LESS, markdown)
    if (
        len(markdown) > _MAILS
        and markdown.count("@") + markdown.count("&") > _MAILS
        and len(_SIGN.findall(markdown)) > _MAILS
    ):
        markdown = _SIGN.sub(_AT, markdown)
    return markdown.replace("]:", f"]{_COLON}") if "]:" in markdown else markdown


class _TagFilter:
    """What stands for each tag of one text, in order; it remembers which links are open."""

    def __init__(self, images: bool) -> None:
        self._images = images
        self._open: list[tuple[int, str, str]] = []  # where each text begins, and what is refused

    def __call__(self, found: re.Match[str]) -> str:
        tag = found["tag"]
        if tag in _FIXED:
            return _FIXED[tag]
        if tag == "/a":
            return self._closed(found)
        if (link := _LINK.fullmatch(tag)) is not None:
            return self._opened(link, found)
        if (image := _IMAGE.fullmatch(tag)) is not None:
            return self._image(image)
        return _other(tag, found[0])

    def _opened(self, link: re.Match[str], found: re.Match[str]) -> str:
        to, end = _address(link["to"]), found.end()
        if self._open or not is_safe_address(to):
            self._open.append((end, to, link["title"] or ""))
            return ""
        self._open.append((end, "", ""))
        head, raw, _ = to.partition(_ENCODED)
        if raw:  # an address found in running text ends where raw HTML begins
            to = head if found.string.startswith(escape(head), end) else to.replace(_ENCODED, "%3C")
        return f'<a href="{escape(to)}"{_titled(link)}{rel(to)}>'

    def _closed(self, found: re.Match[str]) -> str:
        """The end of a link; of one that is refused, where it would have led, unless its text says so."""
        if not self._open:
            return ""
        start, to, title = self._open.pop()
        if not to:
            return "</a>"
        said = _address(found.string[start : found.start()])
        return "" if to in (said, f"mailto:{said}", f"http://{said}") else f" ({_refused(to)}{title and ' '}{title})"

    def _image(self, image: re.Match[str]) -> str:
        to, alt = _address(image["to"]), image["alt"]
        title = _titled(image)
        held = _HELD.match(to) if self._images else None
        if held is not None and held[1].lower() in _SHOWN and _clean(to[held.end() :]):
            return f'<img src="{escape(to)}" alt="{alt or "picture"}"{title} loading="lazy">'
        said = f"image: {alt or _refused(to[:60])}"
        if self._open:
            return f'<span title="{_refused(to)} {image["title"] or ""}">{said}</span>'
        if is_safe_address(to):
            return f'<a href="{escape(to)}"{title}{rel(to)}>{said}</a>'
        return f"<span{title}>{said} ({_refused(to)})</span>"


def _other(tag: str, whole: str) -> str:
    if _CODE.fullmatch(tag):
        return _fenced(dict(_SAID.findall(tag)))
    if _NUMBERED.fullmatch(tag):
        return f"<{tag}>"
    return whole.replace("<", "&lt;").replace(">", "&gt;")


def _titled(found: re.Match[str]) -> str:
    return f' title="{found["title"]}"' if found["title"] else ""


def _fenced(said: dict[str, str]) -> str:
    """The opening of a code block; what its fence says besides a language is its title."""
    word, more = said.get('class="language-', ""), said.get('data-meta="', "")
    known = _LANGUAGE.fullmatch(word) is not None
    title = "" if known and not more else f' title="{word} {more}"'
    return f'<code class="language-{word}"{title}>' if known else f"<code{title}>"


def _address(written: str) -> str:
    """The address that an attribute or a text holds."""
    address = html.unescape(written)
    for mark, meant in _MEANT:
        address = address.replace(mark, meant)
    return address


def _refused(address: str) -> str:
    """An address that is not followed, as text."""
    return escape(address.replace(_ENCODED, "<"))


_DIALECT, _PARSING, _RENDERING = comrak.ExtensionOptions(), comrak.ParseOptions(), comrak.RenderOptions()
_DIALECT.table = _DIALECT.strikethrough = _DIALECT.tasklist = _DIALECT.autolink = True
_RENDERING.escape = _RENDERING.compact_html = _RENDERING.full_info_string = True
_RENDERING.hardbreaks = True  # a line that was typed stays a line
_RENDERING.unsafe_ = True  # addresses are judged here, where one that is refused can still be shown
