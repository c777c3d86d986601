"""A log redacted line by line: what is written is made of what was looked through, and still resumes."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from unspool.redact.finder import Finder
from unspool.redact.match import Finding, Match
from unspool.redact.names import Names
from unspool.redact.values import Json, Keep, nothing, redacted, redacted_text, scanned

_WORDS = 40
"""Characters told on either side of a finding."""
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def redacted_lines(
    lines: Iterable[bytes], finder: Finder, names: Names, keep: Keep = nothing, *, shown: bool = False
) -> Iterator[bytes]:
    """Each line without what must go, and byte for byte as it was where that is nothing.

    A thought whose words change goes, since its signature is void: the log still resumes. Where it is `shown` to
    people, the thought stays and its signature goes.
    """
    voided = _unsigned if shown else _without_void_thoughts
    for line in lines:
        body = line.rstrip(b"\r\n")
        made = _line(body, finder, names, keep, voided)
        yield line if made is body else made + line[len(body) :]


def scan(lines: Iterable[bytes], finder: Finder) -> Iterator[Finding]:
    """What a log holds that must not leave, by line."""
    for number, line in enumerate(lines, 1):
        body = line.rstrip(b"\r\n")
        value = decoded(body)
        if value is None:
            value = body.decode("utf-8", "replace")
        for path, text, matches in scanned(value, finder):
            for index, match in enumerate(matches):
                yield Finding(match, number, path, *_around(text, matches, index))


def _line(body: bytes, finder: Finder, names: Names, keep: Keep, voided: Callable[[Any, Any], Any]) -> bytes:
    value = decoded(body)
    if value is None:
        text, matches = redacted_text(body.decode("utf-8", "surrogateescape"), finder, names, keep)
        return text.encode("utf-8", "surrogateescape") if matches else body
    made, _ = redacted(value, finder, names, keep)
    if made is not value:
        return encoded(voided(made, value))
    written = encoded(value)
    if written == body or all(map(keep, finder.find(body.decode("utf-8", "replace")))):
        return body
    return written  # the bytes hold what their value does not, such as a key that stands twice


def decoded(body: bytes) -> Json:
    """What a line holds; None where it is no JSON."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def encoded(value: Json) -> bytes:
    """The value as agents write lines: compact, in UTF-8; with escapes where there are halves of characters."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError):
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _without_void_thoughts(made: Any, before: Any) -> Any:
    """A message without the thoughts whose words changed; words that nobody signed, where nothing else is left."""
    content, old = _content(made), _content(before)
    if content is None or old is None:
        return made
    left = [one for one, was in zip(content, old, strict=True) if not _void(one, was)]
    if len(left) == len(content):
        return made
    left = left or [{"type": "text", "text": str(content[0].get("thinking", ""))}]
    return {**made, "message": {**made["message"], "content": left}}


def _unsigned(made: Any, before: Any) -> Any:
    """A message whose changed thoughts nobody signed."""
    content, old = _content(made), _content(before)
    if content is None or old is None:
        return made
    left = [{**one, "signature": ""} if _void(one, was) else one for one, was in zip(content, old, strict=True)]
    return {**made, "message": {**made["message"], "content": left}}


def _content(value: Any) -> list[Any] | None:
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else None


def _void(made: Any, before: Any) -> bool:
    return made is not before and isinstance(made, dict) and made.get("type") == "thinking" and "signature" in made


def _around(text: str, matches: list[Match], index: int) -> tuple[str, str]:
    """Words before and after a match, without what else was found."""
    match = matches[index]
    first = max(matches[index - 1].end if index else 0, match.start - _WORDS)
    last = min(matches[index + 1].start if index + 1 < len(matches) else len(text), match.end + _WORDS)
    return text[first : match.start], text[match.end : last]
