"""What the settings say, for every command: folders, prices, time zone. What a flag says goes over it."""

import os
from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.config import PRICES_FILE, SETTINGS_FILE, config_folder
from unspool.errors import NotFound

if TYPE_CHECKING:
    from unspool.config.settings import Settings
    from unspool.copies.treatment import Treatment
    from unspool.prices import PriceTable
    from unspool.store.sync import SyncChoices

_VARIABLES = ("UNSPOOL_SOURCES", "UNSPOOL_PRICES", "UNSPOOL_TIME_ZONE", "UNSPOOL_SYNC", "UNSPOOL_MCP_REDACT",
              "UNSPOOL_CONTEXT_FILES", "UNSPOOL_AGENTS_OFF", "UNSPOOL_AGENT_FOLDERS")  # fmt: skip
_WARNED = "unspool.settings.warned"


def chosen_sources(named: Sequence[Path]) -> tuple[Path, ...]:
    """The folders named; else those of the settings that are there; none: the agents' own.

    NotFound where the settings name folders and none of them is there: others were not asked for.
    """
    chosen = () if named else wanted_sources()
    there = tuple(source for source in chosen if source.is_dir())
    if chosen and not there:
        raise NotFound(f"There is no folder {' or '.join(map(str, chosen))}, which {_place()} names as source.")
    return tuple(named) or there


def wanted_sources() -> tuple[Path, ...]:
    """The folders that the settings name, whether they are there or not; those that are not are told."""
    held = _settings()
    found = tuple(Path(one).expanduser().absolute() for one in held.sources) if held else ()
    for source in found:
        if not source.is_dir():
            warn_once(f"there is no folder {source}, which {_place()} names as source.")
    return found


def price_file() -> Path | None:
    """The user's price table, where there is one: the one that the settings name, or the usual one."""
    held = _settings()
    if held is None or not held.prices:
        usual = config_folder() / PRICES_FILE
        return usual if usual.is_file() else None
    named = Path(held.prices).expanduser()
    if named.is_file():
        return named
    warn_once(f"there is no file {named}, which {_place()} names as prices; list prices are used.")
    return None


def price_table() -> "PriceTable":
    """The built-in list prices, with the user's own laid over them."""
    from unspool.prices import PriceTable

    return PriceTable.load(price_file())


def chosen_zone() -> tzinfo | None:
    """Where days begin; None: as this machine's clock has it, with its summer time."""
    found = _settings()
    return found.zone if found else None


def chosen_zone_name() -> str:
    found = _settings()
    return found.time_zone if found else "local"


def chosen_sync() -> str:
    """Which archive commands bring up to date before they answer: usual, any, never."""
    found = _settings()
    return found.sync if found else "usual"


def sync_choices(patience: float | None = None) -> "SyncChoices":
    """What the settings say of how syncs go; another one is waited for so many seconds, or as long as is usual."""
    from unspool.store.sync import SyncChoices

    found = _settings()
    chosen = SyncChoices(price_table(), found.context_files if found else True)
    return chosen if patience is None else chosen._replace(patience=patience)


def redacts_answers() -> bool:
    """Whether what agents are told goes through the redaction first."""
    found = _settings()
    return found.mcp_redact if found else True


def chosen_presets() -> "dict[str, Treatment]":
    """The user's own treatments for copies, by name; one that is wrong is told, and left out."""
    import msgspec

    from unspool.copies.treatment import Treatment

    made = {}
    for name, figures in settings_table("presets").items():
        try:
            named = {key.replace("_", "-"): value for key, value in figures.items()} if isinstance(figures, dict) else 0
            made[name] = msgspec.convert(named, Treatment)
        except msgspec.ValidationError as error:
            place = config_folder() / SETTINGS_FILE
            warn_once(f"the preset “{name}” in {place} is wrong, and is not there: {error}.")
    return made


def settings_table(name: str) -> "dict[str, Any]":
    """A table of the settings file; empty where there is none."""
    if not (config_folder() / SETTINGS_FILE).exists():
        return {}
    from unspool.config.settings import load_settings

    return dict(load_settings().tables.get(name, {}))


def _settings() -> "Settings | None":
    """The settings; None where nobody set anything, which is found out without loading what reads them."""
    if not (config_folder() / SETTINGS_FILE).exists() and not any(map(os.environ.get, _VARIABLES)):
        return None
    from unspool.config.settings import load_settings, settings_path

    found, path = load_settings(), settings_path()
    for trouble in found.troubles:
        warn_once(f"{path}, line {trouble.line}: {trouble.words}" if trouble.line else trouble.words)
    if found.settings.agents_off or found.settings.agent_folders:
        from unspool.agents import AGENT_FOLDERS, AGENTS_OFF

        os.environ[AGENTS_OFF] = " ".join(found.settings.agents_off)
        os.environ[AGENT_FOLDERS] = os.pathsep.join(found.settings.agent_folders)
    return found.settings


def _place() -> str:
    """Where sources or prices were named."""
    return str(config_folder() / SETTINGS_FILE) if not any(map(os.environ.get, _VARIABLES[:2])) else "the environment"


def warn_once(text: str) -> None:
    """Say it on standard error, once a command."""
    from unspool.render.sanitize import one_line

    context = click.get_current_context(silent=True)
    warned: set[str] = context.meta.setdefault(_WARNED, set()) if context else set()
    if text not in warned:
        warned.add(text)
        click.echo(one_line(f"unspool: {text}"), err=True)
