"""What is sent to the API, and what it answers."""

from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unspool.hub.asked import sent
from unspool.hub.trouble import Unfit

_TIMES = frozenset({"at", "created", "ended", "expires", "taken", "used"})
T = TypeVar("T", bound=msgspec.Struct)


class Sent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is sent; a field that is not meant is a mistake worth telling."""


def given(request: Request, kind: type[T]) -> T:
    """What was sent, as it should be; Unfit with the reason where it is not."""
    try:
        return msgspec.json.decode(sent(request) or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unfit(f"What was sent is not as it should be: {error}.") from None


def told(found: Any) -> dict[str, Any]:
    """A row as JSON has it, its times as text."""
    said = found._asdict()
    return {name: time(value) if name in _TIMES else value for name, value in said.items()}


def time(value: int | None) -> str | None:
    """A time as JSON has it."""
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")


def answer(said: Any, status: int = 200) -> Response:
    """An answer that nobody keeps."""
    return JSONResponse(said, status, {"Cache-Control": "no-store"})


def done() -> Response:
    """It is done, and there is nothing to say."""
    return Response(status_code=204)


def target(request: Request, what: str) -> None:
    """Tell the audit log what was meant, where the path does not."""
    request.state.target = what


def detail(request: Request, **said: str) -> None:
    """Tell the audit log more: ids and words of the hub's own, never a name."""
    request.state.detail = said
