"""Whether the hub lives and can work, and its figures, for those who look after it."""

import threading
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from unspool.hub.asked import hub, person
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Refused
from unspool.hub.ways import Needs, Way

_MOMENT = 1.0
"""Seconds: anybody may ask, and the stores are not to be kept busy by that."""


class Wellness:
    """Whether the stores answer, as one looks at a time; whoever asks meanwhile is told what was seen last."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._at = 0.0
        self._seen: dict[str, bool] = {}

    def seen(self, store: Store) -> dict[str, bool]:
        """What was seen a moment ago, or else now."""
        if self._looking.acquire(blocking=not self._seen):
            try:
                if time.monotonic() - self._at > _MOMENT or not self._seen:
                    self._seen = {"database": store.db.well(), "objects": store.objects.well()}
                    self._at = time.monotonic()
            finally:
                self._looking.release()
        return self._seen


async def alive(request: Request) -> Response:
    """The process answers, also while all its threads are busy."""
    return PlainTextResponse("ok\n")


def ready(request: Request) -> Response:
    """The database and the object store answer as well; a balancer sends people elsewhere until they do."""
    state = request.app.state
    said = {**state.wellness.seen(hub(request).store), "stopping": state.stopping}
    well = said["database"] and said["objects"] and not said["stopping"]
    return JSONResponse({"ready": well, **said}, 200 if well else 503)


def metrics(request: Request) -> Response:
    """Figures in Prometheus' text format, for admins and for tokens of scope `metrics`."""
    who = person(request)
    if not who.admin and who.scope != "metrics":
        raise Refused("This is for admins, and for tokens of scope metrics.")
    text: str = request.app.state.metrics.text(hub(request).store)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


WAYS = (
    Way("/healthz", alive, Needs.NOTHING, free=True),
    Way("/readyz", ready, Needs.NOTHING, free=True),
    Way("/metrics", metrics, Needs.PERSON, scopes=("all", "metrics"), free=True),
)
