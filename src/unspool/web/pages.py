"""Templates and forms that the app and the hub share."""

import re
from typing import Any
from urllib.parse import parse_qs

import jinja2
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from unspool.errors import UsageProblem
from unspool.render.html.elements import visible


def template_environment(package: str) -> jinja2.Environment:
    """The templates of a package whose pages are served: text is escaped, and what cannot be seen in it is marked."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (package, "unspool.web", "unspool.site")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        auto_reload=False,
    )


_LOCAL = re.compile(r"/(?![/\\])[\x21-\x7e]*")
_MOST = 200


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; of several with one name, all, a line each."""
    text = (await request.body()).decode("utf-8", "replace")
    if text.count("&") >= _MOST:
        raise UsageProblem(f"A form has at most {_MOST} fields.")
    return {name: "\n".join(values) for name, values in parse_qs(text, True).items()}


def return_path(form: dict[str, str], otherwise: str) -> str:
    """The page of this server that a form names to go on to."""
    named = form.get("back", "")
    return named if _LOCAL.fullmatch(named) and "\\" not in named else otherwise


def answer_form(request: Request, form: dict[str, str], otherwise: str, data: Any = None) -> Response:
    """The answer to a form that did its work: the next page, or data where a script asked."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(data if data is not None else {"done": True})
    return RedirectResponse(return_path(form, otherwise), 303)
