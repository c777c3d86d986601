"""Logs for the validator's tests: sound ones, and sound copies, as lists of plain lines that a test may break."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid5

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import encode_line
from tests.log_builder.prompts import make_png
from unspool.agents.claude_code.lint import lint
from unspool.agents.writing import LintFinding

Lines = list[dict[str, Any]]
Break = Callable[[Lines], object]
SPACE = UUID("12345678-1234-4234-8234-123456789abc")


def talk() -> Lines:
    """A sound log: prompt, two calls at once, their results, reasoning, an attachment, a picture, a last word.

    0 prompt, 1 thinking, 2 call, 3 call, 4 result, 5 result, 6 text, 7 attachment, 8 prompt with a picture, 9 text
    """
    log = LogBuilder(version="2.1.230")
    one, two = log.use("Bash", command="ls"), log.use("Bash", command="pwd")
    log.prompt("What is here?").assistant(log.think("Let me look."), one, two)
    log.result(one, "README.md", {"stdout": "README.md", "stderr": ""}).result(
        two, "/home/dev", {"stdout": "/home/dev"}
    )
    log.assistant(log.text("A README."))
    log.attachment("todo_reminder", content=[], itemCount=0)
    log.prompt("And this?", images=[make_png(2, 2, b"\0\1\2\3")]).assistant(log.text("A picture."))
    return [line for line in log.lines if isinstance(line, dict)]


def compacted() -> Lines:
    """A sound log with a compaction that kept two lines: 0 prompt, 1 text, 2 boundary, 3 summary, 4 prompt, 5 text."""
    log = LogBuilder(version="2.1.230")
    log.prompt("Begin.")
    first = str(log.last)
    log.assistant(log.text("Begun."))
    log.compact("auto", "They began.", keep=[first, str(log.last)])
    log.prompt("Go on.").assistant(log.text("Done."))
    return [line for line in log.lines if isinstance(line, dict)]


def copied(lines: Lines, session: str = "aaaaaaaa-0000-4000-8000-000000000001") -> Lines:
    """The lines as a copy of ours has them: one chain under new ids, and a title at the end."""
    text = json.dumps([line for line in lines if "uuid" in line])
    new = {line["uuid"]: str(uuid5(SPACE, line["uuid"])) for line in lines if "uuid" in line}
    for old, made in new.items():
        text = text.replace(old, made)
    made_lines: Lines = json.loads(text)
    back = {made: old for old, made in new.items()}
    parent = None
    for line in made_lines:
        line.pop("sourceToolAssistantUUID", None)
        source = line["sessionId"]
        line.update(sessionId=session, session_id=session)
        line["forkedFrom"] = {"sessionId": source, "messageUuid": back[line["uuid"]]}
        line["parentUuid"] = None if line.get("subtype") == "compact_boundary" else parent
        parent = line["uuid"]
    made_lines[-1]["timestamp"] = "2026-11-01T00:00:00.000Z"
    return [*made_lines, {"type": "custom-title", "customTitle": "Again (clone)", "sessionId": session}]


def raw(lines: Lines) -> list[bytes]:
    return [encode_line(line) for line in lines]


def findings(lines: Lines, *, strict: bool = False) -> list[LintFinding]:
    return lint(raw(lines), strict=strict)


def rules(found: list[LintFinding], severity: str = "") -> set[str]:
    """The rules that are broken."""
    return {one.rule for one in found if not severity or one.severity == severity}


def broken(lines: Lines, how: Break, *, strict: bool = False) -> list[LintFinding]:
    """What is found once a log is broken."""
    how(lines)
    return findings(lines, strict=strict)
