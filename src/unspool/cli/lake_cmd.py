"""`unspool lake`: sessions as Parquet tables, in a folder or an object store, for any engine that reads them."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import options
from unspool.cli.exchange_cmd import export_command
from unspool.cli.output import complain, print_result, progress_bar
from unspool.errors import NotFound, Unsound, UsageProblem

if TYPE_CHECKING:
    from unspool.lake.group import ReadingTerms
    from unspool.lake.manifest import LakeManifest
    from unspool.lake.storage import LakeStorage
    from unspool.redact.policy import RedactionPolicy
    from unspool.store.library import Library

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def need_lake() -> None:
    """UsageProblem where what lakes need is not installed."""
    if find_spec("pyarrow") is None or find_spec("duckdb") is None:
        raise UsageProblem("This needs pyarrow and duckdb: pip install 'unspool[lake]'")


@click.group("lake")
def command() -> None:
    """Write sessions as Parquet tables, for any engine.

    \b
    unspool lake write ~/lake                       all sessions, kept ones too; again, and only what is new is read
    unspool lake write s3://team/lake --redact      to an object store, without secrets and names
    unspool lake info ~/lake                        tables, rows, bytes
    unspool lake verify ~/lake                      every file is there, and as it was written
    unspool lake export atif runs/                  all sessions in a format of other programs, redacted
    unspool sql 'FROM cost_by_day' --lake ~/lake    ask it

    The tables and their columns: docs/tables.md, or `unspool sql --views`. DuckDB, Spark, Trino, ClickHouse, Polars and
    pandas read the folders as they are. Keys, region and endpoint of an object store are those of AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL. Needs `pip install 'unspool[lake]'`.
    """


command.add_command(export_command, "export")


@command.command("write")
@click.argument("lake", metavar="DIR|s3://...")
@options.named_sources
@options.agents
@options.demo
@click.option(
    "--since", callback=options.day, metavar="WHEN", help="Only logs written to since 2026-01-31, or 3d, 2w ago."
)
@click.option("--redact", is_flag=True, help="Read the logs without secrets, names and other personal data.")
@click.option("--policy", type=options.FILE, metavar="FILE", help="Redact by this policy, as a hub's is written.")
@click.option("--without-results", is_flag=True, help="Leave out what tools answered.")
@click.option("--prune", is_flag=True, help="Remove sessions that are in no source any more.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that read.  [default: one a core]")
@_JSON
@options.archive
def write(lake: str, as_json: bool, archive: Path, **given: Any) -> None:
    """Bring a lake up to date, or make one.

    Only sessions that changed are read, and replace their rows. A session whose log is gone keeps its rows, unless
    --prune says otherwise. Until all is written the lake is as it was, and a write that was broken off is cleared away
    by the next. A lake is with results or without, and redacted or not, for good.
    """
    need_lake()
    from unspool.lake.storage import open_storage
    from unspool.lake.write import WriteRequest, write_lake

    if given["prune"] and given["since"] is not None:
        raise UsageProblem("--prune needs all sessions: leave out --since.")
    if given["source"] or given["demo"]:
        library = options.chosen_library(given["source"], given["demo"], given["agent"])
    else:
        library = options.kept_library(archive, (), given["agent"])
    policy = _policy(given["policy"]) if given["redact"] or given["policy"] else None
    terms = reading_terms(library, policy, results=not given["without_results"])
    since = given["since"].timestamp() if given["since"] is not None else None
    storage = open_storage(lake)
    with progress_bar("Writing the lake", quiet=as_json) as advance:
        done = write_lake(storage, library, WriteRequest(terms, since, given["prune"], given["jobs"], progress=advance))
    complain(done.failures)
    again = f" ({done.again:,} of them twice, for what others told of them)" if done.again else ""
    lines = [
        f"{human.count(done.written, 'session')} read{again}, {done.unchanged:,} unchanged, {done.removed:,} removed",
        f"{storage.url}: {human.size(done.bytes)} in {human.count(done.parts, 'file')}",
    ]
    print_result(done, lines, as_json=as_json)


def reading_terms(
    library: "Library", policy: "RedactionPolicy | None" = None, *, results: bool = True
) -> "ReadingTerms":
    """How the sessions of a library become rows."""
    from unspool.config import config_folder
    from unspool.hub_client.prepare import naming_key
    from unspool.lake.group import ReadingTerms

    kept = library.kept
    return ReadingTerms(
        library.prices,
        results,
        str(kept.folder) if kept is not None else "",
        kept.key if kept is not None else None,
        policy,
        naming_key(config_folder() / "push") if policy is not None else b"",
    )


def _policy(file: Path | None) -> "RedactionPolicy":
    """The policy of a file; else all rules of this package with the user's own."""
    from unspool.redact.policy import RedactionPolicy, parse_policy
    from unspool.redact.rules import builtin_rules

    if file is None:
        rules, known = options.redaction_rules(), set(builtin_rules().rules)
        return RedactionPolicy(without=rules.without, rules=tuple(one for one in rules.rules if one not in known))
    try:
        return parse_policy(file.read_bytes())
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from None


@command.command("info")
@click.argument("lake", metavar="DIR|s3://...")
@_JSON
def info(lake: str, as_json: bool) -> None:
    """Tell what a lake holds: tables, rows, bytes."""
    storage, manifest = _opened(lake)
    from unspool.lake.tables import TABLES

    tables = [
        {
            "table": table.name,
            "version": table.version,
            "rows": sum(part.rows for part in manifest.of(table.name)),
            "files": len(manifest.of(table.name)),
            "bytes": sum(part.size for part in manifest.of(table.name)),
        }
        for table in TABLES
    ]
    months = sorted({part.month for part in manifest.parts})
    agents = sorted({part.agent for part in manifest.parts})
    about = {"results": manifest.results, "redacted": manifest.redacted, "made_with": manifest.made_with}
    data = {"lake": storage.url, **about, "agents": agents, "months": months, "tables": tables}
    kind = f"{'with' if manifest.results else 'without'} results{', redacted' if manifest.redacted else ''}"
    lines = [f"{storage.url}, {kind}", f"{', '.join(agents)}; {months[0]} to {months[-1]}" if months else "empty"]
    lines += [
        f"  {one['table']:<10} {human.count(int(str(one['rows'])), 'row')}, {human.size(float(str(one['bytes'])))}"
        for one in tables
    ]
    print_result(data, lines, as_json=as_json)


@command.command("verify")
@click.argument("lake", metavar="DIR|s3://...")
@_JSON
def verify(lake: str, as_json: bool) -> None:
    """Prove that every file of a lake is there, and as it was written.

    Ends with 11 where one is not. Files beside the lake's own, which a write left that was broken off, are told of, and
    removed by the next write.
    """
    storage, manifest = _opened(lake)
    from unspool.lake.manifest import verify_lake

    found = verify_lake(storage, manifest)
    lines = [*found.damaged, f"{human.count(found.sound, 'file')} as written"]
    lines += [f"{human.count(len(found.left), 'file')} left by a write that was broken off"] if found.left else []
    print_result(found, lines, as_json=as_json)
    if found.damaged:
        raise Unsound(f"{human.count(len(found.damaged), 'file')} of the lake in {storage.url} cannot be trusted.")


def _opened(lake: str) -> "tuple[LakeStorage, LakeManifest]":
    need_lake()
    from unspool.lake.manifest import load_manifest
    from unspool.lake.storage import open_storage

    storage = open_storage(lake)
    manifest = load_manifest(storage)
    if manifest is None:
        raise NotFound(f"There is no lake in {storage.url}; `unspool lake write` makes one.")
    return storage, manifest
