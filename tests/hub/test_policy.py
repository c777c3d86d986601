"""Policy at the door: rules and places are told, never the secret; what was replaced before is not found again."""

import json
from pathlib import Path

import msgspec
import pytest

from tests.share import made
from unspool.errors import UsageProblem
from unspool.hub.people import projects
from unspool.hub.people.users import Person
from unspool.hub.policy import findings_sentence, policy_findings, policy_of, save_policy
from unspool.hub.store.connect import Store
from unspool.hub_client.prepare import PushRedaction, prepare_push
from unspool.redact.policy import RedactionPolicy, parse_policy
from unspool.redact.rules import builtin_rules
from unspool.store.library import Library

ALL = RedactionPolicy(refused=frozenset({"secret", "personal", "term"}), terms=("Tidewater",))
SECRET = made.SECRETS["prompt"]


def file(folder: Path, name: str, data: str | bytes) -> tuple[str, Path]:
    path = folder / name.replace("/", "-")
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return name, path


def test_a_log_is_told_of_by_line_and_place(tmp_path: Path) -> None:
    lines = ['{"a": 1}', json.dumps({"message": {"content": [{"text": f"key {SECRET}"}]}})]
    (found,) = policy_findings([file(tmp_path, "k.jsonl", "\n".join(lines))], RedactionPolicy())
    assert found == ("anthropic-key", "secret", "k.jsonl", 2, "message.content[0].text")
    assert SECRET not in findings_sentence([found])
    assert "anthropic-key in k.jsonl, line 2 (message.content[0].text)" in findings_sentence([found])
    assert findings_sentence([found]).endswith(f"Rules {builtin_rules().version}.")


def test_a_text_is_looked_through_as_a_whole(tmp_path: Path) -> None:
    key = (
        "-----BEGIN "
        + "RSA PRIVATE KEY-----\n"
        + "MIIEpAIBAAKCAQEA7bq98vTQ\n" * 8
        + "-----END "
        + "RSA PRIVATE KEY-----"
    )
    (found, *_) = policy_findings(
        [file(tmp_path, "k/tool-results/x.txt", f"first\nsecond\n{key}\n")], RedactionPolicy()
    )
    assert (found.file, found.line) == ("k/tool-results/x.txt", 3)


def test_names_that_are_secrets_are_not_told(tmp_path: Path) -> None:
    line = json.dumps({SECRET: {"password": made.SECRETS["output"]}})
    found = policy_findings(
        [file(tmp_path, f"k/{SECRET}.jsonl", line), file(tmp_path, "k/x.json", line)], RedactionPolicy()
    )
    assert len(found) > 2
    assert SECRET not in repr(found) + findings_sentence(found)
    assert made.SECRETS["output"] not in repr(found) + findings_sentence(found)


def test_what_leaves_by_a_policy_is_let_in_by_it(tmp_path: Path) -> None:
    made.session().write(tmp_path)
    (log,) = Library((tmp_path,)).logs()
    before = policy_findings([("k.jsonl", Path(log.path))], ALL)
    assert {one.kind for one in before} == {"secret", "personal", "term"}
    files = prepare_push(log, PushRedaction(ALL, b"k" * 32, {}), tmp_path / "sent").files
    assert len(files) > 3
    assert policy_findings(files, ALL) == []


def test_kinds_and_rules_can_be_let_in(tmp_path: Path) -> None:
    one = file(tmp_path, "k.jsonl", json.dumps({"t": f"{SECRET} and Acme and {made.PERSONAL['mail']}"}))
    assert [found.rule for found in policy_findings([one], RedactionPolicy())] == ["anthropic-key"]
    assert policy_findings([one], RedactionPolicy(without=frozenset({"anthropic-key"}))) == []
    assert policy_findings([one], RedactionPolicy(refused=frozenset())) == []
    terms = RedactionPolicy(refused=frozenset({"term"}), terms=("acme",))
    assert [found.rule for found in policy_findings([one], terms)] == ["term"]
    assert {found.kind for found in policy_findings([one], RedactionPolicy(refused=frozenset({"personal"})))} == {
        "personal"
    }


def test_a_team_has_rules_of_its_own(tmp_path: Path) -> None:
    rule = {"id": "ticket", "kind": "secret", "about": "a ticket", "pattern": r"TIDE-\d{4}", "keys": ["tide-"]}
    policy = parse_policy(msgspec.json.encode({"rules": [rule]}))
    (found,) = policy_findings([file(tmp_path, "k.jsonl", '{"t": "see TIDE-1234"}')], policy)
    assert found.rule == "ticket"
    assert policy.version != RedactionPolicy().version


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"refused": ["all"]}', '{"more": 1}', '{"rules": [{"id": "x"}]}',
     '{"rules": [{"id": "x", "kind": "secret", "about": "", "pattern": "(", "keys": ["x"]}]}'],
)  # fmt: skip
def test_what_is_no_policy_is_told(text: str) -> None:
    with pytest.raises(UsageProblem):
        parse_policy(text)


def test_a_project_may_have_its_own(store: Store) -> None:
    project = projects.create_project(store.db, Person("x", "x", admin=True), "harbour")
    assert policy_of(store.db, project) == RedactionPolicy()
    save_policy(store.db, '{"terms": ["Acme"]}')
    assert policy_of(store.db, project).terms == policy_of(store.db).terms == ("Acme",)
    save_policy(store.db, '{"terms": ["Tide"]}', project)
    assert policy_of(store.db, project).terms == ("Tide",)
    save_policy(store.db, "", project)
    assert policy_of(store.db, project).terms == ("Acme",)
    with pytest.raises(UsageProblem):
        save_policy(store.db, "{}", "nowhere")
