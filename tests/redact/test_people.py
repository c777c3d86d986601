"""Who the sharer is, from the environment and the folders of sessions."""

import json
from pathlib import Path

import pytest

from unspool.redact.finder import Finder
from unspool.redact.personal import PERSONAL_KINDS, rules_not_chosen
from unspool.redact.policy import RedactionPolicy
from unspool.redact.rules import PersonalNames, builtin_rules, git_signers, own_rules


def test_names_come_from_the_environment_and_folders() -> None:
    """Users, machine and mail of the environment, and users of home folders on every system."""
    people = PersonalNames.of(
        {"USER": "evelyn", "HOME": "/home/evelyn", "HOSTNAME": "tern-7", "EMAIL": "e@navy.mil"},
        ["/Users/grace/code", r"C:\Users\Hopper\x", "/srv/app"],
    )
    assert people.users == {"evelyn", "grace", "Hopper"}
    assert people.hosts == {"tern-7"}
    assert people.homes == {"/home/evelyn"}
    assert people.emails == {"e@navy.mil"}


def test_what_tells_nobody_is_nobody() -> None:
    """Names that every machine has, and names too short to be words, are left alone."""
    people = PersonalNames.of(
        {"USER": "root", "HOME": "/root", "HOSTNAME": "localhost", "LOGNAME": "al"}, ["/home/runner/work"]
    )
    assert people == PersonalNames()


def test_a_short_name_must_be_exact() -> None:
    """A short user name is found as it is written only."""
    (rule,) = PersonalNames.of({"USER": "Eve"}).rules()
    assert rule.pattern.startswith("(?<!")


@pytest.mark.parametrize("name", ["Grace Hopper", "Zoë Ström", "Ada King-Noel"])
def test_the_name_that_git_signs_with_goes_wherever_it_stands(name: str) -> None:
    """An agent notes it with the state of the repository; commits, files and answers say it too."""
    for line in (json.dumps({"x": f"Git user: {name}\n\nStatus:"}), json.dumps({"x": f"Git user: {name}"})):
        people = PersonalNames.of({}, (), git_signers([line.encode(), b"no name here"]))
        assert [one.value for one in Finder(None, people).find(f"Author: {name} wrote it")] == [name]


def test_a_name_of_one_word_goes_where_git_is_said_to_sign_with_it() -> None:
    people = PersonalNames.of(
        {}, (), git_signers([b'"Git user: harbour\\nStatus:"', b'"Git user: \xff\xfe x"', b'"Git user: "'])
    )
    finder = Finder(None, people)
    assert [one.value for one in finder.find("Git user: harbour\nStatus: in the harbour")] == ["harbour"]


def test_every_rule_of_personal_data_is_of_one_kind_that_can_be_chosen() -> None:
    people = PersonalNames(users=frozenset({"evelyn"}), hosts=frozenset({"evelyns-mac"}), emails=frozenset({"e@n.mil"}))
    rules = {rule.id for rule in (*builtin_rules().rules, *people.rules()) if rule.kind == "personal"}
    assert sorted([*rules, "mail-name", "picture"]) == sorted(rule for some in PERSONAL_KINDS.values() for rule in some)


def test_names_that_are_not_chosen_stay() -> None:
    people = PersonalNames.of({"USER": "evelyn", "HOSTNAME": "evelyns-mac"})
    rules = own_rules(Path("none"), "machines")
    assert [one.rule for one in Finder(rules, people).find("evelyn at evelyns-mac in /home/evelyn/x")] == ["host-name"]
    assert rules.version != builtin_rules().version


def test_a_push_replaces_the_kinds_that_are_chosen() -> None:
    policy = RedactionPolicy(without=rules_not_chosen("mails"))
    people = PersonalNames.of({"USER": "evelyn", "HOSTNAME": "evelyns-mac"})
    found = policy.finder(policy.replaced, people).find("evelyn at evelyns-mac in /home/evelyn/x: eve@navy.mil")
    assert [one.rule for one in found] == ["email"]
