"""Bundles from anyone: a session comes out, or nothing does."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from tests.thorough import tries
from unspool.copies.bundle import receive_logs
from unspool.errors import NotFound, Unreadable

SESSION = "0a0b0c0d-1111-4222-8333-444455556666"


def log(session: str = SESSION, words: str = "Pack me.") -> bytes:
    made = LogBuilder(session_id=session, cwd="/home/eve/tool")
    return made.prompt(words).assistant(made.text("Packed.")).to_bytes()


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, **fields: object
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def packed(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz", format=form) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def bundle(*more: tuple[tarfile.TarInfo, bytes]) -> bytes:
    return packed(member("session.jsonl", log()), member("metadata.txt", f"SESSION_ID={SESSION}\n".encode()), *more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bundle.tar.gz"


def taken(path: Path, data: bytes) -> list[str]:
    """The names of the logs that come out."""
    path.write_bytes(data)
    with receive_logs(str(path)) as logs:
        assert all(log.is_file() for log in logs)
        return [log.stem for log in logs]


def scratch(home: Path) -> list[Path]:
    return [file for file in home.rglob("*") if file.is_file()]


def test_a_session_comes_out_with_what_belongs_to_it(path: Path) -> None:
    planning = "1a0b0c0d-1111-4222-8333-444455556666"
    data = bundle(
        member("source-session.jsonl", log(planning)),
        member("subagents/agent-a1.jsonl", b"{}\n"),
        member("./note", b"x"),
    )
    path.write_bytes(data)
    with receive_logs(str(path)) as logs:
        assert [log.stem for log in logs] == [SESSION, planning]
        assert (logs[0].parent / SESSION / "subagents" / "agent-a1.jsonl").read_bytes() == b"{}\n"
    assert not logs[0].exists()
    assert taken(path, gzip.decompress(data)) == [SESSION, planning]


HOSTILE: dict[str, Callable[[], bytes]] = {
    "traversal": lambda: bundle(member("../evil", b"x")),
    "traversal inside": lambda: bundle(member("subagents/../../evil", b"x")),
    "absolute": lambda: bundle(member("/tmp/evil", b"x")),
    "symlink": lambda: bundle(member("subagents", kind=tarfile.SYMTYPE, linkname="/etc")),
    "hard link": lambda: bundle(member("images/a", kind=tarfile.LNKTYPE, linkname="session.jsonl")),
    "device": lambda: bundle(member("images/zero", kind=tarfile.CHRTYPE, devmajor=1, devminor=5)),
    "pipe": lambda: bundle(member("images/pipe", kind=tarfile.FIFOTYPE)),
    "twice": lambda: bundle(member("session.jsonl", b"{}\n")),
    "twice by another spelling": lambda: bundle(member("./session.jsonl", b"{}\n")),
    "backslash": lambda: bundle(member("..\\evil", b"x")),
    "colon": lambda: bundle(member("C:evil", b"x")),
    "escape sequence": lambda: bundle(member("images/\x1b[2Jx", b"x")),
    "newline": lambda: bundle(member("images/a\nb", b"x")),
    "right to left": lambda: bundle(member("images/\u202egnp.exe", b"x")),
    "no text": lambda: bundle(member("images/\udcff", b"x")),
    "deep": lambda: bundle(member("a/" * 40 + "x", b"x")),
    "long name": lambda: bundle(member("images/" + "x" * 300, b"x")),
    "file as folder": lambda: bundle(member("session.jsonl/x", b"x")),
    "many": lambda: packed(*(member(f"images/{number}") for number in range(10_001))),
    "bomb": lambda: bundle(member("images/zeros", bytes(70 * 1024**2))),
    "header bomb": lambda: bundle(member("x", b"", pax_headers={"comment": "0" * 8 * 1024**2})),
    "name bomb": lambda: packed(member("x" * 8 * 1024**2, b"x"), form=tarfile.GNU_FORMAT),
    "packed twice": lambda: gzip.compress(bundle()),
    "bomb behind the end": lambda: bundle() + gzip.compress(bytes(200 * 1024**2)),
    "no log": lambda: packed(member("metadata.txt", b"SESSION_ID=x\n")),
    "log is a folder": lambda: packed(member("session.jsonl/x", b"x")),
    "cut short": lambda: bundle()[:-30],
    "cut in half": lambda: gzip.compress(gzip.decompress(bundle())[:700]),
    "no tar": lambda: gzip.compress(b"nothing of the kind" * 100),
    "nothing": lambda: b"",
    "text": lambda: b"hello\n",
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_a_hostile_bundle_is_refused_and_nothing_is_left(path: Path, home: Path, kind: str) -> None:
    path.write_bytes(HOSTILE[kind]())
    done = run("import", str(path), "--to", str(home / "tool"))
    assert done.code == 5, (done.out, done.err)
    assert done.err.startswith("unspool: ")
    assert "\x1b" not in done.err
    assert scratch(home) == []
    assert sorted(path.parent.iterdir()) == [path]


def test_a_size_that_is_a_lie_is_refused(path: Path) -> None:
    """A member that says it is gigabytes long, or less than nothing."""
    for size in (3 * 1024**3, -512):
        info, _ = member("images/a")
        header = info.tobuf(tarfile.GNU_FORMAT)
        field = (256**12 + size).to_bytes(13, "big")[1:] if size < 0 else b"%011o\0" % size
        header = header[:124] + field + header[136:]
        total = sum(header[:148]) + sum(header[156:512]) + 8 * 32
        header = header[:148] + b"%06o\0 " % total + header[156:512]
        with pytest.raises(Unreadable):
            taken(path, gzip.compress(gzip.decompress(bundle())[:-10240] + header + bytes(10240)))


def test_holes_count_by_what_they_pretend_to_hold(path: Path) -> None:
    sparse = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(3 * 1024**3)}
    hole = member(
        "images/hole", b"1\n0\n0\n".ljust(512, b"\0"), pax_headers={**sparse, "GNU.sparse.name": "images/hole"}
    )
    with pytest.raises(Unreadable):
        taken(path, bundle(hole))


@pytest.mark.parametrize("lie", ["../../evil", "a/b", "", "x" * 200, "agent-1", "journal", "\x1b[2J", "..", "\0"])
def test_an_id_that_is_none_is_not_believed(path: Path, lie: str) -> None:
    """The lines' own word counts instead."""
    data = packed(member("session.jsonl", log()), member("metadata.txt", f"SESSION_ID={lie}\n".encode()))
    assert taken(path, data) == [SESSION]


