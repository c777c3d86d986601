"""An index filled by hand, row by row, for tests of what is asked of it."""

from itertools import count
from typing import Any

import apsw

from unspool.store.index.schema import TABLES


class Filled:
    """An index in memory, or one that is given. Every method adds rows and gives what later ones need."""

    def __init__(self, db: apsw.Connection | None = None) -> None:
        self.db = db or apsw.Connection(":memory:")
        if db is None:
            self.db.execute(TABLES)
        self._numbers = count(1)

    def put(self, table: str, **given: Any) -> int:
        """A row; what must be there and is not given is 0."""
        columns = self.db.execute('SELECT name FROM pragma_table_info(?) WHERE "notnull" AND NOT pk', (table,))
        row = {**{name: 0 for (name,) in columns}, **given}
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        self.db.execute(f"INSERT INTO {table}({names}) VALUES ({marks})", tuple(row.values()))  # noqa: S608
        return self.db.last_insert_rowid()

    def session(self, key: str = "", **more: Any) -> int:
        number = next(self._numbers)
        key = key or f"session-{number}"
        row: dict[str, Any] = {
            "key": key, "origin": 1, "path": f"{key}.jsonl", "state": b"", "project": "/home/dev/shop",
            "title": f"About {key}", "kind": "interactive", "branch": "", "started": None, "ended": None, "turns": 0,
            "messages": 0, "calls": 0, "errors": 0, "refused": 0, "interrupted": 0, "unanswered": 0,
            "cost": 0, "unpriced": 0, "overview": b"", "ids": b"",
            "prompts": b"",
        }  # fmt: skip
        return self.put("session", **{**row, **more})

    def log(self, session: int, agent: str = "") -> int:
        number = next(self._numbers)
        return self.put(
            "log", session=session, number=number, path=f"{number}.jsonl", agent=agent, generation=1, size=1
        )

    def turn(self, log: int, time: float | None = None) -> int:
        milliseconds = None if time is None else round(time * 1000)
        return self.put("turn", log=log, number=next(self._numbers), time=milliseconds, place=0)

    def name(self, text: str) -> int:
        for (found,) in self.db.execute("SELECT id FROM name WHERE text = ?", (text,)):
            return int(found)
        return self.put("name", text=text)

    def tally(self, session: int, tool: str, calls: int, errors: int = 0) -> None:
        turn = self.turn(self.log(session))
        self.put(
            "tally", turn=turn, tool=self.name(tool), calls=calls, errors=errors, refused=0, interrupted=0, unanswered=0
        )

    def touch(self, turn: int, path: str, how: int, time: float | None) -> None:
        found = self.db.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
        file = found[0] if found else self.put("file", path=path)
        self.put("touch", turn=turn, file=file, how=how, time=time, doc=0)

    def terms(self, model: str, speed: str = "") -> int:
        for (found,) in self.db.execute("SELECT id FROM terms WHERE model = ? AND speed = ?", (model, speed)):
            return int(found)
        return self.put("terms", model=model, speed=speed, tier="", geo="")

    def request(self, session: int, time: float | None, model: str = "opus", **more: Any) -> None:
        number = next(self._numbers)
        row: dict[str, Any] = {
            "session": session, "message": number, "request": number, "time": time, "terms": self.terms(model),
            "input": 1, "output": 10, "cache_read": 100, "cache_write": 1000, "cache_write_1h": 0, "web_searches": 0,
            "web_fetches": 0, "final": 1, "agent": None, "counts": 1, "cost": 10**12,
        }  # fmt: skip
        self.put("request", **{**row, **more})
