"""Whether the hub lives and can work, and its figures, for those who look after it."""

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from unspool.hub.asked import hub, person
from unspool.hub.trouble import Refused
from unspool.hub.ways import Needs, Way


def alive(request: Request) -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


def ready(request: Request) -> Response:
    """The database and the object store answer as well; a balancer sends people elsewhere until they do."""
    store = hub(request).store
    said = {"database": store.db.well(), "objects": store.objects.well(), "stopping": request.app.state.stopping}
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
