"""One file that people may edit: read with every mistake explained, changed without losing a word of it."""

import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.browsing import Browsed, browsed
from tests.app.opened import opened
from tests.log_builder.builder import LogBuilder
from unspool.config.settings import (
    FIELDS,
    Settings,
    change_settings,
    current_settings,
    edit_toml,
    line_of_key,
    load_settings,
    parse_toml,
    settings_path,
)
from unspool.errors import Unreadable

MINE = """# my settings
theme = "dark" # at night
  "per_page" = 9
other = '''
theme = "light"
'''   # kept

[table]
theme = "system"
"""


def write(text: str) -> Path:
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_everything_is_default() -> None:
    assert current_settings() == Settings()
    assert set(load_settings().origins.values()) == {"default"}
    assert not settings_path().exists()


def test_the_file_is_read_and_the_environment_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    write('theme = "dark"\nsources = ["/a", "/b"]\nhide = ["thinking"]\n')
    assert (current_settings().theme, current_settings().sources, current_settings().hide) == (
        "dark",
        ("/a", "/b"),
        ("thinking",),
    )
    assert load_settings().origins["sources"] == "line 2 of the file"
    monkeypatch.setenv("UNSPOOL_THEME", "light")
    monkeypatch.setenv("UNSPOOL_SOURCES", "/c:/d")
    monkeypatch.setenv("UNSPOOL_PER_PAGE", "many")
    assert (current_settings().theme, current_settings().sources, current_settings().per_page) == (
        "light",
        ("/c", "/d"),
        5,
    )
    assert "UNSPOOL_THEME" in load_settings().origins["theme"]
    assert ["UNSPOOL_PER_PAGE" in one.words for one in load_settings().troubles] == [True]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('theme = "pink"', "theme must be one of system, light, dark"),
        ("per_page = 0", "per_page must be a whole number"),
        ("per_page = true", "per_page must be a whole number"),
        ('hide = ["tools", "noise"]', "not noise"),
        ('hide = "tools"', "hide must be a list"),
        ('time_zone = "Mars/Olympus"', "time_zone must be local, UTC, an offset"),
        ('time_zone = "../../etc/passwd"', "time_zone must be local"),
        ("sources = [1]", "sources must be a list of texts"),
        ("font_size = 12", "font_size must be one of small, medium, large"),
        ("colour = 1", "colour is no setting"),
        ("this is no toml", "This is no TOML"),
        ('theme = "dark', "This is no TOML"),
    ],
)
def test_a_mistake_is_explained_by_its_line_and_the_rest_holds(line: str, words: str) -> None:
    write(f'# first\ndensity = "compact"\n{line}\nprices = "/p"\n')
    found = load_settings()
    assert [(one.line, words in one.words) for one in found.troubles] == [(3, True)]
    assert (found.settings.density, found.settings.prices, found.settings.theme) == ("compact", "/p", "system")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"x" * 2_000_000, b"= = =\n" * 50, b"[[", b'a = """'])
def test_a_file_that_is_none_is_said_and_ignored(data: bytes) -> None:
    write("").write_bytes(data)
    assert load_settings().troubles
    assert current_settings() == Settings()


def test_changing_keeps_comments_order_and_all_else() -> None:
    path = write(MINE)
    change_settings({"theme": "light", "per_page": 3, "density": "compact"})
    after = path.read_text("utf-8")
    assert after == MINE.replace('"dark" # at night', '"light"  # at night').replace(
        '  "per_page" = 9', "per_page = 3"
    ).replace("kept\n", 'kept\ndensity = "compact"\n')
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    change_settings({"theme": None})
    assert tomllib.loads(path.read_text("utf-8"))["table"] == {"theme": "system"}
    assert current_settings().theme == "system"


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    path = write("")
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n", "utf-8")
    path.unlink()
    path.symlink_to(real)
    change_settings({"theme": "dark"})
    assert path.is_symlink()
    assert real.read_text("utf-8") == '# mine\ntheme = "dark"\n'


def test_a_file_that_is_no_toml_is_not_written() -> None:
    path = write('theme = "dark"\noh no\n')
    with pytest.raises(Unreadable, match="line 2"):
        change_settings({"theme": "light"})
    assert path.read_text("utf-8") == 'theme = "dark"\noh no\n'


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "theme": st.text(),
    "hide": st.lists(st.text(max_size=9), max_size=3),
    "per_page": st.integers(-9, 10**9),
    "own": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
}
_CHANGES = st.fixed_dictionaries({}, optional={name: st.none() | value for name, value in _VALUES.items()})


