"""The file of a form, whatever stands around it and in it."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.hub.errors import BadRequest
from unspool.hub.shares.upload import file_from_form

EDGES = st.text("abcXYZ019'()+_,-./:=?", min_size=1, max_size=70).filter(lambda edge: not edge.startswith("-"))
FIELDS = st.lists(st.tuples(st.sampled_from(["a", "note", "files", "FILE", ""]), st.binary(max_size=50)), max_size=4)


def part(edge: str, name: str, data: bytes) -> bytes:
    return f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="x"\r\n\r\n'.encode() + data + b"\r\n"


def taken(body: bytes, edge: str) -> bytes:
    """The file that is found in a form."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "form").write_bytes(body)
        kind = f'multipart/form-data; boundary="{edge}"'
        return file_from_form(Path(folder) / "form", kind, Path(folder) / "file").read_bytes()


@given(edge=EDGES, before=FIELDS, after=FIELDS, data=st.binary(max_size=300))
def test_what_was_put_in_comes_out(
    edge: str, before: list[tuple[str, bytes]], after: list[tuple[str, bytes]], data: bytes
) -> None:
    """As long as no content holds the edge itself, which is how a sender chooses it."""
    if any(f"--{edge}".encode() in content for _, content in (*before, *after, ("", data))):
        return
    parts = [part(edge, *one) for one in before] + [part(edge, "file", data)] + [part(edge, *one) for one in after]
    assert taken(b"".join(parts) + f"--{edge}--\r\n".encode(), edge) == data


@given(st.binary(max_size=400))
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        taken(body, "an-edge-that-is-nowhere")


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=", 'x; boundary="a\r\nb"', ""])
def test_a_form_without_an_edge_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "form").write_bytes(b"x")
    with pytest.raises(BadRequest, match="parts end"):
        file_from_form(tmp_path / "form", kind, tmp_path / "file")
