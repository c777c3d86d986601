"""Pictures and documents of a log: those it holds are part of the page, all others are named and never loaded."""

import re

from unspool import human
from unspool.doc import Picture
from unspool.export.html.escape import content, escape
from unspool.export.html.links import is_safe, linked
from unspool.export.html.paint import Paint

_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DOCUMENT = "application/pdf"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HELD = re.compile(r"data:(image/[a-z]+);base64,", re.IGNORECASE)
_NOT_IN_NAME = re.compile(r"[^\w. -]+")


def is_shown(address: str) -> bool:
    """True for a data address that is a picture through and through."""
    head = _HELD.match(address)
    return head is not None and head[1].lower() in _SHOWN and bool(_clean(address[head.end() :]))


def picture(node: Picture, paint: Paint) -> str:
    """The picture itself, a document to keep, or what is known of one that is not here."""
    kind, data = node.media_type.lower(), _clean(node.data)
    if paint.images and data and kind in _SHOWN:
        name = f"<figcaption>{content(node.label)}</figcaption>" if node.label else ""
        alt = escape(node.label or "picture")
        image = f'<img src="data:{kind};base64,{data}" alt="{alt}" loading="lazy">'
        return f'<figure class="picture" data-kind="image">{image}{name}</figure>'
    if paint.images and data and kind == _DOCUMENT:
        href = f'href="data:{kind};base64,{data}"'
        return f'<p class="file" data-kind="image"><a {href} download="{_file_name(node.label)}">{_named(node)}</a></p>'
    return f'<p class="file" data-kind="image">{_elsewhere(node)}</p>'


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


def _elsewhere(node: Picture) -> str:
    if not node.url:
        return _named(node)
    if is_safe(node.url):
        return linked(node.url, _named(node))
    return f"{_named(node)} ({content(node.url)})"


def _file_name(label: str) -> str:
    name = _NOT_IN_NAME.sub("-", label.replace("\\", "/").rpartition("/")[2])[:80].strip(". -")
    name = name or "document"
    return escape(name if name.lower().endswith(".pdf") else f"{name}.pdf")
