"""Pictures that a log names by their paths and that came with it, put into its lines, as the agent keeps them."""

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

from unspool.redact.log import decoded, encoded

_MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
_MOST = 256 * 1024**2
"""Bytes of pictures that are put into one log, which may name one of them a million times."""


def embed(log: Path, images: Path) -> None:
    """Write a log anew with the pictures of a folder in it, each by its whole path; other lines stay as they are."""
    part, pictures = log.with_suffix(".part"), _Pictures(images)
    with log.open("rb") as lines, part.open("wb") as made:
        made.writelines(map(pictures.line, lines))
    part.replace(log)


class _Pictures:
    """The pictures of a folder, no more of them than may be."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._left = folder, _MOST

    def line(self, line: bytes) -> bytes:
        """A line with the pictures that it names."""
        if b'"image"' not in line or b'"path"' not in line:
            return line
        body = line.rstrip(b"\r\n")
        value = decoded(body)
        try:
            made = self._made(value)
        except RecursionError:
            return line
        return line if made is value else encoded(made) + line[len(body) :]

    def _made(self, value: Any) -> Any:
        """The value with its pictures; the very value where there are none."""
        if isinstance(value, list):
            items = [self._made(one) for one in value]
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if not isinstance(value, dict):
            return value
        if value.get("type") == "image" and not value.get("source") and isinstance(value.get("path"), str):
            return self._picture(value, value["path"])
        pairs = {name: self._made(one) for name, one in value.items()}
        return value if all(pairs[name] is value[name] for name in value) else pairs

    def _picture(self, block: dict[str, Any], path: str) -> dict[str, Any]:
        media = _MEDIA.get(os.path.splitext(path)[1].lower())  # noqa: PTH122  it may be no path at all
        if media is None or "\0" in path or ".." in path.split("/"):
            return block
        try:
            data = self._folder.joinpath(path.lstrip("/")).read_bytes()
        except (OSError, ValueError):
            return block
        self._left -= len(data)
        if self._left < 0:
            return block
        text = b64encode(data).decode("ascii")
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": text}}
