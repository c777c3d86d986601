"""An archive's folder with an index that was filled by hand, and commands run on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click import Command
from click.testing import CliRunner

from tests.store.index.filled import Filled
from unspool.store.index.database import Index


@contextmanager
def filling(folder: Path) -> Iterator[Filled]:
    """The index of the folder, to be filled."""
    with Index.open(folder) as index:
        yield Filled(index.db)


def told(command: Command, folder: Path, *arguments: str, columns: int = 120) -> str:
    """What the command prints of the folder; it must end well."""
    environment = {"COLUMNS": str(columns)}
    done = CliRunner().invoke(
        command,
        [*arguments, "--archive", str(folder)],
        env=environment,
        catch_exceptions=False,
        help_option_names=["-h", "--help"],
    )
    assert done.exit_code == 0, done.output
    return done.output
