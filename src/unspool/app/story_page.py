"""`/story?of=COMMIT|BRANCH|URL`: every session that led to a change."""

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from unspool import human
from unspool.app.open_session import get_session
from unspool.app.render import HOME, render_page, render_template, session_href
from unspool.app.search_results import folder_name
from unspool.figures.change_story import tell_change
from unspool.site.change_page import change_body
from unspool.site.page_template import as_markup
from unspool.store.index.git_work import parse_change, recent_changes
from unspool.store.index.times import utc_time
from unspool.store.library.change_story import find_change, story_sessions

_LONGEST = 500
_LISTED = 60


def change_story_page(request: Request) -> HTMLResponse:
    """With `of`, what the change is called; with `project`, which of several projects is meant."""
    context = request.app.state.context
    of = request.query_params.get("of", "").strip()[:_LONGEST]
    project = request.query_params.get("project", "")[:_LONGEST]
    name = parse_change(of)
    with context.index() as index:
        if not of:
            listed = [
                (one, (folder_name(one.project), human.count(one.sessions, "session")), utc_time(one.last))
                for one in recent_changes(index.db, _LISTED)
            ]
            body = render_template("changes.html", changes=listed)
            return render_page(request, "Stories of changes", body, (HOME,))
        rows = find_change(index.db, name, (project,) if project else ())

    story = tell_change(name, story_sessions(rows, lambda key: get_session(context, key).session), context.prices)
    body = as_markup(change_body(story, lambda step: session_href(step.session)))
    return render_page(request, f"The story of {story.title}", body, (HOME,))


ROUTES = [Route("/story", change_story_page)]
