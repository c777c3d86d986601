"""A session that holds what must not leave, wherever a log can hold something, and how it is looked for in bytes."""

import base64
import html
import io
import json
import re
import string
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import quote

from tests.log_builder.builder import LogBuilder

SESSION = "5ec2e700-0a11-4d0c-8e11-0000000000aa"
USER = "evelynw"
CWD = f"/home/{USER}/tidewater"

_RANDOM = Random(7)


def _some(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    """Letters that look like a key's."""
    return "".join(_RANDOM.choice(letters) for _ in range(length))


# Put together here, so that no file of this repository holds what looks like a secret.
SECRETS = {
    "prompt": "sk-ant-" + "api03-" + _some(93) + "AA",
    "command": "gh" + "p_" + _some(36),
    "output": "AK" + "IA" + _some(16, string.ascii_uppercase + "234567"),
    "file": "xox" + "b-" + f"{_some(12, string.digits)}-{_some(12, string.digits)}-{_some(24)}",
    "thought": "gl" + "pat-" + _some(20),
    "subagent": "npm" + "_" + _some(36),
    "spilled": "sk_" + "live_" + _some(24),
    "title": "h" + "f_" + _some(34, string.ascii_letters),
    "sidecar": "S" + "G." + _some(22) + "." + _some(43),
}
PERSONAL = {"user": USER, "mail": "evelyn.w" + "@tidewater-harbour.com", "address": "203.7.45.91"}
ALL = {**SECRETS, **PERSONAL}
TOLD = "the harbour gauge reads two metres"
"""Words that nobody minds."""


def session(session_id: str = SESSION, cwd: str = CWD) -> LogBuilder:
    """Three turns: a secret in each place, and something harmless to know it by."""
    log = LogBuilder(session_id=session_id, cwd=cwd, home=f"/home/{USER}/.claude", model="claude-sonnet-4-5")
    log.prompt(f"Say that {TOLD}; my key is {SECRETS['prompt']}")
    log.assistant(log.think(f"The token is {SECRETS['thought']}."), log.text(f"Right: {TOLD}."))
    log.prompt("Look around")
    log.ran(f"curl -H 'Authorization: token {SECRETS['command']}' {PERSONAL['address']}", f"id={SECRETS['output']}\n")
    log.wrote(f"{cwd}/.env", f"SLACK={SECRETS['file']}\nMAIL={PERSONAL['mail']}\n")
    big = log.use("Bash", command="cat big")
    log.assistant(big).spilled(big, f"{'tide ' * 600}stripe {SECRETS['spilled']}\n")
    use = log.agent_use("explorer", f"Look for {SECRETS['sidecar']}", "Look for the gauge")
    log.assistant(use)
    log.subagent(
        use,
        "explorer",
        f"Look for {SECRETS['sidecar']}",
        lambda child: child.ran("cat .npmrc", f"//r/:_authToken={SECRETS['subagent']}").assistant(child.text("Found.")),
    )
    log.assistant(log.text("All seen."))
    log.prompt("Thanks").assistant(log.text("Gladly."))
    return log.side("custom-title", customTitle=f"Gauge with {SECRETS['title']}")


def disguises(secret: str) -> set[bytes]:
    """A secret as it may stand in a file: raw, escaped, encoded."""
    raw = secret.encode()
    found = {raw, html.escape(secret).encode(), quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode()}
    found |= {raw.hex().encode(), raw[::-1], secret.encode("utf-16-le")}
    for lead in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            inner = encode(b"\0" * lead + raw).decode()
            found.add(inner[4 if lead else 0 : len(inner) - len(inner) % 4 - 4].encode())
    return found


_PACKED = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


def layers(data: bytes, depth: int = 3) -> Iterator[bytes]:
    """The bytes, and what is packed inside them."""
    yield data
    if depth == 0:
        return
    for opened in (*_inflated(data), *_members(data), *_decoded(data)):
        yield from layers(opened, depth - 1)


def _inflated(data: bytes) -> Iterator[bytes]:
    for bits in (-15, 15, 31):
        try:
            yield zlib.decompressobj(bits).decompress(data)
        except zlib.error:
            continue
        return


def _members(data: bytes) -> Iterator[bytes]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                yield member.name.encode()
                if (file := archive.extractfile(member)) is not None:
                    yield file.read()
    except (tarfile.TarError, EOFError):
        return


def _decoded(data: bytes) -> Iterator[bytes]:
    for match in _PACKED.finditer(data):
        try:
            yield base64.b64decode(match[0])
        except ValueError:
            continue


def leaked(place: Path, secrets: dict[str, str]) -> set[str]:
    """The names of the secrets that a file, or any file of a folder, holds in whatever form."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    assert files
    found = set()
    for path in files:
        seen = [path.name.encode(), *layers(path.read_bytes())]
        for name, secret in secrets.items():
            if any(form in layer for form in disguises(secret) if form for layer in seen):
                found.add(name)
    return found


def holds(place: Path, words: str) -> bool:
    """Whether a file or folder tells these words somewhere: the search itself can find."""
    return bool(leaked(place, {"words": words}))
