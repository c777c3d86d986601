"""Files of a table put together: those that sessions leave are written anew, and many small ones become one."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from unspool.lake.manifest import KNOWN, RUNS, LakePart
from unspool.lake.parquet import arrow_schema, join_files
from unspool.lake.settle import known_schema
from unspool.lake.storage import open_storage
from unspool.lake.tables import BY_NAME

_SMALL = 8 * 1024 * 1024
_MANY = 8
"""Files below that size, of which a folder may hold so many before they are joined."""
_LARGE = 256 * 1024 * 1024
"""Bytes that a file of joined ones is to have at most."""


class LakePiece(NamedTuple):
    """A file, and the sessions whose rows are to leave it."""

    part: LakePart
    gone: Collection[str] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        return self.part.table, self.part.agent, self.part.month


class JoinTask(NamedTuple):
    """Pieces of one place that become a file."""

    pieces: tuple[LakePiece, ...]
    storage: str
    """The address of the lake."""
    number: int
    """Among the tasks of its place."""
    attempt: str = ""

    def smaller(self) -> "list[JoinTask]":
        """None: it takes little room as it is."""
        return []


def join_pieces(task: JoinTask) -> LakePart | None:
    """The file of some pieces, which is not in its place yet; None where no row is left."""
    table, agent, month = task.pieces[0].place
    schema = known_schema() if table == KNOWN else arrow_schema(BY_NAME[table])
    target = f"{RUNS}/joined{task.attempt}/{table}-{agent}-{month}-{task.number}.parquet"
    files = ((one.part.path, one.gone) for one in task.pieces)
    made = join_files(open_storage(task.storage), files, target, schema)
    return LakePart(table, agent, month, *made) if made is not None else None


def plan_joins(pieces: Iterable[LakePiece], storage: str) -> tuple[list[LakePart], list[JoinTask]]:
    """The files that stay as they are, and what is to be made of the others."""
    stay: list[LakePart] = []
    tasks: list[JoinTask] = []
    for _, group in groupby(sorted(pieces, key=lambda one: one.place), key=lambda one: one.place):
        here = list(group)
        join = [piece for piece in here if piece.gone]
        small = [piece for piece in here if not piece.gone and piece.part.size < _SMALL]
        if len(small) + bool(join) > _MANY:
            join += small
        joined = {piece.part.path for piece in join}
        stay += [piece.part for piece in here if piece.part.path not in joined]
        tasks += [JoinTask(tuple(some), storage, number) for number, some in enumerate(_bounded(join))]
    return stay, tasks


def _bounded(pieces: Sequence[LakePiece]) -> Iterator[list[LakePiece]]:
    """Pieces put together until they are enough for one file."""
    waiting: list[LakePiece] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += piece.part.size
        if size >= _LARGE:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting
