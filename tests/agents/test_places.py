"""Where agents keep their files, by the system and the variables that move it."""

from pathlib import Path

import pytest

from unspool.agents.places import config_folder, data_folder, editor_folders

HOME = Path("/home/ada")


@pytest.mark.parametrize(
    ("system", "environment", "config", "data"),
    [
        ("linux", {}, ".config", ".local/share"),
        ("linux", {"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c", "/d"),
        ("darwin", {"XDG_CONFIG_HOME": "/c"}, "Library/Application Support", "Library/Application Support"),
        ("win32", {}, "AppData/Roaming", "AppData/Local"),
        ("win32", {"APPDATA": "/r", "LOCALAPPDATA": "/l"}, "/r", "/l"),
    ],
)
def test_the_folders_of_a_system(system: str, environment: dict[str, str], config: str, data: str) -> None:
    assert config_folder(environment, HOME, system) == HOME / config
    assert data_folder(environment, HOME, system) == HOME / data


def test_editors_lie_in_the_folder_of_settings_and_their_servers_at_home(tmp_path: Path) -> None:
    usual = tmp_path / ".config/Code/User"
    assert editor_folders({}, tmp_path, "linux") == [usual]
    others = [tmp_path / name for name in (".config/VSCodium/User", ".vscode-server/data/User", "stick/user-data/User")]
    for one in others:
        one.mkdir(parents=True)
    assert {*editor_folders({"VSCODE_PORTABLE": str(tmp_path / "stick")}, tmp_path, "linux")} == {usual, *others}
