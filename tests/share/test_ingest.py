"""A bundle as session-share's service takes it: every entry comes out, with the pictures that the log names by path."""

import json
import tarfile
import zlib
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run, source
from tests.log_builder.builder import LogBuilder
from tests.log_builder.prompts import make_png
from tests.share.ingest import Entry, Refused, converted, taken
from tests.share.made import ALL, CWD, SECRETS, SESSION, TOLD, leaked, session
from tests.share.test_round_trip import planned

PICTURE = make_png(4, 4, bytes(16))


def shared(folder: Path, *logs: LogBuilder, more: tuple[str, ...] = ()) -> Path:
    path = folder / "talk.tar.gz"
    done = run("share", SESSION, *source(folder / "logs", *logs), "--bundle", "-o", str(path), "--yes", *more)
    assert done.code == 0, done.err
    return path


def entries(path: Path) -> list[Entry]:
    return converted(taken(path.read_bytes()))


def test_the_service_takes_it_and_every_entry_is_there(tmp_path: Path) -> None:
    path = shared(tmp_path, session())
    found = entries(path)
    words = [text for one in found if one["type"] == "message" for text in one["content"]]
    assert any(TOLD in text for text in words)
    assert [one["name"] for one in found if one["type"] == "tool_call"] == ["Bash", "Write", "Bash", "Agent"]
    assert all("result" in one for one in found if one["type"] == "tool_call")
    assert len([one for one in found if one["type"] == "thinking"]) == 1
    assert taken(path.read_bytes()).metadata["BUNDLE_VERSION"] == "1"
    told = json.dumps(found)
    assert not [name for name, secret in ALL.items() if secret in told]


def test_the_planning_session_tells_what_was_asked_first(tmp_path: Path) -> None:
    found = entries(shared(tmp_path, *planned(), more=("--chain",)))
    assert found[0]["content"] == ["Plan how the gauge is mended"]
    assert found[-1]["content"] == ["Mended."]


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    """The rules of the service, which the tests above lean on, can refuse."""
    path = tmp_path / "none.tar.gz"
    with tarfile.open(path, "w:gz"):
        pass
    with pytest.raises(Refused):
        taken(path.read_bytes())


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def telling(picture: bytes, words: str) -> bytes:
    """The picture with a comment in it."""
    return picture[:33] + chunk(b"tEXt", b"Comment\0" + words.encode()) + picture[33:]


def looked(*blocks: dict[str, Any]) -> LogBuilder:
    log = LogBuilder(session_id=SESSION, cwd=CWD)
    log.prompt("Look at these").call("Read", {"file_path": "x"}, list(blocks))
    return log.assistant(log.text("Seen."))


def named(path: Path) -> dict[str, Any]:
    return {"type": "image", "path": str(path)}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The agent's folder of the pictures that were pasted into the session."""
    folder = tmp_path / "logs" / "image-cache" / SESSION
    folder.mkdir(parents=True)
    return folder


def carried(path: Path) -> dict[str, bytes]:
    return taken(path.read_bytes()).images


def test_pictures_named_by_path_are_shown_by_the_service(tmp_path: Path, own: Path) -> None:
    """Under the path that the redacted log names, without what is told beside the pixels."""
    (own / "1.png").write_bytes(telling(PICTURE, f"taken by evelynw with {SECRETS['prompt']}"))
    path = shared(tmp_path, looked({"type": "image", "path": f"/home/evelynw/.claude/image-cache/{SESSION}/1.png"}))
    (call,) = [one for one in entries(path) if one["type"] == "tool_call"]
    (image,) = call["images"]
    assert b64decode(image["data"]) == PICTURE
    assert image["label"] == f"/home/user-1/.claude/image-cache/{SESSION}/1.png"
    assert leaked(path, ALL) == set()


def test_a_picture_that_a_tool_answered_is_carried(tmp_path: Path) -> None:
    log = looked(named(Path("/somewhere") / SESSION / "tool-results" / "chart.png"))
    written = log.write(tmp_path / "logs")
    folder = written.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "chart.png").write_bytes(PICTURE)
    assert list(carried(shared(tmp_path, log)).values()) == [PICTURE]


