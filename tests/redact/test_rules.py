"""Rules: each finds its own examples and lets look-alikes through; a person's own are added, replaced and checked."""

from pathlib import Path
from random import Random

import pytest

from bench.labelled import filled
from unspool.errors import UsageProblem
from unspool.redact.finder import Finder
from unspool.redact.rules import RedactionRule, builtin_rules, own_rules

RULES = builtin_rules().rules
FINDER = Finder()
MINE = """
[[rule]]
id = "badge"
kind = "personal"
about = "number of a badge"
keys = ["badge-"]
pattern = 'badge-\\d{4}'
"""


def name_of(rule: RedactionRule) -> str:
    return rule.id


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_finds_its_examples(rule: RedactionRule) -> None:
    """Every example of a rule is found, as what the rule says it is, and what is found is part of the text."""
    random = Random(rule.id)
    for example in rule.match * 5:
        text = f"then {filled(example, random)} and so on"
        found = [match for match in FINDER.find(text) if match.rule == rule.id or match.kind == "secret"]
        assert found, text
        assert rule.id in {match.rule for match in FINDER.find(text)}, text
        assert all(text[match.start : match.end] == match.value for match in found)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_lets_look_alikes_through(rule: RedactionRule) -> None:
    """No counter-example of a rule is taken for anything."""
    random = Random(rule.id)
    assert [text for text in rule.clean if FINDER.find(f"then {filled(text, random)} and so on")] == []


def test_every_rule_has_both() -> None:
    """No rule is without examples and counter-examples, and ids are told apart."""
    assert [rule.id for rule in RULES if not rule.match or not rule.clean] == []
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert sum(rule.kind == "secret" for rule in RULES) >= 60


def test_the_version_is_of_exactly_these_rules(tmp_path: Path) -> None:
    """Two sets of the same rules have one version, and any other rule gives another."""
    mine = tmp_path / "redact.toml"
    mine.write_text(MINE)
    assert own_rules(tmp_path / "none.toml").version == builtin_rules().version
    assert own_rules(mine).version != builtin_rules().version


def test_own_rules_are_added_and_replace(tmp_path: Path) -> None:
    """A person's rule is found like any other; rules named in `without` are not looked for."""
    mine = tmp_path / "redact.toml"
    mine.write_text('without = ["email"]\n' + MINE)
    finder = Finder(own_rules(mine))
    assert [match.rule for match in finder.find("badge-1234 of grace@navy.mil")] == ["badge"]
    mine.write_text(MINE.replace('"badge"', '"email"'))
    assert [match.value for match in Finder(own_rules(mine)).find("badge-1234 of grace@navy.mil")] == ["badge-1234"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule", "cannot be read"),
        ("[other]\nx = 1", "only"),
        (MINE + "color = 1", "unknown field"),
        (MINE.replace("\\d{4}", "("), "pattern"),
        (MINE.replace('keys = ["badge-"]', ""), "keys or scan"),
        (MINE.replace('"badge-"', '"Badge-"'), "lower case"),
        (MINE + 'check = "nothing"', "no check"),
        (MINE + "group = 3", "no group"),
        (MINE.replace('keys = ["badge-"]', 'scan = "badge-"\nrun = "a-z-"'), "run and least"),
        (MINE + 'run = "a-z"\nleast = 6', "with scan"),
        (MINE.replace('id = "badge"', 'id = "Bad Ge"'), "an id has"),
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, text: str, says: str) -> None:
    """What is wrong with a person's rules is said in a sentence."""
    mine = tmp_path / "redact.toml"
    mine.write_text(text)
    with pytest.raises(UsageProblem, match=says):
        own_rules(mine)
