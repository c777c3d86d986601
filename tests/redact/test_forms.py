"""Every rule that knows a secret by its form finds what its form makes, whatever stands beside it."""

import json
from functools import cache
from pathlib import Path
from random import Random

import pytest

from bench.facts import ENOUGH, facts, found_share
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
    """Of random values of a form four in five are found at least; the others look made up, as some of chance do."""
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


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_000000000000000000000000000000000000",
        "xoxb-000000000000-000000000000-XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "test test test test test test test test test test test junk",
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
        "11111111-2222-3333-4444-555555555555",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ENC[AES256_GCM,data:8sLk2,iv:abc,tag:def,type:str]",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPl8bXs3yNqYt3vGq1r0mJ9ZkQ2p5n8wT6cV7uX4eLs",
    ],
)
def test_placeholders_are_let_through(text: str) -> None:
    """What documents write in the place of a secret is none."""
    assert FINDER.find(f"then {text} and so on") == []


def test_the_end_of_a_private_key_goes_to_its_first_line() -> None:
    """`tail` of a key shows lines without the first one: all of them go, in text and in JSON."""
    random = Random(3)
    lines = [filled("<b6464>", random) for _ in range(4)]
    text = "\n".join([*lines, "-----END RSA PRIVATE " + "KEY-----"])
    for worn in (f"$ tail -5 id_rsa\n{text}\n$ ", json.dumps(f"$ tail -5 id_rsa\n{text}\n$ ")):
        (found,) = FINDER.find(worn)
        assert all(line in found.value for line in lines)


@pytest.mark.parametrize(("section", "least"), [("1", 0.88), ("3", 0.9)])
def test_kinds_of_the_facts_are_found(shared: Path, section: str, least: float) -> None:
    """Of the kinds that have a form of their own nearly all are found without a name; public halves are let through."""
    kinds = [fact for fact in facts((shared / "docs" / "secrets.md").read_text("utf-8")) if fact.section == section]
    found = [found_share(fact, FINDER) >= ENOUGH for fact in kinds]
    assert sum(found) >= len(found) * least
