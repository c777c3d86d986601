"""The files of a share while it is reviewed: kept, shown, saved."""

import io
import secrets
import shutil
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from anyio.to_thread import run_sync
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool.agents import FoundLog
from unspool.app import share_selection
from unspool.app.context import AppContext
from unspool.app.open_session import LogState, get_session, locate_log, log_state
from unspool.app.render import HOME, render_page, render_template
from unspool.app.share_findings import ShareRehearsal, rehearse_share
from unspool.app.share_selection import ShareSelection, make_secret, parse_seal
from unspool.config import config_folder
from unspool.errors import NotFound, UsageProblem
from unspool.files import scratch_folder
from unspool.human import size
from unspool.redact.rules import OWN, RuleSet, own_rules
from unspool.share.choices import ShareSettings, load_choices, save_choices
from unspool.share.encryption import ShareSecret
from unspool.share.prepare import PreparedShare, prepare_shares, sessions_of_chain
from unspool.share.publish import SharePages, make_bundle, publish_share_gist, write_encrypted
from unspool.site.address import slug
from unspool.site.page_template import Crumb
from unspool.web.pages import read_form

MAX_REHEARSALS = 2
"""Sessions held at once, the last looked at."""


class ReviewStore:
    """The reviews of a app. Choices and habits are the project's; turns and title are one session's, while it runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._own: dict[str, ShareSelection] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._held: OrderedDict[str, tuple[tuple[LogState, ...], ShareRehearsal]] = OrderedDict()

    def wish(self, key: str, project: str) -> ShareSelection:
        """What is wished for a session now."""
        own = self._own.get(key, ShareSelection())
        choices = replace(load_choices(project), without=own.choices.without)
        return ShareSelection(choices, own.title, share_selection.load_habit(project).chain)

    def choose(self, key: str, project: str, wish: ShareSelection) -> None:
        """Wish it so, and remember it for the project."""
        with self._lock:
            self._own[key] = wish
            save_choices(project, wish.choices)
            share_selection.save_habit(project, replace(share_selection.load_habit(project), chain=wish.chain))

    def names(self, key: str) -> Mapping[str, str]:
        """What things in a session have been called so far, while the app runs."""
        return self._names.get(key, {})

    def found(self, context: AppContext, key: str, wish: ShareSelection) -> ShareRehearsal:
        """What is found in a session; whatever of it stays, the same is found."""
        return self._looked(context, key, wish, exact=False)

    def exact(self, context: AppContext, key: str, wish: ShareSelection) -> ShareRehearsal:
        """The very session that would be shared."""
        return self._looked(context, key, wish, exact=True)

    def meant(self, context: AppContext, key: str, wish: ShareSelection) -> list[FoundLog]:
        """The sessions to share; UsageProblem where their chain has others than were looked at."""
        now = sessions_to_share(context, key, wish)
        with self._lock:
            held = self._held.get(key)
            if held is not None and held[1].wish.chain == wish.chain and held[1].sessions != _ids(now):
                del self._held[key]
                raise UsageProblem("The chain has grown since it was looked through; look at the review again.")
        return now

    def _looked(self, context: AppContext, key: str, wish: ShareSelection, *, exact: bool) -> ShareRehearsal:
        with self._lock:
            rules, held = current_rules(), self._held.get(key)
            if (
                held is not None
                and (held[0], held[1].rules) == (_states(context, held[1].sessions), rules)
                and _serves(held[1].wish, wish, exact)
            ):
                self._held.move_to_end(key)
                return held[1]
            found = sessions_to_share(context, key, wish)
            now = tuple(map(log_state, found))
            made = rehearse_share(context, found, wish, rules, self.names(key))
            self._held[key], self._names[key] = (now, made), made.share.names
            self._held.move_to_end(key)
            while len(self._held) > MAX_REHEARSALS:
                self._held.popitem(last=False)
            return made


def sessions_to_share(context: AppContext, key: str, wish: ShareSelection) -> list[FoundLog]:
    """The session that is meant, and those of its chain where they are wished for."""
    first = locate_log(context, key)
    chain = sessions_of_chain(context.library(), first) if wish.chain else [first]
    return [one for one in chain if isinstance(one, FoundLog)]


def _states(context: AppContext, keys: tuple[str, ...]) -> tuple[LogState, ...]:
    return tuple(log_state(locate_log(context, key)) for key in keys)


def _ids(found: list[FoundLog]) -> tuple[str, ...]:
    return tuple(one.session_id for one in found)


def _serves(had: ShareSelection, wanted: ShareSelection, exact: bool) -> bool:
    return had == wanted if exact else _found_in(had) == _found_in(wanted)


def _found_in(wish: ShareSelection) -> ShareSelection:
    """The wish as far as it says what is looked through."""
    return replace(wish, choices=replace(wish.choices, keep=frozenset()))


def current_rules() -> RuleSet:
    """The rules as they are now, a person's own among them."""
    return own_rules(config_folder() / OWN)


