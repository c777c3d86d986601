"""A log redacted line by line: what is written is made of what was looked through, and still resumes."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec

from unspool.redact.finder import Finder
from unspool.redact.rebuild import Keep, Redactor, keep_nothing
from unspool.redact.replacements import ReplacementNames, SecretFinding, SecretMatch, escape_surrogates
from unspool.redact.values import Held, Json, find_in_values, message_id, path_text

_WORDS = 40
"""Characters told on either side of a finding."""
_BATCH = 512_000
"""Bytes of lines that are looked through at once; those of one message are, up to a bound."""
_LARGEST = 2 * _BATCH
_DEEP = 150
"""Objects and lists inside each other that are walked through."""
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class HeardFindings(NamedTuple):
    """What a log was found to hold while it was redacted."""

    found: list[SecretFinding]
    log: str


class _Line(NamedTuple):
    """A line of a log, its end apart, and what it says: a text where it is no JSON."""

    body: bytes
    end: bytes
    value: Json
    is_json: bool


def redact_lines(
    lines: Iterable[bytes],
    finder: Finder,
    names: ReplacementNames,
    keep: Keep = keep_nothing,
    *,
    shown: bool = False,
    heard: HeardFindings | None = None,
) -> Iterator[bytes]:
    """Each line without what must go, and byte for byte as it was where that is nothing.

    A thought whose words change goes, since its signature is void: the log still resumes. Where it is `shown` to
    people, the thought stays and its signature goes. To what is `heard` is added what `scan_lines` gives.
    """
    voided, redactor = partial(_mend_signatures, shown=shown), Redactor(finder, names, keep)
    for done, some in _batches(lines):
        held = _found(some, finder)
        if heard is not None:
            heard.found.extend(_findings(held, done, finder, heard.log))
        redacted = redactor.values([line.value for line, _ in held], [found for _, found in held])
        for (line, _), made in zip(held, redacted, strict=True):
            yield _written(line, made, finder, keep, voided) + line.end


def scan_lines(
    lines: Iterable[bytes], finder: Finder, log: str = "", unsaid: bytearray | None = None
) -> Iterator[SecretFinding]:
    """What a log holds that must not leave, by line; findings tell which log it was.

    To `unsaid` is added, for each line in which nothing was found, whether its bytes may hold what it does not say.
    """
    for done, some in _batches(lines):
        held = _found(some, finder)
        yield from _findings(held, done, finder, log)
        if unsaid is not None:
            unsaid += bytes(not found and not _says_all(line) for line, (_, found) in zip(some, held, strict=True))


def matches_in_lines(lines: Iterable[bytes], finder: Finder) -> Iterator[SecretMatch]:
    """What a log holds that must not leave, for whom it does not matter where."""
    for _, some in _batches(lines):
        for _, found in _found(some, finder):
            for _, matches in found:
                yield from matches


def _findings(held: list[tuple[_Line, Held]], done: int, finder: Finder, log: str = "") -> Iterator[SecretFinding]:
    """What lines hold, that so many others stand before."""
    for number, (_, found) in enumerate(held, done + 1):
        for text, matches in found:
            where = path_text(text.path, finder)
            for index, match in enumerate(matches):
                yield SecretFinding(match, number, where, *_around(text.text, matches, index), log)


def _found(some: list[_Line], finder: Finder) -> list[tuple[_Line, Held]]:
    """What each line holds. One that is nested too deep to be walked through is looked through as the text it is."""
    some = [_as_text(line) if _is_deep(line) else line for line in some]
    return list(zip(some, find_in_values([line.value for line in some], finder), strict=True))


def _is_deep(line: _Line) -> bool:
    """Whether a line is nested too deep."""
    if line.body.count(b"[") + line.body.count(b"{") <= _DEEP:
        return False
    depth, level = 0, [line.value]
    while level and depth <= _DEEP:
        depth += 1
        held = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [inner for some in held for inner in some]
    return depth > _DEEP


def _as_text(line: _Line) -> _Line:
    return _Line(line.body, line.end, line.body.decode("utf-8", "surrogateescape"), False)


def _batches(lines: Iterable[bytes]) -> Iterator[tuple[int, list[_Line]]]:
    """Lines that are looked through at once, many short ones or a long one, with how many stand before them; no message
    is cut in two."""
    some: list[_Line] = []
    done = size = 0
    for line in map(_read, lines):
        if size > _BATCH and (size > _LARGEST or message_id(line.value) != message_id(some[-1].value)):
            yield done, some
            done, some, size = done + len(some), [], 0
        some.append(line)
        size += len(line.body)
    if some:
        yield done, some


def _read(line: bytes) -> _Line:
    body = line.rstrip(b"\r\n")
    value = decode_line(body)
    if value is None:
        return _as_text(_Line(body, line[len(body) :], None, False))
    return _Line(body, line[len(body) :], value, True)


def _written(line: _Line, made: Json, finder: Finder, keep: Keep, voided: Callable[[Any, Any], Any]) -> bytes:
    if made is not line.value:
        return encode_line(voided(made, line.value)) if line.is_json else made.encode("utf-8", "surrogateescape")
    if not line.is_json:
        return line.body
    written = encode_line(line.value)
    if written == line.body or all(map(keep, finder.find(line.body.decode("utf-8", "replace")))):
        return line.body
    return written  # the bytes hold what their value does not, such as a key that stands twice


def _says_all(line: _Line) -> bool:
    """Whether a line is nothing but what it says, unlike one with a key that stands twice."""
    return not line.is_json or encode_line(line.value) == line.body


def decode_line(body: bytes) -> Json:
    """What a line holds; None where it is no JSON."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def encode_line(value: Json) -> bytes:
    """The value as agents write lines: compact, in UTF-8; with escapes where there are halves of characters."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError):
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _mend_signatures(made: Any, before: Any, *, shown: bool) -> Any:
    """A message whose thoughts are all as they were signed: those whose words changed go, or lose their signature.

    Where nothing else is left, the words stay that nobody signed.
    """
    content, old = _content(made), _content(before)
    if content is None or old is None:
        return made
    pairs = [(one, _void(one, was)) for one, was in zip(content, old, strict=True)]
    if not any(void for _, void in pairs):
        return made
    if shown:
        left = [{**one, "signature": ""} if void else one for one, void in pairs]
    else:
        left = [one for one, void in pairs if not void]
    left = left or [{"type": "text", "text": str(content[0].get("thinking", ""))}]
    return {**made, "message": {**made["message"], "content": left}}


def _content(value: Any) -> list[Any] | None:
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else None


def _void(made: Any, before: Any) -> bool:
    return made is not before and isinstance(made, dict) and made.get("type") == "thinking" and "signature" in made


def _around(text: str, matches: list[SecretMatch], index: int) -> tuple[str, str]:
    """Words before and after a match, without what else was found."""
    match = matches[index]
    first = max(matches[index - 1].end if index else 0, match.start - _WORDS)
    last = min(matches[index + 1].start if index + 1 < len(matches) else len(text), match.end + _WORDS)
    return escape_surrogates(text[first : match.start]), escape_surrogates(text[match.end : last])
