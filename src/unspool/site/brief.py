"""Long words in short: one line of a prompt, the beginning of an answer."""

import re

from unspool.model import Prompt

_START = re.compile(r"\s*(?:```.*|(?:#{1,6}|[-*>])(?:\s+|$))")
_INSIDE = re.compile(r"\*\*|__|`")
"""What marks a line, and what marks words in it."""


def line(prompt: Prompt | None, limit: int = 90) -> str:
    """A prompt on one line, as a list shows it."""
    if prompt is None:
        return "Before the first prompt"
    match prompt.kind:
        case "command":
            said = f"{prompt.command} {prompt.arguments}"
        case "bash":
            said = f"! {prompt.text}"
        case _ if prompt.plan is not None and prompt.plan.title:
            said = f"Plan: {prompt.plan.title}"
        case _:
            said = prompt.text or ("(image)" if prompt.images else "")
    return flat(said, limit) or "(empty)"


def whole(prompt: Prompt) -> str:
    """All that a prompt says, as Markdown."""
    if prompt.kind == "command":
        typed = f"{prompt.command} {prompt.arguments}".strip()
        return typed if prompt.text in typed else f"{typed}\n\n{prompt.text}"
    return f"! {prompt.text}" if prompt.kind == "bash" else prompt.text


def start(text: str, limit: int) -> str:
    """The beginning of a text with its lines kept, sixteen at most, cut at a word where there is one."""
    lines = [line.strip() for line in text[:limit].strip().splitlines()]
    cut = "\n".join(line for line in lines[:16] if line).strip()
    at = max(cut.rfind(" "), cut.rfind("\n"))
    whole = len(text) <= limit and len(lines) <= 16
    return cut if whole else f"{cut[: at if at > limit * 3 // 4 else limit].rstrip()}…"


def flat(text: str, limit: int) -> str:
    """The beginning of a text with its white space flattened, cut at a word where there is one."""
    words = " ".join(text[: limit * 4 + 80].split())
    if len(words) <= limit and len(text) <= limit * 4 + 80:
        return words
    cut = words[:limit]
    at = cut.rfind(" ")
    return f"{cut[: at if at > limit * 3 // 4 else limit].rstrip()}…"


def plain(text: str, limit: int) -> str:
    """The beginning of Markdown without its marks."""
    lines = text[: limit * 4 + 200].split("\n")
    bare = [line[mark.end() :] if (mark := _START.match(line)) else line for line in lines]
    return flat(_INSIDE.sub("", "\n".join(bare)), limit)
