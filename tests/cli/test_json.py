"""`unspool json`: one session as a folder, as one file, as a gist, or in the browser."""

import re
from pathlib import Path

import pytest

from tests.cli.fakes import GIST, browser, gh
from tests.cli.running import FIRST_LIGHT, STORM, run, source, talk
from tests.site.links import broken
from unspool.demo import write_demo

KEY = "gh" + "p_" + "k7Lm2Np9Qr4St6Uv8Wx1Yz3Ab5Cd7Ef9Gh2J"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the browser was told to open."""
    return browser(tmp_path / "browser", monkeypatch)


def test_a_session_becomes_a_folder_of_pages(tmp_path: Path, opened: Path) -> None:
    """-o writes pages with everything they need, every link leads somewhere, and no browser opens."""
    done = run("json", STORM, "--demo", "-o", str(tmp_path / "a" / "b"))
    assert done.code == 0, done.err
    assert done.out.strip() == str(tmp_path / "a" / "b" / "index.html")
    assert (tmp_path / "a" / "b" / "page-001.html").is_file()
    assert broken(tmp_path / "a" / "b") == []
    assert not opened.exists()


def test_without_a_folder_the_browser_opens(tmp_path: Path, opened: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages go to a new temporary folder, which only the user can read, and the browser shows them."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = run("json", STORM, "--demo")
    page = Path(done.out.strip())
    assert page.is_file()
    assert page.parent.parent == tmp_path
    assert page.parent.stat().st_mode & 0o077 == 0
    assert opened.read_text().strip() == page.as_uri()


def test_open_shows_what_was_written(tmp_path: Path, opened: Path) -> None:
    """--open opens the browser though -o is given."""
    run("json", STORM, "--demo", "-o", str(tmp_path / "x"), "--open")
    assert opened.read_text().strip() == (tmp_path / "x" / "index.html").as_uri()


@pytest.mark.usefixtures("opened")
def test_an_automatic_folder_is_named_after_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """-a makes a folder by the session's id, below -o or here."""
    monkeypatch.chdir(tmp_path)
    run("json", STORM, "--demo", "-a")
    run("json", STORM, "--demo", "-a", "-o", "below")
    assert (tmp_path / STORM / "index.html").is_file()
    assert (tmp_path / "below" / STORM / "index.html").is_file()


def test_one_file_needs_nothing_beside_it(tmp_path: Path) -> None:
    """A target that ends with .html is one file: no other file is made, and nothing else is asked for."""
    target = tmp_path / "talk.html"
    done = run("json", FIRST_LIGHT, "--demo", "-o", str(target))
    assert done.code == 0, done.err
    assert [path.name for path in tmp_path.iterdir()] == ["talk.html"]
    html = target.read_text()
    assert not re.search(r'<(?:link|script|img)[^>]+(?:href|src)="(?!data:|#)', html)
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert broken(tmp_path) == []


@pytest.mark.parametrize("arguments", [("-a",), ("--json",), ("--gist",)], ids=" ".join)
def test_one_file_cannot_be_a_folder(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """What needs a folder contradicts a target that is a file."""
    done = run("json", STORM, "--demo", "-o", str(tmp_path / "x.html"), *arguments)
    assert done.code == 2
    assert "one file" in done.err


def test_the_log_is_copied_beside_the_pages(tmp_path: Path) -> None:
    """--json puts the log beside the pages, byte by byte."""
    given = source(tmp_path / "logs", talk("Ahoy", "11111111-0000-4000-8000-000000000001"))
    run("json", "1111", *given, "-o", str(tmp_path / "out"), "--json")
    (log,) = (tmp_path / "logs").rglob("*.jsonl")
    assert (tmp_path / "out" / log.name).read_bytes() == log.read_bytes()


def test_a_log_by_path_and_from_standard_input(tmp_path: Path) -> None:
    """A file anywhere, or a log that is piped in, is as good as a session's name."""
    log = tmp_path / "lone.jsonl"
    log.write_bytes(talk("Ahoy there").to_bytes())
    for name, where in ((str(log), "file"), ("-", "piped")):
        done = run("json", name, "-o", str(tmp_path / where), "--json", stdin=log.read_bytes())
        assert done.code == 0, done.err
        assert "Ahoy there" in (tmp_path / where / "page-001.html").read_text()
    assert (tmp_path / "piped" / "stdin.jsonl").read_bytes() == log.read_bytes()


def test_other_things_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    """Pages may be written beside a user's own files."""
    (tmp_path / "notes.txt").write_text("mine")
    run("json", STORM, "--demo", "-o", str(tmp_path))
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "index.html").is_file()


def test_what_is_hidden_is_not_written(tmp_path: Path) -> None:
    """--hide leaves kinds of blocks out of pages and search alike; an unknown kind is refused."""
    log = talk("Ahoy")
    log.assistant(log.think("a secret course"), log.text("Done."))
    given = source(tmp_path / "logs", log)
    run("json", "latest", *given, "-o", str(tmp_path / "with"))
    run("json", "latest", *given, "-o", str(tmp_path / "without"), "--hide", "thinking,notices")
    texts = {name: "".join(p.read_text(errors="replace") for p in (tmp_path / name).iterdir() if p.is_file())
             for name in ("with", "without")}  # fmt: skip
    assert "a secret course" in texts["with"]
    assert "a secret course" not in texts["without"]
    assert run("json", "latest", *given, "--hide", "thinking,masts").code == 2


