"""Deliberate damage to sound logs: each kind a function of the log's lines, as bytes, and a number."""

import json
from collections.abc import Callable
from typing import Any

Raw = list[bytes]
Damage = Callable[[Raw, int], Raw]


def _edit(lines: Raw, at: int, change: Callable[[dict[str, Any]], object]) -> Raw:
    value = json.loads(lines[at])
    change(value)
    return [*lines[:at], json.dumps(value).encode() + b"\n", *lines[at + 1 :]]


def _chain(lines: Raw) -> list[int]:
    return [at for at, line in enumerate(lines) if json.loads(line).get("uuid")]


def _spoken(lines: Raw, kind: str = "") -> list[int]:
    kinds = (kind,) if kind else ("user", "assistant")
    return [at for at in _chain(lines) if json.loads(lines[at])["type"] in kinds]


def _with(lines: Raw, block: str) -> list[int]:
    """Lines that hold a block of that type."""
    found = []
    for at in _spoken(lines):
        content = json.loads(lines[at])["message"]["content"]
        if isinstance(content, list) and any(one.get("type") == block for one in content):
            found.append(at)
    return found


def _pick(found: list[int], number: int) -> int:
    return found[number % len(found)]


def torn(lines: Raw, number: int) -> Raw:
    at = _pick(_chain(lines), number)
    return [*lines[:at], lines[at][: len(lines[at]) // 2] + b"\n", *lines[at + 1 :]]


def torn_end(lines: Raw, number: int) -> Raw:
    return [*lines[:-1], lines[-1][: 20 + number % (len(lines[-1]) - 30)]]


def torn_into_next(lines: Raw, number: int) -> Raw:
    at = number % (len(lines) - 1)
    return [*lines[:at], lines[at][: len(lines[at]) // 2] + lines[at + 1], *lines[at + 2 :]]


def glued(lines: Raw, number: int) -> Raw:
    at = number % (len(lines) - 1)
    return [*lines[:at], lines[at].rstrip() + lines[at + 1], *lines[at + 2 :]]


def nuls_before(lines: Raw, number: int) -> Raw:
    at = number % len(lines)
    return [*lines[:at], b"\0" * 40 + lines[at], *lines[at + 1 :]]


def nuls_inside(lines: Raw, number: int) -> Raw:
    at = number % len(lines)
    middle = lines[at].index(b'":') + 1
    return [*lines[:at], lines[at][:middle] + b"\0\0" + lines[at][middle:], *lines[at + 1 :]]


def only_nuls(lines: Raw, number: int) -> Raw:
    at = number % len(lines)
    return [*lines[:at], b"\0" * 512 + b"\n", *lines[at:]]


def not_utf8(lines: Raw, number: int) -> Raw:
    at = number % len(lines)
    return [*lines[:at], lines[at].replace(b'"type":"', b'"odd":"\xff\xfe","type":"', 1), *lines[at + 1 :]]


def lost_line(lines: Raw, number: int) -> Raw:
    at = _pick(_chain(lines), number)
    return lines[:at] + lines[at + 1 :]


def lost_beginning(lines: Raw, number: int) -> Raw:
    return lines[1 + number % (len(lines) // 2) :]


def same_line_twice(lines: Raw, number: int) -> Raw:
    at = _pick(_chain(lines), number)
    return [*lines[: at + 1], lines[at], *lines[at + 1 :]]


def same_id_twice(lines: Raw, number: int) -> Raw:
    chain = _chain(lines)
    at = _pick(chain[1:], number)
    other = json.loads(lines[_pick(chain[:-1], number)])["uuid"]
    return _edit(lines, at, lambda value: value.update(uuid=other))


def no_parent(lines: Raw, number: int) -> Raw:
    return _edit(lines, _pick(_chain(lines), number), lambda value: value.update(parentUuid="nowhere"))


def own_parent(lines: Raw, number: int) -> Raw:
    return _edit(lines, _pick(_chain(lines), number), lambda value: value.update(parentUuid=value["uuid"]))


def circle(lines: Raw, number: int) -> Raw:
    chain = _chain(lines)
    first = _pick(chain, number)
    later = _pick([at for at in chain if at >= first], number // 2)
    return _edit(lines, first, lambda value: value.update(parentUuid=json.loads(lines[later])["uuid"]))


def empty_text(lines: Raw, number: int) -> Raw:
    at = _pick(_spoken(lines), number)
    return _edit(lines, at, lambda value: value["message"].update(content=[{"type": "text", "text": ""}]))


def empty_list(lines: Raw, number: int) -> Raw:
    return _edit(lines, _pick(_spoken(lines), number), lambda value: value["message"].update(content=[]))


def no_message(lines: Raw, number: int) -> Raw:
    return _edit(lines, _pick(_spoken(lines), number), lambda value: value.pop("message"))


def wrong_types(lines: Raw, number: int) -> Raw:
    def change(value: dict[str, Any]) -> None:
        value["message"] = {"role": 7, "content": [3, {"type": ["text"]}, {"type": "text", "text": "left"}]}

    return _edit(lines, _pick(_spoken(lines), number), change)


def wrong_role(lines: Raw, number: int) -> Raw:
    return _edit(lines, _pick(_spoken(lines), number), lambda value: value["message"].update(role="system"))


def unsigned(lines: Raw, number: int) -> Raw:
    at = _pick(_with(lines, "thinking"), number)
    return _edit(lines, at, lambda value: value["message"]["content"][0].update(signature=""))


def call_gone(lines: Raw, number: int) -> Raw:
    at = _pick(_with(lines, "tool_use"), number)
    return lines[:at] + lines[at + 1 :]


def result_gone(lines: Raw, number: int) -> Raw:
    at = _pick(_with(lines, "tool_result"), number)
    return lines[:at] + lines[at + 1 :]


def result_of_nothing(lines: Raw, number: int) -> Raw:
    at = _pick(_with(lines, "tool_result"), number)
    return _edit(lines, at, lambda value: value["message"]["content"][0].update(tool_use_id="toolu_none"))


def result_twice(lines: Raw, number: int) -> Raw:
    at = _pick(_with(lines, "tool_result"), number)
    return _edit(lines, at, lambda value: value["message"]["content"].append(value["message"]["content"][0]))


def call_twice(lines: Raw, number: int) -> Raw:
    at = _pick(_with(lines, "tool_use"), number)
    return _edit(lines, at, lambda value: value["message"]["content"].append(value["message"]["content"][0]))


def result_late(lines: Raw, number: int) -> Raw:
    """A result stands at the very end, below the last line."""
    at = _pick(_with(lines, "tool_result"), number)
    value = json.loads(lines[at])
    last = json.loads(lines[_chain(lines)[-1]])["uuid"]
    value.update(parentUuid=last, sourceToolAssistantUUID=None)
    return [*lines[:at], *lines[at + 1 :], json.dumps(value).encode() + b"\n"]


def big_image(lines: Raw, number: int) -> Raw:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" + "A" * 5_300_001}
    image = {"type": "image", "source": source}
    at = _pick(_spoken(lines, "user"), number)

    def change(value: dict[str, Any]) -> None:
        content = value["message"]["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        value["message"]["content"] = [*blocks, image]

    return _edit(lines, at, change)


def image_in_result(lines: Raw, number: int) -> Raw:
    source = {"type": "base64", "media_type": "image/tiff", "data": "AAAA"}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "seen"}]
    at = _pick(_with(lines, "tool_result"), number)
    return _edit(lines, at, lambda value: value["message"]["content"][0].update(content=content))


def half_character(lines: Raw, number: int) -> Raw:
    at = _pick(_spoken(lines, "user"), number)

    def change(value: dict[str, Any]) -> None:
        content = value["message"]["content"]
        if isinstance(content, str):
            value["message"]["content"] = content + " \ud83d"
        else:
            content.append({"type": "text", "text": "\ude00 half"})

    return _edit(lines, at, change)


def remark_at_end(lines: Raw, number: int) -> Raw:
    """The agent's own remark hangs from the last words, while an older end is open."""
    chain = _chain(lines)
    value = json.loads(lines[chain[0]])
    last = json.loads(lines[_spoken(lines)[-1]])["uuid"]
    older = {**value, "uuid": f"11111111-0000-4000-8000-{number:012d}", "parentUuid": value["uuid"]}
    remark = {**value, "uuid": f"22222222-0000-4000-8000-{number:012d}", "parentUuid": last, "isMeta": True}
    made = [json.dumps(one).encode() + b"\n" for one in (older, remark)]
    return [*lines[: chain[0] + 1], made[0], *lines[chain[0] + 1 :], made[1]]


def reversed_end(lines: Raw, number: int) -> Raw:
    """The last two lines of the conversation stand the other way round."""
    chain = _chain(lines)
    made = list(lines)
    made[chain[-1]], made[chain[-2]] = made[chain[-2]], made[chain[-1]]
    return made


def foreign_line(lines: Raw, number: int) -> Raw:
    at = number % len(lines)
    return [*lines[:at], (b"[1, 2]\n", b'"text"\n', b"nonsense\n")[number % 3], *lines[at:]]


def no_end(lines: Raw, number: int) -> Raw:
    return [*lines[:-1], lines[-1].rstrip()]


DAMAGES: tuple[Damage, ...] = (
    torn, torn_end, torn_into_next, glued, nuls_before, nuls_inside, only_nuls, not_utf8, lost_line, lost_beginning,
    same_line_twice, same_id_twice, no_parent, own_parent, circle, empty_text, empty_list, no_message, wrong_types,
    wrong_role, unsigned, call_gone, result_gone, result_of_nothing, result_twice, call_twice, result_late, big_image,
    image_in_result, half_character, remark_at_end, reversed_end, foreign_line, no_end,
)  # fmt: skip
