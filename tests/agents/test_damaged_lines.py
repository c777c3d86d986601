"""Damaged lines are read as far as they can be; nothing is lost, and places and bytes are exact."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.reading import entries
from unspool.model import Entry

USER = b'{"type":"user","n":1}'
OTHER = b'{"type":"assistant","n":2}'


def only(data: bytes) -> Entry:
    (found,) = entries(data)
    return found


def nested(deep: int, key: str = "a") -> bytes:
    return b'{"type":"user","%s":' % key.encode() + b"[" * deep + b"]" * deep + b"}\n"


def test_a_good_line_has_its_data_bytes_and_place_and_no_problem() -> None:
    entry = only(USER + b"\n")
    assert (entry.data, entry.raw, entry.problem) == ({"type": "user", "n": 1}, USER + b"\n", "")
    assert (entry.place.line, entry.place.offset, entry.place.size) == (1, 0, len(USER) + 1)


def test_a_torn_last_line_says_so_and_keeps_its_bytes() -> None:
    good, torn = entries(USER + b'\n{"type":"user","mess')
    assert good.data == {"type": "user", "n": 1}
    assert (torn.data, torn.raw) == (None, b'{"type":"user","mess')
    assert torn.problem == "not JSON: Unterminated string starting at character 15"


def test_two_objects_on_one_line_are_both_read_at_their_own_places() -> None:
    one, two = entries(USER + OTHER + b"\n")
    assert (one.data, two.data) == (json.loads(USER), json.loads(OTHER))
    assert (one.raw, two.raw) == (USER, OTHER)
    assert (one.place.line, two.place.line, two.place.offset, two.place.size) == (1, 1, len(USER), len(OTHER))


def test_a_whole_object_after_a_torn_one_is_read() -> None:
    torn = b'{"type":"user","message":{"rol'
    broken, whole = entries(b"\n" + torn + OTHER + b"\n")
    assert (broken.data, broken.raw) == (None, torn)
    assert whole.data == json.loads(OTHER)
    assert whole.raw.rstrip() == OTHER
    assert whole.place.offset == 1 + len(torn)


def test_objects_glued_after_letters_of_several_bytes_keep_exact_places() -> None:
    first = '{"type":"user","said":"été 🌊"}'.encode()
    _, second = entries(first + OTHER)
    assert (second.raw, second.place.offset) == (OTHER, len(first))


def test_objects_glued_after_broken_utf8_keep_exact_places() -> None:
    first = b'{"type":"user","said":"\xff\xfe"}'
    one, two = entries(first + OTHER + b"\n")
    assert one.raw == first
    assert (two.raw.rstrip(), two.place.offset) == (OTHER, len(first))


def test_a_byte_order_mark_is_read_over() -> None:
    assert only(b"\xef\xbb\xbf" + USER + b"\n").data == json.loads(USER)


def test_crlf_line_ends_do_no_harm() -> None:
    one, two = entries(USER + b"\r\n" + OTHER + b"\r\n")
    assert (one.problem, two.problem) == ("", "")
    assert (one.data, two.data) == (json.loads(USER), json.loads(OTHER))


@pytest.mark.parametrize(
    "data", [b"\0\0\0" + USER, USER + b"\0\0", b"\0" + USER + b"\0\n"], ids=["before", "after", "both"]
)
def test_nul_bytes_around_a_line_are_read_over_and_told(data: bytes) -> None:
    entry = only(data)
    assert entry.data == json.loads(USER)
    assert "NUL" in entry.problem
    assert entry.raw == data


def test_a_line_of_nul_bytes_alone_is_a_problem() -> None:
    entry = only(b"\0\0\0\n")
    assert (entry.data, entry.raw) == (None, b"\0\0\0\n")


def test_bytes_that_are_not_utf8_are_replaced_and_told() -> None:
    raw = b'{"type":"user","said":"caf\xe9"}\n'
    entry = only(raw)
    assert entry.data == {"type": "user", "said": "caf\ufffd"}
    assert "UTF-8" in entry.problem
    assert entry.raw == raw


def test_lone_surrogates_become_the_replacement_character() -> None:
    entry = only(b'{"type":"user","said":"a\\ud800b","\\udc00":1}\n')
    assert entry.data == {"type": "user", "said": "a\ufffdb", "\ufffd": 1}


def test_a_pair_of_surrogate_escapes_is_one_letter() -> None:
    assert only(b'{"type":"user","said":"\\ud83c\\udf0a"}\n').data == {"type": "user", "said": "🌊"}


def test_white_space_inside_the_json_does_no_harm() -> None:
    entry = only(b' { "type" : "user" ,\t"n" : [ 1 , 2 ] } \n')
    assert (entry.data, entry.problem) == ({"type": "user", "n": [1, 2]}, "")


@pytest.mark.parametrize("deep", [500, 1_000, 10_000, 100_000])
def test_nesting_however_deep_never_raises(deep: int) -> None:
    data = nested(deep)
    entry, last = entries(data + USER)
    assert entry.raw == data
    assert entry.data is not None or entry.problem
    assert last.data == json.loads(USER)


def test_an_unfinished_nest_ten_thousand_deep_is_a_problem() -> None:
    entry = only(b'{"a":' * 10_000 + b"\n")
    assert entry.data is None
    assert entry.problem


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1e999", "123456789" * 20, "9" * 5_000, "-" + "9" * 400]
)
def test_numbers_beyond_all_measure_leave_the_rest_of_the_line_readable(literal: str) -> None:
    entry = only(b'{"type":"user","n":%s}\n' % literal.encode())
    if entry.data is not None:
        assert entry.data["type"] == "user"
        json.dumps(entry.data, allow_nan=False)
    else:
        assert entry.problem


@pytest.mark.parametrize("literal", ["18446744073709551615", "-9223372036854775808", "0", "1.5"])
def test_numbers_of_64_bits_are_exact(literal: str) -> None:
    entry = only(b'{"n":%s}\n' % literal.encode())
    assert entry.data == {"n": json.loads(literal)}
    assert entry.problem == ""


@pytest.mark.parametrize(
    ("raw", "what"),
    [(b"[1]", "a list"), (b'"x"', "a text"), (b"4.2", "a number"), (b"null", "null"), (b"true", "true or false")],
)
def test_a_value_that_is_no_object_is_a_problem(raw: bytes, what: str) -> None:
    _, entry = entries(USER + b"\n" + raw + b"\n")
    assert (entry.data, entry.raw, entry.problem) == (None, raw + b"\n", f"not an object but {what}")


@pytest.mark.parametrize("raw", [b"", b"\n", b"   \n", b"\t\r\n", b"\xef\xbb\xbf"])
def test_a_blank_line_gives_no_entry(raw: bytes) -> None:
    assert entries(raw) == []


FRAGMENTS = st.sampled_from(
    [
        USER,
        OTHER,
        b'{"torn":',
        b'"rubble',
        b"\xff",
        b"\xc3",
        b"\0",
        b" ",
        b"\r",
        b"\xef\xbb\xbf",
        b"7",
        b"}",
        b"\\ud800",
        b'{"s":"\xe9\xff"}',
        '{"s":"é"}'.encode(),
    ]
)
LINES = st.lists(st.lists(FRAGMENTS, max_size=5).map(b"".join), max_size=6)


@given(lines=LINES)
def test_bytes_and_places_are_exact_whatever_the_damage(lines: list[bytes]) -> None:
    data = USER + b"\n" + b"\n".join(lines)
    by_line: dict[int, list[Entry]] = {}
    for entry in entries(data):
        assert data[entry.place.offset : entry.place.offset + entry.place.size] == entry.raw
        by_line.setdefault(entry.place.line, []).append(entry)
    for number, raw in enumerate(data.splitlines(keepends=True) if b"\r" not in data else _cut(data), 1):
        held = by_line.get(number, [])
        if len(held) == 1:
            assert held[0].raw == raw
        elif held:
            _only_space_between(raw, held)
        else:
            assert not raw.replace(b"\xef\xbb\xbf", b"").strip()


def _cut(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + [part for part in parts[-1:] if part]


def _only_space_between(raw: bytes, held: list[Entry]) -> None:
    rest: Any = raw
    for entry in held:
        before, found, rest = rest.partition(entry.raw)
        assert found
        assert not before.replace(b"\xef\xbb\xbf", b"").strip(b"\0 \t\r\n")
    assert not rest.strip(b"\0 \t\r\n")
