"""Where the values of the third set stand: surroundings, encodings, and lines of a coding agent's log."""

import base64
import html
import json
import math
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

PLACES = Path(__file__).with_name("third_places.txt")
"""A surrounding a line: sort ; name ; text, where § v is the value and § n s c k p w are ways to write its name."""
_OPEN = re.compile(r"[^A-Za-z0-9_.+/=~^%@:,-]")
"""What an unquoted value cannot hold."""


class Place(NamedTuple):
    """A surrounding: bare, by a name, or one that tells by itself what stands in it."""

    sort: str
    name: str
    text: str

    def takes(self, value: str) -> bool:
        """Whether somebody could have written that value there."""
        before, _, behind = self.text.partition("§v")
        closer = behind[:1]
        if (before[-1:] == closer and closer in {'"', "'", "`"}) or before[-2:] == '\\"':
            return not any(sign in value for sign in f"{closer}\\\n")
        if before[-1:] == ">" and closer == "<":
            return not any(sign in value for sign in "<>&")
        if closer == "\n" or not behind:
            return not any(sign in value for sign in "\"'#<>|&;()$`\\{}[]") and (
                " " not in value or before[-2:] in {": ", "= ", "s "}
            )
        return (
            not _OPEN.search(value) and not (closer and closer in value) and not (closer in {"@", "&"} and "%" in value)
        )


def places() -> list[Place]:
    """All surroundings."""
    lines = PLACES.read_text(encoding="utf-8").splitlines()
    return [Place(*line.replace("\\n", "\n").replace("\\t", "\t").split(" ; ", 2)) for line in lines]


def placed(text: str, variable: str, value: tuple[str, str, str]) -> tuple[str, str, str]:
    """The value in that surrounding, under that name: what is before the secret, the secret, and what is behind."""
    parts = re.split(r"[^A-Za-z0-9]+", variable)
    words = [
        word.lower()
        for part in parts
        for word in ([part] if part.isupper() else re.findall(r"[A-Z]*[a-z0-9]*", part))
        if word
    ]
    pascal = "".join(word.capitalize() for word in words)
    names = {
        "§n": variable if re.fullmatch(r"[A-Z0-9_]+", variable) else "_".join(words).upper(),
        "§s": "_".join(words),
        "§c": pascal[:1].lower() + pascal[1:],
        "§k": "-".join(words),
        "§p": pascal,
        "§w": " ".join(words),
    }
    for name, written in names.items():
        text = text.replace(name, written)
    before, _, behind = text.partition("§v")
    return before + value[0], value[1], value[2] + behind.replace("§v", "".join(value))


# Encodings ------------------------------------------------------------------------------------------------------------

ENCODINGS = ("JSON twice", "HTML", "URL", "base64", "hex", "u escapes", "wrapped")


def encoded(encoding: str, parts: tuple[str, str, str], random: Random) -> tuple[str, tuple[str, ...]]:
    """The text in that encoding, and the pieces of it that tell the secret."""
    before, secret, behind = parts
    if encoding == "base64":
        text = base64.b64encode("".join(parts).encode()).decode()
        start, size = len(before.encode()), len(secret.encode())
        return text, (text[math.ceil(start / 3) * 4 : (start + size) // 3 * 4],)
    if encoding == "hex":
        return "".join(parts).encode().hex(), (secret.encode().hex(),)
    if encoding == "wrapped":
        return _wrapped(parts, random)
    ways: dict[str, Callable[[str], str]] = {
        "raw": str,
        "JSON twice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
        "HTML": html.escape,
        "URL": lambda text: quote(text, safe=""),
        "u escapes": lambda text: "".join(f"\\u{ord(sign):04x}" if not sign.isspace() else sign for sign in text),
    }
    encode = ways[encoding]
    if encoding == "u escapes":
        return before + encode(secret) + behind, (encode(secret),)
    return encode(before) + encode(secret) + encode(behind), (encode(secret),)


def _wrapped(parts: tuple[str, str, str], random: Random) -> tuple[str, tuple[str, ...]]:
    """Cut as a terminal of some width cuts: in the midst of the secret where that is long enough."""
    before, secret, behind = parts
    column = len(before) - before.rfind("\n") - 1
    cut = random.randint(len(secret) // 4, len(secret) * 3 // 4) if len(secret) >= 20 else len(secret)
    if "\n" in before:
        width = max(40, column + cut)
    else:
        width = random.choice((72, 80, 100, 120))
        before = f"{'note ' * 40}"[: (width - column - cut - 1) % width] + f" {before}"
        before = "\n".join(before[at : at + width] for at in range(0, len(before), width))
        column = len(before) - before.rfind("\n") - 1
    first = width - column
    pieces = [secret[:first], *(secret[at : at + width] for at in range(first, len(secret), width))]
    return before + "\n".join(pieces) + behind, tuple(piece for piece in pieces if piece)


# Log lines ------------------------------------------------------------------------------------------------------------

ARTEFACTS = ("prompt", "answer", "thinking", "tool input", "tool result", "toolUseResult", "subagent", "file")


def lines(artefact: str, text: str, number: int, session: str) -> list[dict[str, object]]:
    """The lines of a coding agent's log that hold the text: a call of a tool and its result are two."""
    call, name = f"toolu_01{number:022d}", {"file": "Read", "task": "Task"}.get(artefact, "Bash")
    if artefact in {"prompt", "subagent"}:
        return [_line("user", text, number, session, agent="a1b2c3d4" if artefact == "subagent" else "")]
    if artefact == "answer":
        return [_line("assistant", [{"type": "text", "text": text}], number, session)]
    if artefact == "thinking":
        return [_line("assistant", [{"type": "thinking", "thinking": text, "signature": ""}], number, session)]
    inputs = {
        "file": {"file_path": "/srv/orders/.env"},
        "task": {"description": "Look", "prompt": "Look at it", "subagent_type": "general-purpose"},
        "tool input": {"command": text, "description": "Run it"},
    }.get(artefact, {"command": "./show", "description": "Run it"})
    answer = {"type": "tool_result", "tool_use_id": call, "content": text if artefact == "tool result" else "done"}
    result: dict[str, object] = {
        "stdout": text if artefact == "toolUseResult" else "",
        "stderr": "",
        "interrupted": False,
    }
    if artefact == "file":
        file = {"filePath": "/srv/orders/.env", "content": text, "numLines": 1, "startLine": 1, "totalLines": 1}
        result = {"type": "text", "file": file}
    if artefact == "task":
        result = {"status": "completed", "agentId": "a1b2c3d4", "content": [{"type": "text", "text": "done"}]}
    asked = _line("assistant", [{"type": "tool_use", "id": call, "name": name, "input": inputs}], number, session)
    return [asked, _line("user", [answer], number + 1, session) | {"toolUseResult": result}]


def _line(role: str, content: object, number: int, session: str, agent: str = "") -> dict[str, object]:
    mark = agent or session[-8:]
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {
            "id": f"msg_{number:024d}",
            "type": "message",
            "model": "claude-opus-4-5",
            "usage": {"output_tokens": 3},
        }
    about = {"agentId": agent} if agent else {}
    return about | {
        "type": role,
        "uuid": f"{number:08x}-0000-4000-8000-0000{mark}",
        "parentUuid": f"{number - 1:08x}-0000-4000-8000-0000{mark}" if number else None,
        "sessionId": session,
        "cwd": "/srv/orders",
        "version": "2.1.280",
        "isSidechain": bool(agent),
        "userType": "external",
        "timestamp": f"2026-05-04T{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "message": message,
    }
