"""The files of a share while it is reviewed: kept, shown, saved."""

import io
import secrets
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
from anyio.to_thread import run_sync
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool.agents import FoundLog
from unspool.app.context import AppContext
from unspool.app.open_session import LONG, LogState, get_session, locate_log, log_state
from unspool.app.render import HOME, render_page, render_template, session_href
from unspool.app.share_findings import Rehearsing, ShareRehearsal, rehearse_share
from unspool.app.share_selection import ShareSelection, load_habit, make_secret, parse_seal, save_habit
from unspool.config import config_folder
from unspool.errors import NotFound, UnspoolError, UsageProblem
from unspool.files import scratch_folder
from unspool.human import size
from unspool.redact.rules import OWN, RuleSet, own_rules
from unspool.share.choices import ShareSettings, load_choices, save_choices
from unspool.share.encryption import ShareSecret
from unspool.share.prepare import PreparedShare, prepare_shares, sessions_of_chain, work_of
from unspool.share.publish import SharePages, make_bundle, publish_share_gist, write_encrypted
from unspool.site.address import slug
from unspool.site.page_template import Crumb
from unspool.web.pages import read_form

MAX_REHEARSALS = 2
"""Sessions held at once, the last looked at."""
MAX_RESULTS = 2
"""Results held at once; each is forgotten with the app."""


class SharedFile(NamedTuple):
    ending: str
    type: str
    data: bytes


class ShareResult(NamedTuple):
    """A file with its key, or the two addresses of a gist."""

    session: str
    file: SharedFile | None = None
    name: str = ""
    key: str = ""
    addresses: tuple[tuple[str, str], ...] = ()


class ShareProgress(msgspec.Struct):
    """How far a rehearsal is."""

    done: int = 0
    total: int = 0
    ended: bool = False

    def advance(self, done: int) -> None:
        self.done += done

    @property
    def share(self) -> float:
        """From 0 to 1, which it is only when all is done."""
        return 1.0 if self.ended else min(0.99, self.done / self.total) if self.total else 0.0


