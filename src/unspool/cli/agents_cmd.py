"""`unspool agents`: which coding agents were found, and what works for each."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import console, print_json, say_line, show_renderable

if TYPE_CHECKING:
    from unspool.agents import CodingAgent, FoundLog
    from unspool.store.library import Library


@click.command("agents")
@click.option("--all", "everyone", is_flag=True, help="Also agents that nothing was found of.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every folder that was looked at.")
@options.sources
def command(everyone: bool, as_json: bool, library: "Library") -> None:
    """List the coding agents that were found, and what works for each.

    Every agent can be listed, read, searched, exported, kept, measured and shared. What differs is whether
    its sessions can be gone on with (resume), copied (clone, fork, move, repair), and what it logs of tokens.
    To teach unspool another agent, see docs/agents.md.
    """
    rows = _rows(library)
    if as_json:
        print_json({"agents": rows})
        return
    shown = rows if everyone else [row for row in rows if row["sessions"]]
    if not shown:
        say_line(f"No sessions were found of any of {len(rows)} agents; --all lists them and where each is looked for.")
        return
    _print(shown)
    if left := len(rows) - len(shown):
        say_line(f"\n{human.count(left, 'more agent')} without sessions here: --all")


def _rows(library: "Library") -> list[dict[str, Any]]:
    from unspool.agents import AGENTS, chosen_roots

    found: dict[str, list[FoundLog]] = {}
    for log in library.logs():
        found.setdefault(log.agent_id, []).append(log)
    rows = []
    for agent in AGENTS:
        logs = found.get(agent.id, [])
        roots = library.sources or chosen_roots(agent, os.environ, Path.home())
        homes = [home for root in roots if (home := agent.home(root)) is not None]
        kept = next(filter(None, (agent.files.retention(home) for home in homes)), None)
        rows.append(
            {
                "id": agent.id,
                "name": agent.name,
                "sessions": len(logs),
                "bytes": sum(log.total_size for log in logs),
                "folders": [{"path": str(root), "there": root.is_dir()} for root in roots],
                "deletes_after_days": kept.days if kept is not None and kept.deletes else None,
                "works": works_for(agent),
                "problems": [problem for root in roots for problem in agent.problems(root)],
            }
        )
    return rows


def works_for(agent: "CodingAgent") -> dict[str, bool]:
    """What works for an agent beyond reading, keeping, finding, showing and sharing its sessions."""
    return {
        "resume": agent.resuming is not None,
        "copies": agent.writer is not None,
        "hand-over": agent.taker is not None,
        "tokens": agent.logs_tokens,
        "hooks": agent.hooks is not None,
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("agent", "sessions", "size", "tokens", "resume", "copies", "takes over", "deletes", "where"):
        table.add_column(name, justify="right" if name in ("sessions", "size") else "left", no_wrap=name != "where")
    for row in rows:
        days, there = row["deletes_after_days"], [one["path"] for one in row["folders"] if one["there"]]
        marks = ("yes" if row["works"][name] else "–" for name in ("tokens", "resume", "copies", "hand-over"))
        after = "–" if days is None else f"after {human.count(days, 'day')}"
        where = ", ".join(map(_short, there or [one["path"] for one in row["folders"]]))
        size = human.size(row["bytes"]) if row["sessions"] else ""
        table.add_row(row["name"], str(row["sessions"] or ""), size, *marks, after, where)
    show_renderable(table, console())
    for row in rows:
        for problem in row["problems"]:
            say_line(f"\n{row['name']}: {problem}")


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
