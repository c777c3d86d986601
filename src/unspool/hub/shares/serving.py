"""A content given out as it lies in the store: packed for whoever takes it so, and only where it has changed."""

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from unspool.hub.shares.share import File
from unspool.hub.store.blobs import Blobs
from unspool.hub.store.packing import unpacked

FOREVER = "private, max-age=31536000, immutable"
"""What never changes under its address; kept by the reader's browser alone, so that what ends is gone elsewhere."""
ASKING = "private, no-cache"
"""Kept, but asked for each time whether it has changed."""
NEVER = "no-store"
_AT_ONCE = 1024 * 1024


def given(request: Request, blobs: Blobs, file: File, cache: str, headers: dict[str, str] | None = None) -> Response:
    """The answer with a file."""
    mark = f'W/"{file.digest[:32]}"'
    said = {"Cache-Control": cache, "ETag": mark, "Vary": "Accept-Encoding, Cookie", **(headers or {})}
    if cache != NEVER and mark in [one.strip() for one in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=said)
    blob, pieces = blobs.packed(file.digest)
    packed = blob.encoding == "gzip" and _takes_gzip(request)
    size = blob.stored if packed else blob.size
    said |= {"Content-Length": str(size), **({"Content-Encoding": "gzip"} if packed else {})}
    body = pieces if packed else unpacked(pieces, blob.encoding)
    if size <= _AT_ONCE:  # a piece at a time costs a change of threads each
        return Response(b"".join(body), headers=said, media_type=file.kind)
    return StreamingResponse(body, headers=said, media_type=file.kind)


def _takes_gzip(request: Request) -> bool:
    for one in request.headers.get("accept-encoding", "").split(","):
        name, _, weight = one.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