def test_a_planning_session_never_takes_the_place_of_the_session(path: Path) -> None:
    path.write_bytes(bundle(member("source-session.jsonl", log(words="Another."))))
    with receive_logs(str(path)) as (first, second):
        assert b"Pack me." in first.read_bytes()
        assert b"Another." in second.read_bytes()


@settings(
    max_examples=tries(25, 750), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=12))
def test_any_damage_is_a_refusal_or_harmless(path: Path, flips: list[tuple[int, int]]) -> None:
    data = bytearray(gzip.decompress(bundle(member("x", b"y", pax_headers={"comment": "ü" * 200}))))
    for place, value in flips:
        data[place % len(data)] = value
    try:
        taken(path, gzip.compress(bytes(data), 1))
    except Unreadable:
        return


def test_what_is_not_there_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFound), receive_logs(str(tmp_path / "nothing.tar.gz")):
        pass
    with pytest.raises(Unreadable), receive_logs(str(tmp_path)):
        pass


def test_a_picture_named_a_million_times_does_not_fill_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are too many stay as they are; one at a path that leads out is not looked for."""
    monkeypatch.setattr("unspool.copies.bundle._MOST", 4000)
    lines = b'{"type":"image","path":"/a/b.png"}\n' * 9 + b'{"type":"image","path":"../../session.png"}\n'
    lines += b"[" * 900 + b'{"type":"image","path":"/a/b.png"}' + b"]" * 900 + b"\n"
    path.write_bytes(packed(member("session.jsonl", lines), member("images/a/b.png", bytes(1000))))
    with receive_logs(str(path)) as (first,):
        made = first.read_bytes().splitlines()
    assert [b"base64" in line for line in made] == [True] * 4 + [False] * 7


@pytest.mark.parametrize("name", ["x\nunspool: all is well.", "x\x1b[2J", "x\u202egnp.exe", "../x\r\ny"])
def test_a_name_in_a_bundle_cannot_write_to_the_terminal(path: Path, name: str) -> None:
    """It is told on one line, without what drives a terminal."""
    path.write_bytes(bundle(member(name, b"x")))
    done = run("import", str(path))
    assert done.code != 0
    assert done.err.count("\n") == 1
    assert done.err.rstrip("\n").isprintable()
