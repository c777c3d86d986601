"""The small ones: a nightly check without a person, and a session that was opened and closed again."""

from datetime import UTC, datetime

from unspool.demo.builder import LogBuilder
from unspool.demo.usage import Fields, Tokens

NIGHTLY = "0c7a9e50-1077-4d0c-8e77-000000000007"
STUB = "57b00000-1188-4d0c-8e88-000000000008"
_SYSTEM = "You look after the tide tables of a harbour. Answer in one sentence, and name the day you looked at."
_PLACE = "Your working directory is the harbour's repository, on the branch main."
_TOOLS: list[Fields] = [
    {"name": name, "description": said, "input_schema": {"type": "object", "properties": {key: {"type": "string"}}}}
    for name, said, key in (
        ("Grep", "Search the contents of files.", "pattern"),
        ("Read", "Read a file.", "file_path"),
    )
]


def nightly() -> LogBuilder:
    """`claude -p` from a timer: one prompt, one call, one answer."""
    start = datetime(2026, 10, 15, 3, 0, tzinfo=UTC)
    log = LogBuilder(session_id=NIGHTLY, version="2.1.325", model="claude-haiku-5-5", entrypoint="sdk-cli", start=start)
    log.queue("enqueue", "Check that tomorrow's table is complete.").queue("dequeue")
    log.prompt("Check that tomorrow's table is complete.", promptSource="sdk")
    log.attached("environment", _PLACE, snapshot={"workingDirectory": log.cwd, "platform": "linux", "shell": "bash"})
    log.attached("model", "You are Haiku 5.5.", identity={"modelId": log.model, "marketingName": "Haiku 5.5"})
    log.attached("session_context", f"Current branch: {log.branch}", "user", context={"gitStatus": "clean"})
    log.attached("prompt_snapshot", "", systemPrompt=[_SYSTEM], tools=_TOOLS)
    log.sends(_SYSTEM, _TOOLS, _PLACE, purpose="sdk")
    use = log.use("Grep", pattern="^2026-10-16", path="tables/brenton-2026.txt", output_mode="count")
    detail = {"mode": "count", "numFiles": 1, "filenames": [], "content": "tables/brenton-2026.txt:4", "numMatches": 4}
    usage = Tokens(input=9, output=88, read=0, write=11_240, tier="batch")
    log.assistant(use, usage=usage).result(use, "tables/brenton-2026.txt:4", detail)
    log.sends(_SYSTEM, _TOOLS, _PLACE, purpose="sdk").side("tools-used", tools=["Grep"])
    last = Tokens(input=5, output=31, read=11_240, write=160, tier="batch")
    return log.assistant(log.text("Complete: four tides on 2026-10-16."), usage=last)


def stub() -> LogBuilder:
    """Opened, nothing said, closed: no line of conversation."""
    log = LogBuilder(session_id=STUB, version="2.1.300", start=datetime(2026, 10, 15, 8, 59, tzinfo=UTC))
    return log.side("mode", mode="normal").side("permission-mode", permissionMode="plan").snapshot()
