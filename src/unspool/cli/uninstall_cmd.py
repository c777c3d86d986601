"""`unspool uninstall`: takes back everything that unspool put on this machine but what it keeps for you."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli.output import say_line
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.store.sync.service.plan import InstallPlan


@click.command("uninstall")
@click.option("--settings", "with_settings", is_flag=True, help="Your settings and your own prices too.")
@click.option("-n", "--dry-run", is_flag=True, help="Only tell what would go.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(with_settings: bool, dry_run: bool, yes: bool) -> None:
    """Take unspool off this machine; the archive stays.

    Services, cron lines and hooks that keep sessions, entries in the settings of agents, the entry in the menu, caches
    and marks go, after they were shown. What is kept for you stays: the archive, the data of a hub, copies of sessions
    among an agent's own, and your settings unless --settings is given. The program itself is removed by what installed
    it; which command that is is said at the end.
    """
    from unspool.render.sanitize import safe_row
    from unspool.store.sync.service import perform_plan, plan_lines

    plan, folders = _plan(), [one for one in _folders(with_settings) if one.is_dir() and not _holds_archive(one)]
    for line in (*plan_lines(plan), *(f"remove: {one} and all that is in it" for one in folders)):
        click.echo(safe_row(line))
    if not plan.steps and not folders:
        click.echo("Nothing of unspool is installed or remembered here.")
    elif not dry_run:
        if not yes and not sys.stdin.isatty():
            raise UsageProblem("Nothing was done: give --yes to do this without being asked.")
        if not yes and not click.confirm("Do this?"):
            click.echo("Nothing was done.")
            return
        perform_plan(plan)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    for line in _what_stays():
        say_line(line)


def _plan() -> "InstallPlan":
    """Everything that some `--install` put somewhere, taken out again without leaving copies behind."""
    from unspool.app.desktop import menu_entry
    from unspool.mcp.install import NAMES, client_entry
    from unspool.store.sync import service
    from unspool.store.sync.service.plan import WriteStep, backup_path, join_plans, write_file

    plan = join_plans(
        service.uninstall(""),
        menu_entry(os.environ, sys.platform, there=False),
        *(client_entry(name, there=False) for name in NAMES),
    )
    written = [step for step in plan.steps if isinstance(step, WriteStep)]
    steps = tuple(step._replace(backup=False) if isinstance(step, WriteStep) else step for step in plan.steps)
    return join_plans(plan._replace(steps=steps), *(write_file(backup_path(one.path), None) for one in written))


def _folders(with_settings: bool) -> Iterator[Path]:
    from unspool.config import config_folder

    yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unspool"
    yield Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "unspool"
    if with_settings:
        yield config_folder()


def _holds_archive(folder: Path) -> bool:
    """Whether the archive lies in a folder, where somebody put it there."""
    from unspool.store.archive.database import archive_folder

    return archive_folder().resolve().is_relative_to(folder.resolve())


def _what_stays() -> Iterator[str]:
    """Where what is kept lies, and how the program itself is removed."""
    from unspool.store.archive.database import archive_folder

    kept = archive_folder()
    held = [path for path in kept.rglob("*") if path.is_file()] if kept.is_dir() else []
    if held:
        size = human.size(sum(path.stat().st_size for path in held))
        yield f"Your archive stays in {kept} ({size}); remove the folder yourself if you want it gone."
    parts = Path(sys.prefix).parts
    if "tools" in parts and "uv" in parts:
        yield "The program: uv tool uninstall unspool"
    elif "pipx" in parts:
        yield "The program: pipx uninstall unspool"
    else:
        yield f"The program: {sys.executable} -m pip uninstall unspool (nothing to do where uvx ran it)"
