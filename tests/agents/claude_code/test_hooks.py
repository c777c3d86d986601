"""Our hooks come into the agent's settings and go again; everything else stays as somebody wrote it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.agents.claude_code.settings import EVENTS, hook_edit
from unspool.errors import Unreadable

COMMAND = "sh -c 'x & exit 0' unspool-hook unspool sync -q"
OURS = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]}
THEIRS: dict[str, Any] = {"matcher": "auto", "hooks": [{"type": "command", "command": "say done"}]}

WRITTEN = """\
{
    "model": "opus",   "numbers": [1.0, 1e5, 12345678901234567890],
    "env": { "A": "\\u00e9\\/", "B": "é" },
    "hooks": {
        "PreCompact": [
            {"matcher": "auto", "hooks": [{"type": "command", "command": "say done"}]}
        ],
        "Stop": []
    },

    "permissions": {"allow": ["Bash(ls:*)", "Read"]}
}
"""


def put(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "settings.json"
    path.write_bytes(text.encode())
    return path


def after(folder: Path, command: str = COMMAND) -> str:
    """The settings once the edit is written."""
    change = hook_edit(folder, command)
    change.path.write_bytes(change.after)
    return change.after.decode()


def test_settings_that_are_not_there_are_made(tmp_path: Path) -> None:
    change = hook_edit(tmp_path, COMMAND)
    assert (change.path, change.before) == (tmp_path / "settings.json", b"")
    assert json.loads(change.after) == {"hooks": {event: [OURS] for event in EVENTS}}
    assert change.after.decode() == json.dumps(json.loads(change.after), indent=2) + "\n"


def test_only_lines_are_added(tmp_path: Path) -> None:
    """Every line that was there is there still, but for a comma at the end of two."""
    put(tmp_path, WRITTEN)
    made = after(tmp_path)
    kept = [line.rstrip(",") for line in made.splitlines()]
    assert [line for line in kept if line in [old.rstrip(",") for old in WRITTEN.splitlines()]][:4] == [
        line.rstrip(",") for line in WRITTEN.splitlines()[:4]
    ]
    assert {line.rstrip(",") for line in WRITTEN.splitlines()} <= set(kept)
    assert json.loads(made)["hooks"] == {"PreCompact": [THEIRS, OURS], "Stop": [], "SessionEnd": [OURS]}
    assert '\n        "SessionEnd": [\n            {\n                "hooks": [' in made


def test_twice_is_once(tmp_path: Path) -> None:
    put(tmp_path, WRITTEN)
    after(tmp_path)
    assert not hook_edit(tmp_path, COMMAND).changes


def test_another_command_takes_the_place_of_ours(tmp_path: Path) -> None:
    put(tmp_path, WRITTEN)
    after(tmp_path)
    other = COMMAND + " --archive /a"
    made = json.loads(after(tmp_path, other))
    assert len(made["hooks"]["PreCompact"]) == 2
    assert made["hooks"]["PreCompact"][0] == THEIRS
    assert made["hooks"]["SessionEnd"][0]["hooks"][0]["command"] == other


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        WRITTEN.replace("\n", "\r\n"),
        WRITTEN.replace("    ", "\t"),
        '{"a":1}',
        '{"a": 1, "hooks": {"PreCompact": [{}]}}\n',
        "  {\n}\n",
        '{\n  "hooks": {\n    "Stop": []\n  }\n}',
    ],
)
def test_out_again_leaves_what_was(tmp_path: Path, text: str) -> None:
    """To the byte, whatever the indentation and the ends of lines, but for space within an empty object."""
    put(tmp_path, text)
    assert after(tmp_path) != text
    assert "\r\n" not in text or "\n" not in after(tmp_path).replace("\r\n", "")
    made = after(tmp_path, "")
    assert made == text or (json.loads(text) == json.loads(made) == {})


def test_only_ours_goes(tmp_path: Path) -> None:
    """Also where somebody put a command of their own into our entry."""
    mixed = {"hooks": {"SessionEnd": [{"hooks": [*OURS["hooks"], *THEIRS["hooks"]]}, OURS], "PreCompact": [OURS, 7]}}
    put(tmp_path, json.dumps(mixed))
    assert json.loads(after(tmp_path, "")) == {"hooks": {"SessionEnd": [{"hooks": THEIRS["hooks"]}], "PreCompact": [7]}}


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "7", "// x\n{}", '{"a": NaN}', '{"a": 1, "a": 2}', "\ufeff{}", "[" * 100_000),
        *('{"hooks": []}', '{"hooks": null}', '{"hooks": {"SessionEnd": {}}}'),
    ],
)
def test_settings_of_another_shape_are_refused(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, text)
    for command in (COMMAND, ""):
        with pytest.raises(Unreadable, match=r"settings\.json.*left as it is"):
            hook_edit(tmp_path, command)
    assert path.read_text("utf-8") == text


def test_settings_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(Unreadable):
        hook_edit(tmp_path, COMMAND)


def test_nothing_to_take_out(tmp_path: Path) -> None:
    assert not hook_edit(tmp_path, "").changes
    put(tmp_path, WRITTEN)
    assert not hook_edit(tmp_path, "").changes


def test_a_link_is_followed(tmp_path: Path) -> None:
    """People keep their settings in a repository of their own; the link stays one."""
    real = put(tmp_path / "dotfiles", WRITTEN)
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "settings.json").symlink_to("../dotfiles/settings.json")
    assert hook_edit(tmp_path / "agent", COMMAND).path == real


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
NAMES = st.sampled_from([*EVENTS, "Stop", "hooks"])
SETTINGS = st.fixed_dictionaries(
    {}, optional={"hooks": st.dictionaries(NAMES, st.lists(st.just(THEIRS) | VALUES)), "x": VALUES, "": VALUES}
)


@given(SETTINGS, st.sampled_from([None, 0, 1, 2, 4, "\t"]))
def test_in_and_out_again_changes_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any], indent: int | str | None
) -> None:
    """In, ours is added last to each event and nothing else differs; out, the settings say what they said before."""
    folder = tmp_path_factory.getbasetemp() / "any"
    put(folder, json.dumps(settings, indent=indent))
    made = json.loads(after(folder))
    hooks = settings.get("hooks", {})
    assert made == {**settings, "hooks": {**hooks, **{event: [*hooks.get(event, []), OURS] for event in EVENTS}}}
    assert list(made)[: len(settings)] == list(settings)
    assert not hook_edit(folder, COMMAND).changes
    left = {event: listed for event, listed in hooks.items() if listed or event not in EVENTS}
    gone = {**settings, "hooks": left} if left else {name: settings[name] for name in settings if name != "hooks"}
    assert json.loads(after(folder, "")) == gone
