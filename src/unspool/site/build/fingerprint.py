"""What pages are made with, besides sessions and options: the program itself, its templates, styles and scripts."""

import os
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

PACKAGE = str(Path(__file__).parents[2])
_APART = frozenset({"__pycache__", "cli", "demo"})
"""Folders of the package that have no part in a page."""


@cache
def fingerprint() -> str:
    """Another one whenever pages may come out differently: of the content of every file that takes part."""
    return digest_of(PACKAGE)


def digest_of(package: str) -> str:
    """Of the names and contents of the files below a folder."""
    digest = blake2b(digest_size=12)
    for path in sorted(_files(package)):
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  a third of the time, in every run
            content = file.read()
        digest.update(f"{path[len(package) :]}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif entry.name not in _APART:
                yield from _files(entry.path)
