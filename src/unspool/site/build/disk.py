"""Files and folders that are written whole or not at all, and the lock of a site."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from unspool.errors import UnspoolError, UsageProblem
from unspool.files import locked
from unspool.human import size

_HERE = -100
_SWAP = 2


def exchange_paths(one: Path, other: Path) -> bool:
    """Exchange two paths at once; False where this system or file system cannot, and nothing was done."""
    import ctypes

    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, _SWAP) == 0)
        return bool(library.renameat2(_HERE, first, _HERE, second, _SWAP) == 0)
    except (AttributeError, OSError, TypeError):  # no such call in this libc; no libc by that name
        return False


_PART, _AWAY = ".part", ".away"


def write_if_changed(path: Path, data: bytes) -> bool:
    """Make the file hold the data, at once; False where it already did and nothing was written."""
    with suppress(OSError):
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _beside(path, _PART)
    part.write_bytes(data)
    part.replace(path)
    return True


def encode_html(html: str) -> bytes:
    """A page as bytes; what no encoding can hold is a question mark."""
    return html.encode("utf-8", "replace")


@contextmanager
def swap_folder(folder: Path) -> Iterator[Path]:
    """An empty folder to fill; when the block ends well it takes the place of `folder`, otherwise it is removed."""
    part = _beside(folder, _PART)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        _swap(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _swap(new: Path, old: Path) -> None:
    """Put a folder in the place of another, which ends up where the first was."""
    try:
        new.rename(old)  # where there is nothing yet, or an empty folder
    except OSError:
        if exchange_paths(new, old):
            return
        away = _beside(old, _AWAY)
        old.rename(away)
        new.rename(old)
        shutil.rmtree(away, ignore_errors=True)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}{suffix}")


def sweep_folder(folder: Path) -> None:
    """Remove what killed runs left in a folder; what they had moved away and not replaced comes back."""
    try:
        left = [entry.name for entry in os.scandir(folder) if entry.name.startswith(".")]
    except OSError:
        return
    for name in left:
        path = folder / name
        if name.endswith(_AWAY) and not (home := folder / name[1:].rsplit(".", 2)[0]).exists():
            path.rename(home)
        elif name.endswith((_PART, _AWAY)):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def sweep_site(site: Path) -> None:
    """Sweep a site and each folder in it."""
    sweep_folder(site)
    for entry in os.scandir(site):
        if entry.is_dir(follow_symlinks=False):
            sweep_folder(Path(entry.path))


@contextmanager
def lock_folder(folder: Path) -> Iterator[bool]:
    """Hold the folder against other runs; False where another one has it. Systems without such locks always have it."""
    if os.name != "posix":
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield locked(descriptor)
    finally:
        os.close(descriptor)


VIEWER = "https://gisthost.github.io/?"
LARGEST = 10_000_000
"""Bytes of a file that GitHub still gives out whole."""
MOST = 300
"""Files that GitHub lists of a gist."""
TOGETHER = 50_000_000
_SECONDS = 600
_ADDRESS = re.compile(r"https?://\S+/([0-9A-Za-z]+)\s*$", re.M)


class Gist(NamedTuple):
    """Where a gist is, and where it can be seen as pages."""

    address: str
    preview: str


def fits(files: Sequence[Path]) -> str:
    """Why these files cannot be a gist, in a sentence; empty where they can."""
    sizes = {file.name: file.stat().st_size for file in files}
    name, most = max(sizes.items(), key=lambda item: item[1])
    if most > LARGEST:
        return f"{name} has {size(most)}, and a gist gives out at most {size(LARGEST)} a file."
    if sum(sizes.values()) > TOGETHER:
        return f"The pages have {size(sum(sizes.values()))} together, and a gist takes about {size(TOGETHER)}."
    return f"There are {len(files)} pages, and a gist lists at most {MOST} files." if len(files) > MOST else ""


def publish(files: Sequence[Path], description: str, *, public: bool) -> Gist:
    """Make a gist of the files, secret unless it is to be public."""
    program = shutil.which("gh")
    if program is None:
        raise UsageProblem("--gist needs GitHub's program gh: https://cli.github.com; then run gh auth login.")
    visibility = ["--public"] if public else []
    command = [program, "gist", "create", *visibility, "--desc", description, "--", *map(str, files)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603  no shell, our own files
    except subprocess.TimeoutExpired:
        raise UnspoolError(
            f"gh did not finish within {_SECONDS // 60} minutes; look whether the gist is there."
        ) from None
    found = _ADDRESS.search(done.stdout.decode(errors="replace"))
    if done.returncode != 0 or found is None:
        said = (done.stderr or done.stdout).decode(errors="replace").strip() or "it gave no reason"
        raise UnspoolError(f"gh could not make the gist: {said}")
    return Gist(found[0].strip(), f"{VIEWER}{found[1]}/index.html")
