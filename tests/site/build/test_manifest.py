"""The program's fingerprint: another one whenever pages may come out differently."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

import unspool
from unspool.site.build.manifest import ABOVE, PACKAGE, digest_of, fingerprint


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A small package with code, a template and a command."""
    for name in ("site/pages.py", "site/templates/page.html", "cli/all_cmd.py", "site/__pycache__/pages.pyc"):
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "package"


@pytest.mark.parametrize("name", ["site/pages.py", "site/templates/page.html"])
def test_code_and_templates_take_part(copy: Path, name: str) -> None:
    """A change that keeps the size, and one that hides behind the old time, are seen."""
    before, status = digest_of(str(copy)), (copy / name).stat()
    (copy / name).write_text(name.upper())
    os.utime(copy / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digest_of(str(copy)) != before


@pytest.mark.parametrize("name", ["cli/all_cmd.py", "site/__pycache__/pages.pyc"])
def test_what_makes_no_page_takes_no_part(copy: Path, name: str) -> None:
    """Commands and compiled code may change."""
    before = digest_of(str(copy))
    (copy / name).write_text("another")
    assert digest_of(str(copy)) == before


def test_no_layer_but_those_above_pages_is_left_out(repository: Path) -> None:
    """A layer that pages are made of must not be taken for one above them."""
    contract = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    above = contract["layers"][: contract["layers"].index("site")]
    assert set(ABOVE) <= {name for layer in above for name in layer.split(" | ")}


def test_new_gone_and_renamed_files_are_seen(copy: Path) -> None:
    """A module that comes, goes or is called differently makes another program."""
    seen = {digest_of(str(copy))}
    (copy / "doc.py").write_text("")
    seen.add(digest_of(str(copy)))
    (copy / "doc.py").rename(copy / "docs.py")
    seen.add(digest_of(str(copy)))
    (copy / "site" / "pages.py").unlink()
    seen.add(digest_of(str(copy)))
    assert len(seen) == 4


def test_it_does_not_depend_on_the_place(copy: Path, tmp_path: Path) -> None:
    """The same program installed elsewhere makes the same pages."""
    shutil.copytree(copy, tmp_path / "elsewhere")
    assert digest_of(str(tmp_path / "elsewhere")) == digest_of(str(copy))


def test_it_is_of_this_package() -> None:
    """The folder looked at is the one the program runs from."""
    assert Path(PACKAGE) == Path(unspool.__file__).parent
    assert len(fingerprint()) == 24
