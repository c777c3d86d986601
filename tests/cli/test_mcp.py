"""`unspool mcp` and the commands that tell the same: outline and solved."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.archived import Synced
from tests.cli.running import FIRST_LIGHT, run
from tests.log_builder.builder import LogBuilder
from tests.mcp.test_hostile import KEY
from tests.store.index.synced import kept
from tests.test_architecture import imported_by
from unspool.cli.mcp_cmd import made_quoter
from unspool.cli.settings import redacts_answers


@pytest.fixture
def synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Synced:
    made = Synced(tmp_path)
    monkeypatch.setenv("UNSPOOL_SOURCES", str(made.source))
    return made


def test_other_commands_load_nothing_of_it() -> None:
    for words in ("['unspool', '--help']", "['unspool', 'list', '--demo']"):
        modules = imported_by(f"sys.argv = {words}; import unspool.cli; unspool.cli.main()")
        assert not {name for name in modules if name.split(".")[0] in ("mcp", "pydantic", "mcp_types")}
        assert "unspool.mcp" not in modules


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.cli.mcp_cmd.find_spec", lambda _: None)
    done = run("mcp")
    assert (done.code, done.out) == (2, "")
    assert done.err == "unspool: This needs the MCP SDK: pip install 'unspool[mcp]'\n"


def test_an_entry_is_shown_before_it_is_written(home: Path) -> None:
    file = home / ".claude.json"
    file.write_text('{"other": 1}\n')
    done = run("mcp", "--install", "claude")
    assert done.code == 2
    assert "unspool" in done.out
    assert str(file) in done.out
    assert file.read_text() == '{"other": 1}\n'
    assert run("mcp", "--install", "claude", "--yes").code == 0
    entry = json.loads(file.read_text())["mcpServers"]["unspool"]
    assert (entry["command"], entry["args"][-1]) == (sys.executable, "mcp")
    assert "Nothing to do." in run("mcp", "--install", "claude", "--yes").out
    assert run("mcp", "--uninstall", "claude", "--yes").code == 0
    assert json.loads(file.read_text()) == {"other": 1, "mcpServers": {}}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--install nobody", "There is no client nobody"),
        ("--install codex --uninstall codex", "Either --install or --uninstall"),
        ("--port 9000", "--port is for --http"),
    ],
)
def test_what_makes_no_sense_is_said(words: str, said: str) -> None:
    done = run("mcp", *words.split())
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(("value", "redacts"), [("", True), ("false", False), ("TRUE", True), ("perhaps", True)])
def test_redaction_is_on_unless_a_setting_says_no(value: str, redacts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_MCP_REDACT", value)
    assert redacts_answers() is redacts
    assert (made_quoter(Path("nowhere")).text(f"the key is {KEY}") == f"the key is {KEY}") is not redacts


def test_whose_folders_sessions_worked_in_is_not_told(tmp_path: Path) -> None:
    log = LogBuilder(session_id="abroad", cwd="/Users/wilhelmine/quay")
    archive = kept(tmp_path, log.prompt("Hello").assistant(log.text("Hello.")))
    assert "wilhelmine" not in made_quoter(archive).text("as wilhelmine said")
    assert "wilhelmine" in made_quoter(tmp_path / "nowhere").text("as wilhelmine said")


def test_rules_that_cannot_be_read_let_nothing_leave(home: Path) -> None:
    rules = home / "xdg_config_home" / "unspool" / "redact.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text("[[rules]\n")
    done = run("mcp", "--no-sync")
    assert done.code == 2
    assert "Nothing leaves unless your rules can be read" in done.err


def test_an_outline_tells_each_prompt(synced: Synced) -> None:
    told = run("outline", FIRST_LIGHT, "-s", str(synced.source))
    assert told.code == 0, told.err
    assert "Start a small Python package" in told.out
    assert "13 calls · 1 failed · +20 −1" in told.out
    found = json.loads(run("outline", FIRST_LIGHT, "-s", str(synced.source), "--json").out)
    second = next(one for one in found["prompts"] if one["number"] == 2)
    assert (second["calls"], second["failed"], len(second["files"])) == (13, 1, 2)


def test_an_error_is_told_with_what_solved_it(synced: Synced) -> None:
    words = "ValueError: could not convert string to float"
    told = synced.run("solved", words, "--no-sync")
    assert "solved" in told.out
    assert "worked   python -m pytest" in told.out
    (found, *_) = synced.json("solved", words, "--no-sync")["found"]
    assert found["session"] == FIRST_LIGHT
    assert [step["kind"] for step in found["error"]["steps"]] == ["said", "changed", "worked"]
    assert "No session" in synced.run("solved", "a quorum of zebras", "--no-sync", code=1).err
    assert "Say the error" in synced.run("solved", "12 34", "--no-sync", code=2).err
