"""Texts cut short. Cutting what was cut before changes nothing, so that a copy of a copy loses no more."""

import re

from unspool.formats.writing import Limits
from unspool.model import Json

_MORE = "..."
_WORTH = 16
"""Characters that cutting must save, or it only does harm."""
_OPEN = "[left out: "
_NEWS_MORE = " (remaining content truncated)"
_NEWS = 150
_RESULT = re.compile(r"(?s)(<result>)(.*)(</result>)")
_PLAIN = frozenset({"type", "id", "tool_use_id", "tool_name", "media_type"})


def truncated(text: str, limits: Limits) -> str:
    """The first lines and characters of a text, marked where something is missing."""
    if _fits(text, limits) or (text.endswith(_MORE) and _fits(text.removesuffix(_MORE), limits)):
        return text
    short = "\n".join(text.split("\n", limits.lines)[: limits.lines])[: limits.chars] + _MORE
    return short if len(text) - len(short) >= _WORTH else text


def _fits(text: str, limits: Limits) -> bool:
    return len(text) <= limits.chars and text.count("\n") < limits.lines


def shortened(value: Json, limits: Limits) -> Json:
    """Data with every text in it truncated; its shape stays, and so do names by which others refer to it."""
    if isinstance(value, str):
        return truncated(value, limits)
    if isinstance(value, list):
        return [shortened(inner, limits) for inner in value]
    if isinstance(value, dict):
        if value.get("type") in ("image", "document"):
            return value
        return {key: inner if key in _PLAIN else shortened(inner, limits) for key, inner in value.items()}
    return value


def stub(content: Json) -> Json:
    """One line in place of an answer, telling how long it was."""
    if isinstance(content, str):
        told = f"{_OPEN}{len(content):,} characters]"
        return content if content.startswith(_OPEN) or len(content) <= len(told) else told
    if not isinstance(content, list):
        return content
    texts = [block["text"] for block in content if _is_text(block)]
    others = [block for block in content if not _is_text(block) and not _is_picture(block)]
    pictures = sum(_is_picture(block) for block in content)
    told = f"{sum(map(len, texts)):,} characters" + (f", {pictures} pictures" if pictures else "")
    made = [{"type": "text", "text": f"{_OPEN}{told}]"}, *others]
    keeps = not pictures and sum(map(len, texts)) <= len(_OPEN) + len(told) + 1
    stubbed = len(texts) == 1 and texts[0].startswith(_OPEN) and not pictures
    return content if keeps or stubbed else made


def without_result(text: str) -> str:
    """News of a background agent with only the beginning of what it found."""
    return _RESULT.sub(_brief, text, count=1) if text.lstrip().startswith("<task-notification>") else text


def untold(text: str) -> str:
    """News of a background task without anything of what it found."""
    return _RESULT.sub(r"\1[left out]\3", text) if text.lstrip().startswith("<task-notification>") else text


def _brief(match: re.Match[str]) -> str:
    found = match[2]
    if len(found) <= _NEWS + len(_NEWS_MORE):
        return match[0]
    return f"{match[1]}{found[:_NEWS]}{_NEWS_MORE}{match[3]}"


def _is_text(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _is_picture(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") in ("image", "document")
