"""`unspool export`: every format, to every kind of target, whole or not at all."""

import json
import os
import re
import stat
from pathlib import Path

import jsonschema
import pytest

from tests.cli.running import NIGHTLY, STORM, demo, run, source, talk
from unspool.render.json import load, session_schema
from unspool.store.library import Library

SIGNS = {"markdown": "# Add the storm surge", "text": "Add the storm surge", "json": '{"schema":"unspool.session/1"'}
SUFFIXES = {"markdown": ".md", "text": ".txt", "json": ".json"}


@pytest.mark.parametrize("name", SIGNS)
def test_to_standard_output(name: str) -> None:
    """Without -o, or with -o -, the file goes to standard output and nothing to standard error."""
    done = run("export", STORM, "-f", name, "--demo")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(SIGNS[name])
    assert run("export", STORM, "-f", name, "-o", "-", "--demo").out == done.out


@pytest.mark.parametrize("name", SIGNS)
def test_to_a_file_by_its_name(name: str, tmp_path: Path) -> None:
    """The name of the file tells the format; the file is the user's alone, and its path is said."""
    target = tmp_path / f"out{SUFFIXES[name]}"
    done = run("export", STORM, "-o", str(target), "--demo")
    assert (done.code, done.out, done.err) == (0, "", f"{target}\n")
    assert target.read_text("utf-8").startswith(SIGNS[name])
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize(("suffix", "sign"), [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_the_story_as_a_picture(suffix: str, sign: bytes, tmp_path: Path) -> None:
    target = tmp_path / f"card{suffix}"
    assert run("export", STORM, "-o", str(target), "--demo").code == 0
    assert target.read_bytes().startswith(sign)
    assert run("export", STORM, "-f", "card", "--demo").out.startswith("<svg")


def test_a_png_that_nothing_can_draw_is_not_written_and_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unspool.site.png.to_png", lambda _: None)
    done = run("export", STORM, "-o", str(tmp_path / "card.png"), "--demo")
    assert done.code == 1
    assert "unspool[pictures]" in done.err
    assert not (tmp_path / "card.png").exists()


def test_the_format_that_is_asked_for_wins(tmp_path: Path) -> None:
    """-f decides, whatever the file is called."""
    target = tmp_path / "notes.txt"
    assert run("export", STORM, "-f", "json", "-o", str(target), "--demo").code == 0
    assert json.loads(target.read_text("utf-8"))["schema"] == "unspool.session/1"


@pytest.mark.parametrize("given", ["folder/", "made"])
def test_to_a_folder(given: str, tmp_path: Path) -> None:
    """A folder that is there, or a name that ends in a slash, gets a file named by the session."""
    (tmp_path / "made").mkdir()
    assert run("export", STORM, "-f", "json", "-o", f"{tmp_path}/{given}", "--demo").code == 0
    assert [path.name for path in (tmp_path / given).iterdir()] == [f"{STORM}.json"]


def test_several_sessions(tmp_path: Path) -> None:
    """Several go to a folder, one file each."""
    assert run("export", STORM[:5], NIGHTLY, "-f", "text", "-o", str(tmp_path / "all"), "--demo").code == 0
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == [f"{NIGHTLY}.txt", f"{STORM}.txt"]


def test_several_need_a_folder() -> None:
    """Several sessions on standard output would be one file: that is a mistake."""
    done = run("export", STORM, NIGHTLY, "--demo")
    assert (done.code, done.out) == (2, "")
    assert done.err == "unspool: Several sessions need a folder to go to: -o DIR.\n"


def test_several_are_found_before_any_is_written(tmp_path: Path) -> None:
    """Where one of several is not found, nothing is written."""
    done = run("export", STORM, "no-such-session", "-o", f"{tmp_path}/out/", "--demo")
    assert done.code == 3
    assert not list(tmp_path.rglob("*.md"))


def test_pictures_beside_and_inside(tmp_path: Path) -> None:
    """Markdown puts pictures beside the file and links them, or with --inline-images inside it."""
    beside, inside = tmp_path / "beside" / "a.md", tmp_path / "inside" / "a.md"
    assert run("export", STORM, "-o", str(beside), "--demo").code == 0
    assert run("export", STORM, "-o", str(inside), "--inline-images", "--demo").code == 0
    linked = re.findall(r"!\[[^\]]*\]\(([^)\s]+)", beside.read_text("utf-8"))
    assert linked
    assert all((beside.parent / link).is_file() for link in linked)
    assert "](data:image/png;base64," in inside.read_text("utf-8")
    assert [path.name for path in inside.parent.iterdir()] == ["a.md"]


def test_json_fits_its_schema_and_reads_back() -> None:
    """Every session of the demo, exported as JSON, fits the published schema and is the same session again."""
    validator = jsonschema.Draft202012Validator(session_schema())
    for row in json.loads(demo("list", "--json", "-a"))["sessions"]:
        data = demo("export", row["id"], "-f", "json")
        validator.validate(json.loads(data))
        session = load(data.encode())
        assert session == Library().open(Path(row["log"]["path"]))


def test_json_keeps_what_views_leave_out() -> None:
    """JSON is the whole session whatever the options say."""
    assert demo("export", STORM, "-f", "json", "--no-tools", "--turn", "1") == demo("export", STORM, "-f", "json")


def test_json_of_a_damaged_log_reads_back(tmp_path: Path) -> None:
    """Bytes that are no text, and lines that are no JSON, are in the JSON and come back the same."""
    log = talk("Hello?").raw(b"\xff\xfe\x00 torn\n").raw(b'{"type":"future","x":[1]}\n')
    given = source(tmp_path, log)
    done = run("export", "latest", "-f", "json", *given)
    assert done.code == 0
    assert [problem.raw for problem in load(done.out.encode()).problems] == [b"\xff\xfe\x00 torn\n"]


@pytest.mark.parametrize("identity", ["../../escape", "..", "/etc/passwd", "a\\..\\b", "x\x1b[2J", "." * 300])
def test_a_hostile_id_stays_in_the_folder(identity: str, tmp_path: Path) -> None:
    """A session id from a log names a file in the folder that was asked for, and no other."""
    log = talk("Hello?").to_bytes().replace(b'"sessionId":"', b'"sessionId":' + json.dumps(identity).encode()[:-1], 1)
    (tmp_path / "in").mkdir()
    folder = tmp_path / "in" / "out"
    stdin = re.sub(rb'"session_id":"[^"]*",?', b"", log)
    done = run("export", "-", "-f", "json", "-o", f"{folder}/", stdin=stdin)
    assert done.code == 0, done.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.parent for path in written] == [folder]
    assert "\x1b" not in done.err


def test_an_unknown_suffix_is_a_mistake(tmp_path: Path) -> None:
    """A file name that no format has names the formats."""
    done = run("export", STORM, "-o", str(tmp_path / "x.odt"), "--demo")
    assert done.code == 2
    assert re.fullmatch(r"unspool: .*x\.odt.*markdown.*\n", done.err)


def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where a folder should be gives one sentence and an exit code, no traceback."""
    (tmp_path / "file").write_text("in the way")
    for target in ("file/x.md", "file/"):
        done = run("export", STORM, "-o", f"{tmp_path}/{target}", "--demo")
        assert done.code not in (0, 130)
        assert re.fullmatch(r"unspool: [^\n]+\n", done.err)
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not stop this user")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    """A folder that may not be written to gives one sentence."""
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o500)
    done = run("export", STORM, "-o", f"{shut}/x.md", "--demo")
    assert done.code not in (0, 130)
    assert re.fullmatch(r"unspool: [^\n]+\n", done.err)


@pytest.mark.parametrize("name", ["pdf", "docx"])
def test_what_is_no_text_is_not_printed_on_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal would show rubbish; a file or a pipe is what is meant."""
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    done = run("export", STORM, "-f", name, "--demo")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"unspool: A terminal cannot show {name}: name a file with -o.\n"


def test_a_word_document_by_its_name(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="no python-docx: the extra docx")
    assert run("export", STORM, "-o", str(tmp_path / "a.docx"), "--turn", "1", "--demo").code == 0
    headings = [
        one.text for one in docx.Document(tmp_path / "a.docx").paragraphs if one.style.name.startswith("Heading")
    ]
    assert headings[0].startswith("Add the storm surge")
    assert "Turn 1" in headings
    assert "Turn 2" not in headings