class ReviewStore:
    """Reviews and results of an app. Choices and habits are the project's; turns and title one session's, while it
    runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._own: dict[str, ShareSelection] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._held: OrderedDict[str, tuple[tuple[LogState, ...], ShareRehearsal]] = OrderedDict()
        self._results: OrderedDict[str, ShareResult] = OrderedDict()
        self._beginning = threading.Lock()
        self._begun: dict[str, ShareProgress] = {}
        """Rehearsals of long sessions, by session, until somebody has seen that they ended."""

    def selection(self, key: str, project: str) -> ShareSelection:
        own = self._own.get(key, ShareSelection())
        choices = replace(load_choices(project), without=own.choices.without)
        return ShareSelection(choices, own.title, load_habit(project).chain)

    def select(self, key: str, project: str, selection: ShareSelection) -> None:
        with self._lock:
            self._own[key] = selection
            save_choices(project, selection.choices)
            save_habit(project, chain=selection.chain)

    def names(self, key: str) -> Mapping[str, str]:
        """What things in a session have been called so far, while the app runs."""
        return self._names.get(key, {})

    def logs_to_share(self, context: AppContext, key: str, selection: ShareSelection) -> list[FoundLog]:
        """The logs to share; UsageProblem where their chain has others than were looked at."""
        logs = _logs_of(context, key, selection)
        ids = tuple(one.name for one in logs)
        with self._lock:
            held = self._held.get(key)
            if held is not None and held[1].selection.chain == selection.chain and held[1].sessions != ids:
                del self._held[key]
                raise UsageProblem("The chain has grown since it was looked through; look at the review again.")
        return logs

    def rehearsal(
        self, context: AppContext, key: str, selection: ShareSelection, *, exact: bool = False
    ) -> ShareRehearsal:
        """The share rehearsed. What is kept of the findings matters only for the `exact` result: the same is found."""
        with self._lock:
            rules = current_rules()
            held = self._still_held(context, key, selection, rules, exact=exact)
            if held is not None:
                self._held.move_to_end(key)
                return held
            logs = _logs_of(context, key, selection)
            states = tuple(map(log_state, logs))
            work = self._begun.get(key, ShareProgress())
            work.total = work_of(logs)
            made = rehearse_share(context, logs, selection, Rehearsing(rules, self.names(key), work.advance))
            self._held[key], self._names[key] = (states, made), made.share.names
            self._held.move_to_end(key)
            while len(self._held) > MAX_REHEARSALS:
                self._held.popitem(last=False)
            return made

    def _still_held(
        self, context: AppContext, key: str, selection: ShareSelection, rules: RuleSet, *, exact: bool = False
    ) -> ShareRehearsal | None:
        """The rehearsal, where one is held that serves and its logs are the same still."""
        held = self._held.get(key)
        if held is None or held[1].rules != rules or not held[1].serves(selection, exact=exact):
            return None
        now = tuple(log_state(locate_log(context, one)) for one in held[1].sessions)
        return held[1] if held[0] == now else None

    def begin(self, context: AppContext, found: FoundLog) -> "ShareProgress | None":
        """Rehearse the share of a long session while its reader is told how far that is; None where there is nothing to
        wait for, or what went wrong will be told at once."""
        key = context.session_key(found.agent_id, found.session_id)
        with self._beginning:
            begun = self._begun.get(key)
            if begun is not None and begun.ended:
                del self._begun[key]
            if begun is not None:
                return None if begun.ended else begun
            if found.size < LONG or self._serves(context, key):
                return None
            begun = self._begun[key] = ShareProgress()
        threading.Thread(target=self._rehearse, args=(context, key, begun), daemon=True).start()
        return begun

    def _serves(self, context: AppContext, key: str) -> bool:
        """Whether what is held of a session is all that its review needs."""
        if key not in self._held:
            return False
        selection = self.selection(key, get_session(context, key).session.cwd)
        return self._still_held(context, key, selection, current_rules()) is not None

    def progress(self, key: str) -> "ShareProgress":
        """How far the rehearsal of a session is; one that ended where none goes on."""
        return self._begun.get(key, ShareProgress(ended=True))

    def _rehearse(self, context: AppContext, key: str, begun: "ShareProgress") -> None:
        try:
            self.rehearsal(context, key, self.selection(key, get_session(context, key).session.cwd))
        except (UnspoolError, OSError):
            pass  # whoever asks for the review next is told
        finally:
            begun.ended = True

    def keep_result(self, result: ShareResult) -> str:
        """Hold a result; its name, which nobody can guess."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._results[name] = result
            while len(self._results) > MAX_RESULTS:
                self._results.popitem(last=False)
        return name

    def result(self, session: str, name: str) -> ShareResult:
        """The result of that name; NotFound where it is no longer held, or is of another session."""
        found = self._results.get(name)
        if found is None or found.session != session:
            raise NotFound("This was made too long ago; make it again.")
        return found


def _logs_of(context: AppContext, key: str, selection: ShareSelection) -> list[FoundLog]:
    """The session's log, and those of its chain where that is selected."""
    first = locate_log(context, key)
    chain = sessions_of_chain(context.library(), first) if selection.chain else [first]
    return [one for one in chain if isinstance(one, FoundLog)]


def current_rules() -> RuleSet:
    """The rules as they are now, a person's own among them."""
    return own_rules(config_folder() / OWN)


class ShareFormat(NamedTuple):
    name: str
    label: str
    about: str
    many: str
    """The same of several sessions."""
    sealed: bool = False
    """Whether it can be made so that only a secret opens it."""


SHARE_FORMATS = (
    ShareFormat(
        "html",
        "One HTML file",
        "Needs nothing beside it: mail it, or put it anywhere.",
        "One a session, zipped; needs nothing beside it.",
        sealed=True,
    ),
    ShareFormat(
        "site",
        "A folder of pages",
        "Zipped, for a web server; with search.",
        "All of them, zipped, for a web server; with search.",
    ),
    ShareFormat(
        "bundle",
        "A bundle",
        "For “unspool import”, to go on elsewhere.",
        "For “unspool import”, to go on elsewhere, with the plan that it carries out.",
    ),
)
GIST = "gist"


