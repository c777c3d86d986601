"""Makes the rows of a pushed session, and its pages once somebody looks at them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from unspool.agents import FoundLog
from unspool.errors import NotALog, UnspoolError
from unspool.figures import Figures, all_turns, figures
from unspool.hub.errors import BadRequest, PolicyViolation
from unspool.hub.policy import findings_sentence, is_packed, policy_findings
from unspool.hub.store.blobs import MadeFile, make_file
from unspool.hub.store.texts import MOST_CHARACTERS, KnownParts, SessionPassage, TextPart, make_texts
from unspool.hub.web.render import HOME, OWN, WAYS, render
from unspool.hub_client.prepare import PushedLibrary
from unspool.model import Agent, Session, ToolCall
from unspool.prices import MOST, PriceTable
from unspool.reading.scan import is_recorded_fork
from unspool.redact.policy import RedactionPolicy
from unspool.share.choices import ShareChoices
from unspool.share.prepare import PreparedShare, SharedSession, without_paths
from unspool.share.publish import write_bundle
from unspool.share.redact_files import RedactionReport
from unspool.share.select_files import LeftOutCounts
from unspool.site.address import INDEX, Addresses
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, site_page_head
from unspool.site.turn_pages import session_folder
from unspool.store.index.requests import SessionRows, signed
from unspool.store.index.schema import KINDS
from unspool.store.library import Library
from unspool.store.library.chains import source_id
from unspool.store.sync.extract import ExtractJob, extract_rows

_FIGURE = 10**12
"""No true figure is larger; sums of many stay within what a database counts."""
_DEAREST = 10**17
"""Picodollars: what seems to cost more has no known price."""
_LONGEST = 300
"""Characters of a name: what is looked up by an index must not be long."""
_MODELS = 50
_Made = TypeVar("_Made")


class LoggedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's log tells of it: columns of the table, and part of what is answered; times are milliseconds."""

    agent: str
    title: str
    kind: str
    branch: str
    slug: str
    source: str
    """The key of the session that it goes on from."""
    started: int | None
    finished: int | None
    turns: int
    messages: int
    calls: int
    errors: int
    """Tool calls that ran and failed; `unanswered` are without a result."""
    refused: int
    interrupted: int
    unanswered: int
    tokens: int
    unpriced: int
    """Requests whose price is not known."""
    open: int
    """Requests whose log never held the final figures."""
    models: tuple[str, ...]
    forked: bool
    """Whether its log says itself that it began as a copy of another."""
    asked: str
    """Its first prompt, cut short."""
    commits: int
    files: int
    """Files changed; `added` and `removed` are their lines."""
    added: int
    removed: int


class SessionColumns(LoggedFacts, frozen=True, kw_only=True):
    cost: int
    """Picodollars at list prices, of the requests whose price is known."""


class RequestRow(NamedTuple):
    identity: str
    day: str
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int
    final: bool
    cost: int | None


def session_columns(rows: SessionRows, counted: Figures) -> SessionColumns:
    changed = [file for file in counted.files if file.writes]
    overview, costs = rows.overview, [_cost(row.cost) for row in rows.requests]
    started, ended = _moment(overview.started), _moment(overview.ended)
    return SessionColumns(
        agent=overview.agent,
        title=_short(overview.title),
        kind=overview.kind,
        branch=_short(overview.branch),
        slug=_short(overview.slug),
        source=_short(source_id(overview.source)) if overview.source else "",
        started=started,
        finished=ended or started or 0,
        turns=overview.turns,
        messages=overview.messages,
        calls=overview.tool_calls,
        errors=overview.tool_errors,
        refused=overview.tool_refusals,
        interrupted=overview.tool_interruptions,
        unanswered=overview.tool_unanswered,
        tokens=min(_FIGURE, overview.usage.total),
        cost=min(MOST, sum(cost or 0 for cost in costs)),
        unpriced=costs.count(None),
        open=sum(not row.final for row in rows.requests),
        models=tuple(map(_short, overview.models[:_MODELS])),
        forked=is_recorded_fork(overview),
        asked=_first_prompt(rows),
        commits=len(counted.commits),
        files=len(changed),
        added=min(_FIGURE, sum(file.added for file in changed)),
        removed=min(_FIGURE, sum(file.removed for file in changed)),
    )


def _first_prompt(rows: SessionRows) -> str:
    own = (doc for log in rows.logs if not log.agent for doc in log.docs)
    return next((_short(doc[-1].strip()) for doc in own if KINDS[doc[1]] == "prompt"), "")


def passages(rows: SessionRows, session: Session, addresses: Addresses) -> Iterator[SessionPassage]:
    """Every text, cut where it is too long to be read at once."""
    links = _links(session, addresses)
    for log in rows.logs:
        for turn, kind, place, _, _, text in log.docs:
            titled = KINDS[kind] == "title"
            number = 0 if titled else log.turns[turn].number
            line = 0 if titled or log.agent else signed(log.turns[turn].line)
            usual = INDEX if log.agent or titled else addresses.turn(number)
            link = INDEX if titled else links.get((log.agent, place)) or usual
            body = plain_text(text)
            for at in range(0, len(body), MOST_CHARACTERS):
                yield SessionPassage(number, KINDS[kind], link, line, body[at : at + MOST_CHARACTERS])


def requests(rows: SessionRows) -> Iterator[RequestRow]:
    """The billed requests, by what they are known by wherever they are copied to."""
    for row in rows.requests:
        input_, output, read, write, *_ = (min(_FIGURE, figure) for figure in row.figures)
        try:
            day = "" if row.time is None else datetime.fromtimestamp(row.time, UTC).date().isoformat()
        except (OverflowError, OSError, ValueError):
            day = ""
        identity = f"{row.message:016x}{row.request:016x}"
        yield RequestRow(identity, day, _short(row.terms[0]), input_, output, read, write, row.final, _cost(row.cost))


