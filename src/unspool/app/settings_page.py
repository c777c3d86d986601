"""`/settings`: every choice, where it comes from, and what is wrong with the file."""

from typing import Any

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool.agents import AGENTS
from unspool.app import render
from unspool.config import PRICES_FILE
from unspool.config.settings import (
    FIELDS,
    LoadedSettings,
    Settings,
    change_settings,
    load_settings,
    settings_path,
)
from unspool.errors import UnspoolError
from unspool.store.library.discover import usual_roots
from unspool.web.pages import answer_form, read_form


def settings_form(request: Request) -> HTMLResponse:
    return _page(request, {}, {}, saved=request.query_params.get("saved") == "1")


async def reset_settings(request: Request) -> Response:
    """Take every choice out of the file, whose comments and other tables stay."""
    sent = await read_form(request)
    now = load_settings()
    await run_sync(change_settings, {name: None for name, origin in now.origins.items() if "file" in origin})
    return answer_form(request, sent, "/settings?saved=1")


async def save_settings(request: Request) -> Response:
    """Write the form to the file. Nothing is written where any of it is wrong; the form then says what."""
    sent = await read_form(request)
    changes, wrong = _changes(sent, load_settings())
    if not wrong:
        try:
            await run_sync(change_settings, changes)
            return answer_form(request, sent, "/settings?saved=1")
        except UnspoolError as problem:
            wrong = {"": str(problem)}
    answer = _page(request, wrong, sent)
    answer.status_code = 400
    return answer


def _changes(sent: dict[str, str], now: LoadedSettings) -> tuple[dict[str, Any], dict[str, str]]:
    """What differs from the settings as they are, and what is wrong, by name."""
    changes: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    defaults = Settings()
    for field in FIELDS:
        if field.name not in sent or field.name in now.fixed:
            continue
        value = field.parsed(sent[field.name])
        problem = field.check(value)
        if problem:
            wrong[field.name] = f"{field.title} {problem}."
        elif _plain(value) != _plain(getattr(now.settings, field.name)):
            changes[field.name] = None if _plain(value) == _plain(getattr(defaults, field.name)) else value
    return changes, wrong


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value


def _page(request: Request, wrong: dict[str, str], sent: dict[str, str], *, saved: bool = False) -> HTMLResponse:
    now, path, rows = load_settings(), settings_path(), []
    for field in FIELDS:
        value = getattr(now.settings, field.name)
        typed = sent.get(field.name)
        if typed is not None:  # what was sent and is wrong is shown again as it was sent
            value = typed.split("\n") if field.kind in ("many", "lines") else typed
        origin, fixed = now.origins[field.name], field.name in now.fixed
        choices = tuple(agent.id for agent in AGENTS) if field.name == "agents_off" else field.choices
        rows.append({"field": field, "value": value, "origin": origin, "fixed": fixed, "choices": choices})
    body = render.render_template(
        "settings.html",
        rows=rows,
        path=str(path),
        there=path.exists(),
        troubles=now.troubles,
        wrong=wrong,
        saved=saved,
        roots=[str(root) for root in usual_roots()],
        prices=now.settings.prices or str(path.with_name(PRICES_FILE)),
        archive=str(request.app.state.context.folder),
        read_only=request.app.state.read_only,
    )
    return render.render_page(request, "Settings", body, (render.HOME,), ("app.css",), ("browse.js",))


ROUTES = [
    Route("/settings", settings_form, methods=["GET"]),
    Route("/settings", save_settings, methods=["POST"]),
    Route("/settings/reset", reset_settings, methods=["POST"]),
]