def make_file(form: str, share: PreparedShare, context: AppContext, secret: ShareSecret | None) -> SharedFile:
    """The file in one of SHARE_FORMATS; UsageProblem where it is to be sealed and cannot be."""
    if secret is not None and form != "html":
        raise UsageProblem("Only a page can be encrypted: make one HTML file, which holds all pages.")
    if form == "bundle":
        return SharedFile(".tar.gz", "application/gzip", make_bundle(share))
    pages = SharePages(share, context.options, context.prices)
    if form == "site":
        return _zip(pages.files())
    with scratch_folder() as folder:
        path = folder / "session.html"
        files = pages.write_file(path) if secret is None else [write_encrypted(share, context.prices, path, secret)]
        if len(files) == 1:
            return SharedFile(".html", "text/html; charset=utf-8", files[0].read_bytes())
        return _zip((file.name, file.read_bytes()) for file in files)


def _zip(files: Iterable[tuple[str, bytes]]) -> SharedFile:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same share gives the same bytes
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(info, data)
    return SharedFile(".zip", "application/zip", held.getvalue())


def result_page(request: Request) -> HTMLResponse:
    found = _requested_result(request)
    review = f"{session_href(found.session)}share"
    about = size(len(found.file.data)) if found.file is not None else ""
    body = render_template("share_made.html", review=review, here=request.url.path, made=found, size=about)
    crumbs = (HOME, Crumb("Share", review.removeprefix("/")))
    return render_page(request, "Made", body, crumbs, ("app.css", "share.css"), ("share.js",))


def download_result(request: Request) -> Response:
    found = _requested_result(request)
    if found.file is None:
        raise NotFound("There is no file to download.")
    return file_response(found.file, found.name)


def file_response(file: SharedFile, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.type, headers=headers)


def _requested_result(request: Request) -> ShareResult:
    store = request.app.state.context.part(ReviewStore)
    found: ShareResult = store.result(request.path_params["key"], request.path_params["name"])
    return found


async def make_share(request: Request) -> Response:
    """Make it: the file, or the page that tells how it opens or where it is."""
    form, key, context = await read_form(request), request.path_params["key"], request.app.state.context
    result = await run_sync(_make_result, context, key, form)
    if result.file is not None and not result.key:
        return file_response(result.file, result.name)
    name = context.part(ReviewStore).keep_result(result)
    return RedirectResponse(f"{session_href(key)}share/made/{name}", 303)


def _make_result(context: AppContext, key: str, form: Mapping[str, str]) -> ShareResult:
    wanted, seal = form.get("as", ""), parse_seal(form.get("seal", "open"))
    if wanted not in (GIST, *(one.name for one in SHARE_FORMATS)):
        raise UsageProblem("A session is shared as html, site, bundle or gist.")
    secret = make_secret(seal, form)
    if wanted == GIST and secret is not None:
        raise UsageProblem("A gist is not encrypted, so none was made: whoever has its address can read it.")
    session, store = get_session(context, key).session, context.part(ReviewStore)
    selection = store.selection(key, session.cwd)
    settings = ShareSettings(lambda _: selection.choices, current_rules(), selection.title, names=store.names(key))
    with prepare_shares(context.library(), store.logs_to_share(context, key, selection), settings) as share:
        if wanted == GIST:
            gist = publish_share_gist(share, context.options, context.prices, public="public" in form)
            return ShareResult(key, addresses=(("Gist", gist.address), ("As pages", gist.preview)))
        file = make_file(wanted, share, context, secret)
    save_habit(session.cwd, seal=seal)
    fragment = secret.fragment if secret is not None else ""
    return ShareResult(key, file, f"session-{slug(key)[:8]}{file.ending}", fragment)
