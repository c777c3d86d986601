"""Where a person's own files lie: settings and price overrides. Imports the store's clock words and the site's
options, and is imported by the app, the hub and the commands."""

import os
from collections.abc import Mapping
from pathlib import Path

SETTINGS_FILE, PRICES_FILE = "settings.toml", "prices.json"


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """One for a person, whatever archive is looked at."""
    environment = os.environ if environment is None else environment
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "unspool"