@given(first=_CHANGES, then=_CHANGES)
def test_what_is_written_is_what_is_read(first: dict[str, Any], then: dict[str, Any]) -> None:
    """Whatever is set, over whatever stands there: the values are those, the rest of the file is untouched."""
    text = edit_toml(edit_toml(MINE, first), then)
    wanted = {**tomllib.loads(MINE), **first, **then}
    assert parse_toml(text).values == {name: value for name, value in wanted.items() if value is not None}
    assert "# my settings" in text
    assert text.endswith('\n[table]\ntheme = "system"\n')


@given(st.text(alphabet="theme= \"\n#[]'\\\r", max_size=60))
def test_no_text_makes_reading_fail(text: str) -> None:
    assert isinstance(parse_toml(text).values, dict)
    assert line_of_key(text, "theme") >= 0


def test_the_page_shows_where_each_comes_from_and_writes_what_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSPOOL_DENSITY", "compact")
    path = write('theme = "dark"  # mine\nper_page = 0\n')
    with browsed(tmp_path) as app:
        said = app.get("/settings").said
        assert str(path) in said
        assert "From line 1 of the file" in said
        assert "UNSPOOL_DENSITY" in said
        assert "Line 2: per_page must be" in said
        assert "prices.json" in said
        answer = app.post("/settings", ("hide", ""), ("hide", "tools"), theme="light", per_page="12", density="normal")
        assert answer.headers["location"] == "/settings?saved=1"
        assert path.read_text("utf-8") == 'theme = "light"  # mine\nper_page = 12\nhide = ["tools"]\n'
        assert 'data-theme="light"' in app.get("/").text


def test_all_choices_can_be_taken_back_at_once_and_nothing_else_goes(tmp_path: Path) -> None:
    path = write('# mine\ntheme = "dark"\nagents_off = ["codex"]\n\n[presets.mild]\nkeep_tool_turns = 9\n')
    with browsed(tmp_path) as app:
        assert 'name="agents_off" value="codex" checked' in app.get("/settings").text
        assert app.post("/settings/reset").headers["location"] == "/settings?saved=1"
    assert current_settings() == Settings()
    assert path.read_text("utf-8") == "# mine\n\n[presets.mild]\nkeep_tool_turns = 9\n"


def test_what_is_wrong_in_the_form_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        got = app.post("/settings", theme="pink", per_page="7")
        assert got.status == 400
        assert "Theme must be one of" in got.said
        assert not settings_path().exists()


@pytest.mark.parametrize(
    ("setting", "style"), [('font_size = "large"', "size-large"), ('density = "compact"', "compact")]
)
def test_pages_wear_what_was_chosen(tmp_path: Path, setting: str, style: str) -> None:
    with browsed(tmp_path) as app:
        assert not _styles(app, style)
        write(setting)
        (href,) = _styles(app, style)
        assert app.get(href).status == 200


def _styles(app: Browsed, style: str) -> list[str]:
    return app.get("/sessions").links(f"/app/{style}-")


def test_days_begin_where_the_person_lives(tmp_path: Path) -> None:
    from unspool.store.index.times import local_time

    assert str(local_time(0, None).date()) == "1970-01-01"
    write('time_zone = "Asia/Tokyo"')
    assert str(local_time(57_600, current_settings().zone).date()) == "1970-01-02"
    with browsed(tmp_path) as app:
        assert " JST" in app.get("/sessions").text


def test_every_setting_has_a_default_that_is_right() -> None:
    defaults = Settings()
    assert {field.name for field in FIELDS} == set(Settings.__struct_fields__)
    assert [field.check(getattr(defaults, field.name)) for field in FIELDS] == [""] * len(FIELDS)


def test_the_app_reads_the_sources_that_were_chosen(tmp_path: Path) -> None:
    log = LogBuilder(session_id="elsewhere").prompt("go")
    log.write(tmp_path / "logs")
    write(f'sources = ["{tmp_path / "logs"}", "{tmp_path / "gone"}"]')
    with opened("--archive", str(tmp_path / "archive")) as app:
        app.synced()
        page = app.get("/sessions").body.decode()
        assert "/s/elsewhere/" in page
        assert f"{tmp_path / 'gone'} is not there." in page


def test_the_app_starts_though_no_source_of_the_settings_is_there_and_reads_no_other(
    home: Path, tmp_path: Path
) -> None:
    LogBuilder(session_id="unasked").prompt("go").write(home / ".claude")
    write(f'sources = ["{tmp_path / "gone"}"]\nprices = "{tmp_path / "none.json"}"')
    with opened("--archive", str(tmp_path / "archive")) as app:
        page = app.get("/").body.decode()
        assert f"{tmp_path / 'gone'} is not there." in page
        assert b"unasked" not in app.get("/sessions").body + app.get("/live").body
