"""What the documentation takes from the program, so that the two never disagree.

A page is written by hand; between `<!-- made: NAME -->` and `<!-- end -->` stands what the maker of that name
gives. The JSON Schema and the pictures are made whole. `scripts/docs` writes, `scripts/docs --check` compares.
"""

import os
import re
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import msgspec
from click.testing import CliRunner

from docs.picture import picture
from unspool import errors, prices, tools
from unspool.agents import AGENTS
from unspool.app.api_endpoint import ApiEndpoint, Parameter
from unspool.app.api_routes import DESCRIPTION, ENDPOINTS
from unspool.cli.agents_cmd import works_for
from unspool.cli.group import COMMANDS, cli
from unspool.config.settings import FIELDS, SettingField, Settings, format_value
from unspool.demo import write_demo
from unspool.lake.tables import TABLES
from unspool.lake.views import VIEWS
from unspool.model import LogFile
from unspool.prices.table import ModelPrice, read_sheet
from unspool.render import sessionshare
from unspool.render.json import session_document, session_schema
from unspool.store.library import Library

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = "docs/schema/session-1.json"
SHARED = "docs/schema/session-share-1.json"
PRICES = Path(prices.__file__).with_name("table.json")


class Shot(NamedTuple):
    """A picture: the command, the width of the terminal, and how many lines from the first turn on (0: all)."""

    arguments: tuple[str, ...]
    columns: int
    lines: int = 0


PICTURES = {
    "docs/pictures/list.svg": Shot(("list", "--demo"), 132),
    "docs/pictures/show.svg": Shot(("show", "1c0ff", "--turn", "2", "--demo"), 112, 44),
}

_MADE = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


HELP = "src/unspool/cli/help.txt"
"""What `unspool --help` prints before anything is loaded."""


def pages() -> dict[str, str]:
    """Every file that is made or has made parts, by its path in the repository, as it should be."""
    schemas = {SCHEMA: session_schema(), SHARED: sessionshare.sessionshare_schema()}
    found = {name: msgspec.json.format(msgspec.json.encode(one)).decode() + "\n" for name, one in schemas.items()}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text("utf-8")
        if "<!-- made: " in text:
            found[path.relative_to(ROOT).as_posix()] = _MADE.sub(_fill, text)
    found |= {name: _picture(shot) for name, shot in PICTURES.items()}
    found[HELP] = CliRunner().invoke(cli, ["--help"], prog_name="unspool").output
    return found


def _fill(part: "re.Match[str]") -> str:
    if part[2] not in MAKERS:
        return part[0]  # made by another program: the fields of logs, by `python -m tests.live.formats`
    return f"{part[1]}\n{MAKERS[part[2]]()}\n\n{part[3]}"


def ran(arguments: tuple[str, ...], columns: int) -> str:
    """What the command prints on a terminal of that width, in a home and time zone that are always the same."""
    with tempfile.TemporaryDirectory() as home:
        places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"), home)
        with mock.patch.dict(os.environ, {**places, "COLUMNS": str(columns), "FORCE_COLOR": "1"}), _utc():
            os.environ.pop("NO_COLOR", None)
            done = CliRunner().invoke(cli, list(arguments), prog_name="unspool", catch_exceptions=False, color=True)
    return done.output


@contextmanager
def _utc() -> Iterator[None]:
    """Times as in UTC, wherever this runs."""
    with mock.patch.dict(os.environ, {"TZ": "UTC"}):
        time.tzset()
        yield
    time.tzset()


def _picture(shot: Shot) -> str:
    out = ran(shot.arguments, shot.columns)
    if shot.lines:
        lines = out.splitlines()
        first = next(number for number, line in enumerate(lines) if "── Turn" in line)
        out = "\n".join(lines[first : first + shot.lines])
    command = " ".join(("unspool", *(part for part in shot.arguments if part != "--demo")))
    return picture(f"$ {command}\n{out}", shot.arguments[0], shot.columns)


# --- parts of pages ------------------------------------------------------------------------------------


def commands() -> str:
    """Help of every command."""
    parts = [("unspool", ["--help"]), *((f"unspool {name}", [name, "--help"]) for name, _ in COMMANDS)]
    return "\n\n".join(f"## {title}\n\n```text\n{_help(arguments)}\n```" for title, arguments in parts)


def _help(arguments: list[str]) -> str:
    return CliRunner().invoke(cli, arguments, prog_name="unspool").output.rstrip()


