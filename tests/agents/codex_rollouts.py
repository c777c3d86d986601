"""Records of rollouts, and sessions read from them, for tests of Codex."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.codex import SESSION, item, record
from unspool.model import Notice, Session
from unspool.store.library import Library

META = record(
    "session_meta", {"id": SESSION, "cwd": "/home/ada/quay", "cli_version": "0.126.0", "git": {"branch": "main"}}
)


def told(kind: str, **payload: Any) -> dict[str, Any]:
    return record("event_msg", {"type": kind, **payload})


def done(kind: str, **fields: Any) -> dict[str, Any]:
    return told("item_completed", thread_id=SESSION, turn_id=TURN, item={"type": kind, **fields})


def user(*parts: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": part} for part in parts])


def answer(words: str) -> dict[str, Any]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": words}])


def called(name: str, arguments: Any = "{}", call_id: str = "c1") -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def output(held: Any, call_id: str = "c1") -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=held)


TURN = "019ddaf2-1111-7a63-839e-79f4476f3b44"
BEGUN = [META, told("task_started", turn_id=TURN), record("turn_context", {"model": "gpt-5.5", "turn_id": TURN})]


def read(folder: Path, *lines: dict[str, Any], begun: list[dict[str, Any]] | None = None) -> Session:
    path = folder / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    held = [*(BEGUN if begun is None else begun), *lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in held))
    found = Library([folder]).open(SESSION)
    assert (found.lines.total, found.problems) == (len(held), ())
    return found


def prompts(session: Session) -> list[str]:
    return [turn.prompt.text for turn in session.turns if turn.prompt is not None]


def blocks(session: Session, kind: type) -> list[Any]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, kind)]


def notices(session: Session) -> list[str]:
    return [block.kind for block in blocks(session, Notice)]
