"""`unspool hub policy`: told, changed, and changed back."""

import json
from pathlib import Path

from click.testing import CliRunner

from unspool.cli.hub_admin_cmd import policy_command
from unspool.errors import UsageProblem
from unspool.hub.people import projects
from unspool.hub.people.users import Person
from unspool.hub.store.connect import StorePlace, open_store


def policy(data: Path, *options: str, typed: str = "") -> dict[str, object]:
    done = CliRunner().invoke(policy_command, ["--data", str(data), *options], input=typed, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.output)
    return found


def test_a_policy_is_told_and_changed(tmp_path: Path) -> None:
    store = open_store(StorePlace(tmp_path))
    projects.create_project(store.db, Person("x", "x", admin=True), "shop")
    store.db.close()
    assert policy(tmp_path)["refused"] == ["secret", "term"]
    assert policy(tmp_path, "--set", "-", typed='{"terms": ["Acme"]}')["terms"] == ["Acme"]
    assert policy(tmp_path, "--project", "shop", "--set", "-", typed='{"refused": []}')["refused"] == []
    assert policy(tmp_path, "--project", "shop")["terms"] == []
    assert policy(tmp_path, "--project", "shop", "--reset")["terms"] == ["Acme"]
    wrong = CliRunner().invoke(policy_command, ["--data", str(tmp_path), "--set", "-"], input="no")
    assert isinstance(wrong.exception, UsageProblem)
    assert policy(tmp_path)["terms"] == ["Acme"]