def _cost(cost: int | None) -> int | None:
    return None if cost is None or cost > _DEAREST else cost


def _short(text: str) -> str:
    return plain_text(text[:_LONGEST])


def plain_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _moment(time: datetime | None) -> int | None:
    return None if time is None else int(time.timestamp() * 1000)


def _links(session: Session, addresses: Addresses) -> dict[tuple[str, int], str]:
    """Where on its pages each line of a session and its subagents is told: by subagent and place."""
    links: dict[tuple[str, int], str] = {}
    waiting: list[tuple[str, Session]] = [("", session)]
    seen = {""}
    while waiting:
        agent, one = waiting.pop()
        for turn in all_turns(one):
            for item in ((turn.prompt,) if turn.prompt is not None else ()) + tuple(turn.blocks):
                link = addresses.link(item)
                links.setdefault((agent, item.place.offset), link)
                if isinstance(item, ToolCall) and item.result is not None:
                    links.setdefault((agent, item.result.place.offset), link)
        fresh: list[Agent] = [below for below in one.agents if below.id not in seen]
        seen.update(below.id for below in fresh)
        waiting.extend((below.id, below.session) for below in fresh)
    return links


SOURCE, MADE = "sent", "made"
"""Folders: what was sent, as a source of its own, and what is made of it."""
SENT = f"{SOURCE}/logs"
_KINDS = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".css": "text/css"}
_OPTIONS = SiteOptions()
_ROOT = "../../"


class MadeSession(NamedTuple):
    facts: SessionColumns
    pages: tuple[MadeFile, ...]
    """None where they were not asked for."""
    texts: MadeFile | None
    """Its texts for search; None where it has none."""

    @property
    def contents(self) -> tuple[MadeFile, ...]:
        return (*self.pages, self.texts) if self.texts else self.pages


def make_session(
    folder: Path, key: str, known: KnownParts, policy: RedactionPolicy | None, *, pages: bool = False
) -> MadeSession:
    """A session whose files lie in a folder, for a database that has some parts of its texts already; with its `pages`
    or without. PolicyViolation where it is kept out.
    """
    library = PushedLibrary(folder / SENT, key)
    found = _found(library)
    if any(is_packed(name, path) for name, path in _files(folder / SENT)):
        raise BadRequest("A log is packed; send plain lines.")
    if policy is not None and (findings := policy_findings(_files(folder / SENT), policy)):
        raise PolicyViolation(findings_sentence(findings))
    (folder / MADE).mkdir()
    whole, rows = _read(library, found)
    session = without_paths(whole)
    addresses = Addresses(session, _OPTIONS)
    texts, parts = make_texts(passages(rows, session, addresses), folder / MADE / "texts", known)
    _write(folder / MADE / TextPart.__name__, parts)
    _write(folder / MADE / RequestRow.__name__, requests(rows))
    counted = figures(session, library.prices)
    made = tuple(_pages(session, counted, library.prices, folder / MADE)) if pages else ()
    return MadeSession(session_columns(rows, counted), made, texts)


def _read(library: Library, found: FoundLog) -> tuple[Session, SessionRows]:
    """A session and the rows of it, whose logs are read once."""
    try:
        session, logs = library.open_with_logs(found)
        rows = extract_rows(ExtractJob(found, {}, logs), library.prices)
    except (UnspoolError, OSError):
        rows = ""
    if isinstance(rows, str):
        raise BadRequest("The log cannot be read.")
    return session, rows


def bundle_push(folder: Path, key: str) -> Path:
    """A pushed session whose files lie in a folder, as the bundle that somebody would share it by."""
    library = PushedLibrary(folder / SENT, key)
    session = without_paths(library.open(_found(library)))
    shown = SharedSession(session, folder / SENT / f"{key}.jsonl")
    report = RedactionReport("", "", [], LeftOutCounts())  # what was replaced in it was, before it was pushed
    return write_bundle(PreparedShare(shown, [], [], report, ShareChoices(), {}, ""), folder / "bundle.tar.gz")


def _found(library: PushedLibrary) -> FoundLog:
    """The log that was sent, with its subagents."""
    try:
        return library.pushed()
    except NotALog:
        raise BadRequest("What was sent is no log of an agent that is known here.") from None


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def _pages(session: Session, counted: Figures, prices: PriceTable, folder: Path) -> Iterator[MadeFile]:
    head = site_page_head(_OPTIONS, _ROOT)
    own = render("styles.html", icon=OWN["icon.svg"], hrefs=[OWN[name] for name in ("ways.css", "shared.css")])
    frame = Frame(
        _ROOT,
        (HOME, Crumb("Sessions", "sessions")),
        prices=prices,
        ways=WAYS,
        part="sessions",
        dress=head._replace(styles=head.styles + own),
        inset=str(render("session_bar.html")),
    )
    for number, (name, data) in enumerate(session_folder(session, counted, _OPTIONS, frame)):
        kind = _KINDS.get(Path(name).suffix, "application/octet-stream")
        yield make_file(name, data, folder / f"page-{number}", kind)


def _write(path: Path, rows: Iterable[NamedTuple]) -> None:
    with path.open("wb") as file:
        file.writelines(chain.from_iterable((msgspec.json.encode(row), b"\n") for row in rows))


def read_rows(folder: Path, kind: type[_Made]) -> Iterator[_Made]:
    """The parts of texts or the requests of a session that was made in a folder."""
    decoder = msgspec.json.Decoder(kind)
    with (folder / MADE / kind.__name__).open("rb") as file:
        for line in file:
            yield decoder.decode(line)
