"""Where programs keep their files on Linux, macOS and Windows, with the variables that move them."""

import sys
from collections.abc import Mapping
from pathlib import Path

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server")


def config_folder(environment: Mapping[str, str], home: Path, system: str | None = None) -> Path:
    """The folder of settings, which editors keep their sessions in as well."""
    return _folder(environment, home, ("APPDATA", "AppData/Roaming", "XDG_CONFIG_HOME", ".config"), system)


def data_folder(environment: Mapping[str, str], home: Path, system: str | None = None) -> Path:
    """The folder of what programs store."""
    return _folder(environment, home, ("LOCALAPPDATA", "AppData/Local", "XDG_DATA_HOME", ".local/share"), system)


def _folder(environment: Mapping[str, str], home: Path, names: tuple[str, str, str, str], system: str | None) -> Path:
    system = system or sys.platform
    if system == "darwin":
        return home / "Library" / "Application Support"
    variable, usual = names[:2] if system == "win32" else names[2:]
    named = environment.get(variable)
    return Path(named).expanduser() if named else home / usual


def editor_folders(
    environment: Mapping[str, str], home: Path, system: str | None = None, editors: tuple[str, ...] = _EDITORS
) -> list[Path]:
    """The user folder of VS Code; those of editors built on it, and of servers on a remote machine, that are there."""
    config = config_folder(environment, home, system)
    portable = environment.get("VSCODE_PORTABLE")
    found = [Path(portable).expanduser() / "user-data" / "User"] if portable else []
    found += [config / name / "User" for name in editors]
    found += [home / name / "data" / "User" for name in _SERVERS]
    return [one for one in found if one.parent.name == "Code" or one.is_dir()]
