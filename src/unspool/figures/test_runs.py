"""Test runs of a session: which commands ran tests, and how they ended, by what they printed and by their exit."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from unspool import human
from unspool.model import ToolCall
from unspool.model.tool_input import shell_command
from unspool.tools.ansi import strip_ansi

_BEFORE = (
    r"(?:^|[\n;&|(]|\b(?:run|exec|npx|bunx|time|sudo|env|poetry|hatch|pdm|uv|mise|--)\s)"
    r"\s*(?:\w+=[^\s;&|(]*\s+)*(?:[\w.@~+-]*/)*"
)
_RUNNERS = "|".join(
    (
        r"pytest|py\.test|python[\d.]* -m (?:pytest|unittest)|tox|nox",
        r"(?:npm|pnpm|yarn|bun)(?: run)? test\S*|jest|vitest|mocha|playwright test|deno test",
        r"go test|cargo (?:test|nextest)|dotnet test|ctest|(?:mix|swift|flutter|dart) test|rspec|phpunit",
        r"(?:mvnw?|gradlew?)\b[^\n;&|]*\btest|(?:make|just|task|rake)\b[^\n;&|]*\b(?:test|check)\S*|test:\S+|scripts/test",
    )
)
_RUNS = re.compile(rf"{_BEFORE}(?:{_RUNNERS})(?![\w-])")
_RUN_WORDS = ("test", "tox", "nox", "jest", "mocha", "rspec", "phpunit", "check")
"""One of them is in every command that runs tests, and in few others."""
_COUNT = re.compile(r"(\d[\d,]*) (?:tests? )?(passed|failed|passing|failing|failures?|errors?)\b", re.I)
_LABELLED = re.compile(r"\b(passed|failed|failures|errors)[:=]\s*(\d[\d,]*)", re.I)
_OF_GO = re.compile(r"^(?:(ok)\s+\S+|(FAIL)\s+\S+)", re.M)
_RAN = re.compile(r"^Ran (\d+) tests?\b", re.M)
_HIDES_EXIT = re.compile(r"\|\s*(?:tail|head|grep|tee|cat|sed|awk)\b|\|\|\s*(?:true|echo|:)|;\s*(?:echo|true)\b")
_END = 6_000
"""Characters of what was printed that tell how it ended."""


class RunOfTests(NamedTuple):
    """One run of tests."""

    call: ToolCall
    passed: bool | None
    """None where neither the output nor the exit tells."""
    said: str
    """How many passed and failed, as far as the output tells."""


def find_test_runs(calls: Iterable[ToolCall]) -> Iterator[RunOfTests]:
    """The runs of tests among some calls, in their order; those that nobody let run are none."""
    for call in calls:
        if call.role != "shell" or call.end in ("refused", "unanswered"):
            continue
        command = shell_command(call)
        if any(word in command for word in _RUN_WORDS) and _RUNS.search(
            command.partition("<<")[0][:4_000]
        ):  # not what it is handed
            yield _ended(call, command)


def _ended(call: ToolCall, command: str) -> RunOfTests:
    text = strip_ansi(call.result.text[-_END:]) if call.result is not None else ""
    passed, failed, of = _counts(text)
    said = ", ".join(
        f"{human.count(number, of) if of else format(number, ',')} {word}"
        for number, word in ((passed, "passed"), (failed, "failed"))
        if number
    )
    if failed or call.end == "failed":
        return RunOfTests(call, False, said)
    behind = isinstance(call.input, dict) and call.input.get("run_in_background") is True
    sure = passed or (call.end == "ok" and not behind and not _HIDES_EXIT.search(command))
    return RunOfTests(call, True if sure else None, said)


def _counts(text: str) -> tuple[int, int, str]:
    """How many passed and failed, by the last figures of each that were printed; and what they are, if not tests."""
    counts, of = {"pass": 0, "fail": 0}, ""
    found = [(word, number) for number, word in _COUNT.findall(text)]
    for word, number in (found or _LABELLED.findall(text))[-6:]:
        kind = "pass" if word.lower().startswith("pass") else "fail"
        counts[kind] = max(int(number.replace(",", "")), counts[kind] if kind == "fail" else 0)
    if not any(counts.values()):
        packages = _OF_GO.findall(text)
        counts = {"pass": sum(bool(ok) for ok, _ in packages), "fail": sum(bool(bad) for _, bad in packages)}
        of = "package" if any(counts.values()) else ""
    if not any(counts.values()) and (ran := _RAN.search(text)):
        counts["fail" if "\nFAILED" in text else "pass"] = int(ran[1])
    return counts["pass"], counts["fail"], of
