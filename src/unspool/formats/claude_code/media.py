"""Pictures and documents inside content."""

from unspool.formats.claude_code.values import mapping, text
from unspool.model import Image, Json, Place

KINDS = frozenset({"image", "document"})


def image(block: dict[str, Json], place: Place) -> Image:
    """An image or document block, whichever of the known shapes it has."""
    source = mapping(block.get("source"))
    kind = text(source.get("type"))
    media = text(source.get("media_type")) or ("application/pdf" if block.get("type") == "document" else "image/png")
    label = text(block.get("title")) or text(block.get("label"))
    path = text(block.get("path")) or text(source.get("path")) or text(source.get("file_id"))
    url = text(source.get("url")) or text(block.get("url"))
    if kind == "text":
        return Image(place, text(source.get("media_type")) or "text/plain", data=text(source.get("data")), label=label)
    return Image(place, media, data=text(source.get("data")), url=url, path=path, label=label)
