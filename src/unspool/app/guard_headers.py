"""What every answer says to the browser: run only our own scripts, be in nobody's frame, keep nothing."""

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_DENIED = ("camera", "clipboard-read", "display-capture", "geolocation", "microphone", "payment", "usb")
ALWAYS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": ", ".join(f"{name}=()" for name in _DENIED).encode(),
}
"""Headers that no handler can change."""
USUAL = {b"cache-control": b"no-store"}
"""Headers that a handler may set otherwise."""

Header = tuple[bytes, bytes]


class Headers:
    """An app whose every answer has these headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": with_headers(message.get("headers", ()))}
            await send(message)

        await self._app(scope, receive, sending)


def with_headers(given: Iterable[Header]) -> list[Header]:
    """The headers of an answer with those of every answer."""
    kept = [(name.lower(), value) for name, value in given if name.lower() not in ALWAYS]
    names = {name for name, _ in kept}
    return [*kept, *((name, value) for name, value in USUAL.items() if name not in names), *ALWAYS.items()]
