"""What answers cost beside the logs that they are from: ten questions, each within its budget, 20 times less or better.

`pytest -s` prints the table of docs/mcp.md.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import corpus
from tests.mcp.asking import FIRST_LIGHT, Asked
from unspool.demo import write_demo
from unspool.figures.tokens import estimate_tokens
from unspool.mcp.answers import SUBAGENT, References

MB = 29
ANY = "S1"


def questions(words: str, file: str, error: str) -> dict[str, tuple[str, dict[str, Any]]]:
    return {
        "what was said about it": ("search", {"query": words}),
        "what failed in a shell": ("search", {"query": "is:error tool:bash"}),
        "what was worked on lately": ("sessions", {"limit": 30}),
        "what happened in that session": ("outline", {"session": ANY}),
        "its second prompt, with calls": ("read", {"session": f"{ANY}.2"}),
        "its first prompts, with results": ("read", {"session": f"{ANY}.1-3", "show": "results"}),
        "who changed this file": ("file_history", {"path": file}),
        "how was this error solved": ("solved", {"error": error}),
        "what did it cost, by model": ("usage", {"by": "model"}),
        "what cost most": ("usage", {"by": "session", "limit": 10}),
    }


@pytest.fixture(scope="module")
def long_session(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """One session of 29 MB."""
    folder = tmp_path_factory.mktemp("long")
    template = next(write_demo(folder / "demo").rglob(f"{FIRST_LIGHT}.jsonl"))
    corpus.huge_log(template, MB, folder / "source")
    return Asked(folder, patience=300, source=folder / "source")


def test_ten_questions_about_a_long_session(long_session: Asked, measure: "Measure") -> None:
    log = next(long_session.source.rglob("*.jsonl"))
    assert log.stat().st_size > MB * 1_000_000
    asked = questions("tide", "harbour/harbour/tides.py", "ValueError: could not convert string to float")
    measure(long_session, asked, long_session.source)


def test_ten_questions_about_real_sessions(shared: Path, tmp_path: Path, measure: "Measure") -> None:
    source = shared / "corpora" / "claude"
    asked = questions("docker image", "Dockerfile", "fatal: not a git repository")
    measure(Asked(tmp_path, patience=300, source=source), asked, source)


Measure = Callable[[Asked, dict[str, tuple[str, dict[str, Any]]], Path], None]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Asks each question, and compares the answer with the logs of the sessions that it names; with all of them where
    it names none."""
    named: list[str] = []
    of = References.of

    def noted(self: References, key: str, *places: int) -> str:
        named.append(key.partition(SUBAGENT)[0])
        return of(self, key, *places)

    monkeypatch.setattr(References, "of", noted)
    monkeypatch.setenv("CLAUDE_SESSION_ID", "nobody's")

    def measured(asked: Asked, every: dict[str, tuple[str, dict[str, Any]]], source: Path) -> None:
        logs = {path.stem: estimate_tokens(path.read_text("utf-8", "replace")) for path in source.rglob("*.jsonl")}
        asked.text("sessions", limit=1)
        rows = []
        for words, (tool, given) in every.items():
            named.clear()
            tokens = estimate_tokens(asked.text(tool, **given))
            rows.append((words, tokens, sum(logs[key] for key in {*named}) or sum(logs.values())))
        told, read = sum(row[1] for row in rows), sum(row[2] for row in rows)
        for words, tokens, raw in (*rows, ("all ten", told, read)):
            print(f"| {words} | {tokens:,} | {raw:,} | {raw // tokens:,} |")  # noqa: T201
        assert told * 20 <= read

    return measured


TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "tide OR parse"}),
    ("sessions", {}),
    ("outline", {"session": "latest"}),
    *(("read", {"session": "latest", "show": show}) for show in ("text", "calls", "results", "all")),
    ("read", {"session": "latest.2.4"}),
    ("file_history", {"path": "harbour/harbour/tides.py"}),
    ("usage", {"by": "session"}),
    ("solved", {"error": "could not convert string to float"}),
]


@pytest.mark.parametrize("budget", [300, 500, 2_000, 8_000])
@pytest.mark.parametrize(("tool", "given"), TOOLS, ids=str)
def test_no_answer_takes_more_than_its_budget(
    long_session: Asked, tool: str, given: dict[str, Any], budget: int
) -> None:
    text = long_session.text(tool, **given, max_tokens=budget)  # which compares them
    assert "\nindex: " in text
    if tool in ("outline", "read") and budget < 8_000 and given["session"] == "latest":
        assert "\ncut: use " in text
