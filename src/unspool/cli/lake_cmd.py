"""`unspool lake`: sessions as Parquet tables, in a folder or an object store, for any engine that reads them."""

from contextlib import ExitStack
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
    from unspool.lake.write import LogSource
    from unspool.redact.policy import RedactionPolicy
    from unspool.store.library import Library

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class _Source(click.Path):
    """A folder, or an address of an object store, which stays a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if str(value).startswith("s3://") else super().convert(value, param, ctx)


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
@click.option(
    "-s",
    "--source",
    multiple=True,
    type=_Source(path_type=Path, file_okay=False),
    metavar="DIR|s3://...",
    help="Read these logs instead of the usual.",
)
@click.option("--from-hub", metavar="DIR|URL", help="Read what was pushed to this hub: its folder or postgresql://...")
@click.option(
    "--hub-objects", default="", metavar="URL", help="With --from-hub: s3://..., where its objects lie there."
)
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
@click.option("--on", type=click.Choice(["ray"]), help="Read on a cluster instead of this machine.")
@click.option(
    "--ray-address", default="", metavar="ADDRESS", help="With --on ray: the cluster.  [default: RAY_ADDRESS]"
)
@click.option("--shard", metavar="I/N", help="Read only the I-th of N shares of the sessions, for --join.")
@click.option("--join", type=click.IntRange(min=1), metavar="N", help="Make the lake of what N shards have read.")
@_JSON
@options.archive
def write(lake: str, as_json: bool, archive: Path, **given: Any) -> None:
    """Bring a lake up to date, or make one.

    \b
    unspool lake write s3://team/lake -s s3://logs/claude               logs of an object store
    unspool lake write s3://team/lake -s s3://logs/claude --on ray      the same on a Ray cluster
    unspool lake write s3://team/lake -s s3://logs/claude --shard 3/8   a share, on any machine: Slurm, Kubernetes, ...
    unspool lake write s3://team/lake -s s3://logs/claude --join 8      once all eight are done
    unspool lake write lake --from-hub /srv/hub                         what was pushed to a hub

    Only sessions that changed are read, and replace their rows. A session whose log is gone keeps its rows, unless
    --prune says otherwise. Until all is written the lake is as it was. Of a write that was broken off the next one
    takes over what is finished, and clears away the rest. A lake is with results or without, and redacted or not, for
    good. A cluster and shards need a lake and logs that all machines reach; docs/scale.md tells how.
    """
    need_lake()
    from unspool.lake.runners import ray_runner
    from unspool.lake.shards import Shard
    from unspool.lake.storage import open_storage
    from unspool.lake.write import WriteRequest, write_lake, write_shard

    _check(given)
    source, library = _source(given, archive)
    policy = _policy(given["policy"]) if given["redact"] or given["policy"] else None
    terms = reading_terms(library, policy, results=not given["without_results"])
    since = given["since"].timestamp() if given["since"] is not None else None
    storage, shard = open_storage(lake), Shard.parse(given["shard"]) if given["shard"] else None
    with ExitStack() as opened:
        runner = opened.enter_context(ray_runner(given["ray_address"])) if given["on"] else None
        advance = opened.enter_context(progress_bar("Writing the lake", quiet=as_json))
        request = WriteRequest(
            terms, since, given["prune"], given["jobs"], runner, given["join"] or 0, progress=advance
        )
        if shard is not None:
            done = write_shard(storage, source, request, shard)
        else:
            done = write_lake(storage, source, request)
    complain([*getattr(source, "strange", ()), *done.failures])
    again = f" ({done.again:,} of them twice, for what others told of them)" if done.again else ""
    lines = [
        f"{human.count(done.written, 'session')} read{again}, {done.unchanged:,} unchanged, {done.removed:,} removed",
        f"{storage.url}: {human.size(done.bytes)} in {human.count(done.parts, 'file')}",
    ]
    if shard is not None:
        lines[1] = f"Shard {shard.number} of {shard.of} is done; --join {shard.of} makes the lake once all are."
    print_result(done, lines, as_json=as_json)


def _check(given: dict[str, Any]) -> None:
    """UsageProblem where options do not go together."""
    if given["prune"] and given["since"] is not None:
        raise UsageProblem("--prune needs all sessions: leave out --since.")
    if given["prune"] and given["shard"]:
        raise UsageProblem("--prune is for the one who joins the shards.")
    if given["shard"] and given["join"]:
        raise UsageProblem("--shard reads a share, and --join makes the lake of all: one after the other.")
    if given["ray_address"] and not given["on"]:
        raise UsageProblem("--ray-address is for --on ray.")
    if given["hub_objects"] and not given["from_hub"]:
        raise UsageProblem("--hub-objects is for --from-hub.")
    if given["from_hub"] and (given["source"] or given["demo"]):
        raise UsageProblem("--from-hub is a source of its own: leave out --source and --demo.")


def _source(given: dict[str, Any], archive: Path) -> "tuple[Library | LogSource, Library]":
    """The sessions that are meant, and a library that tells prices and the archive."""
    from unspool.lake.remote_logs import BucketLogs, HubLogs

    remote = [one for one in given["source"] if isinstance(one, str)]
    if remote and len(remote) < len(given["source"]):
        raise UsageProblem("Name folders or addresses as sources, and not both in one lake write.")
    if given["from_hub"]:
        from unspool.hub.store.connect import StorePlace

        is_url = "://" in given["from_hub"]
        folder = Path() if is_url else Path(given["from_hub"]).expanduser()
        place = StorePlace(folder.absolute(), given["from_hub"] if is_url else "", given["hub_objects"])
        return HubLogs(place, given["agent"]), options.chosen_library((options.demo_folder(),), False, ())
    if remote:
        return BucketLogs(remote, given["agent"]), options.chosen_library((options.demo_folder(),), False, ())
    if given["source"] or given["demo"]:
        library = options.chosen_library(given["source"], given["demo"], given["agent"])
    else:
        library = options.kept_library(archive, (), given["agent"])
    return library, library


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
