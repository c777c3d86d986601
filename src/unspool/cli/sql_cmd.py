"""`unspool sql`: questions to all sessions, in SQL."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, tzinfo
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import fresh, options, output, settings
from unspool.cli.lake_cmd import need_lake, reading_terms
from unspool.cli.output import Column, complain, print_json, print_table, progress_bar, safe_text
from unspool.errors import AlreadyRunning, UsageProblem

if TYPE_CHECKING:
    from unspool.lake.query import AskedLake, LakeAnswer
    from unspool.lake.storage import LakeStorage
    from unspool.store.library import Library

_PATIENCE = 1.0
"""Seconds that another write of the same lake is waited for before the answer is of what is there."""
_LONGEST_BAR = 40
_FORMATS = (".parquet", ".csv", ".json")


@click.command("sql")
@click.argument("query", default="")
@click.option("--lake", metavar="DIR|s3://...", help="Ask this lake, instead of the sessions of this machine.")
@click.option("--views", is_flag=True, help="List the tables and views, with what they mean.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("-o", "--output", "file", type=options.FILE, metavar="FILE", help="Write FILE.parquet, .csv or .json.")
@click.option("--chart", is_flag=True, help="Draw bars: of money where there is, else of the first numbers.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=200, show_default=True, help="Rows printed; 0: all.")
@options.zone
@options.named_sources
@options.agents
@options.demo
@fresh.no_sync
@options.archive
def command(query: str, lake: str | None, views: bool, archive: Path, **given: Any) -> None:
    """Ask all sessions, in SQL.

    \b
    unspool sql 'FROM cost_by_day' --chart
    unspool sql "SELECT tool, calls, failed FROM tools ORDER BY failed DESC LIMIT 10"
    unspool sql "SELECT session, turn, shell FROM calls WHERE shell LIKE 'git push%'" --csv
    unspool sql "SELECT * FROM usage WHERE counted" -o usage.parquet
    unspool sql 'FROM cost_by_model' --lake s3://team/lake
    unspool sql --views                        the tables, their columns, and views for common questions

    The SQL is that of DuckDB. A question only reads: it can neither write nor look at other files. Without --lake it
    is put to the sessions of this machine, kept ones included, which are written to a lake in your cache first: only
    those that changed since the last time. Money is exact, each request counts once (WHERE counted), and what sessions
    copied from each other is marked (WHERE NOT copied). `unspool show SESSION --line LINE` shows what a row is made of.
    Needs `pip install 'unspool[lake]'`.
    """
    need_lake()
    if views:
        _list_views(as_json=given["as_json"])
        return
    if not query.strip():
        raise UsageProblem("Say what to ask, such as 'FROM cost_by_day'; --views lists what there is.")
    file: Path | None = given["file"]
    if file is not None and file.suffix not in _FORMATS:
        raise UsageProblem(f"{file} can be {', '.join(_FORMATS)}.")
    zone = options.parse_tz(given["tz"])
    with _storage(lake, archive, given) as storage:
        from unspool.lake.query import AskedLake

        with AskedLake(storage, zone) as asked:
            _answer(asked, query, file, zone, given)


def _answer(asked: "AskedLake", query: str, file: Path | None, zone: tzinfo | None, given: dict[str, Any]) -> None:
    answer = asked.ask(query)
    if file is not None:
        _save(answer, file)
    elif given["as_json"]:
        print_json([dict(zip(answer.names, map(_plain, row), strict=True)) for row in answer.rows()])
    elif given["as_csv"]:
        click.echo(_csv(answer), nl=False)
    elif given["chart"]:
        _chart(answer, zone, given["limit"])
    else:
        _table(answer, zone, given["limit"])


@contextmanager
def _storage(lake: str | None, archive: Path, given: dict[str, Any]) -> "Iterator[LakeStorage]":
    """The lake that is meant; one of this machine's sessions is brought up to date first."""
    from unspool.files import cache_folder, scratch_folder
    from unspool.lake.storage import FolderStorage, open_storage
    from unspool.store.archive.keys import is_encrypted

    named = given["source"] or given["demo"] or given["agent"]
    if lake is not None:
        if named:
            raise UsageProblem("A lake is asked as it is: say `WHERE agent = …` in the question.")
        yield open_storage(lake)
        return
    if named:
        with scratch_folder() as folder:
            storage = FolderStorage(folder / "lake")
            _bring_up_to_date(storage, options.chosen_library(given["source"], given["demo"], given["agent"]), 0)
            yield storage
        return
    fresh.keep_fresh(archive, no_sync=given["no_sync"])
    library = options.kept_library(archive)
    kept = library.kept
    if kept is not None and is_encrypted(archive / "archive.db"):
        with scratch_folder() as folder:  # what is encrypted does not stay anywhere in plain
            storage = FolderStorage(folder / "lake")
            _bring_up_to_date(storage, library, 0)
            yield storage
        return
    name = sha256(f"{archive.resolve()} {settings.chosen_sources(())}".encode(errors="replace")).hexdigest()[:16]
    storage = FolderStorage(cache_folder("lake") / name)
    _bring_up_to_date(storage, library, _PATIENCE)
    yield storage


