"""The tools that agents call: what each takes, what it asks of the records, and its lines."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from unspool import human
from unspool.errors import NotFound, UsageProblem
from unspool.figures import family
from unspool.figures.outline import outline_session
from unspool.mcp.answers import (
    LEAST,
    MOST,
    SUBAGENT,
    USUAL,
    BudgetedAnswer,
    Quoter,
    References,
    ReferencesOf,
    subagent_key,
)
from unspool.mcp.reading import SessionReader
from unspool.mcp.records import Records
from unspool.model import Session
from unspool.reading.prompts import plans_of
from unspool.store.index.billing import UsageFilter
from unspool.store.index.conditions import IS_LISTED
from unspool.store.index.context_files import ContextFileIndex
from unspool.store.index.filters import sessions_holding
from unspool.store.index.query import parse_query
from unspool.store.index.results import FoundContextFile
from unspool.store.index.schema import PICO
from unspool.store.index.search import SearchRequest, search_index
from unspool.store.index.times import parse_moment, utc_time
from unspool.store.index.touched_files import file_touches, find_files, touch_prompts
from unspool.store.index.usage import usage_report
from unspool.store.library.blame import Blame, BlamedLine, BlameSources, blame_file
from unspool.store.library.file_history import CHANGES
from unspool.store.library.solved_errors import ErrorSources, FoundSolution, find_solutions

Budget = Annotated[int, Field(ge=LEAST, le=MOST)]
Start = Annotated[int, Field(ge=0, le=100_000_000)]
Limit = Annotated[int, Field(ge=1, le=30)]
Since = Annotated[str, Field(max_length=40, description="2026-01-31 or 3d.")]
Short = Annotated[str, Field(max_length=400)]
_QUERY = "Words; project: agent: tool: file: kind: is:error since:"
_FRESH = 90
"""Characters of the line that says how fresh an answer is."""
_MOST_FILES = 12
_LOOKED = 100_000
_LARGEST = 16_000_000
"""Bytes of a file whose lines are asked about."""
_TOUCHES = 20
_ERRORS = 4
"""Changes of a file, and errors, that one answer tells at most."""
_SESSIONS = f"""SELECT key, title, project, started, ended, turns, calls, cost, unpriced + open > 0 FROM session
WHERE {IS_LISTED} AND project LIKE ? ESCAPE '\\' AND coalesce(ended, 0) >= ?
ORDER BY coalesce(ended, 0) DESC, key LIMIT ?"""  # noqa: S608  no value


class Tools:
    """The tools by their names. Each brings the records up to date first, and says how fresh they are."""

    def __init__(self, records: Records, quoter: Quoter) -> None:
        self._records, self._quoter, self._references = records, quoter, References()

    @property
    def all(self) -> tuple[Any, ...]:
        return (
            *(self.search, self.sessions, self.outline, self.read),
            *(self.file_history, self.blame, self.usage, self.solved),
        )

    def search(
        self,
        query: Annotated[str, Field(max_length=1_000, description=_QUERY)],
        limit: Limit = 8,
        start: Start = 0,
        include_current: bool = False,
        max_tokens: Budget = USUAL,
    ) -> str:
        """Find what was said and done in past sessions."""
        answer, skipped = self._begun(max_tokens), self._skipped(include_current)
        parsed = parse_query(query, (), self._records.place.zone)
        if parsed.tree is None and not parsed.filters:
            raise UsageProblem("Say what to look for.")
        wanted = SearchRequest(start + limit + 1 + len(skipped), 2, 160)
        with self._records.index() as index, self._records.archive() as archive:
            found = search_index(index.db, archive, parsed, wanted, self._quoter.text)
        listed = [one for one in found.sessions if one.session not in skipped][start:]
        for number, one in enumerate(listed[:limit]):
            hits = human.count(one.count, "hit")
            told = f"{self._references.of(one.session)} {self._day(one.ended)} {hits}"
            if not answer.add(told, self._named(one.project, one.title)):
                return answer.text(f"use start={start + number}")
            for hit in (hit for hit in one.hits if hit.kind != "title"):
                key = subagent_key(one.session, hit.agent)
                where = self._references.of(key, *(() if hit.turn is None else (hit.turn,)))
                kind = f"{hit.kind}{' failed' if hit.error else ''}{' in a subagent' if hit.agent else ''}"
                snippet = f"{'…' if hit.snippet.before else ''}{hit.snippet.text}{'…' if hit.snippet.after else ''}"
                answer.add(f"  {where} {kind}", self._quoter.line(snippet, 170))
        for file in found.context_files if not start else ():
            answer.add(*self._context_hit(file))
        if answer.is_empty:
            answer.add("Nothing was found.")
        return answer.text(f"use start={start + limit}" if len(listed) > limit else "")

    def _context_hit(self, one: FoundContextFile) -> tuple[str, str]:
        still = "" if one.current else " no longer so"
        told = f"file {one.kind} {self._day(one.time)} version {one.version} of {one.versions}{still}"
        return told, self._quoter.line(f"{one.path}: {one.snippet.text}", 260)

    def sessions(
        self,
        project: Short = "",
        since: Since = "",
        limit: Limit = 15,
        start: Start = 0,
        include_current: bool = False,
        max_tokens: Budget = USUAL,
    ) -> str:
        """List past sessions, newest first."""
        answer, skipped = self._begun(max_tokens), self._skipped(include_current)
        values = sessions_holding(project), self._moment(since) or 0, start + limit + 1 + len(skipped)
        with self._records.index() as index:
            rows: list[Any] = index.db.execute(_SESSIONS, values).fetchall()
        rows = [row for row in rows if row[0] not in skipped][start:]
        for number, (key, title, path, began, ended, turns, calls, cost, floor) in enumerate(rows[:limit]):
            lasted = human.elapsed(utc_time(began), utc_time(ended))
            counts = f"{human.count(turns, 'prompt')}, {human.count(calls, 'call')}"
            spent = human.money(cost / PICO, floor=bool(floor))
            told = " ".join(filter(None, (self._references.of(key), self._minute(ended), lasted, counts, spent)))
            if not answer.add(told, self._named(path, title)):
                return answer.text(f"use start={start + number}")
        if answer.is_empty:
            answer.add("There is no such session.")
        return answer.text(f"use start={start + limit}" if len(rows) > limit else "")

    def outline(self, session: Short, start: Start = 0, max_tokens: Budget = USUAL) -> str:
        """A session prompt by prompt: what was asked, done and said last."""
        answer, meant = self._begun(max_tokens), self._references.parse(session)
        key, opened = self._open(meant.name)
        head = self._references.of(key), human.minute(opened.started, self._records.place.zone)
        answer.add(" ".join(filter(None, head)), self._named(opened.project, opened.title))
        first = start or meant.first or 0
        for one in outline_session(opened):
            if one.number < first:
                continue
            failed = f", {one.failed} failed" if one.failed else ""
            lines = f", +{one.added} −{one.removed}" if one.files else ""
            done = "copied" if one.copied else f"{human.count(one.calls, 'call')}{failed}{lines}"
            names = ", ".join(human.last_part(path) for path in one.files[:_MOST_FILES])
            words = (self._quoter.line(one.asked, 110), self._quoter.line(one.outcome, 110))
            quoted = " → ".join(filter(None, words)) + (f" [{self._quoter.line(names)}]" if names else "")
            if not answer.add(f"{self._references.of(key, one.number)} {done}", quoted):
                return answer.text(f"use start={one.number}")
        return answer.text()

    def read(
        self,
        session: Annotated[str, Field(max_length=400, description="S7, S7.3-5, S7.12.3")],
        show: Literal["text", "calls", "results", "all"] = "calls",
        start: Start = 0,
        max_tokens: Budget = USUAL,
    ) -> str:
        """Read a session, some prompts, or one tool call whole."""
        answer, meant = self._begun(max_tokens), self._references.parse(session)
        key, opened = self._open(meant.name)
        reader = SessionReader(opened, self._quoter, ReferencesOf(self._references, key), show, max_tokens)
        cut = reader.block(answer, meant, start) if meant.block is not None else reader.turns(answer, meant, start)
        return answer.text(cut)

    def file_history(
        self,
        path: Short,
        start: Start = 0,
        include_current: bool = False,
        max_tokens: Budget = USUAL,
    ) -> str:
        """Which sessions and prompts changed a file, newest first."""
        answer, skipped = self._begun(max_tokens), self._skipped(include_current)
        with self._records.index() as index, self._records.archive() as archive:
            files = find_files(index.db, path, str(Path.cwd()), _MOST_FILES)
            if len(files) != 1:
                answer.add("Several files are meant; say more of the path." if files else "No session touched it.")
                for file in files:
                    answer.add(human.count(file.changes, "change"), self._quoter.line(file.name, 200))
                return answer.text()
            touches = file_touches(index.db, files[0].name, CHANGES, _LOOKED)
            shown = [one for one in touches if one.key not in skipped][start:]
            prompts = touch_prompts(index.db, archive, shown[:_TOUCHES])
        for number, (one, prompt) in enumerate(zip(shown, prompts, strict=False)):
            lines = "" if one.added is None else f" +{one.added} −{one.removed}"
            who = " by a subagent" if one.agent else ""
            told = f"{self._references.of(one.key, prompt.turn)} {self._minute(one.time)} {one.how}{lines}{who}"
            if not answer.add(told, self._quoter.line(prompt.text or one.title)):
                return answer.text(f"use start={start + number}")
        if not shown:
            answer.add("It was read, never changed." if not touches else "Only the session you are in changed it.")
        return answer.text(f"use start={start + _TOUCHES}" if len(shown) > _TOUCHES else "")

    def blame(
        self,
        path: Short,
        first: Annotated[int, Field(ge=1, le=10_000_000)] = 1,
        last: Annotated[int, Field(ge=1, le=10_000_000)] = 10_000_000,
        max_tokens: Budget = USUAL,
    ) -> str:
        """Which prompt, commit or person wrote lines of a file."""
        answer, library = self._begun(max_tokens), self._records.library()
        place = Path(path).absolute()
        if not place.is_file() or place.stat().st_size > _LARGEST:
            raise NotFound("There is no such file, or it is too large.")

        @lru_cache(maxsize=64)
        def opened(key: str) -> Session:
            return self._records.open(library.find(key), library)

        with self._records.index() as index:
            found = blame_file(BlameSources(index.db, opened, library.companions), place)
        lines = [line for line in found.lines if first <= line.number <= last]
        if not lines:
            raise NotFound(f"The file has {human.count(len(found.lines), 'line')}.")
        for _, group in groupby(lines, key=lambda line: (line.who, line.sure, line.change, line.commit, line.noted)):
            run = list(group)
            span = str(run[0].number) if len(run) == 1 else f"{run[0].number}-{run[-1].number}"
            if not answer.add(*self._blamed(found, run[0], span)):
                return answer.text(f"use first={run[0].number}")
        return answer.text()

    def _blamed(self, found: Blame, line: BlamedLine, span: str) -> tuple[str, str]:
        if line.change is not None:
            change = found.changes[line.change]
            where = self._references.of(change.session, change.turn)
            return f"{span} {line.sure} {where}", self._quoter.line(change.prompt or change.title)
        if line.noted:
            return f"{span} {line.who} noted", self._quoter.line(line.noted)
        if line.commit is not None:
            commit = found.commits[line.commit]
            name = commit.author.partition(" <")[0]
            return f"{span} {line.who} {commit.hash[:10]}", self._quoter.line(f"{name}: {commit.subject}")
        return f"{span} {line.who}", ""

    def usage(
        self,
        by: Literal["day", "month", "model", "project", "session"] = "day",
        since: Since = "",
        limit: Limit = 15,
        max_tokens: Budget = USUAL,
    ) -> str:
        """Tokens and cost at list prices: the newest days or the dearest."""
        answer = self._begun(max_tokens)
        wanted = UsageFilter(since=self._moment(since), zone=self._records.place.zone)
        with self._records.index() as index:
            report = usage_report(index, by, wanted)
        rows = report.rows[::-1] if by in ("day", "month") else report.rows
        for row in (*rows[:limit], None):
            total = row.sum if row is not None else report.sum
            spent = human.money(total.cost / PICO, floor=total.floor, unpriced=total.requests == total.unpriced)
            told = f"{human.tokens(total.total)} tokens, {human.count(total.requests, 'request')}, {spent}"
            if row is None:
                answer.add(f"all: {told}")
            elif by == "session":
                answer.add(f"{self._references.of(row.key)} {told}", self._named(row.project, row.title))
            else:
                answer.add(told, self._quoter.line(row.key or "unknown"))
        return answer.text("say since, or a larger limit" if len(rows) > limit else "")

    def solved(
        self,
        error: Annotated[str, Field(min_length=3, max_length=4_000)],
        include_current: bool = False,
        max_tokens: Budget = USUAL,
    ) -> str:
        """How an error was solved before, step by step."""
        answer, skipped = self._begun(max_tokens), self._skipped(include_current)
        library = self._records.library()

        def opened(key: str) -> Session:
            return self._records.open(library.find(key), library)

        with self._records.index() as index, self._records.archive() as archive:
            sources = ErrorSources(index.db, archive, opened)
            found = find_solutions(sources, error, skipped)
        for number, one in enumerate(found[:_ERRORS]):
            if not all(answer.add(*line) for line in self._solution(one)):
                left = human.count(len(found) - number, "error")
                return answer.text(f"{left} with all steps in a larger max_tokens, or read the references")
        if not found:
            answer.add("No session that is kept met such an error.")
        return answer.text(f"{len(found) - _ERRORS} more; say more of the error" if len(found) > _ERRORS else "")

    def _solution(self, one: FoundSolution) -> Iterator[tuple[str, str]]:
        error, line = one.error, self._quoter.line
        key = subagent_key(one.session, error.subagent)
        end = "solved" if error.solved else "not solved there"
        told = f"{self._references.of(key, error.turn, error.block)} {human.day(one.ended)} {end}"
        yield told, self._named(one.project, one.title)
        yield "  failed", line(f"{error.tool}: {line(error.command, 100)} → {error.line}", 260)
        for step in _chosen(error.steps):
            failed = " failed" if step.failed else ""
            yield f"  {self._references.of(key, step.turn, step.block)} {step.kind}{failed}", line(step.text, 260)

    def plans(self, session: str) -> str:
        """The plans of a session, with what became of each."""
        answer, (_, opened) = self._begun(MOST), self._open(self._references.parse(session).name)
        for one in plans_of(opened.turns):
            answer.add(one.status, self._quoter.line(one.title))
            if answer.add_quoted(self._quoter.lines(one.text)) is not None:
                return answer.text("the plan is longer")
        if answer.is_empty:
            answer.add("The session has no plan.")
        return answer.text()

    def context_files(self, session: str) -> str:
        """What a session ran under, each file as it stood then."""
        answer = self._begun(MOST)
        key, _ = self._open(self._references.parse(session).name)
        with self._records.index() as index, self._records.archive() as archive:
            for one in ContextFileIndex(index.db, archive.origins()).of_session(key.partition(SUBAGENT)[0]):
                version = one.version
                number = f"version {version.number} of {one.file.versions}, " if version is not None else ""
                answer.add(f"{one.file.kind} {number}{one.how}", self._quoter.line(one.file.place, 300))
                words = "" if version is None else version.text(archive) or ""
                if answer.add_quoted(self._quoter.lines(words), MOST // 4) is not None and not answer.has_room:
                    return answer.text("there are more, or longer ones")
        if answer.is_empty:
            answer.add("No context file of the session is kept.")
        return answer.text()

    def _begun(self, budget: int) -> BudgetedAnswer:
        return BudgetedAnswer(budget, self._quoter.line(self._records.freshness.told(), _FRESH))

    def _skipped(self, include_current: bool) -> list[str]:
        return [] if include_current else self._records.current()

    def _open(self, name: str) -> tuple[str, Session]:
        """The session of a name, with what it is referred to by."""
        library = self._records.library()
        whole, _, subagent = name.partition(SUBAGENT)
        found = library.find(self._latest() if whole == "latest" else whole)
        session = self._records.open(found, library)
        key = library.key_of(found)
        if not subagent:
            return key, session
        below = (one.session for member in family(session) for one in member.agents if one.id == subagent)
        member = next(below, None)
        if member is None:
            raise NotFound("There is no such subagent.")
        return subagent_key(key, subagent), member

    def _latest(self) -> str:
        """The id of the newest session that is not the caller's."""
        skipped = self._records.current()
        with self._records.index() as index:
            rows = index.db.execute(_SESSIONS, ("%", 0, 1 + len(skipped))).fetchall()
        found = next((str(row[0]) for row in rows if row[0] not in skipped), None)
        if found is None:
            raise NotFound("There is no other session yet.")
        return found

    def _named(self, project: str, title: str) -> str:
        return self._quoter.line(f"{human.last_part(project)}: {title}" if project else title)

    def _minute(self, seconds: float | None) -> str:
        return human.minute(utc_time(seconds), self._records.place.zone)

    def _day(self, seconds: float | None) -> str:
        return human.day(utc_time(seconds), self._records.place.zone)

    def _moment(self, text: str) -> float | None:
        found = parse_moment(text, self._records.place.zone) if text.strip() else None
        if text.strip() and found is None:
            raise UsageProblem("`since` is neither a date (2026-01-31) nor an age (12h, 3d, 2w).")
        return found


_STEPS = 10


def _chosen(steps: Iterable[Any]) -> list[Any]:
    """The last steps, without what failed on the way where there are many: those before the end solved it."""
    every = list(steps)
    good = every if len(every) <= _STEPS else [one for one in every if not one.failed]
    return good[-_STEPS:]