_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a folder that is packed: the same share gives the same bytes."""
_PAGE, _ZIP, _TAR = "text/html; charset=utf-8", "application/zip", "application/gzip"


class SharedFile(NamedTuple):
    ending: str
    type: str
    data: bytes


class ShareFormat(NamedTuple):
    """A way to share; `sealed` makes the same so that only a secret opens it, where that can be."""

    name: str
    label: str
    about: str
    many: str
    """The same of several sessions."""
    make: Callable[[PreparedShare, AppContext], SharedFile]
    sealed: Callable[[PreparedShare, AppContext, ShareSecret], SharedFile] | None = None


def parse_format(name: str) -> ShareFormat:
    """The way of that name; UsageProblem where there is none."""
    for one in SHARE_FORMATS:
        if one.name == name:
            return one
    raise UsageProblem("A session is shared as html, site, bundle or gist.")


def make_file(way: ShareFormat, share: PreparedShare, context: AppContext, secret: ShareSecret | None) -> SharedFile:
    """The file; UsageProblem where it is to be sealed and cannot be."""
    if secret is None:
        return way.make(share, context)
    if way.sealed is None:
        raise UsageProblem("Only a page can be encrypted: make one HTML file, which holds all pages.")
    return way.sealed(share, context, secret)


def _html(share: PreparedShare, context: AppContext) -> SharedFile:
    """One page a session: where there are several, packed."""
    with scratch_folder() as folder:
        files = SharePages(share, context.options, context.prices).write_file(folder / "session.html")
        if len(files) == 1:
            return SharedFile(".html", _PAGE, files[0].read_bytes())
        return SharedFile(".zip", _ZIP, _zipped((file.name, file.read_bytes()) for file in files))


def _locked(share: PreparedShare, context: AppContext, secret: ShareSecret) -> SharedFile:
    with scratch_folder() as folder:
        return SharedFile(
            ".html", _PAGE, write_encrypted(share, context.prices, folder / "session.html", secret).read_bytes()
        )


def _site(share: PreparedShare, context: AppContext) -> SharedFile:
    return SharedFile(".zip", _ZIP, _zipped(SharePages(share, context.options, context.prices).files()))


def _bundle(share: PreparedShare, _: AppContext) -> SharedFile:
    return SharedFile(".tar.gz", _TAR, make_bundle(share))


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            packed.writestr(_member(name), data)
    return held.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


SHARE_FORMATS = (
    ShareFormat(
        "html",
        "One HTML file",
        "Needs nothing beside it: mail it, or put it anywhere.",
        "One a session, zipped; needs nothing beside it.",
        _html,
        _locked,
    ),
    ShareFormat(
        "site",
        "A folder of pages",
        "Zipped, for a web server; with search.",
        "All of them, zipped, for a web server; with search.",
        _site,
    ),
    ShareFormat(
        "bundle",
        "A bundle",
        "For “unspool import”, to go on elsewhere.",
        "For “unspool import”, to go on elsewhere, with the plan that it carries out.",
        _bundle,
    ),
)


MAX_RESULTS = 2
"""Results held at once; each is forgotten with the app."""


class ShareResult(NamedTuple):
    """A file with its key, or the two addresses of a gist."""

    session: str
    file: SharedFile | None = None
    name: str = ""
    key: str = ""
    addresses: tuple[tuple[str, str], ...] = ()


class ShareResults:
    """The last results of a app, by names that nobody can guess."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, ShareResult] = OrderedDict()

    def keep(self, result: ShareResult) -> str:
        """Hold a result; what it is called."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._held[name] = result
            while len(self._held) > MAX_RESULTS:
                self._held.popitem(last=False)
        return name

    def find(self, session: str, name: str) -> ShareResult:
        """The result of that name; NotFound where it is no longer held, or is of another session."""
        found = self._held.get(name)
        if found is None or found.session != session:
            raise NotFound("This was made too long ago; make it again.")
        return found


def result_page(request: Request) -> HTMLResponse:
    """The page that tells of a result."""
    key, found = _found(request)
    review = f"s/{quote(key, safe='')}/share"
    about = size(len(found.file.data)) if found.file is not None else ""
    body = render_template("share_made.html", review=f"/{review}", here=request.url.path, made=found, size=about)
    return render_page(request, "Made", body, (HOME, Crumb("Share", review)), ("app.css", "share.css"), ("share.js",))


def download_result(request: Request) -> Response:
    """The file of a result."""
    _, found = _found(request)
    if found.file is None:
        raise NotFound("There is no file to download.")
    return file_response(found.file, found.name)


def file_response(file: SharedFile, name: str) -> Response:
    """A file that a browser saves."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.type, headers=headers)


