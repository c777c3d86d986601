"""A server of made sessions, asked as a client asks it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client

from tests.log_builder.builder import LogBuilder
from tests.waiting import PATIENCE
from unspool.demo import write_demo
from unspool.figures.tokens import estimate_tokens
from unspool.mcp.answers import Quoter
from unspool.mcp.records import Records, RecordSources
from unspool.mcp.server import make_server
from unspool.prices import PriceTable
from unspool.redact.finder import Finder

T = TypeVar("T")
FIRST_LIGHT = "1c0ffee0-0a11-4d0c-8e11-000000000001"


class Asked:
    """The official client in this process, and what it is told."""

    def __init__(
        self,
        folder: Path,
        *logs: LogBuilder,
        patience: float = PATIENCE,
        redact: bool = True,
        source: Path | None = None,
    ) -> None:
        self.source = source or folder / "source"
        for log in logs:
            log.write(self.source)
        if not logs and source is None:
            write_demo(self.source)
        self.archive = folder / "archive"
        self.place = RecordSources(self.archive, (self.source,), None, PriceTable.load())
        self.records = Records(self.place, patience)
        self.server = make_server(self.records, Quoter(Finder() if redact else None))

    def with_client(self, ask: Callable[[Client], Awaitable[T]], mode: Any = "auto") -> T:
        async def run() -> T:
            async with Client(self.server, mode=mode) as client:
                return await ask(client)

        return asyncio.run(run())

    def result(self, tool: str, **given: Any) -> Any:
        return self.with_client(lambda client: client.call_tool(tool, given))

    def text(self, tool: str, **given: Any) -> str:
        """The one text that a tool answers with; it keeps to its budget, and quotes what is not ours."""
        found = self.result(tool, **given)
        assert not found.is_error, found.content
        assert found.structured_content is None
        (content,) = found.content
        assert estimate_tokens(content.text) <= given.get("max_tokens", 2_000)
        return str(content.text)

    def fault(self, tool: str, **given: Any) -> str:
        found = self.result(tool, **given)
        assert found.is_error
        return str(found.content[0].text)
