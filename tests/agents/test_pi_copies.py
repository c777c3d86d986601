"""Copies of sessions of pi: sessions of their own that pi can resume, with nothing in them that was left out."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.pi import SESSION, answer, call, entry, message, result
from tests.cli.running import run
from unspool.agents.pi import Pi
from unspool.agents.pi.writing import PiWriter
from unspool.agents.writing import errors
from unspool.model import Text, ToolCall
from unspool.store.library import Library

SECRET = "the tide is at nine"
HEADER: dict[str, Any] = {
    "type": "session", "version": 3, "id": SESSION, "timestamp": "2026-04-20T06:08:00.000Z", "cwd": "/home/ada/quay",
}  # fmt: skip
USED = {"input": 40, "output": 10, "cacheRead": 60, "cacheWrite": 5}
LINES: list[dict[str, Any]] = [
    entry(0, "model_change", provider="anthropic", modelId="claude-sonnet-4-5"),
    message(1, "user", [{"type": "text", "text": "Mend the quay"}]),
    answer(
        2,
        {"type": "thinking", "thinking": "Stones first", "thinkingSignature": "x"},
        call("bash", "c1", command="ls"),
        usage=USED,
    ),
    result(3, "c1", SECRET),
    answer(4, {"type": "text", "text": "Nine stones."}, usage=USED, stop="stop"),
    entry(5, "label", targetId="00000003", label="stones"),
    entry(6, "context_edit", targetId="00000003", replacement={"content": [{"type": "text", "text": SECRET}]}),
    entry(7, "hologram", shape="ship"),
    message(8, "user", "And the light"),
    answer(9, {"type": "text", "text": "Lit."}, usage=USED, stop="stop"),
    entry(10, "thinking_level_change", thinkingLevel="high"),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "pi"))
    return tmp_path / "pi"


def keep(home: Path, lines: list[dict[str, Any]] = LINES, header: dict[str, Any] = HEADER) -> Path:
    path = home / "sessions" / "--home-ada-quay--" / f"2026-04-20T06-08-00-000Z_{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]))
    return path


def made(home: Path, *words: str) -> tuple[Path, list[dict[str, Any]]]:
    before = set(home.rglob("*.jsonl"))
    finished = run(*words)
    assert (finished.code, finished.err) == (0, "")
    (path,) = set(home.rglob("*.jsonl")) - before
    held = path.read_bytes().splitlines(keepends=True)
    assert errors(PiWriter().lint(held, strict=True)) == []
    return path, [json.loads(line) for line in held]


def loaded(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries on the path to the last, as pi goes it."""
    by_id = {line["id"]: line for line in lines[1:]}
    path = [lines[-1]]
    while path[0]["parentId"] in by_id:
        path.insert(0, by_id[path[0]["parentId"]])
    return path


def rules(*words: str) -> set[str]:
    return {one["rule"] for one in json.loads(run(*words, "--json").out)["findings"]}


def test_a_fork_is_a_session_of_its_own_that_holds_all_entries(home: Path) -> None:
    original = keep(home)
    path, lines = made(home, "fork", SESSION)
    header, *rest, title = lines
    assert path.parent == original.parent
    assert Pi.log_name.search(path.name)[1] == header["id"] != SESSION  # type: ignore[index]
    assert header == {**HEADER, "id": header["id"], "timestamp": header["timestamp"], "parentSession": str(original)}
    assert path.name[:19] == header["timestamp"][:19].replace(":", "-")
    assert rest == LINES
    assert (title["name"], title["parentId"]) == ("Mend the quay (fork)", "0000000a")
    assert loaded(lines) == [*LINES, title]


def test_what_a_fork_copied_is_paid_once_and_undone_without_a_trace(home: Path) -> None:
    keep(home)
    path, _ = made(home, "fork", SESSION)
    listed = Library([home]).overviews()
    assert sum(call.usage.total for one in listed for call in one.calls) == 3 * 115
    assert {one.history.session for one in listed if one.history is not None} == {SESSION}
    assert run("clone", "--undo").code == 0
    assert not path.exists()


