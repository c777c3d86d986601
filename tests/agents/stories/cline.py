"""The story as Cline and Roo Code keep it: small files in the folder of a task."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.blocks import ANSWER, HOLOGRAM, THOUGHT, result, use

TASK = "1772241173221"
DIFF = "------- SEARCH\noff\n=======\non\n+++++++ REPLACE"
EDIT = {"path": "/home/ada/quay/light.py", "diff": DIFF}
DETAILS = {"type": "text", "text": "<environment_details>\n# Current Working Directory (/home/ada/quay) Files\n</env>"}


def typed(words: str, mark: str = "task") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": f"<{mark}>\n{words}\n</{mark}>"}, DETAILS]}


MESSAGES: list[dict[str, Any]] = [
    typed("Mend the quay"),
    {
        "role": "assistant",
        "content": [THOUGHT, use("c1", "execute_command", command="ls"), use("c2", "execute_command", command="make")],
    },
    {
        "role": "user",
        "content": [
            result("c1", "quay.py"),
            result("c2", "Command execution was not successful.\nExit code: 2"),
            {"type": "text", "text": "<feedback>\nAnd the lighthouse\n</feedback>"},
        ],
    },
    {
        "role": "assistant",
        "content": [use("c3", "replace_in_file", path="/home/ada/quay/light.py", diff=DIFF), HOLOGRAM],
    },
    {"role": "user", "content": [result("c3", "Edited."), DETAILS]},
    {"role": "assistant", "content": [ANSWER]},
]


def asked(sent: int, output: int, read: int, written: int) -> dict[str, Any]:
    names = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
    told = dict(zip(names, (sent, output, read, written), strict=True)) | {"cost": 0.01, "request": "..."}
    return {"ts": 1772241174000, "type": "say", "say": "api_req_started", "text": json.dumps(told)}


SHOWN = [
    {"ts": 1772241173221, "type": "say", "say": "text", "text": "Mend the quay"},
    asked(40, 10, 60, 5),
    asked(20, 10, 100, 0),
]


def write_task(folder: Path, messages: list[dict[str, Any]], shown: list[dict[str, Any]], **history: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    times = [{"ts": 1772241173221 + number * 1000, **one} for number, one in enumerate(messages)]
    (folder / "api_conversation_history.json").write_text(json.dumps(times))
    (folder / "ui_messages.json").write_text(json.dumps(shown))
    if history:
        (folder / "history_item.json").write_text(json.dumps(history))
    return folder / "api_conversation_history.json"


def write(home: Path) -> Path:
    return write_task(home / "tasks" / TASK, MESSAGES, SHOWN)


def write_roo(home: Path) -> Path:
    item = {"id": TASK, "number": 1, "ts": 1772241173221, "task": "Mend the quay", "workspace": "/home/ada/quay"}
    return write_task(home / "tasks" / TASK, MESSAGES, SHOWN, **item)
