"""Sessions as rows of an Inspect Scout transcript database: its columns as JSON lines, or as Parquet where pyarrow is.

A subagent's conversation is a row of its own, so that the rows add up to the session.
"""

import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from unspool.errors import UsageProblem
from unspool.figures import family, figures
from unspool.model import Agent, Json, Session, Usage
from unspool.render.exchange.messages import ChatEntry, ChatWalk, call_arguments, json_text
from unspool.render.exchange.steps import SessionWalk, json_line, requests_cost
from unspool.render.view import View

_TEXTS = (
    *("transcript_id", "source_type", "source_id", "source_uri", "date", "task_set", "task_id", "agent", "agent_args"),
    *("model", "model_options", "error", "limit", "messages"),
)
_NUMBERS = ("message_count", "total_tokens")
_OWN = ("parent_id", "title", "branch", "usage")
"""Columns beside Scout's own, which it takes for metadata."""
_FAILURES = {"refused": "approval", "interrupted": "cancelled"}
_GROUP = 64
"""Rows that are held at once."""


class InspectWriter(msgspec.Struct, frozen=True):
    """JSON lines, a row each; what is nested is a string of JSON, as in the database."""

    name: ClassVar[str] = "inspect"
    suffixes: ClassVar[tuple[str, ...]] = (".transcripts.jsonl",)
    description: ClassVar[str] = "Inspect Scout transcripts, for scanners and evaluation"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        for row in transcript_rows(session, view):
            yield from json_line(session, row)


def transcript_rows(session: Session, view: View) -> Iterator[dict[str, Json]]:
    """The rows of a session: its own, then those of its subagents, unless the view leaves these out."""
    walk = SessionWalk(session, View(view.thinking, notices=view.notices, prices=view.prices))
    agents = {agent.id: agent for member in family(session) for agent in member.agents}
    for member in family(session) if view.agents else (session,):
        yield _row(walk, member, agents.get(member.id) if member is not session else None)


def _row(walk: SessionWalk, member: Session, agent: Agent | None) -> dict[str, Json]:
    session = walk.session
    messages = [_message(entry) for entry in ChatWalk().entries(walk.steps(member))]
    requests = walk.requests(member)
    usage, cost = sum((one.usage for one in requests), Usage()), requests_cost(requests)
    models = [one.model for one in requests if one.model] or [one.model for one in member.messages if one.model]
    efforts = [one.effort for one in member.messages if one.effort]
    told = {"kind": agent.kind, "description": agent.description} if agent is not None else {"kind": session.kind}
    spent = None
    if member.started is not None and member.ended is not None:
        spent = (member.ended - member.started).total_seconds()
    whole = figures(session, walk.prices)
    return {
        "transcript_id": session.id if agent is None else f"{session.id}/{agent.id}",
        "source_type": session.agent,
        "source_id": session.id,
        "source_uri": session.log.path,
        "date": member.started.isoformat() if member.started is not None else None,
        "task_set": session.project or None,
        "task_id": session.slug or session.id,
        "agent": session.agent,
        "agent_args": json_text({**told, "version": session.versions[-1] if session.versions else ""}),
        "model": models[0] if models else None,
        "model_options": json_text({"reasoning_effort": efforts[-1]} if efforts else {}),
        "message_count": len(messages),
        "total_time": spent,
        "total_tokens": usage.total if requests else None,
        "error": None,
        "limit": None,
        "trust_content": False,
        "messages": json_text(messages),
        "parent_id": session.id if agent is not None else None,
        "title": member.title,
        "branch": session.branch or None,
        "total_cost_usd": float(cost.amount) if requests and not cost.unpriced else None,
        "session_cost_usd": float(whole.cost.amount) if whole.models and not whole.cost.unpriced else None,
        "usage": json_text(usage),
    }


def _message(entry: ChatEntry) -> dict[str, Json]:
    """A message as Inspect has it."""
    made: dict[str, Json] = {"id": entry.id or None, "role": entry.role, "content": entry.content}
    if entry.call is not None:
        made |= {"tool_call_id": entry.call.call_id, "function": entry.call.name}
        end = entry.call.end
        if end not in ("ok", "unanswered"):
            made["error"] = {"type": _FAILURES.get(end, "unknown"), "message": entry.content}
    elif entry.role == "assistant":
        if entry.reasoning:
            thought = {"type": "reasoning", "reasoning": entry.reasoning}
            made["content"] = [thought, {"type": "text", "text": entry.content}]
        made |= {"model": entry.model or None, "source": "generate"}
        calls = (
            {"id": call.call_id, "function": call.name, "arguments": call_arguments(call), "type": "function"}
            for call in entry.calls
        )
        made["tool_calls"] = list(calls) or None
    elif entry.role == "user":
        made["source"] = "input"
    return {name: value for name, value in made.items() if value is not None}


def has_parquet() -> bool:
    """Whether Parquet can be written here."""
    return find_spec("pyarrow") is not None


def write_parquet(rows: Iterable[dict[str, Json]], path: Path) -> None:
    """Rows of any number of sessions as one file, whole or not at all, a few in memory at once; UsageProblem without
    pyarrow."""
    if not has_parquet():
        raise UsageProblem("Parquet needs the package pyarrow; without it, -o NAME.jsonl writes the same rows as JSON.")
    import pyarrow as pa
    from pyarrow import parquet

    fields = {name: pa.large_string() for name in (*_TEXTS, *_OWN)}
    fields |= {name: pa.int64() for name in _NUMBERS} | {"trust_content": pa.bool_()}
    fields |= {name: pa.float64() for name in ("total_time", "total_cost_usd", "session_cost_usd")}
    schema: Any = pa.schema(list(fields.items()))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    waiting = iter(rows)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".transcripts.", suffix=".part", delete=False) as file:
        part = Path(file.name)
        try:
            with parquet.ParquetWriter(file, schema) as made:
                while group := list(islice(waiting, _GROUP)):
                    made.write_table(pa.Table.from_pylist(group, schema))
            file.flush()
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