def test_no_picture_but_the_sessions_own_is_carried(tmp_path: Path, own: Path) -> None:
    """Not one from elsewhere on the machine, of another session, or that a link leads to, though a log names it."""
    private = tmp_path / "home" / "evelynw" / "private.png"
    other = own.parent / "another" / "1.png"
    for path in (private, other, own / "1.png"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PICTURE)
    (own / "link.png").symlink_to(private)
    (own / "folder").symlink_to(private.parent)
    crooked = [f"{own}/../another/1.png", f"{own}/folder/private.png", f"{private.parent}/{SESSION}/1.png"]
    blocks = [*map(named, (private, other, own / "link.png")), *({"type": "image", "path": one} for one in crooked)]
    assert carried(shared(tmp_path, looked(*blocks))) == {}


def test_a_field_that_nobody_sees_brings_no_picture(tmp_path: Path, own: Path) -> None:
    (own / "1.png").write_bytes(PICTURE)
    unseen = [{"type": "image", "source": {"path": str(own / "1.png")}}, named(own / "1.png")]
    lines = [{**json.loads(line), "unseen": unseen} for line in looked().to_bytes().splitlines()]
    place = tmp_path / "logs" / "projects" / "-srv-tides" / f"{SESSION}.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    path = tmp_path / "talk.tar.gz"
    done = run("share", SESSION, "-s", str(tmp_path / "logs"), "--bundle", "-o", str(path), "--yes")
    assert done.code == 0, done.err
    assert carried(path) == {}


def test_without_images_none_is_carried(tmp_path: Path, own: Path) -> None:
    (own / "gauge.png").write_bytes(PICTURE)
    log = looked(named(own / "gauge.png"))
    assert len(carried(shared(tmp_path, log))) == 1
    assert carried(shared(tmp_path, log, more=("--no-images",))) == {}


def test_a_picture_of_a_turn_that_is_left_out_stays_here(tmp_path: Path, own: Path) -> None:
    (own / "gauge.png").write_bytes(PICTURE)
    log = looked(named(own / "gauge.png")).prompt("Thanks")
    log.assistant(log.text("Aye."))
    assert carried(shared(tmp_path, log, more=("--without", "1"))) == {}


def test_what_is_no_picture_is_not_carried_though_a_log_names_it(tmp_path: Path, own: Path) -> None:
    """Other files called pictures, what is missing, folders, relative and crooked paths."""
    (own / "passwd.png").write_text("root:x:0:0\n")
    (own / "notes.txt").write_bytes(PICTURE)
    (own / "folder.png").mkdir()
    (own / "real.png").write_bytes(PICTURE)
    crooked = [own / "passwd.png", own / "notes.txt", own / "folder.png", own / "missing.png", Path("real.png")]
    blocks = [*map(named, crooked), {"type": "image", "path": f"{own}/../pictures/real.png"}]
    blocks += [{"type": "image", "path": value} for value in (7, None, ["x"], "\0.png", "/" + "x" * 5000 + ".png")]
    assert carried(shared(tmp_path, looked(*blocks))) == {}


def test_a_log_that_was_sent_here_gets_no_picture_of_this_machine(tmp_path: Path, own: Path) -> None:
    """It may name whatever its sender would like to see: neither from the archive nor from a file."""
    (own / "private.png").write_bytes(PICTURE)
    log = tmp_path / "sent.jsonl"
    log.write_bytes(looked(named(own / "private.png")).to_bytes())
    assert run("import", str(log)).code == 0
    for name in (SESSION, str(log)):
        path = tmp_path / "again.tar.gz"
        assert run("share", name, "--bundle", "-o", str(path), "--yes").code == 0
        assert carried(path) == {}


def test_a_picture_whose_name_tells_something_is_called_otherwise(tmp_path: Path, own: Path) -> None:
    for name in ("1.png", f"{SECRETS['output']}.png"):
        (own / name).write_bytes(PICTURE)
    path = shared(tmp_path, looked(named(own / "1.png"), named(own / f"{SECRETS['output']}.png")))
    assert [name.rsplit("/", 1)[1] for name in carried(path)] == ["1.png"]
    assert leaked(path, ALL) == set()


def test_pictures_are_in_the_log_where_it_is_taken_in(tmp_path: Path, own: Path) -> None:
    """As the agent keeps them: a path of another machine leads nowhere."""
    (own / "gauge.png").write_bytes(PICTURE)
    path = shared(tmp_path, looked(named(own / "gauge.png")))
    done = run("import", str(path), "--to", str(tmp_path / "tool"), "--json")
    assert done.code == 0, done.err
    files = [Path(one["path"]) for one in json.loads(done.out)["sessions"][0]["files"]]
    assert [file.read_bytes() for file in files if file.suffix == ".png"] == [PICTURE]
    assert b64encode(PICTURE) in files[0].read_bytes()
    assert run("lint", str(files[0])).code == 0
