"""Settings that an old version read hold today, and are changed without losing what else the file says."""

from collections.abc import Callable

from tests.old_data.unpacked import OldData
from unspool.config.settings import Settings, change_settings, load_settings


def test_every_setting_holds_as_it_did(unpacked: Callable[..., OldData]) -> None:
    data = unpacked("home")
    loaded = load_settings()
    assert loaded.troubles == ()
    assert loaded.settings == Settings(
        theme="dark",
        font_size="large",
        density="compact",
        hide=("thinking", "notices"),
        sources=("~/.claude",),
        time_zone="Europe/Berlin",
        per_page=7,
    )
    assert data.json("usage", "--by", "model")["zone"] == "Europe/Berlin"


def test_a_change_leaves_the_rest_of_the_file_as_it_was(unpacked: Callable[..., OldData]) -> None:
    data = unpacked("home")
    before = (data.config / "settings.toml").read_text()
    change_settings({"per_page": 9})
    assert (data.config / "settings.toml").read_text() == before.replace("per_page = 7", "per_page = 9")