def test_turns_a_page_and_theme(tmp_path: Path) -> None:
    """--per-page cuts, --single-page does not, --theme is written into the page."""
    log = talk("One")
    for word in ("Two", "Three"):
        log.prompt(word).assistant(log.text("Aye."))
    given = source(tmp_path / "logs", log)
    run("json", "latest", *given, "-o", str(tmp_path / "a"), "--per-page", "1", "--theme", "dark")
    run("json", "latest", *given, "-o", str(tmp_path / "b"), "--single-page")
    assert len(list((tmp_path / "a").glob("page-*.html"))) == 3
    assert len(list((tmp_path / "b").glob("*.html"))) == 1
    assert 'data-theme="dark"' in (tmp_path / "a" / "index.html").read_text()


def test_an_unknown_session_makes_nothing(tmp_path: Path) -> None:
    """A name that nothing has ends with the code for it, and no folder is made."""
    done = run("json", "nosuchthing", "--demo", "-o", str(tmp_path / "x"))
    assert done.code == 3
    assert not (tmp_path / "x").exists()


# --- gists ------------------------------------------------------------------------------------------


def test_a_gist_is_secret_and_self_contained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gh gets one page that needs nothing else, and is not told to make it public; both addresses are printed."""
    fake = gh(tmp_path / "gh", monkeypatch)
    done = run("json", FIRST_LIGHT, "--demo", "--gist")
    assert done.code == 0, done.err
    asked = (fake / "asked").read_text().splitlines()
    assert asked[:2] == ["gist", "create"]
    assert "--public" not in asked
    assert [path.name for path in (fake / "files").iterdir()] == ["index.html"]
    assert f"Gist: {GIST}" in done.out
    assert f"?{GIST.rpartition('/')[2]}" in done.out


def test_a_public_gist_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only --public makes it public; alone it is refused."""
    fake = gh(tmp_path / "gh", monkeypatch)
    assert run("json", FIRST_LIGHT, "--demo", "--public", "-o", str(tmp_path / "x")).code == 2
    assert run("json", FIRST_LIGHT, "--demo", "--gist", "--public").code == 0
    assert "--public" in (fake / "asked").read_text().splitlines()


def test_secrets_are_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret is replaced, and that is told; unless it is to be published."""
    fake = gh(tmp_path / "gh", monkeypatch)
    log = talk("Ahoy")
    log.assistant(log.text(f"Use {KEY} for it."))
    given = source(tmp_path / "logs", log)
    done = run("json", "latest", *given, "--gist")
    assert done.code == 0, done.err
    assert "1 place replaced" in done.err
    page = fake / "files" / "index.html"
    assert KEY not in page.read_text() + done.err + done.out
    assert "[redacted:github-token-1]" in page.read_text()
    assert run("json", "latest", *given, "--gist", "--allow-secrets").code == 0
    assert KEY in page.read_text()


def test_a_gist_of_standard_input_goes_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = gh(tmp_path / "gh", monkeypatch)
    log = talk("Ahoy")
    log.assistant(log.text(f"Use {KEY} for it."))
    done = run("json", "-", "--gist", stdin=log.to_bytes())
    assert done.code == 0, done.err
    assert KEY not in (fake / "files" / "index.html").read_text()


def test_our_own_scripts_hold_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session about nothing is published: what pages are dressed in is not taken for a secret."""
    gh(tmp_path / "gh", monkeypatch)
    log = talk("Show code")
    log.assistant(log.text("```python\nprint(1)\n```"))
    done = run("json", "latest", *source(tmp_path / "logs", log), "--gist")
    assert done.code == 0, done.err


def test_a_session_too_large_for_a_page_is_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one file would be too large, pages are; where a page still is, nothing is published."""
    fake = gh(tmp_path / "gh", monkeypatch)
    log = talk("One")
    for number in range(11):
        log.prompt(f"Prompt {number}").assistant(log.text(f"{number} waves " * 40_000))
    given = source(tmp_path / "logs", log)
    monkeypatch.setattr("unspool.site.build.disk.LARGEST", 3_000_000)
    assert run("json", "latest", *given, "--gist").code == 0
    assert len(list((fake / "files").glob("page-*.html"))) == 11  # two of these prompts are too heavy for one page
    monkeypatch.setattr("unspool.site.build.disk.LARGEST", 200_000)
    done = run("json", "latest", *given, "--gist")
    assert done.code == 1
    assert "too large for a gist" in done.err


def test_without_gh_it_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without gh is told what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("json", FIRST_LIGHT, "--demo", "--gist")
    assert done.code == 2
    assert "gh" in done.err


def test_what_gh_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing gh explains itself."""
    gh(tmp_path / "gh", monkeypatch, code=4, says="To get started run gh auth login")
    done = run("json", FIRST_LIGHT, "--demo", "--gist")
    assert done.code == 1
    assert "gh auth login" in done.err


def test_the_whole_log_is_never_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--json with --gist is refused."""
    gh(tmp_path / "gh", monkeypatch)
    write_demo(tmp_path / "demo")
    assert run("json", FIRST_LIGHT, "--demo", "--gist", "--json").code == 2
