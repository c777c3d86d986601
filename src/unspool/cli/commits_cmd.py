"""`unspool commits`: for each commit its sessions, the share of lines that agents wrote, and what it cost."""

from pathlib import Path

import click

from unspool import human
from unspool.cli import fresh, options, settings
from unspool.cli.output import Column, print_json, print_table, safe_text
from unspool.errors import NotFound


@click.command("commits")
@click.argument("commit", default="HEAD")
@click.option("-n", "--limit", type=click.IntRange(min=1, max=10_000), default=20, show_default=True, help="So many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fresh.no_sync
@options.archive
def command(commit: str, limit: int, archive: Path, as_json: bool, no_sync: bool) -> None:
    """List commits with their sessions, agents' share of lines, and cost.

    \b
    unspool commits                     the newest twenty of the repository of this folder
    unspool commits main -n 100 --json
    unspool story HEAD                  all that led to one of them

    A line is an agent's where a call of a session wrote it into that file within thirty days before the commit;
    lines of less than a dozen characters and merges are left out. The cost is what the sessions that made the commit
    spent since their commit before.
    """
    from unspool.store.library import session_opener
    from unspool.store.library.commit_work import CommitWorks
    from unspool.store.library.git_repository import GitRepository

    repository = GitRepository.around(Path.cwd())
    if repository is None or repository.commit(commit) is None:
        raise NotFound(f"There is no commit {commit} here.")
    fresh.keep_fresh(archive, no_sync=no_sync)
    opened = session_opener(options.kept_library(archive))
    with options.open_index(archive) as index:
        found = list(CommitWorks(index.db, repository, opened).newest(commit, limit))
    if as_json:
        print_json({"commits": found})
        return
    zone = settings.chosen_zone()
    print_table(
        [
            Column("commit", [one.hash[:8] for one in found], right=False),
            Column("when", [human.minute(one.time, zone) for one in found], right=False, rank=2),
            Column("lines", [f"{one.lines:,}" for one in found], rank=3),
            Column("agents", [f"{one.agent_lines / one.lines:.0%}" if one.lines else "" for one in found]),
            Column("cost", [human.money(one.cost) if one.cost is not None else "" for one in found], rank=1),
            Column(
                "sessions", [" ".join(key[:8] for key in one.sessions or one.writers) for one in found], right=False
            ),
            Column("subject", [safe_text(one.subject) for one in found], right=False, least=20),
        ]
    )
