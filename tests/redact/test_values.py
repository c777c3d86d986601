"""Values and logs redacted: nothing is left in any string or key, a second time changes nothing, logs stay whole."""

import base64
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.labelled import Labelled, labelled
from unspool.redact.finder import Finder
from unspool.redact.log import redact_lines, scan_lines
from unspool.redact.rebuild import Redactor, redact_text, redact_value
from unspool.redact.replacements import ReplacementNames
from unspool.redact.rules import PersonalNames

FINDER = Finder(None, PersonalNames.of({"USER": "evelyn", "HOME": "/home/evelyn"}), ["Project Tern"])
LABELS = list(labelled(21))
KEY = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MAIL = "grace@navy.mil"
texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from([label.text for label in LABELS]),
    st.sampled_from(["/home/evelyn/x", MAIL, "evelyn", "85.214.132.117", "project tern", "/Users/grace/y", KEY]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from strings(one)


@given(values)
def test_nothing_is_left_and_twice_is_once(value: Any) -> None:
    """After redaction nothing is found in any string or key, and doing it again changes nothing."""
    names = ReplacementNames()
    once, _ = redact_value(value, FINDER, names)
    assert [text for text in strings(once) if FINDER.find(text)] == []
    twice, found = redact_value(once, FINDER, names)
    assert twice == once
    assert found == []


@given(st.lists(texts, max_size=8))
def test_many_texts_at_once_are_made_as_each_by_itself(some: list[str]) -> None:
    names, found = ReplacementNames(), [(text, FINDER.find(text)) for text in some]
    together = Redactor(FINDER, names)
    for _ in range(2):  # the second time they are known
        assert together.texts(found) == [redact_text(text, FINDER, names)[0] for text in some]


@given(st.sampled_from(LABELS), st.text(max_size=20), st.text(max_size=20))
def test_a_text_is_the_same_twice(label: Labelled, before: str, after: str) -> None:
    """A redacted text has nothing left that would be redacted."""
    once, _ = redact_text(f"{before} {label.text} {after}", FINDER, ReplacementNames())
    assert redact_text(once, FINDER, ReplacementNames())[0] == once


def test_the_value_is_the_very_same_where_nothing_is_found() -> None:
    """What holds nothing is not copied."""
    value = {"a": ["one", {"b": 2.5}], "c": None}
    assert redact_value(value, FINDER, ReplacementNames())[0] is value


def test_the_key_says_what_its_text_is() -> None:
    """A text under `password` or `apiKey` is a secret, though by itself it would not be."""
    value = {"password": "tr0ub4dor&3x", "apiKey": "q8Zk2Lw9Xv4Rt6Yb1N", "name": "q8Zk2Lw9Xv4Rt6Yb1N"}
    made, found = redact_value(value, FINDER, ReplacementNames())
    assert made["password"] == "[redacted:password-1]"
    assert made["apiKey"] == "[redacted:named-secret-1]"
    assert made["name"] == value["name"]
    assert [path for path, _ in found] == ["password", "apiKey"]


def test_what_is_kept_stays() -> None:
    """A finding that the sharer keeps stays as it is, and is told all the same."""
    made, found = redact_value([MAIL, KEY], FINDER, ReplacementNames(), keep=lambda match: match.rule == "email")
    assert made == [MAIL, "[redacted:github-token-1]"]
    assert [match.rule for _, match in found] == ["email", "github-token"]


def test_keys_that_become_the_same_are_both_there() -> None:
    """Two keys of an object that get one name are told apart: no value is lost."""
    made, _ = redact_value({"/home/evelyn": 1, "/home/user-1": 2}, FINDER, ReplacementNames())
    assert list(made.values()) == [1, 2]


# --- logs -------------------------------------------------------------------------------------------


def line(**value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def lines_of(*lines: bytes) -> list[bytes]:
    return list(redact_lines(lines, FINDER, ReplacementNames()))


def test_lines_without_findings_are_the_same_bytes() -> None:
    """Spaces, escapes and line ends of a line that holds nothing stay; damaged lines too."""
    lines = [
        b'{"a": "\\u00e9", "n": 1.0}\r\n',
        b"{torn\n",
        b"\n",
        b'{"a":12345678901234567890123}\n',
        b'"\\ud800"',
        b"\xff\xfe",
    ]
    assert lines_of(*lines) == lines


def test_a_line_that_is_no_json_is_redacted_as_text() -> None:
    """A torn line loses its secrets and nothing else, bytes that are no text included."""
    assert lines_of(b'{"a":"' + KEY.encode() + b" \xff\n") == [b'{"a":"[redacted:github-token-1] \xff\n']


def test_a_key_that_stands_twice_hides_nothing() -> None:
    """JSON's last value wins; a secret in the first one is gone from the bytes all the same."""
    (made,) = lines_of(b'{"a":"' + KEY.encode() + b'","a":"x"}\n')
    assert KEY.encode() not in made
    assert json.loads(made) == {"a": "x"}


def test_a_thought_whose_words_change_goes() -> None:
    """Its signature would be void; other thoughts stay with theirs, and a message is never left empty."""
    kept = {"type": "thinking", "thinking": "hm", "signature": "c2ln" * 20}
    told = {"type": "thinking", "thinking": f"use {KEY}", "signature": "c2ln" * 20}
    words = {"type": "text", "text": "done"}
    both, alone = map(
        json.loads, lines_of(line(message={"content": [kept, told, words]}), line(message={"content": [told]}))
    )
    assert both["message"]["content"] == [kept, words]
    assert alone["message"]["content"] == [{"type": "text", "text": "use [redacted:github-token-1]"}]


def test_one_log_has_one_name_for_one_value() -> None:
    """The same user on several lines, in paths and in prose, has one name; shapes of paths stay."""
    made = lines_of(line(cwd="/home/evelyn/x"), line(text="evelyn: ls /home/evelyn/x"))
    assert [json.loads(one) for one in made] == [{"cwd": "/home/user-1/x"}, {"text": "user-1: ls /home/user-1/x"}]


def test_a_scan_tells_line_place_and_words_around() -> None:
    """Findings come by line and place; the words around one hold no other."""
    found = list(scan_lines([line(a="x"), line(m={"c": [{"t": f"one {KEY} two {MAIL} three"}]})], FINDER))
    assert [(one.match.rule, one.line, one.path, one.before, one.after) for one in found] == [
        ("github-token", 2, "m.c[0].t", "one ", " two "),
        ("email", 2, "m.c[0].t", " two ", " three"),
    ]


def test_a_scan_tells_the_log_and_no_key_that_must_go() -> None:
    """Findings say which log they are of; a place never holds a secret, though a key is one."""
    (key, mail) = scan_lines([line(**{KEY: {"a": MAIL}})], FINDER, "agent-7.jsonl")
    assert (key.match.value, key.path, key.log) == (KEY, "", "agent-7.jsonl")
    assert (mail.match.value, mail.path, mail.log) == (MAIL, "….a", "agent-7.jsonl")


def test_a_name_beside_a_value_tells_what_it_is() -> None:
    """As in lists of settings; a value whose name tells nothing stays."""
    value = [{"name": "API_KEY", "value": "q8Zk2Lw9Xv4Rt6Yb1N"}, {"name": "COLOUR", "value": "q8Zk2Lw9Xv4Rt6Yb1N"}]
    made, found = redact_value(value, FINDER, ReplacementNames())
    assert made == [{"name": "API_KEY", "value": "[redacted:named-secret-1]"}, value[1]]
    assert [path for path, _ in found] == ["[0].value"]


def test_a_name_beside_a_list_tells_what_its_texts_are() -> None:
    """What only the name tells in {"name": "token", "value": [...]} is gone too, as it is where the value is a text."""
    secret, named = KEY, "q8Zk2Lw9Xv4Rt6Yb1N"
    made, _ = redact_value({"name": "token", "value": [secret, named]}, FINDER, ReplacementNames())
    assert not {secret, named} & set(strings(made))


def test_bytes_that_are_no_text_neither_end_the_work_nor_hide_a_secret() -> None:
    made = lines_of(b'{"a":"\xff ' + KEY.encode() + b'"}\n', b'{"\xff":"' + KEY.encode() + b'"}\n')
    assert made == [b'{"a":"\xff [redacted:github-token-1]"}\n', b'{"\xff":"[redacted:github-token-1]"}\n']


def test_halves_of_characters_do_no_harm() -> None:
    """They are no text that can be written; what is told of them can be."""
    (found,) = scan_lines([b'{"password":"abc1\\ud800defgh"}'], FINDER)
    json.dumps(found.match.value).encode()
    names = ReplacementNames()
    (made,) = redact_lines([b"\xffpassword=abc1defgh\xffzz9 \xff\n"], FINDER, names)
    assert made == b"\xffpassword=[redacted:password-1] \xff\n"
    json.dumps(names.mapping(), ensure_ascii=False).encode()


# --- pictures ---------------------------------------------------------------------------------------


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + chunk(b"tEXt", b"Author\0Grace") + chunk(b"IDAT", b"x" * 50)
PNG_END = chunk(b"IEND", b"")
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(10) + b"\xff\xe1\x00\x0cExif\0\0GPS!" + b"\xff\xfe\x00\x07Grace"
JPEG_END = b"\xff\xda\x00\x04\x00\x00pixels\xff\xd9"


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
@pytest.mark.parametrize(("picture", "without"), [
    (PNG + PNG_END + b"Grace", PNG.replace(chunk(b"tEXt", b"Author\0Grace"), b"") + PNG_END),
    (JPEG + JPEG_END, JPEG[:20] + JPEG_END),
])  # fmt: skip
def test_pictures_lose_what_they_tell(prefix: str, picture: bytes, without: bytes) -> None:
    """Comments, places and what follows the end go from a picture; its pixels stay, and a second time finds nothing."""
    made, found = redact_value({"data": prefix + base64.b64encode(picture).decode()}, FINDER, ReplacementNames())
    assert made == {"data": prefix + base64.b64encode(without).decode()}
    assert [match.rule for _, match in found] == ["picture"]
    assert redact_value(made, FINDER, ReplacementNames()) == (made, [])


def test_what_is_found_between_pictures_is_told_where_it_stands() -> None:
    """Each of many pictures and texts, one after the other, has what was found in it."""
    telling, plain = (base64.b64encode(picture).decode() for picture in (PNG + PNG_END, JPEG[:20] + JPEG_END))
    value = [telling, f"key {KEY}", plain, "the tide, ", MAIL] * 40
    _, found = redact_value(value, FINDER, ReplacementNames())
    kinds = {0: "picture", 1: "github-token", 4: "email"}
    assert [(path, match.rule) for path, match in found] == [
        (f"[{at}]", kinds[at % 5]) for at in range(len(value)) if at % 5 in kinds
    ]


def test_a_broken_picture_is_looked_through_as_text() -> None:
    """What only begins like a picture hides nothing."""
    text = base64.b64encode(PNG[:20] + KEY.encode() + bytes(100)).decode()
    made, found = redact_value(text, FINDER, ReplacementNames())
    assert [match.value for _, match in found] == [KEY]
    assert made != text


def test_digests_of_what_changed_go() -> None:
    """Whoever guesses the words could see that they fit; digests of what stays as it is stay."""
    digest = "9f86d081884c7d65"
    value = {
        "listing": {"content": f"- tide: by {MAIL}", "digests": [digest, "none"], "hash": digest * 4, "commit": digest},
        "other": {"content": "- ebb", "digests": [digest], "hash": digest * 4},
    }
    made, _ = redact_value(value, FINDER, ReplacementNames())
    assert made["listing"]["digests"] == ["none"]
    assert made["listing"]["hash"] == ""
    assert made["listing"]["commit"] == digest
    assert made["other"] == value["other"]
    kept, _ = redact_value(value, FINDER, ReplacementNames(), lambda _: True)
    assert kept == value


def test_ids_of_accounts_go_by_their_names() -> None:
    account, line = "0acc0a7e-5a11-4d0c-8e11-0000000000bb", "11e0a7e0-5a11-4d0c-8e11-0000000000cc"
    value = {"uuid": line, "accountUuid": account, "deep": [{"organization_uuid": account}]}
    made, _ = redact_value(value, Finder(), ReplacementNames())
    assert account not in json.dumps(made)
    assert made["uuid"] == line
