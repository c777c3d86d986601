"""Pictures that a log names by their path are shown where they are the session's own; no other file is ever read."""

from base64 import b64encode
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.prompts import make_png
from unspool.doc import Picture
from unspool.model import Image, Session
from unspool.render.blocks import prompt_nodes
from unspool.render.writers import find_writer, write
from unspool.store.library import Library
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.sync import sync

PNG = make_png(3, 2, b"\0\1\2")
NAME = "1.png"


def named(path: str) -> LogBuilder:
    """A prompt with a picture that the log names by its path."""
    log = LogBuilder()
    block = {"type": "image", "source": {"type": "file", "path": path.replace("SESSION", log.session_id)}}
    return log.user([log.text("what is this?"), block]).assistant(log.text("a dot"))


def own(log: LogBuilder) -> str:
    return f"image-cache/{log.session_id}/{NAME}"


def pictures(session: Session) -> list[Image]:
    return [image for turn in session.turns if turn.prompt for image in turn.prompt.images]


def test_a_picture_of_the_session_is_shown_on_pages_and_in_markdown(tmp_path: Path) -> None:
    log = named(f"/home/dev/.claude/image-cache/SESSION/{NAME}")
    log.file(own(log), PNG).write(tmp_path / "claude")
    (session,) = (Library([tmp_path / "claude"]).open(one) for one in Library([tmp_path / "claude"]).logs())
    (image,) = pictures(session)
    assert (image.media_type, image.data) == ("image/png", b64encode(PNG).decode())
    shown = [node for turn in session.turns if turn.prompt for node in prompt_nodes(turn.prompt)]
    assert [node.data for node in shown if isinstance(node, Picture)] == [image.data]
    write(find_writer("markdown"), session, tmp_path / "page.md")
    assert [path.read_bytes() for path in (tmp_path / "images").iterdir()] == [PNG]


def test_a_picture_whose_session_is_gone_comes_from_the_archive(tmp_path: Path) -> None:
    log = named(f"C:\\Users\\dev\\.claude\\image-cache\\SESSION\\{NAME}")
    root = tmp_path / "claude"
    path = log.file(own(log), PNG).write(root)
    sync(tmp_path / "kept", [root])
    path.unlink()
    (root / own(log)).unlink()
    library = Library([root], kept=KeptSessions(tmp_path / "kept"))
    (session,) = (library.open(one) for one in library.logs())
    assert pictures(session)[0].data == b64encode(PNG).decode()


@pytest.mark.parametrize(
    "path",
    [
        "OUTSIDE/1.png", "image-cache/another-session/1.png", "/home/dev/.claude/image-cache/SESSION/../1.png",
        "/home/dev/.claude/image-cache/SESSION/linked.png", "/home/dev/.claude/image-cache/SESSION/notes.txt",
        "/home/dev/.claude/image-cache/SESSION/gone.png", "1.png", "", "image-cache/SESSION/\0",
    ],
)  # fmt: skip
def test_a_picture_that_is_not_the_sessions_own_stays_a_path(path: str, tmp_path: Path) -> None:
    root, outside = tmp_path / "claude", tmp_path / "1.png"
    outside.write_bytes(PNG)
    log = named(path.replace("OUTSIDE", str(tmp_path)))
    log.file("image-cache/another-session/1.png", PNG).file(f"image-cache/{log.session_id}/notes.txt", b"secret")
    log.file("image-cache/1.png", PNG).file("projects/1.png", PNG).write(root)
    (root / f"image-cache/{log.session_id}/linked.png").symlink_to(outside)
    (session,) = (Library([root]).open(one) for one in Library([root]).logs())
    (image,) = pictures(session)
    assert image.data == ""


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    root, log = tmp_path / "claude", named(f"/x/image-cache/SESSION/{NAME}")
    log.write(root)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / NAME).write_bytes(PNG)
    (root / "image-cache").mkdir()
    (root / "image-cache" / log.session_id).symlink_to(tmp_path / "elsewhere")
    (session,) = (Library([root]).open(one) for one in Library([root]).logs())
    assert pictures(session)[0].data == ""