def test_a_fork_ends_with_its_turn(home: Path) -> None:
    keep(home)
    _, lines = made(home, "fork", SESSION, "--at", "1")
    assert lines[1:-1] == LINES[:8]
    _, lines = made(home, "fork", SESSION, "--at", "00000004")
    assert lines[1:-1] == LINES[:5]


def test_turns_that_are_left_out_leave_nothing_and_nothing_names_them(home: Path) -> None:
    keep(home)
    _, lines = made(home, "fork", SESSION, "--without", "1")
    written = json.dumps(lines)
    assert SECRET not in written
    assert "stones" not in written
    assert [one["id"] for one in loaded(lines)] == ["00000000", "00000008", "00000009", "0000000a", lines[-1]["id"]]


def test_an_abandoned_branch_is_left_out_and_can_be_forked(home: Path) -> None:
    left = [
        message(20, "user", "And the mole") | {"parentId": "00000004"},
        answer(21, {"type": "text", "text": "No mole."}, usage=USED, stop="stop"),
    ]
    back = entry(22, "branch_summary", fromId="00000015", summary="A mole was asked for") | {"parentId": "00000004"}
    on = [message(8, "user", "And the light") | {"parentId": "00000016"}, *LINES[9:]]
    keep(home, [*LINES[:5], *left, back, *on])
    _, lines = made(home, "fork", SESSION)
    assert "No mole" not in json.dumps(lines)
    (summary,) = [one for one in loaded(lines) if one["type"] == "branch_summary"]
    assert summary["fromId"] == summary["parentId"] == "00000004"
    _, lines = made(home, "fork", SESSION, "--branch", "1")
    said = [one["message"]["content"] for one in loaded(lines) if one["type"] == "message"]
    assert said[-1] == left[-1]["message"]["content"]
    assert "And the light" not in said


def test_a_compaction_keeps_what_is_left_of_what_it_kept(home: Path) -> None:
    closed = entry(10, "compaction", summary="All of it", firstKeptEntryId="00000001", tokensBefore=9)
    more = [message(11, "user", "On"), answer(12, {"type": "text", "text": "Yes."}, usage=USED, stop="stop")]
    keep(home, [*LINES[:10], closed, *more])
    _, lines = made(home, "fork", SESSION, "--without", "1")
    (compaction,) = [one for one in loaded(lines) if one["type"] == "compaction"]
    assert compaction["firstKeptEntryId"] == "00000008"


@pytest.mark.parametrize("preset", ["none", "default", "aggressive", "heavy", "extreme"])
def test_every_preset_makes_a_sound_copy(preset: str, home: Path) -> None:
    keep(home)
    path, lines = made(home, "clone", SESSION, "--preset", preset)
    found = Library([home]).open(lines[0]["id"])
    blocks = [block for turn in found.turns for block in turn.blocks]
    assert [turn.prompt.text for turn in found.turns if turn.prompt] == ["Mend the quay", "And the light"]
    assert [block.text for block in blocks if isinstance(block, Text)] == ["Nine stones.", "Lit."]
    assert sum(isinstance(block, ToolCall) for block in blocks) == (preset != "extreme")
    assert (SECRET in path.read_text()) == (preset != "extreme")


@pytest.mark.parametrize("mode", ["truncate", "stub"])
def test_calls_are_shortened_with_all_that_tells_of_them(mode: str, home: Path) -> None:
    long = result(3, "c1", "x" * 5000)
    long["message"]["details"] = {"fullOutput": "x" * 5000}
    keep(home, [*LINES[:3], long, *LINES[4:]])
    _, lines = made(home, "clone", SESSION, "--strip-tools", "100", "--mode", mode)
    (short,) = [one["message"] for one in loaded(lines) if one.get("message", {}).get("role") == "toolResult"]
    assert len(json.dumps(short)) < 400
    assert "context_edit" not in [one["type"] for one in lines]


