"""An agent that nobody has: as few capabilities as are allowed, and lines of its own."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.agents import CodingAgent, Detail, FoundLog
from unspool.agents.lines import PlainParser
from unspool.agents.values import mapping, moment, text, whole
from unspool.model import Event, Part, Place, Prompt, Result, Text, ToolCall, Unknown, Usage

SESSION = "fable-0001"


class MadeUp(CodingAgent):
    id = "made-up"
    name = "Made Up"
    log_name = re.compile(r"(?:^|/)(fable-\w+)\.tale$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [home / ".made-up"]

    def discover(self, root: Path) -> Iterator[FoundLog]:
        for path in sorted(root.rglob("*.tale")):
            state = path.stat()
            yield FoundLog(str(path), path.stem, self.id, state.st_size, state.st_mtime, root=str(root))

    def recognises(self, data: dict[str, Any]) -> bool:
        return "says" in data

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()


class _Parser(PlainParser):
    def line(self, data: dict[str, Any], place: Place) -> Event:
        event = Event("notice", place, f"tale-{place.line}", link=True, turn=True, time=moment(data.get("at")))
        self.note_time(event.time)
        self.facts.cwd = self.facts.cwd or text(data.get("folder"))
        words, stamp = text(data.get("words")), (event.id, event.time)
        match data.get("says"):
            case "you":
                event.prompt = Prompt(place, "text", words, *stamp)
            case "it":
                used = mapping(data.get("used"))
                usage = Usage(whole(used.get("in")), whole(used.get("out"))) if used else None
                event.part = Part(event.id, "", "claude-opus-4-8", usage, "end")
                event.blocks = (Text(place, words, event.id, *stamp),)
            case "does":
                event.part = Part(event.id, "", "claude-opus-4-8", None)
                call = ToolCall(place, f"call-{words}", "Tinker", {"what": words}, "unanswered", message=event.id)
                event.blocks = (call,)
            case "gets":
                event.blocks = (Result(place, f"call-{words}", "done", id=event.id, time=event.time),)
            case _:
                event.blocks = (Unknown(place, "tale", data),)
        return event


def write_tale(folder: Path) -> Path:
    """A log of the made-up agent: two prompts, a call with its result, and a line of a kind that nobody knows."""
    said: list[dict[str, Any]] = [
        {"says": "you", "words": "Build a harbour", "folder": "/home/ada/harbour"},
        {"says": "it", "words": "A quay first, of granite.", "used": {"in": 1000, "out": 50}},
        {"says": "does", "words": "dig"},
        {"says": "gets", "words": "dig"},
        {"says": "sings", "words": "A shanty"},
        {"says": "you", "words": "And a lighthouse"},
        {"says": "it", "words": "Lit since dusk.", "used": {"in": 2000, "out": 70}},
    ]
    lines = [{**one, "at": f"2026-03-02T09:00:{second:02}Z"} for second, one in enumerate(said)]
    path = folder / f"{SESSION}.tale"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
