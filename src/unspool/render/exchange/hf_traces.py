"""Sessions as traces for the Hugging Face Hub, in its Simple Format, for agents whose logs its viewer does not know as
they are; and the card of the dataset. Nothing is uploaded here."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import msgspec

from unspool import human
from unspool.agents import agent_name
from unspool.errors import UsageProblem
from unspool.model import Json, Session
from unspool.render.exchange.messages import ChatEntry, ChatWalk, call_arguments, json_text
from unspool.render.exchange.steps import SessionWalk, json_line
from unspool.render.gfm import escape_markdown
from unspool.render.view import View

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]{1,40}")
CARD = "README.md"


class HfTracesWriter(msgspec.Struct, frozen=True):
    """JSON lines of the Session Trace Simple Format: a line for the session, and one for each message."""

    name: ClassVar[str] = "hf"
    suffixes: ClassVar[tuple[str, ...]] = (".trace.jsonl",)
    description: ClassVar[str] = "traces for the Hugging Face Hub, with the card of the dataset"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        walk = SessionWalk(session, view)
        yield from json_line(
            session, {"type": "session", "harness": session.agent, "id": session.id, "name": session.title}
        )
        for entry in ChatWalk().entries(walk.steps(session)):
            yield from json_line(session, {"type": "message", "message": _message(entry)})


def _message(entry: ChatEntry) -> dict[str, Json]:
    made: dict[str, Json] = {"role": entry.role, "content": entry.content}
    if entry.reasoning:
        made["reasoningContent"] = entry.reasoning
    if entry.calls:
        made["toolCalls"] = [
            {"id": call.call_id, "function": {"name": call.name, "arguments": json_text(call_arguments(call))}}
            for call in entry.calls
        ]
    if entry.call is not None:
        made["toolCallId"] = entry.call.call_id
    if entry.time is not None:
        made["timestamp"] = round(entry.time.timestamp() * 1000)
    if entry.model:
        made["model"] = entry.model
    return made


def check_licence(name: str) -> str:
    """The licence, by the name that the Hub has for it; UsageProblem where it can be none."""
    if _LICENCE.fullmatch(name):
        return name
    raise UsageProblem(f"{name!r} is no licence as the Hub names them, such as cc-by-4.0, apache-2.0 or other.")


class TraceCounts(msgspec.Struct):
    """What a dataset of traces adds up to, session by session."""

    sessions: int = 0
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    agents: Counter[str] = msgspec.field(default_factory=Counter)
    models: Counter[str] = msgspec.field(default_factory=Counter)
    found: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Places that were replaced, by kind and rule."""
    rules: str = ""
    """The version of the rules; empty where nothing was redacted."""


def dataset_card(counts: TraceCounts, licence: str, title: str) -> str:
    """The card that lies beside the traces; names from logs stand in its text alone, never in its head."""
    title = " ".join(title.split())
    redacted = "redacted" if counts.rules else "NOT redacted"
    agents = ", ".join(f"{agent_name(name)} ({number:,})" for name, number in counts.agents.most_common())
    models = ", ".join(f"`{_plain(name)}` ({number:,})" for name, number in counts.models.most_common(40))
    head = [
        "---",
        f"pretty_name: {json_text(title)}",
        f"license: {licence}",
        "task_categories: [text-generation]",
        "tags: [agent-traces, coding-agent, format:agent-traces, unspool]",
        f"size_categories: [{_size(counts.sessions)}]",
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - split: train",
        "    path: sessions/*/*.jsonl",
        "---",
    ]
    body = [
        f"# {escape_markdown(title)}",
        "",
        "Sessions of coding agents, one a file: prompts, answers, reasoning, tool calls and what tools answered.",
        "",
        "| | |",
        "|---|---|",
        f"| sessions | {counts.sessions:,} |",
        f"| prompts | {counts.turns:,} |",
        f"| tool calls | {counts.calls:,} |",
        f"| tokens | {counts.tokens:,} |",
        f"| agents | {escape_markdown(agents)} |",
        f"| models | {models or 'not logged'} |",
        "",
        "## Redaction",
        "",
        *_redaction(counts),
        "",
        f"Made with unspool from logs on one machine, {redacted}.",
        "",
    ]
    return "\n".join([*head, *body])


def _redaction(counts: TraceCounts) -> Iterable[str]:
    if not counts.rules:
        yield "**Nothing was redacted.** Look through every file before it leaves your machine."
        return
    yield (
        f"Secrets and personal data were replaced by rules (version `{counts.rules}`) before these files were written:"
        f" {human.count(sum(counts.found.values()), 'place')}. Rules find what they know, so this is best effort:"
        " pixels of pictures were not looked at, and what no rule knows may still be here."
    )
    if counts.found:
        yield from ("", "| kind | rule | places |", "|---|---|---|")
        yield from (f"| {kind} | {rule} | {number:,} |" for (kind, rule), number in counts.found.most_common())


def _plain(name: str) -> str:
    """A name that cannot leave its cell or its code."""
    return re.sub(r"[^\w.:/@+ -]", "_", name)[:80]


def _size(sessions: int) -> str:
    steps = (("n<1K", 1_000), ("1K<n<10K", 10_000), ("10K<n<100K", 100_000), ("100K<n<1M", 1_000_000))
    return next((name for name, most in steps if sessions < most), "n>1M")


def upload_commands(folder: Path) -> list[str]:
    """The two ways to the Hub, for a person to run."""
    place = str(folder)
    return [
        f"hf upload USER/DATASET {place} . --repo-type dataset",
        f"hf buckets sync {place} hf://buckets/USER/BUCKET",
    ]
