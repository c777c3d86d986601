"""A session with a secret of every kind in every field of every line, and the search for them in whatever was made."""

import base64
import html
import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench.labelled import labelled
from tests.log_builder.builder import LogBuilder
from tests.log_builder.prompts import make_png
from tests.share.made import CWD, PERSONAL, SESSION, USER, layers

_SHORTEST = 16
_FIXED = frozenset(
    {"type", "role", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "id", "tool_use_id", "timestamp", "name"}
    | {"messageId", "agentId", "toolUseId", "sourceToolAssistantUUID", "sourceToolUseID", "signature", "data", "cwd"}
    | {"userType", "media_type", "filePath", "requestId", "promptId", "leafUuid", "requestRef"}
    | {"hash", "shapeHash", "requestDigest", "tail", "digests", "accountUuid", "organizationUuid"}
)
"""Fields that hold a conversation together: with other words in them there would be none."""


def _piece(secret: str) -> str:
    """The longest stretch of a secret on one line."""
    return max(re.split(r"\s+", secret), key=len)


_PLAIN = (label for label in labelled(23) if label.disguise == "plain")
TEXTS = {one.text: _piece(one.secret) for one in _PLAIN if len(_piece(one.secret)) >= _SHORTEST}
"""What is put into fields, and what of it must not be found afterwards."""
SECRETS = frozenset(TEXTS.values())
KINDS = frozenset(label.rule for label in labelled(23))


ACCOUNT, TEAM = "0acc0a7e-5a11-4d0c-8e11-0000000000bb", "0e6a0a7e-5a11-4d0c-8e11-0000000000cc"
SIGNER = "Grace Tidewell"
_SYSTEM, _TOOLS = "You read gauges.", [{"name": "Bash", "description": "Runs", "input_schema": {"type": "object"}}]
_TOLD = (f"Working directory: {CWD}", f"Current branch: main\n\nGit user: {SIGNER}\n\nStatus:\n?? gauge.py")


def seeded() -> LogBuilder:
    """A session of every kind of line, each field of which holds something that must not leave."""
    log = LogBuilder(session_id=SESSION, cwd=CWD, home=f"/home/{USER}/.claude", model="claude-sonnet-4-5")
    log.side("session-owner", accountUuid=ACCOUNT, organizationUuid=TEAM)
    log.prompt("Look at the gauge", [make_png(4, 4, bytes(16))])
    _started(log)
    log.assistant(log.think("A gauge."), log.text(f"Aye, {SIGNER}."))
    log.ran("cat gauge", "two metres\n").wrote(f"{CWD}/gauge.py", "depth = 2\n")
    log.assistant(big := log.use("Bash", command="cat big")).spilled(big, "tide " * 900)
    log.assistant(use := log.agent_use("explorer", "Look around", "Look for the gauge"))
    log.subagent(use, "explorer", "Look around", lambda child: child.ran("ls", "a\n").assistant(child.text("Seen.")))
    log.ran("cat keys", "\n".join(TEXTS)).assistant(log.text("\n\n".join(f"`{text}`" for text in TEXTS)))
    log.command("review", "the gauge", body="Review it").assistant(log.text("Reviewed."))
    log.side("custom-title", customTitle="Gauge").side("summary", summary="Of a gauge", leafUuid="x")
    log.side("pr-link", prUrl="https://example.org/1").side("something-new", words="tide", deep=[{"a": {"b": "c"}}])
    return log


def _started(log: LogBuilder) -> None:
    """What today's agent tells the model before the first answer, and the record of its request."""
    log.attached("environment", _TOLD[0], snapshot={"workingDirectory": CWD, "osVersion": "Linux"})
    log.attached("session_context", _TOLD[1], "user", context={"gitStatus": _TOLD[1]})
    log.attached("instructions", "Read the gauge.", "user", files=[{"path": f"{CWD}/X.md", "content": "Read."}])
    log.attached("skill_listing", "- tide: tells it", content="- tide: tells it", names=["tide"], digests=[_LISTED])
    log.attached("credential_org", "", organizationUuid=TEAM)
    log.attached("prompt_snapshot", "", systemPrompt=[_SYSTEM], tools=_TOOLS)
    log.sends(_SYSTEM, _TOOLS, *_TOLD).side("tools-used", tools=["Bash"])
    log.side("cost-state", totalCostUSD=0.1, modelUsage={"claude-sonnet-4-5": {"costUSD": 0.1}})


_LISTED = "b4cb0ec17933bc4d"


def _digests(value: Any) -> Iterator[str]:
    """Digests of what was said: whoever guesses that can see that they fit."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _digests(one)
    elif isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value):
        yield value


def write(folder: Path) -> Path:
    """The session in a source: whatever a file of it says, it says something secret besides."""
    (folder / "projects").mkdir(parents=True)
    seeded().write(folder)
    texts = cycle(TEXTS)
    rounds = -(-len(TEXTS) // 60)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".jsonl", ".json"):
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            path.write_text("".join(json.dumps(_told(line, texts, rounds)) + "\n" for line in lines))
        elif path.is_file():
            path.write_text("\n".join([path.read_text(), *TEXTS, *PERSONAL.values()]))
    return folder


def _told(value: Any, texts: Iterator[str], rounds: int, key: str = "") -> Any:
    """The value with secrets in every text, and one as the name of a field."""
    if isinstance(value, str):
        return value if key in _FIXED else "\n".join([value, *(next(texts) for _ in range(rounds))])
    if isinstance(value, list):
        return [_told(one, texts, rounds, key) for one in value]
    if isinstance(value, dict):
        made = {name: _told(one, texts, rounds, name) for name, one in value.items()}
        return made if key else {**made, next(texts): PERSONAL["mail"], "more": {next(texts): next(texts)}}
    return value


def forms(secret: str) -> set[bytes]:
    """A secret as it may stand in a file: as it is, in another case, escaped, encoded."""
    raw = secret.encode()
    found = {raw, raw.swapcase(), raw[::-1], raw.hex().encode(), raw.hex().upper().encode()}
    found |= {secret.encode("utf-16-le"), secret.encode("utf-16-be"), json.dumps(secret)[1:-1].encode()}
    found |= {json.dumps(json.dumps(secret))[3:-3].encode(), "".join(f"\\u{ord(one):04x}" for one in secret).encode()}
    found |= {html.escape(secret).encode(), "".join(f"&#{ord(one)};" for one in secret).encode()}
    found |= {quote(secret, safe="").encode(), "".join(f"%{one:02X}" for one in raw).encode()}
    for lead in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            inner = encode(b"\0" * lead + raw).decode()
            found.add(inner[4 if lead else 0 : len(inner) - 4].encode())
    return {form for form in found if len(form) >= 12}


TELLING = frozenset({*_digests(seeded().lines), _LISTED, ACCOUNT, TEAM, SIGNER})
"""What is no secret and tells all the same: digests, ids of accounts, the name that git signs with."""
_FORMS = {secret: forms(secret) for secret in SECRETS | frozenset(PERSONAL.values()) | TELLING}


def escaped(place: Path, *, cipher: bool = False) -> set[str]:
    """The secrets that a file or a folder holds anywhere, by name or content; a cipher's bytes are only looked at."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    assert files
    pieces = [path.relative_to(place.parent).as_posix().encode() for path in files]
    for path in files:
        pieces += [path.read_bytes()] if cipher else layers(path.read_bytes(), 2)
    whole = b"\0".join(pieces)
    found = {secret for secret, disguised in _FORMS.items() if any(form in whole for form in disguised)}
    return found if cipher else found | {one for one in PERSONAL.values() if one.encode() in whole}
