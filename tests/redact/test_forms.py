"""Every rule that knows a secret by its form finds what its form makes, whatever stands beside it."""

import json
from functools import cache
from random import Random

import pytest

from bench.generated import generated
from bench.labelled import filled
from tests.thorough import tries
from unspool.redact.finder import Finder
from unspool.redact.rules import RedactionRule, builtin_rules

FINDER = Finder()
FORMS = [
    rule for rule in builtin_rules().rules if rule.kind == "secret" and rule.token and rule.group == 0 and rule.edge
]
"""Rules whose match is all secret and stands as a word."""
BESIDE = {
    "bare": "{}",
    "in quotes": '"{}"',
    "behind a name": "VALUE={}",
    "in JSON": json.dumps({"a": "b\n{}\nc"}).replace("{", "{{", 1)[:-1] + "}}",
    "behind a hyphen": "backup-{}",
    "behind an underscore": "old_{}",
    "before a hyphen": "{}-old",
    "before an underscore": "{}_old",
    "between letters of other alphabets": "ключ{}値",
    "in an address": "https://shop.net/x?v={}&ok=1",
    "in a path": "/srv/{}/x",
}
"""What may stand beside a secret."""
OPEN = ("-", "_", "/", ".", "+", "=")
"""What may belong to a secret, so that another thing may be meant where it stands beside one."""


def name_of(rule: RedactionRule) -> str:
    return rule.id


@cache
def values(rule: RedactionRule) -> list[str]:
    """Values of a rule, of its examples and of its pattern, that are found where they stand alone."""
    random = Random(rule.id)
    examples = [filled(example, random) for example in rule.match]
    return examples + list(generated(rule, random, tries(12, 100)))


def gone(text: str, value: str) -> bool:
    """Whether a value is found, but for a tenth of it, which may be taken for what stands beside it."""
    start = text.find(value)
    end = start + len(value)
    found = sum(max(0, min(match.end, end) - max(match.start, start)) for match in FINDER.find(text))
    return found * 10 >= len(value) * 9


@pytest.mark.parametrize("rule", FORMS, ids=name_of)
def test_what_a_form_makes_is_found(rule: RedactionRule) -> None:
    """Of random values of a form nine in ten are found; the others look made up, as a few of chance do."""
    found = [gone(f"then {value} and so on", value) for value in values(rule)]
    assert sum(found) >= len(found) * 0.8, [value for value, yes in zip(values(rule), found, strict=True) if not yes]


@pytest.mark.parametrize("beside", BESIDE)
def test_what_stands_beside_a_secret_hides_none(beside: str) -> None:
    """What is found alone is found beside signs, letters of other alphabets, and in addresses."""
    missed, every = [], 0
    for rule in FORMS:
        alone = [value for value in values(rule) if gone(f"then {value} and so on", value)]
        for value in [value for value in alone if value[0] not in OPEN and value[-1] not in OPEN][:4]:
            every += 1
            if not gone(BESIDE[beside].format(value), value):
                missed.append((rule.id, value))
    assert every > 400
    assert len(missed) <= every / 50, missed
