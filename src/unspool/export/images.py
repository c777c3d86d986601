"""Pictures of a Markdown document: files beside it, named by their content, or data in the text."""

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Literal

from unspool import human
from unspool.doc import Picture
from unspool.export.gfm import address, literal
from unspool.files import write_atomically

Images = Literal["beside", "inline"]
FOLDER = "images"
_SHOWN = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/bmp": "bmp",
}
_KEPT = {"image/svg+xml": "svg", "application/pdf": "pdf", "text/plain": "txt"}


class Album:
    """Turns pictures into Markdown; in a folder each different picture is written once."""

    def __init__(self, images: Images, folder: Path | None) -> None:
        self._images = images
        self._folder = folder
        self._written: set[str] = set()

    def markdown(self, picture: Picture) -> str:
        """The picture shown, or, where it cannot be, what it is and where it was."""
        kind = picture.media_type.lower()
        name = picture.label or kind or "picture"
        data = _decoded(picture.data)
        if data is None:
            return f"*{literal(human.joined(name, 'its data cannot be read'))}*"
        if not data:
            return _elsewhere(picture, name)
        target = self._target(kind, data)
        if not target:
            return f"*{literal(human.joined(f'Picture: {name}', kind, human.size(len(data))))}*"
        return f"{'!' if kind in _SHOWN else ''}[{literal(name)}]({target})"

    def _target(self, kind: str, data: bytes) -> str:
        if self._images == "inline":
            return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind in _SHOWN else ""
        if self._folder is None:
            return ""
        suffix = _SHOWN.get(kind) or _KEPT.get(kind) or "bin"
        target = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:24]}.{suffix}"
        if target not in self._written:
            write_atomically(self._folder / target, (data,))
            self._written.add(target)
        return target


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data)
    except (binascii.Error, ValueError):
        return None


def _elsewhere(picture: Picture, name: str) -> str:
    if picture.url.lower().startswith(("http://", "https://")):
        return f"[{literal(name)}]({address(picture.url)})"
    return f"*{literal(human.joined(f'Picture: {name}', picture.url, 'not in the log'))}*"
