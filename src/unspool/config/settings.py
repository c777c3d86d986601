"""The settings: every choice with its default, read from settings.toml and the environment, and written back."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unspool.config import SETTINGS_FILE, config_folder
from unspool.errors import Unreadable
from unspool.files import write_atomically
from unspool.site.options import KINDS, SiteOptions
from unspool.store.index.times import LOCAL, parse_zone

_ERROR_LINE = re.compile(r"\(at line (\d+)")
_TABLE = re.compile(r"\s*\[")
_MOST_MENDED = 20


class TomlProblem(NamedTuple):
    """What is wrong, and in which line; 0 for the file as a whole."""

    line: int
    words: str


class ParsedToml(NamedTuple):
    """The values of a file, and what had to be ignored for it to be read."""

    values: dict[str, Any]
    troubles: tuple[TomlProblem, ...] = ()


def parse_toml(text: str) -> ParsedToml:
    """The values of a file; a line that is no TOML is told and left out."""
    lines, troubles = text.split("\n"), list[TomlProblem]()
    for _ in range(_MOST_MENDED):
        try:
            return ParsedToml(tomllib.loads("\n".join(lines)), tuple(troubles))
        except tomllib.TOMLDecodeError as problem:
            words, found = str(problem), _ERROR_LINE.search(str(problem))
            filled = (number for number, line in enumerate(lines, 1) if line.strip())
            at = int(found[1]) if found else max(filled, default=1)  # an end was missed
            troubles.append(TomlProblem(at, f"This is no TOML: {words.split(' (at', maxsplit=1)[0]}."))
            if not lines[at - 1]:
                break
            lines[at - 1] = ""
    return ParsedToml({}, (TomlProblem(0, "The file is no TOML."), *troubles[:1]))


def line_of_key(text: str, name: str) -> int:
    """The line in which a setting begins; 0 where it is not set, or the file cannot be read so far."""
    span = _span(text.split("\n"), name)
    return span[0] + 1 if span else 0


def edit_toml(text: str, changes: Mapping[str, Any]) -> str:
    """The text with settings changed; None takes one out. Unreadable where the file is no TOML."""
    before = _parsed(text)
    if before is None:
        trouble = parse_toml(text).troubles[0]
        raise Unreadable(f"The settings cannot be written before line {trouble.line} is mended: {trouble.words}")
    lines = text.split("\n")
    for name, value in changes.items():
        lines = _changed(lines, name, value)
    after = "\n".join(lines)
    wanted = {**before, **changes}
    if _parsed(after) != {name: value for name, value in wanted.items() if value is not None}:
        raise Unreadable("The settings file is written in a way that cannot be changed from here; edit it by hand.")
    return after


def _changed(lines: list[str], name: str, value: Any) -> list[str]:
    span = _span(lines, name)
    if span is None:
        return lines if value is None else _added(lines, f"{name} = {format_value(value)}")
    first, end = span
    if value is None:
        return lines[:first] + lines[end:]
    ending = "\r" if lines[end - 1].endswith("\r") else ""
    return [*lines[:first], f"{name} = {format_value(value)}{_comment(lines[first:end])}{ending}", *lines[end:]]


def _added(lines: list[str], line: str) -> list[str]:
    """Before the first table, for what follows a table's name belongs to it."""
    tables = (at for at, one in enumerate(lines) if _TABLE.match(one) and _parsed("\n".join(lines[:at])) is not None)
    at = next(tables, len(lines))
    while at and not lines[at - 1].strip():
        at -= 1
    return [*lines[:at], line, *(lines[at:] or [""])]


def _comment(lines: list[str]) -> str:
    """The comment after a value that stands on one line."""
    if len(lines) > 1:
        return ""
    line = lines[0].rstrip("\r")
    value = _parsed(line)
    places = (at for at, char in enumerate(line) if char == "#" and _parsed(line[:at]) == value)
    at = next(places, None)
    return "" if at is None else f"  {line[at:]}"


