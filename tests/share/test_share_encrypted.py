"""`unspool share --encrypt`: one file that its key opens, with nothing inside that must not leave."""

import gzip
import re
from base64 import b64decode
from pathlib import Path

import pytest

from tests.cli.running import run, source
from tests.share.made import ALL, SESSION, TOLD, holds, leaked, session
from tests.share.opening import from_base64, unseal
from unspool.errors import Unreadable
from unspool.share.encryption import SealedData, ShareSecret, passphrase, random_key

WORDS = "four tides every day"


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    return source(tmp_path / "logs", session())


def inside(file: Path, secret: ShareSecret, to: Path) -> Path:
    """What the secret opens, as a file."""
    page = file.read_bytes()
    header = re.findall(rb'id="sealed">(.*?)</script>', page)[0]
    chunks = tuple(map(b64decode, re.findall(rb'class="chunk">(.*?)</script>', page)))
    to.write_bytes(gzip.decompress(unseal(SealedData(header, chunks), secret)))
    return to


def test_the_key_that_is_printed_opens_it(given: tuple[str, str], tmp_path: Path) -> None:
    """The file by itself tells nothing; opened, it holds the session without what must not leave."""
    file = tmp_path / "talk.html"
    done = run("share", SESSION, *given, "--html", "-o", str(file), "--encrypt", "--yes")
    assert done.code == 0, done.err
    assert not holds(file, TOLD)
    link = re.findall(r"Link: (\S+)#key=([\w-]{43})\n", done.out)[0]
    assert link[0] == file.resolve().as_uri()
    found = inside(file, ShareSecret("key", from_base64(link[1])), tmp_path / "inside")
    assert holds(found, TOLD)
    assert leaked(found, ALL) == set()
    assert b'"report.json"' in found.read_bytes()[:2000]
    with pytest.raises(Unreadable):
        inside(file, random_key(), tmp_path / "other")


def test_a_passphrase_comes_from_a_file(given: tuple[str, str], tmp_path: Path) -> None:
    """Its first line; no key is printed then."""
    (tmp_path / "words").write_text(f"{WORDS}\nsomething else\n")
    file = tmp_path / "talk.html"
    words = str(tmp_path / "words")
    done = run("share", SESSION, *given, "--html", "-o", str(file), "--passphrase-file", words, "--yes")
    assert done.code == 0, done.err
    assert "key=" not in done.out + done.err
    assert holds(inside(file, passphrase(WORDS), tmp_path / "inside"), TOLD)


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (("--bundle", "-o", "x", "--encrypt"), 2, "--html or --site"),
        (("--gist", "--encrypt"), 2, "--html or --site"),
        (("--html", "-o", "x", "--passphrase-file", "short"), 2, "12 characters"),
        (("--html", "-o", "x", "--passphrase-file", "missing"), 3, "cannot be read"),
    ],
    ids=["bundle", "gist", "short", "missing"],
)
def test_what_cannot_be_is_said_before_anything_is_made(
    given: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], code: int, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("too short\n")
    done = run("share", SESSION, *given, *more, "--yes")
    assert done.code == code
    assert says in done.err
    assert not Path("x").exists()


def test_a_folder_is_one_page_that_its_key_opens(given: tuple[str, str], tmp_path: Path) -> None:
    """It takes the place of an earlier share, encrypted or not, and of nothing else."""
    folder = tmp_path / "talk"
    assert run("share", SESSION, *given, "--site", "-o", str(folder), "--yes").code == 0
    for _ in range(2):
        done = run("share", SESSION, *given, "--site", "-o", str(folder), "--encrypt", "--yes")
        assert done.code == 0, done.err
        assert [path.name for path in folder.iterdir()] == ["index.html"]
        assert not holds(folder, TOLD)
    key = ShareSecret("key", from_base64(re.findall(r"index\.html#key=([\w-]{43})\n", done.out)[0]))
    found = inside(folder / "index.html", key, tmp_path / "inside")
    assert holds(found, TOLD)
    assert leaked(found, ALL) == set()
    (folder / "mine.txt").write_text("years of work")
    assert run("share", SESSION, *given, "--site", "-o", str(folder), "--encrypt", "--yes").code == 10
