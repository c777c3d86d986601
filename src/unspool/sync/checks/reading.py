"""What the newest logs hold that this version does not know, and whether their costs agree with the agent's own."""

from collections.abc import Iterator

from unspool import human
from unspool.errors import UnspoolError
from unspool.formats import Found, by_id
from unspool.formats.traces import Sighting, Survey
from unspool.library.inputs import opened
from unspool.library.light import cost_of
from unspool.sync.finding import Finding
from unspool.sync.scene import Scene

NAME = "reading"
_MOST = 100_000_000
"""Bytes of logs that are looked at, the newest first: what is new is in them."""
_APART, _SHARE = 0.01, 0.02
"""Dollars, and the share of all, by which two accounts must differ to be worth a word."""


def reading(scene: Scene) -> Iterator[Finding]:
    """Unknown types and fields with an example each; sessions whose cost is not what the agent says."""
    seen: dict[str, tuple[Sighting, str]] = {}
    apart: list[str] = []
    left = _MOST
    for log in sorted(scene.logs, key=lambda log: -log.modified):
        if left <= 0:
            break
        left -= log.size
        surveys = list(_surveys(log))
        for path, survey in surveys:
            for name, sighting in survey.unknown.items():
                if name in seen:
                    seen[name][0].count += sighting.count
                else:
                    seen[name] = sighting, path
        if surveys:
            apart += _difference(log, surveys)
    yield from _unknown(seen)
    if apart:
        message = f"{human.count(len(apart), 'session')} cost something else than the agent says."
        yield Finding("note", NAME, message, tuple(apart))


def _surveys(log: Found) -> Iterator[tuple[str, Survey]]:
    """The log and its subagents' logs; one that cannot be read is another check's affair."""
    for path in (log.path, *(agent.path for agent in log.agents)):
        try:
            with opened(path) as stream:
                yield path, by_id(log.format).survey(stream)
        except (UnspoolError, OSError):
            continue


def _unknown(seen: dict[str, tuple[Sighting, str]]) -> Iterator[Finding]:
    if not seen:
        yield Finding("ok", NAME, "Every line of the newest logs is of a known kind.")
        return
    details = tuple(
        f"{name}: {human.count(one.count, 'line')}, version {one.version or 'unknown'}, for example {path}:{one.line}"
        for name, (one, path) in sorted(seen.items())
    )
    message = f"{human.count(len(seen), 'kind')} of line or field that this version does not know; nothing is lost."
    remedy = "Look for a newer unspool; if there is none, tell its makers the names below (no content is needed)."
    yield Finding("note", NAME, message, details, remedy)


def _difference(log: Found, surveys: list[tuple[str, Survey]]) -> Iterator[str]:
    """One line where the agent's account of a session and the sum of its requests are not the same."""
    reported = surveys[0][1].reported_cost
    ours = cost_of(log) if reported is not None else None
    if reported is None or ours is None or abs(reported - ours) <= max(_APART, _SHARE * max(reported, ours)):
        return
    unbilled = [purpose for _, survey in surveys for purpose in survey.unbilled]
    why = f"; the log does not say what {human.count(len(unbilled), 'request')} used" if unbilled else ""
    yield f"{log.session_id}: {human.money(ours)} by its requests, {human.money(reported)} by the agent{why}"