def layers() -> str:
    """The layers, as import-linter checks them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    drawn = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return "\n".join(["```", *drawn, "```"])


def exit_codes() -> str:
    """Every way to end."""
    known = [one for one in errors.UnspoolError.__subclasses__() if one.__module__ == errors.__name__]
    classes: list[type[errors.UnspoolError]] = [errors.UnspoolError, *known]
    rows = [
        ("0", "", "It went well; also where a reader such as `head` has seen enough."),
        *((str(one.exit_code), f"`{one.__name__}`", (one.__doc__ or "").splitlines()[0]) for one in classes),
        ("130", "", "Stopped with Ctrl-C; no file is half written."),
    ]
    return _table(("code", "in Python", "meaning"), rows)


def tool_table() -> str:
    """Which tools are shown by a renderer of their own."""
    rows = [
        (", ".join(f"`{name}`" for name in tool.NAMES), (tool.__doc__ or "").splitlines()[0].rstrip("."))
        for tool in tools.TOOLS
    ]
    return _table(("tools", "what is shown"), rows)


def agent_table() -> str:
    """What works for whom."""
    home = Path("~")
    rows = []
    for agent in AGENTS:
        works = works_for(agent)
        marks = tuple("yes" if works[name] else "–" for name in ("tokens", "resume", "copies", "hand-over"))
        kept = agent.files.retention(ROOT / "no such folder")
        after = f"after {kept.days} days" if kept is not None and kept.deletes else "–"
        rows.append((agent.name, *marks, after, ", ".join(f"`{root}`" for root in agent.roots({}, home))))
    return _table(("agent", "tokens", "resume", "copies", "takes over", "deletes", "where"), rows)


def price_table() -> str:
    """The built-in prices that are kept by hand."""
    sheet = read_sheet(PRICES)
    heads = ("model", "input", "output", "cache write 5 m", "cache write 1 h", "cache read", "days", "beyond that")
    rows = [(f"`{price.model}`", *_rates(price), _days(price), _beyond(price)) for price in sheet.models]
    notes = f"Dated {sheet.date}: {sheet.source}. A web search costs ${sheet.web_search}; batch requests count"
    places = ", ".join(f"{name} × {factor}" for name, factor in sheet.geo.items())
    return f"{notes} × {sheet.batch}; inference bound to a place: {places}.\n\n{_table(heads, rows)}"


def _rates(price: ModelPrice) -> tuple[str, ...]:
    found = (price.input, price.output, price.write, price.write_1h, price.read)
    return tuple("?" if rate is None else f"{rate.normalize():f}" for rate in found)


def _days(price: ModelPrice) -> str:
    since = f"from {price.since}" if price.since else ""
    until = f"before {price.until}" if price.until else ""
    return " ".join(filter(None, (since, until)))


def _beyond(price: ModelPrice) -> str:
    fast = f"fast × {price.fast}" if price.fast is not None else ""
    long = price.above
    above = f"{long.input} / {long.output} above {long.tokens:,} tokens of prompt" if long is not None else ""
    return "; ".join(filter(None, (fast, above)))


def json_example() -> str:
    """A small session of the demo as it is exported, with its log where a user would have it."""
    with tempfile.TemporaryDirectory() as folder:
        session = Library([write_demo(Path(folder))]).open("0c7a9e50")
    name = Path(session.log.path).name
    log = LogFile(f"/home/dev/.claude/projects/-home-dev-harbour/{name}", session.log.size, session.log.modified)
    data = msgspec.json.encode(session_document(msgspec.structs.replace(session, log=log)))
    return f"```json\n{msgspec.json.format(data).decode()}\n```"


def app_api() -> str:
    """Every address of the app's API, with what it may be asked."""
    return "\n\n".join(_endpoint(one) for one in (*ENDPOINTS, DESCRIPTION))


def _endpoint(one: ApiEndpoint) -> str:
    rows = [(f"`{asked.name}`", asked.tells, _values(asked)) for asked in one.parameters]
    table = f"\n\n{_table(('parameter', 'meaning', 'values'), rows)}" if rows else ""
    return f"## {one.path}\n\n{one.tells}{table}"


def _values(one: Parameter) -> str:
    if one.choices:
        return ", ".join(f"**{name}**" if name == one.default else name for name in one.choices)
    return f"{one.least:,} to {one.most:,}; {one.default}" if one.kind is int else ""


def settings_table() -> str:
    """Every key of settings.toml, with what it may be and the variable that goes over it."""
    defaults = Settings()
    rows = [
        (
            f"`{one.name}`",
            one.about,
            _may_be(one),
            f"`{format_value(getattr(defaults, one.name))}`",
            f"`{one.variable}`",
        )
        for one in FIELDS
    ]
    return _table(("key", "what it is", "values", "default", "variable"), rows)


def _may_be(one: SettingField) -> str:
    kinds = {"lines": "a list of folders", "number": "a whole number", "many": "a list of "}
    return kinds.get(one.kind, "" if one.choices else "a text") + ", ".join(f"`{choice}`" for choice in one.choices)


def lake_tables() -> str:
    """Every table of a lake with its columns."""
    parts = []
    for table in TABLES:
        rows = [(f"`{one.name}`", one.type, one.meaning) for one in table.columns]
        head = f"## {table.name}\n\n{table.meaning} Version {table.version}."
        parts.append(f"{head}\n\n{_table(('column', 'type', 'meaning'), rows)}")
    return "\n\n".join(parts)


def lake_views() -> str:
    return _table(("view", "meaning"), [(f"`{view.name}`", view.meaning) for view in VIEWS])


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


MAKERS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "layers": layers,
    "exit-codes": exit_codes,
    "tools": tool_table,
    "agents": agent_table,
    "prices": price_table,
    "json-example": json_example,
    "app-api": app_api,
    "settings": settings_table,
    "lake-tables": lake_tables,
    "lake-views": lake_views,
}


def main(arguments: list[str]) -> int:
    """Write what is out of date, or only name it; the exit code says whether there was anything to name."""
    stale = {name: text for name, text in pages().items() if _now(name) != text}
    for name, text in stale.items():
        sys.stderr.write(f"{name} {'is out of date' if '--check' in arguments else 'written'}\n")
        if "--check" not in arguments:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(text, "utf-8")
    return 1 if stale and "--check" in arguments else 0


def _now(name: str) -> str:
    path = ROOT / name
    return path.read_text("utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