def _bring_up_to_date(storage: "LakeStorage", library: "Library", patience: float) -> None:
    from unspool.lake.manifest import load_manifest
    from unspool.lake.write import PATIENCE, WriteRequest, write_lake

    if load_manifest(storage) is None:
        patience = PATIENCE  # there is nothing to answer from yet
    try:
        with progress_bar("Reading sessions", least=output.WORTH_A_BAR) as advance:
            done = write_lake(
                storage, library, WriteRequest(reading_terms(library), patience=patience, progress=advance)
            )
    except AlreadyRunning:
        settings.warn_once("another question brings the tables up to date, so this is what they hold so far.")
    else:
        complain(done.failures)


def _list_views(*, as_json: bool) -> None:
    from unspool.lake.tables import PARTITIONS, TABLES
    from unspool.lake.views import VIEWS

    if as_json:
        tables = [
            {"name": table.name, "meaning": table.meaning,
             "columns": [one._asdict() for one in (*table.columns, *PARTITIONS)]}
            for table in TABLES
        ]  # fmt: skip
        print_json({"tables": tables, "views": [view._asdict() for view in VIEWS]})
        return
    named = [*((table.name, table.meaning) for table in TABLES), *((view.name, view.meaning) for view in VIEWS)]
    names, meanings = [name for name, _ in named], [meaning for _, meaning in named]
    print_table([Column("name", names, right=False), Column("meaning", meanings, right=False, least=20)])
    click.echo("\nDESCRIBE NAME tells the columns; docs/tables.md says what they mean.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_whole(value: Decimal) -> bool:
    """Whether it is of a column without a point: a sum of whole numbers has more digits than those."""
    return value.as_tuple().exponent == 0


def _plain(value: Any) -> Any:
    """A value as JSON and CSV have it: money in every digit, times with their zone."""
    if isinstance(value, Decimal):
        return int(value) if _is_whole(value) else f"{value.normalize():f}" if value else "0"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, date) else value


def _shown(value: Any, zone: tzinfo | None) -> str:
    """A value in a table: money to the tenth of a cent, times to the second."""
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return str(int(value)) if _is_whole(value) else f"{value:.3f}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return f"{value.astimezone(zone) if value.tzinfo else value:%Y-%m-%d %H:%M:%S}"
    return safe_text(str(value))


def _some(answer: "LakeAnswer", limit: int) -> tuple[list[tuple[Any, ...]], bool]:
    """The first rows, and whether there are more."""
    rows: list[tuple[Any, ...]] = []
    for row in answer.rows():
        if limit and len(rows) == limit:
            return rows, True
        rows.append(row)
    return rows, False


def _table(answer: "LakeAnswer", zone: tzinfo | None, limit: int) -> None:
    rows, more = _some(answer, limit)
    columns = []
    for number, name in enumerate(answer.names):
        values = [row[number] for row in rows]
        right = bool(values) and all(value is None or _is_number(value) for value in values)
        columns.append(Column(name, [_shown(value, zone) for value in values], right=right, least=0 if right else 12))
    print_table(columns)
    _tell_rest(len(rows), more)


def _tell_rest(shown: int, more: bool) -> None:
    words = f"{shown:,} rows, and more (--limit)" if more else human.count(shown, "row")
    click.echo(click.style(words, dim=True), err=True)


def _chart(answer: "LakeAnswer", zone: tzinfo | None, limit: int) -> None:
    """A bar for each row."""
    rows, more = _some(answer, limit)
    label, number = _chart_columns(answer.names, rows)
    values = [row[number] or 0 for row in rows]
    most = max((float(value) for value in values), default=0.0)
    bars = [output.bar_text(float(value) / most if most > 0 else 0.0, _LONGEST_BAR) for value in values]
    labels = [_shown(row[label], zone) or "–" for row in rows] if label is not None else [""] * len(rows)
    names = answer.names
    print_table(
        [
            Column(names[label] if label is not None else "", labels, right=False, least=12),
            Column(names[number], [_shown(value, zone) for value in values]),
            Column("", bars, right=False),
        ]
    )
    _tell_rest(len(rows), more)


def _chart_columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> tuple[int | None, int]:
    """Which column names the bars, and which says how long they are: money before other numbers."""
    kinds = [[row[number] for row in rows if row[number] is not None] for number in range(len(names))]
    numbers = [place for place, values in enumerate(kinds) if values and all(map(_is_number, values))]
    if not numbers:
        raise UsageProblem("A chart needs a column with numbers.")
    money = [place for place in numbers if isinstance(one := kinds[place][0], Decimal) and not _is_whole(one)]
    label = next((place for place in range(len(names)) if place not in numbers), None)
    return label, (money or numbers)[0]


def _csv(answer: "LakeAnswer") -> str:
    from unspool.store.index.billing import as_csv

    return as_csv(answer.names, (["" if value is None else _plain(value) for value in row] for row in answer.rows()))


def _save(answer: "LakeAnswer", file: Path) -> None:
    from unspool.files import write_atomically

    if file.suffix == ".parquet":
        from unspool.lake.parquet import save_batches

        save_batches(answer.batches(), answer.schema, file)
    elif file.suffix == ".csv":
        write_atomically(file, [_csv(answer).encode("utf-8", "replace")])
    else:
        write_atomically(file, _json_lines(answer))


def _json_lines(answer: "LakeAnswer") -> Iterator[bytes]:
    """A list of rows, one a line."""
    import msgspec

    before = b"[\n"
    for row in answer.rows():
        yield before + msgspec.json.encode(dict(zip(answer.names, map(_plain, row), strict=True)))
        before = b",\n"
    yield (b"[" if before == b"[\n" else b"\n") + b"]\n"
