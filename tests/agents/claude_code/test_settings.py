"""What the agent's settings say of its cleanup is read as the agent reads it, and wrong values are told."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from unspool.agents import ClaudeCode
from unspool.agents.claude_code.settings import DEFAULT, KEY, hook_commands, managed_folders, retention


def put(path: Path, value: Any, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({KEY: value, **more}))
    return path


def test_without_settings_the_default_holds(tmp_path: Path) -> None:
    found = retention(tmp_path, [])
    assert (found.days, found.told_by, found.problems, found.harmful) == (DEFAULT, "", (), False)
    assert str(tmp_path / "settings.json") in found.remedy


def test_managed_settings_win_over_local_ones_and_those_over_the_users(tmp_path: Path) -> None:
    managed = tmp_path / "etc"
    expected = []
    for days, path in enumerate(
        (
            tmp_path / "settings.json",
            tmp_path / "settings.local.json",
            managed / "managed-settings.json",
            managed / "managed-settings.d" / "10-first.json",
            managed / "managed-settings.d" / "20-last.json",
        ),
        start=40,
    ):
        put(path, days)
        found = retention(tmp_path, [managed])
        expected.append((found.days, found.told_by) == (days, str(path)))
    assert expected == [True] * 5


def test_a_managed_setting_cannot_be_mended_by_the_user(tmp_path: Path) -> None:
    put(tmp_path / "etc" / "managed-settings.json", 5)
    assert "organisation" in retention(tmp_path, [tmp_path / "etc"]).remedy
    put(tmp_path / "settings.local.json", 5)
    assert f"into {tmp_path / 'settings.local.json'}" in retention(tmp_path, []).remedy


@pytest.mark.parametrize("value", ["30", None, True, -1, 1.5, [30], {"days": 3}, 1e300])
def test_a_value_that_is_no_number_of_days_is_told_and_passed_over(value: Any, tmp_path: Path) -> None:
    put(tmp_path / "settings.local.json", value)
    put(tmp_path / "settings.json", 77)
    found = retention(tmp_path, [])
    assert (found.days, found.told_by) == (77, str(tmp_path / "settings.json"))
    assert [str(tmp_path / "settings.local.json") in problem for problem in found.problems] == [True]


def test_a_whole_number_written_as_a_fraction_counts(tmp_path: Path) -> None:
    put(tmp_path / "settings.json", 90.0)
    assert retention(tmp_path, []).days == 90


def test_zero_is_said_to_be_harmful(tmp_path: Path) -> None:
    put(tmp_path / "settings.json", 0)
    found = retention(tmp_path, [])
    assert (found.days, found.harmful) == (0, True)
    assert "2.1.89" in found.problems[0]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe{}", b"[" * 100_000, b'{"a":1}x'])
def test_settings_that_are_none_are_told(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(data)
    found = retention(tmp_path, [])
    assert found.days == DEFAULT
    assert found.problems == (f"{tmp_path / 'settings.json'} cannot be read as settings.",)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({KEY: 12}).encode())
    assert retention(tmp_path, []).days == 12


def test_settings_that_are_linked_from_elsewhere_count(tmp_path: Path) -> None:
    put(tmp_path / "dotfiles" / "settings.json", 365)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "settings.json").symlink_to(tmp_path / "dotfiles" / "settings.json")
    assert retention(tmp_path / "home", []).days == 365


def test_a_folder_in_place_of_settings_is_no_setting(tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    found = retention(tmp_path, [])
    assert (found.days, found.problems) == (DEFAULT, ())


def test_the_last_cleanup_is_when_its_marker_was_touched(tmp_path: Path) -> None:
    assert retention(tmp_path, []).last is None
    (tmp_path / ".last-cleanup").touch()
    os.utime(tmp_path / ".last-cleanup", (1_700_000_000, 1_700_000_000))
    assert retention(tmp_path, []).last == 1_700_000_000


def test_a_project_that_keeps_less_is_told(tmp_path: Path) -> None:
    """The agent cleans up everything by the settings of where it is started."""
    short = put(tmp_path / "short" / ".claude" / "settings.json", 7)
    put(tmp_path / "long" / ".claude" / "settings.local.json", 70)
    rows = [{"display": "x", "project": str(tmp_path / name)} for name in ("short", "long", "gone", "short")]
    (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = ClaudeCode().files.retention(tmp_path)
    assert [problem.split(" sets ")[0] for problem in found.problems] == [str(short)]


def test_every_system_has_a_place_for_managed_settings() -> None:
    places = [managed_folders(platform) for platform in ("linux", "darwin", "win32", "freebsd")]
    assert all(places)
    assert len({str(place[0]) for place in places}) == 3


def test_hooks_are_the_commands_of_every_moment(tmp_path: Path) -> None:
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": "one"}, {"type": "command"}, 7]}
    put(tmp_path / "settings.json", 30, hooks={"SessionEnd": [entry], "PreCompact": [entry, None], "Stop": "x"})
    assert hook_commands(tmp_path) == ("one", "one")
    assert ClaudeCode().hooks.commands(tmp_path) == ("one", "one")
    put(tmp_path / "settings.json", 30, hooks=["x"])
    assert hook_commands(tmp_path) == ()


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_the_command_can_do_nothing_but_answer() -> None:
    """No tools, no servers of tools, no hooks, no settings of a project, and no log of its own."""
    command = ClaudeCode().asking.ask("some-model", "Do this.")
    assert command[:2] == ["claude", "--print"]
    assert option(command, "--model") == "some-model"
    assert option(command, "--system-prompt") == "Do this."
    assert option(command, "--tools") == ""
    assert option(command, "--setting-sources") == "user"
    assert "disableAllHooks" in option(command, "--settings")
    assert {"--strict-mcp-config", "--no-session-persistence"} <= set(command)


def test_without_a_model_the_cheapest_is_asked() -> None:
    assert option(ClaudeCode().asking.ask("", ""), "--model") == "haiku"