def test_a_call_whose_reasoning_goes_is_no_longer_called_as_the_item_beside_it(home: Path) -> None:
    keep(home, json.loads(json.dumps(LINES).replace('"c1"', '"call_1|fc_2"')))
    _, lines = made(home, "clone", SESSION, "--preset", "none", "--strip-thinking", "100")
    assert '"call_1|' not in json.dumps(lines)
    assert json.dumps(lines).count('"call_1"') == 2


def test_answers_that_are_hidden_from_a_share_are_nowhere_in_it(home: Path, tmp_path: Path) -> None:
    keep(home)
    bundle = tmp_path / "share.tar"
    assert run("share", SESSION, "--bundle", "--yes", "--no-tools", "-o", str(bundle)).code == 0
    assert SECRET not in run("show", str(bundle), "--full").out
    assert "Nine stones" in run("show", str(bundle), "--full").out


def test_a_moved_session_names_its_new_folder(home: Path, tmp_path: Path) -> None:
    own = {"file": f"{home}/sessions/--home-ada-quay--/x.jsonl", "at": "/home/ada/quay/light.py"}
    keep(home, [*LINES, entry(11, "custom", customType="notes", data=own)])
    there = tmp_path / "there"
    there.mkdir()
    path, lines = made(home, "move", SESSION, "--to", str(there))
    folder = f"--{str(there)[1:].replace('/', '-')}--"
    assert path.parent == home / "sessions" / folder
    assert lines[0]["cwd"] == str(there)
    assert lines[-2]["data"] == {"file": f"{home}/sessions/{folder}/x.jsonl", "at": f"{there}/light.py"}


def test_a_log_that_somebody_sent_goes_to_the_folder_of_its_agent(home: Path, tmp_path: Path) -> None:
    system = entry(11, "message", message={"role": "system", "content": "You are theirs."})
    log = keep(tmp_path / "sent", [*LINES, system])
    there = tmp_path / "there"
    there.mkdir()
    home.mkdir()
    path, lines = made(home, "import", str(log), "--to", str(there))
    assert path.is_relative_to(home / "sessions")
    assert "theirs" not in json.dumps(lines)


def test_a_bundle_is_read_and_goes_on_elsewhere(home: Path, tmp_path: Path) -> None:
    keep(home)
    bundle, there = tmp_path / "share.tar", tmp_path / "there"
    there.mkdir()
    assert run("share", SESSION, "--bundle", "--yes", "-o", str(bundle)).code == 0
    shutil.rmtree(home)
    home.mkdir()
    path, lines = made(home, "import", str(bundle), "--to", str(there))
    assert (path.is_relative_to(home / "sessions"), lines[0]["cwd"]) == (True, str(there))
    assert [one["id"] for one in loaded(lines)][:5] == [one["id"] for one in LINES[:5]]
    assert run("import", str(bundle)).code == 0
    assert "Nine stones" in run("show", SESSION).out


def test_a_damaged_session_is_mended(home: Path) -> None:
    lost = [LINES[0], LINES[1], *LINES[3:5], answer(20, call("bash", "c8", command="x"), usage={}), *LINES[7:]]
    path = keep(home, [*lost[:-1], lost[-1], lost[-1] | {"thinkingLevel": "low"}])
    held = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*held[:3], "\0\0 no json\n", *held[3:], '{"type": "torn']))
    assert rules("lint", SESSION) >= {"torn-line", "missing-parent", "duplicate-id"}
    _, lines = made(home, "repair", SESSION)
    said = [one["message"]["role"] for one in loaded(lines) if one["type"] == "message"]
    assert said == ["user", "assistant", "user", "assistant"]
    assert [one.get("thinkingLevel") for one in loaded(lines)][-3:-1] == [None, "low"]