def _span(lines: list[str], name: str) -> tuple[int, int] | None:
    """The lines of a setting: the first, and the one after the last."""
    begins = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=")
    for first, line in enumerate(lines):
        if begins.match(line) and _parsed("\n".join(lines[:first])) is not None:
            for end in range(first + 1, len(lines) + 1):
                whole = _parsed("\n".join(lines[:end]))
                if whole is not None:
                    return (first, end) if name in whole else None
    return None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def format_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(format_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


THEMES = ("system", "light", "dark")
SIZES = ("small", "medium", "large")
DENSITIES = ("normal", "compact")
SYNCS = ("usual", "any", "never")
_MOST_PER_PAGE = 500
_LONGEST = 4096


class Settings(msgspec.Struct, frozen=True):
    theme: str = "system"
    font_size: str = "medium"
    density: str = "normal"
    hide: tuple[str, ...] = ()
    """Kinds of blocks that pages hide until somebody wants to see them."""
    sources: tuple[str, ...] = ()
    """Folders to read instead of the usual ones."""
    time_zone: str = LOCAL
    per_page: int = 5
    """Prompts on a page of a session."""
    sync: str = "usual"
    """Which archive `search`, `usage` and `stats` bring up to date before they answer."""
    prices: str = ""
    """A price file to lay over the built-in list; empty for the usual place."""
    agents_off: tuple[str, ...] = ()
    """Ids of agents whose sessions are not looked for."""
    agent_folders: tuple[str, ...] = ()
    """Where agents keep their sessions, as `id=folder`, instead of their usual places."""
    context_files: bool = True
    """Whether what sessions ran under is kept from the folders that they worked in too."""
    mcp_redact: bool = True
    """Whether the answers of `unspool mcp` are redacted."""

    @property
    def zone(self) -> tzinfo | None:
        """Where days begin; None: as this machine's clock has it."""
        return parse_zone(self.time_zone)

    @property
    def styles(self) -> tuple[str, ...]:
        """The style files that pages wear for these choices."""
        sized = (f"size-{self.font_size}.css",) if self.font_size != "medium" else ()
        return (*sized, *(("compact.css",) if self.density == "compact" else ()))

    def options(self, over: SiteOptions) -> SiteOptions:
        """How pages of sessions are made by these choices."""
        return msgspec.structs.replace(over, theme=self.theme, per_page=self.per_page)


class SettingField(NamedTuple):
    name: str
    title: str
    about: str
    check: Callable[[Any], str]
    """What is wrong with a value; empty where it is right."""
    choices: tuple[str, ...] = ()
    kind: str = "text"
    """How it is typed: choice, many, lines, number, switch or text."""

    @property
    def variable(self) -> str:
        """The environment variable that has the last word."""
        return f"UNSPOOL_{self.name.upper()}"

    def parsed(self, text: str) -> Any:
        """A typed value as it stands in the file; what is no number stays text, for `check` to say so."""
        text = text.strip()
        if self.kind == "number":
            return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else text
        if self.kind == "switch":
            return _SWITCHES.get(text.lower(), text)
        if self.kind in ("many", "lines"):
            return [part.strip() for part in text.replace(",", "\n").split("\n") if part.strip()]
        return text


_SWITCHES = {"true": True, "false": False}


def _switch(value: Any) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _one_of(*known: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        return "" if isinstance(value, str) and value in known else f"must be one of {', '.join(known)}"

    return check


def _texts(value: Any) -> str:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        return 'must be a list of texts, such as ["one", "two"]'
    return "" if all(len(one) <= _LONGEST and one.isprintable() for one in value) else "holds what no path holds"


def _kinds(value: Any) -> str:
    wrong = _texts(value) or ", ".join(sorted(set(value) - set(KINDS)))
    return wrong and (wrong if wrong.startswith("must") else f"may hold {', '.join(KINDS)}; not {wrong}")


def _agent_ids(value: Any) -> str:
    from unspool.agents import AGENTS, is_known  # loaded where somebody sets it

    wrong = _texts(value) or ", ".join(one for one in value if not is_known(one))
    known = ", ".join(agent.id for agent in AGENTS)
    return wrong and (wrong if wrong.startswith(("must", "holds")) else f"may hold {known}; not {wrong}")


def _agent_folders(value: Any) -> str:
    if wrong := _texts(value):
        return wrong
    pairs = [one.partition("=") for one in value]
    if any(not name.strip() or not folder.strip() for name, _, folder in pairs):
        return 'must be a list of lines such as "agent=/data/folder"'
    return _agent_ids([name.strip() for name, _, _ in pairs])


def _number(value: Any) -> str:
    right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_PER_PAGE
    return "" if right else f"must be a whole number from 1 to {_MOST_PER_PAGE}"


def _zone(value: Any) -> str:
    try:
        parse_zone(value if isinstance(value, str) else "?")
    except ValueError:
        return "must be local, UTC, an offset such as +05:30 or the name of a time zone, such as Europe/Berlin"
    return ""


def _path(value: Any) -> str:
    right = isinstance(value, str) and len(value) <= _LONGEST and (not value or value.isprintable())
    return "" if right else "must be the path of a file"


_LATER = "Read at the next start."
_MCP = f"Whether `unspool mcp` replaces secrets and names in what agents are told. {_LATER}"
_CONTEXT = (
    "Whether instructions, settings and skills in the folders that sessions worked in are kept, in every version."
)
_SOURCES = f"Folders of logs, one a line; none: the usual ones. {_LATER}"
_OFF = f"Agents whose sessions are not looked for; what is kept of them stays. {_LATER}"
_FOLDERS = f"Where an agent keeps its sessions, one a line, such as agent=/data/folder; none: its usual place. {_LATER}"
_SYNC = "What `search`, `usage` and `stats` bring up to date first: the usual archive, any that is named, or none."
FIELDS = (
    SettingField("theme", "Theme", "Light, dark, or as the system has it.", _one_of(*THEMES), THEMES, "choice"),
    SettingField("font_size", "Text size", "How large words are.", _one_of(*SIZES), SIZES, "choice"),
    SettingField("density", "Density", "Compact lists show more rows.", _one_of(*DENSITIES), DENSITIES, "choice"),
    SettingField(
        "hide", "Hidden in transcripts", "What a session's pages hide until it is asked for.", _kinds, KINDS, "many"
    ),
    SettingField(
        "time_zone", "Time zone", "Where days begin: local, UTC, +05:30 or a name such as Europe/Berlin.", _zone
    ),
    SettingField("per_page", "Prompts a page", "How much of a session one page holds.", _number, (), "number"),
    SettingField("sources", "Sources", _SOURCES, _texts, (), "lines"),
    SettingField("agents_off", "Agents left out", _OFF, _agent_ids, (), "many"),
    SettingField("agent_folders", "Folders of agents", _FOLDERS, _agent_folders, (), "lines"),
    SettingField("sync", "Kept by commands", _SYNC, _one_of(*SYNCS), SYNCS, "choice"),
    SettingField("context_files", "Context files", _CONTEXT, _switch, tuple(_SWITCHES), "switch"),
    SettingField("mcp_redact", "Redacted for agents", _MCP, _switch, tuple(_SWITCHES), "switch"),
    SettingField("prices", "Price overrides", f"A price file laid over the built-in list prices. {_LATER}", _path),
)
FIELDS_BY_NAME: Mapping[str, SettingField] = {field.name: field for field in FIELDS}


OTHER_TABLES = ("compress", "presets")
_LARGEST = 1024 * 1024


class LoadedSettings(NamedTuple):
    """Settings, where each comes from, and what was ignored."""

    settings: Settings
    origins: dict[str, str]
    """By name: `default`, a line of the file, or a variable of the environment."""
    troubles: tuple[TomlProblem, ...] = ()
    tables: Mapping[str, Any] = {}
    """What other parts of unspool read for themselves: `[compress]` and `[presets]`."""
    fixed: frozenset[str] = frozenset()
    """Names of those that the environment sets, so that writing the file would change nothing."""


def settings_path(environment: Mapping[str, str] | None = None) -> Path:
    """The file: one for a person, whatever archive is looked at."""
    return config_folder(environment) / SETTINGS_FILE


def current_settings() -> Settings:
    return load_settings().settings


def load_settings(path: Path | None = None, environment: Mapping[str, str] | None = None) -> LoadedSettings:
    """All about the settings; read anew when the file or the environment has changed."""
    environment = os.environ if environment is None else environment
    path = path or settings_path(environment)
    over = tuple((field.name, environment[field.variable]) for field in FIELDS if environment.get(field.variable))
    try:
        status = path.stat()
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        stamp = 0, 0, 0
    return _load(path, stamp, over)


@lru_cache(maxsize=4)
def _load(path: Path, _stamp: tuple[int, int, int], over: tuple[tuple[str, str], ...]) -> LoadedSettings:
    text, troubles = _text(path)
    found = parse_toml(text)
    values, tables, origins = dict[str, Any](), dict[str, Any](), dict.fromkeys(FIELDS_BY_NAME, "default")
    troubles += found.troubles
    for name, value in found.values.items():
        field, line = FIELDS_BY_NAME.get(name), line_of_key(text, name)
        wrong = field.check(value) if field else ""
        if name in OTHER_TABLES and isinstance(value, dict):
            tables[name] = value
        elif field is None:
            troubles += (TomlProblem(line, f"{name} is no setting, and is left as it is."),)
        elif wrong:
            troubles += (TomlProblem(line, f"{name} {wrong}; it is ignored."),)
        else:
            values[name], origins[name] = value, f"line {line} of the file" if line else "the file"
    fixed = set[str]()
    for name, typed in over:
        field = FIELDS_BY_NAME[name]
        value = typed.split(os.pathsep) if field.kind == "lines" else field.parsed(typed)
        wrong = field.check(value)
        if wrong:
            troubles += (TomlProblem(0, f"The environment variable {field.variable} {wrong}; it is ignored."),)
        else:
            values[name], origins[name] = value, f"the environment variable {field.variable}"
            fixed.add(name)
    return LoadedSettings(msgspec.convert(values, Settings), origins, troubles, tables, frozenset(fixed))


def change_settings(changes: Mapping[str, Any], path: Path | None = None) -> None:
    """Write settings to the file, whole or not at all; None takes one out. Comments and unknown keys stay."""
    path = path or settings_path()
    text, troubles = _text(path)
    if troubles:
        raise Unreadable(troubles[0].words)
    try:
        write_atomically(path.resolve(), [edit_toml(text, changes).encode()])
    except OSError as problem:
        raise Unreadable(f"Cannot write {path}: {problem.strerror or problem}.") from None


def _text(path: Path) -> tuple[str, tuple[TomlProblem, ...]]:
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        return "", ()
    except OSError as problem:
        return "", (TomlProblem(0, f"Cannot read {path}: {problem.strerror or problem}."),)
    if len(data) > _LARGEST:
        return "", (TomlProblem(0, f"{path} is larger than settings can be (1 MB)."),)
    try:
        return data.decode(), ()
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        return "", (TomlProblem(line, f"{path} is not UTF-8, as TOML must be."),)
