"""Lines of the audit log in sentences: who did what to what, with links to what is still there."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unspool import human
from unspool.hub.people.audit import AuditLine
from unspool.hub.store.blobs import DAY, HOUR
from unspool.hub.store.database import Database, batches, placeholders
from unspool.site.session_rows import RowLink
from unspool.site.summaries import shorten_line

DEEDS = {
    "audit.accept": ("took the audit log as it is", "take the audit log as it is"),
    "audit.lost": ("lost readings while the database was away", "tell of lost readings"),
    "audit.read": ("read the audit log", "read the audit log"),
    "audit.trim": ("trimmed the audit log", "trim the audit log"),
    "browser.in": ("signed in", "sign in"),
    "browser.out": ("signed out", "sign out"),
    "erase": ("erased {}", "erase {}"),
    "erase.again": ("let {} push again what was erased", "let {} push again what was erased"),
    "hold.lift": ("lifted a legal hold", "lift a legal hold"),
    "hold.place": ("placed a legal hold on {}", "place a legal hold on {}"),
    "invitation.make": ("made an invitation", "make an invitation"),
    "invitation.revoke": ("revoked an invitation", "revoke an invitation"),
    "invitation.take": ("came in by an invitation", "come in by an invitation"),
    "permit.give": ("gave rights in {}", "give rights in {}"),
    "permit.take": ("took rights back in {}", "take rights back in {}"),
    "person.add": ("added {}", "add somebody"),
    "person.back": ("let {} in again", "let {} in again"),
    "person.change": ("changed {}", "change {}"),
    "person.end": ("revoked {}", "revoke {}"),
    "policy.set": ("set the policy of {}", "set the policy of {}"),
    "project.let": ("said who makes projects", "say who makes projects"),
    "project.make": ("made the project {}", "make a project"),
    "session.download": ("downloaded {}", "download {}"),
    "session.list": ("listed sessions", "list sessions"),
    "session.push": ("pushed {}", "push a session"),
    "session.read": ("read about {}", "read about {}"),
    "session.search": ("searched", "search"),
    "session.usage": ("looked at the usage", "look at the usage"),
    "session.view": ("read {}", "read {}"),
    "share.change": ("changed how {} is shown", "change how {} is shown"),
    "share.create": ("shared {}", "share something"),
    "share.delete": ("ended the share {}", "end the share {}"),
    "share.open": ("gave the password of {}", "open {} with a password"),
    "share.read": ("read the share {}", "read the share {}"),
    "share.update": ("brought the share {} up to date", "bring the share {} up to date"),
    "team.end": ("ended the team {}", "end the team {}"),
    "team.join": ("took somebody into the team {}", "take somebody into the team {}"),
    "team.leave": ("took somebody out of the team {}", "take somebody out of the team {}"),
    "team.make": ("made the team {}", "make a team"),
    "token.make": ("made a token", "make a token"),
    "token.revoke": ("revoked a token", "revoke a token"),
}
"""What was done, and the same as something to do, by what the log calls it; `{}` is what it was done to."""
_BY_TARGET = ("browser.in", "invitation.take")
"""Who did it is known once it is done."""


class AuditSentence(NamedTuple):
    line: AuditLine
    parts: tuple[RowLink, ...]
    refused: bool


def audit_sentences(db: Database, lines: Sequence[AuditLine]) -> list[AuditSentence]:
    """What lines say. That something was asked for is left out where the same list says what came of it."""
    ended = {line.detail.get("request") for line in lines if line.outcome != "asked"} - {None}
    shown = [line for line in lines if line.outcome != "asked" or line.detail.get("request") not in ended]
    wanted = {line.target for line in shown} | {str(line.detail.get(name)) for line in shown for name in _NAMED}
    things = dict(_things(db, sorted(wanted - {""})))
    return [AuditSentence(one, tuple(_parts(one, things)), one.outcome.startswith("refused")) for one in shown]


_NAMED = ("person", "subject", "session")


def _parts(line: AuditLine, things: dict[str, RowLink]) -> Iterator[RowLink]:
    done, infinitive = DEEDS.get(line.what, (f"did {line.what} to {{}}", f"do {line.what} to {{}}"))
    refused = line.outcome.startswith("refused")
    said = done if line.outcome == "done" else infinitive
    before, gap, after = said.partition("{}")
    thing = things.get(line.target) or RowLink(line.target or ("the hub" if line.what == "policy.set" else "something"))
    if line.what in _BY_TARGET and line.outcome == "done" and line.target in things:
        yield thing
    else:
        yield RowLink(line.name or "Somebody", f"/audit?person={line.person}" if line.person else "", line.person)
    yield RowLink(f" {before}" if line.outcome == "done" else f" wanted to {before}")
    if gap:
        yield thing
        yield RowLink(after)
    if line.outcome == "done":
        yield from _details(line, things)
    elif line.outcome != "asked":
        yield RowLink(f", and was refused ({line.outcome.partition(' ')[2]})" if refused else f": {line.outcome}")


def _details(line: AuditLine, things: dict[str, RowLink]) -> Iterator[RowLink]:
    """How a share is shown, whom a right or a team is about, what a share was made of."""
    detail = line.detail
    who = things.get(str(detail.get("person") or detail.get("subject")))
    if who is not None:
        level = f", {detail['level']}" if "level" in detail else ""
        yield RowLink(": ")
        yield who
        yield RowLink(level)
    if line.what in ("share.create", "share.change") and (words := ", ".join(_options(line))):
        yield RowLink(f" {words}" if line.what == "share.create" else f": {words}")
    if (session := things.get(str(detail.get("session")))) is not None:
        yield RowLink(", from ")
        yield session


def _options(line: AuditLine) -> Iterator[str]:
    detail, change = line.detail, line.what == "share.change"
    if "password" in detail and (change or detail["password"]):
        yield "with a password" if detail["password"] else "without a password"
    if ends := detail.get("expires"):
        yield f"ends in {_span(ends - line.at)}"
    elif change and "expires" in detail:
        yield "without an end"
    if detail.get("listed"):
        yield "listed for everybody here"
    if detail.get("raw"):
        yield "may be downloaded"


def _span(time: int) -> str:
    """How long, in days, or in hours where that is less than two days."""
    if time < 2 * DAY:
        return human.count(max(1, round(time / HOUR)), "hour")
    return human.count(round(time / DAY), "day")


_QUERIES = {
    "session": "SELECT id, title FROM session WHERE id IN ({})",
    "share": "SELECT address, title FROM share WHERE ended IS NULL AND address IN ({})",
    "person": "SELECT id, name FROM person WHERE id IN ({})",
    "team": "SELECT id, name FROM team WHERE id IN ({})",
    "project": "SELECT id, name FROM project WHERE id IN ({})",
}
_PLACES = {"session": "/sessions/{}/", "share": "/{}/", "person": "/audit?person={}", "project": "/sessions?project={}"}


def _things(db: Database, ids: Sequence[str]) -> Iterator[tuple[str, RowLink]]:
    """What is still here, by id or address, by its title or name."""
    for kind, sql in _QUERIES.items():
        titled = kind in ("session", "share")
        for some in batches(ids):
            for id_, name in db.rows(sql.format(placeholders(some)), *some):
                text = f"“{shorten_line(name, 80) or 'untitled'}”" if titled else name
                yield id_, RowLink(text, _PLACES[kind].format(id_) if kind in _PLACES else "", id_)
