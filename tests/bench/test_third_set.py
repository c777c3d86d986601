"""The third set of secrets: the same by the same seed, whole secrets, and a measure that can fail."""

import zlib
from functools import cache
from random import Random

import pytest

from bench.third_forms import card, iban, kinds, made
from bench.third_set import GROUPS, Labelled, generate, share_gone
from unspool.redact.replacements import SecretMatch


@cache
def labels() -> list[Labelled]:
    return generate(7)


def test_a_seed_gives_the_same_set_and_another_seed_another() -> None:
    assert generate(7) == labels()
    assert generate(8) != labels()


@pytest.mark.parametrize("group", GROUPS)
def test_what_nobody_looked_for_is_not_gone(group: str) -> None:
    some = [label for label in labels() if label.group == group]
    assert some
    assert not any(share_gone(label, []) for label in some)


def test_what_is_covered_is_gone() -> None:
    for label in labels():
        whole = SecretMatch("", "secret", label.text, 0, len(label.text))
        assert share_gone(label, [whole]) == float(label.group != "placeholder")


def test_a_raw_text_holds_its_secrets() -> None:
    raw = [label for label in labels() if label.encoding == "raw"]
    assert all(secret in label.text for label in raw for secret in label.secrets)


def test_checksums_hold() -> None:
    token = made(next(kind.form for kind in kinds() if kind.name == "github-pat"), Random(1))[1]
    number = 0
    for sign in token[-6:]:
        number = number * 62 + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".index(sign)
    assert number == zlib.crc32(token[4:-6].encode())
    digits = [int(sign) for sign in card(Random(1)) if sign.isdigit()]
    assert sum(sum(divmod(digit * (1 + at % 2), 10)) for at, digit in enumerate(reversed(digits))) % 10 == 0
    account = iban(Random(1)).replace(" ", "")
    assert int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4])) % 97 == 1
