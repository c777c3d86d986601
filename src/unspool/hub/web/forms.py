"""What a form sent, and where it leads on to."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse

from unspool.hub.trouble import Unfit

_MOST = 100


def fields(request: Request) -> dict[str, str]:
    """The fields of a form, which the door has read; of several with one name, the last."""
    try:
        found = parse_qs(request.state.body.decode(), keep_blank_values=True, max_num_fields=_MOST)
    except ValueError:
        raise Unfit("This form was not sent by a page of the hub.") from None
    return {name: values[-1].strip() for name, values in found.items()}


def onward(place: str) -> RedirectResponse:
    """On to another page, which is asked for anew."""
    return RedirectResponse(place, 303)
