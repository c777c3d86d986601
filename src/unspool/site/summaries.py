"""Short forms: a prompt on one line, the beginning of a text, a model's name."""

import re
from functools import lru_cache

from unspool.model import Prompt, Turn
from unspool.render.transcript import opening_name

_START = re.compile(r"\s*(?:```.*|(?:#{1,6}|[-*>])(?:\s+|$))")
_INSIDE = re.compile(r"\*\*|__|`")
"""What marks a line, and what marks words in it."""


def turn_line(turn: Turn, limit: int = 90) -> str:
    """A turn on one line: its prompt, or what it is without one."""
    return prompt_line(turn.prompt, limit) if turn.prompt is not None else opening_name(turn)


def prompt_line(prompt: Prompt, limit: int = 90) -> str:
    """A prompt on one line, as a list shows it."""
    match prompt.kind:
        case "command":
            said = f"{prompt.command} {prompt.arguments}"
        case "bash":
            said = f"! {prompt.text}"
        case _ if prompt.plan is not None and prompt.plan.title:
            said = f"Plan: {prompt.plan.title}"
        case _:
            said = prompt.text or ("(image)" if prompt.images else "")
    return shorten_line(said, limit) or "(empty)"


def prompt_markdown(prompt: Prompt) -> str:
    """All that a prompt says, as Markdown."""
    if prompt.kind == "command":
        typed = f"{prompt.command} {prompt.arguments}".strip()
        return typed if prompt.text in typed else f"{typed}\n\n{prompt.text}"
    return f"! {prompt.text}" if prompt.kind == "bash" else prompt.words


def first_lines(text: str, limit: int) -> str:
    """The beginning of a text with its lines kept, sixteen at most, cut at a word where there is one."""
    lines = [line.strip() for line in text[:limit].strip().splitlines()]
    cut = "\n".join(line for line in lines[:16] if line).strip()
    at = max(cut.rfind(" "), cut.rfind("\n"))
    whole = len(text) <= limit and len(lines) <= 16
    return cut if whole else f"{cut[: at if at > limit * 3 // 4 else limit].rstrip()}…"


def shorten_line(text: str, limit: int) -> str:
    """The beginning of a text with its white space flattened, cut at a word where there is one."""
    words = " ".join(text[: limit * 4 + 80].split())
    if len(words) <= limit and len(text) <= limit * 4 + 80:
        return words
    cut = words[:limit]
    at = cut.rfind(" ")
    return f"{cut[: at if at > limit * 3 // 4 else limit].rstrip()}…"


def plain_excerpt(text: str, limit: int) -> str:
    """The beginning of Markdown without its marks."""
    lines = text[: limit * 4 + 200].split("\n")
    bare = [line[mark.end() :] if (mark := _START.match(line)) else line for line in lines]
    return shorten_line(_INSIDE.sub("", "\n".join(bare)), limit)


_DATED = re.compile(r"[-@]\d{6,8}$|[-:]v\d+(?::\d+)?$")
_VERSION = re.compile(r"(?<=\d)-(?=\d\b)")


@lru_cache(maxsize=256)
def model_name(model: str) -> str:
    """`<vendor>-opus-4-6-20260101` is `Opus 4.6`; what is not built so stays as it is."""
    name = _DATED.sub("", model.rpartition("/")[2])
    words = _VERSION.sub(".", name).split("-")
    if len(words) < 3 or not any(word[:1].isdigit() for word in words[1:]):
        return model
    return " ".join(word.capitalize() for word in words[1:])
