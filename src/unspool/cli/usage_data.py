"""`unspool usage` as JSON and CSV."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from unspool.index import sheet
from unspool.index.billing import Wanted
from unspool.index.blocks import Block, Blocks
from unspool.index.periods import written
from unspool.index.sums import ModelSum, Sum, dollars, unpriced
from unspool.index.tooling import Tool
from unspool.index.usage import Report, Row


def figures(total: Sum) -> dict[str, Any]:
    """A sum as data: tokens, and dollars in every digit."""
    data: dict[str, Any] = msgspec.structs.asdict(total)
    cost, missing, floor = dollars(data.pop("cost")), data.pop("unpriced"), data.pop("open")
    return {**data, "tokens": total.total, "cost": cost, "unpriced": missing, "not_final": floor}


def by_model(models: Iterable[ModelSum]) -> list[dict[str, Any]]:
    return [{"model": one.model, **figures(one.sum)} for one in models]


def document(rows: list[dict[str, Any]], report: Report | Blocks, by: str, wanted: Wanted, zone: str) -> str:
    """The whole answer as JSON."""
    asked = {"by": by, "zone": zone, "since": moment(wanted.since), "until": moment(wanted.until)}
    total = {**figures(report.sum), "models": by_model(report.models), "unpriced_models": unpriced(report.models)}
    return encoded({**asked, "rows": rows, "total": total, "untimed": report.untimed})


def encoded(data: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(data)).decode()


def moment(seconds: float | None) -> str | None:
    return None if seconds is None else written(seconds)


def row_data(by: str, row: Row) -> dict[str, Any]:
    """One row, named after what it is a row of."""
    data: dict[str, Any] = {by: row.key or None}
    names = {"title": row.title, "project": row.project} if by in ("session", "subagent") else {}
    if by == "subagent":
        names["session"] = row.session
    times = {"first": moment(row.first), "last": moment(row.last)}
    return {**data, **names, **times, **figures(row.sum), "models": by_model(row.models)}


def block_data(block: Block) -> dict[str, Any]:
    """One block or gap."""
    data: dict[str, Any] = {"start": moment(block.start), "end": moment(block.end)}
    data |= {"gap": block.gap, "active": block.active, "first": moment(block.first), "last": moment(block.last)}
    if block.pace is not None:
        pace: dict[str, Any] = msgspec.structs.asdict(block.pace)
        data["pace"] = {**pace, "cost_an_hour": dollars(block.pace.cost_an_hour), "cost": dollars(block.pace.cost)}
    return {**data, **figures(block.sum), "models": by_model(block.models)}


def tool_data(tool: Tool) -> dict[str, Any]:
    return {"tool": tool.name, "calls": tool.calls, "errors": tool.errors, "sessions": tool.sessions}


def as_csv(rows: Sequence[dict[str, Any]], *, breakdown: bool) -> str:
    """The rows as CSV, with their heads; by model where asked for. No cell is a formula."""
    flat = [line for row in rows for line in (_split(row) if breakdown and "models" in row else [_joined(row)])]
    heads = list(dict.fromkeys(name for line in flat for name in line))
    return sheet.as_csv(heads, ([line.get(name, "") for name in heads] for line in flat))


def _split(row: dict[str, Any]) -> list[dict[str, Any]]:
    """One line a model."""
    names = {name: value for name, value in row.items() if name not in ("models", "pace")}
    return [{**names, **one} for one in row["models"]] or [names]


def _joined(row: dict[str, Any]) -> dict[str, Any]:
    line = {name: value for name, value in row.items() if name != "pace"}
    if "models" in line:
        line["models"] = "; ".join(one["model"] for one in line["models"])
    return line