def _found(request: Request) -> tuple[str, ShareResult]:
    key: str = request.path_params["key"]
    return key, request.app.state.context.part(ShareResults).find(key, request.path_params["name"])


GIST = "gist"


def can_publish_gist() -> bool:
    """Whether the program that publishes it is there."""
    return shutil.which("gh") is not None


def publish_gist(
    key: str, share: PreparedShare, context: AppContext, secret: ShareSecret | None, *, public: bool
) -> ShareResult:
    """Publish it: the two addresses that it has then. UsageProblem where only a secret was to open it."""
    if secret is not None:
        raise UsageProblem("A gist is not encrypted, so none was made: whoever has its address can read it.")
    gist = publish_share_gist(share, context.options, context.prices, public=public)
    return ShareResult(key, addresses=(("Gist", gist.address), ("As pages", gist.preview)))


async def make_share(request: Request) -> Response:
    """Make it: the file, or the page that tells how it opens or where it is."""
    sent, key = await read_form(request), request.path_params["key"]
    answer = await run_sync(_made, request.app.state.context, key, sent)
    if answer.file is not None and not answer.key:
        return file_response(answer.file, answer.name)
    name = request.app.state.context.part(ShareResults).keep(answer)
    return RedirectResponse(f"/s/{quote(key, safe='')}/share/made/{name}", 303)


def _made(context: AppContext, key: str, sent: Mapping[str, str]) -> ShareResult:
    wanted = sent.get("as", "")
    way = None if wanted == GIST else parse_format(wanted)
    seal = parse_seal(sent.get("seal", "open"))
    secret = make_secret(seal, sent)
    session, table = get_session(context, key).session, context.part(ReviewStore)
    wish = table.wish(key, session.cwd)
    ask = ShareSettings(lambda _: wish.choices, current_rules(), wish.title, names=table.names(key))
    with prepare_shares(context.library(), table.meant(context, key, wish), ask) as share:
        if way is None:
            return publish_gist(key, share, context, secret, public="public" in sent)
        file = make_file(way, share, context, secret)
    share_selection.save_habit(session.cwd, replace(share_selection.load_habit(session.cwd), seal=seal))
    fragment = secret.fragment if secret is not None else ""
    return ShareResult(key, file, f"session-{slug(key)[:8]}{file.ending}", fragment)