def test_what_pi_or_a_provider_would_not_take_is_told(home: Path) -> None:
    keep(home, [*LINES, result(11, "c9", "stray"), result(12, "c1", "again"), {"type": "custom", "parentId": None}])
    assert rules("lint", SESSION) == {"no-id"}
    shutil.rmtree(home)
    keep(home, [*LINES, result(11, "c9", "stray"), result(12, "c1", "again")])
    assert rules("lint", SESSION) == {"orphan-result", "duplicate-result"}


def test_an_entry_that_follows_no_name_follows_the_one_before(home: Path) -> None:
    keep(home, [*LINES[:8], LINES[8] | {"parentId": [5]}, *LINES[9:]])
    assert rules("lint", SESSION) == {"missing-parent"}
    _, lines = made(home, "repair", SESSION)
    assert lines[1:-1] == LINES


def test_what_is_no_message_has_no_calls(home: Path) -> None:
    stray = result(11, "c9", "stray") | {"type": "hologram"}
    keep(home, [*LINES, stray])
    assert rules("lint", SESSION) == set()
    _, lines = made(home, "fork", SESSION)
    assert lines[1:-1] == [*LINES, stray]


def test_a_torn_header_is_made_whole(home: Path) -> None:
    path = keep(home)
    path.write_text(path.read_text().replace('quay"}', 'quay", "parentSess', 1))
    assert "no-session" in rules("lint", SESSION)
    _, lines = made(home, "repair", SESSION)
    assert lines[0]["cwd"] == "/home/ada/quay"
    assert lines[1:-1] == LINES


def test_a_session_of_the_first_form_becomes_one_of_today(home: Path) -> None:
    closed = entry(10, "compaction", summary="All of it", firstKeptEntryIndex=9, tokensBefore=9)
    hook = message(11, "hookMessage", "A hook spoke")
    more = [message(12, "user", "On"), answer(13, {"type": "text", "text": "Yes."}, usage=USED, stop="stop")]
    lines = [*(one for one in LINES[:10] if "targetId" not in one), closed, hook, *more]
    plain = [{name: value for name, value in one.items() if name not in ("id", "parentId")} for one in lines]
    old = {"provider": "anthropic", "modelId": "claude-sonnet-4-5", "branchedFrom": "/home/ada/old.jsonl"}
    keep(home, plain, {name: value for name, value in HEADER.items() if name != "version"} | old)
    assert rules("lint", SESSION) == set()
    _, lines = made(home, "fork", SESSION)
    assert lines[0]["version"] == 3
    assert "branchedFrom" not in lines[0]
    path = loaded(lines)
    assert [one["type"] for one in path] == [*(one["type"] for one in plain), "session_info"]
    (compaction,) = [one for one in path if one["type"] == "compaction"]
    (kept,) = [one for one in path if one["id"] == compaction["firstKeptEntryId"]]
    assert kept["timestamp"] == plain[8]["timestamp"]
    assert "hookMessage" not in json.dumps(lines)
    listed = Library([home]).overviews()
    assert sum(call.usage.total for one in listed for call in one.calls) == 4 * 115


def test_a_session_is_lightened_in_its_own_file_and_given_back(home: Path) -> None:
    """It is found under its id, without what was taken out, and sound; undo gives every byte back."""
    path = keep(home)
    before = path.read_bytes()
    assert run("clone", SESSION, "--in-place", "--preset", "extreme").code == 0
    assert SECRET.encode() not in path.read_bytes()
    assert errors(PiWriter().lint(path.read_bytes().splitlines(keepends=True), strict=False)) == []
    session = Library([home]).open(SESSION)
    assert [turn.prompt.text for turn in session.turns if turn.prompt] == ["Mend the quay", "And the light"]
    assert run("clone", "--undo", SESSION).code == 0
    assert path.read_bytes() == before
