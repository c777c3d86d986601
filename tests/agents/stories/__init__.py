"""One small story as each agent would log it: two prompts, a thought, a command that works, one that fails, an edit,
an answer, and a record of a kind that nobody knows. The contract of all readers is tested with it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.agents.stories import (
    aider,
    amp,
    atif,
    cline,
    codex,
    continue_,
    copilot,
    cursor,
    droid,
    gemini,
    goose,
    iflow,
    kimi,
    kiro,
    openai_messages,
    opencode,
    pi,
    qwen,
    vscode_copilot,
    windsurf,
    zed,
)
from unspool.model import Usage

CWD = "/home/ada/quay"
PROMPTS = ("Mend the quay", "And the lighthouse")
ANSWER = "Lit since dusk."
CALLS = (("shell", "ok"), ("shell", "failed"), ("edit", "ok"))
"""Role and end of each call, in order."""


class Story(NamedTuple):
    """How an agent logs the story."""

    write: Callable[[Path], Path]
    """Writes it below the agent's own folder; gives the file that holds it."""
    usage: Usage | None
    """All tokens of it; None where the agent logs none."""
    cwd: str = CWD
    """Below the agent's own folder where it begins without a slash; empty where the agent does not log it."""
    lines: bool = True
    """Whether that file is a log of JSON lines itself."""
    edited: str = f"{CWD}/light.py"
    """The file that the edit changes, as the call names it."""
    calls: tuple[tuple[str, str], ...] = CALLS
    """Fewer where the agent does not tell how commands end."""
    unknown: tuple[str, ...] = ("hologram",)
    """None where no record can be of an unknown kind."""


OPENCODE = Usage(input=60, output=20, cache_read=160, cache_write=5, reasoning=2)
STORIES: dict[str, Story] = {
    "amp": Story(amp.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
    "droid": Story(droid.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
    "iflow": Story(iflow.write, Usage(input=60, output=20)),
    "codex": Story(codex.write, Usage(input=60, output=20, cache_read=160)),
    "copilot": Story(copilot.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
    "gemini": Story(gemini.write, Usage(input=60, output=20, cache_read=160, reasoning=2)),
    "opencode": Story(opencode.write, OPENCODE, lines=False),
    "qwen": Story(qwen.write, Usage(input=60, output=20, cache_read=160, reasoning=2)),
    "cursor": Story(cursor.write, None, lines=False),
    "vscode-copilot": Story(vscode_copilot.write, Usage(input=60, output=20, cache_read=160), lines=False),
    "kimi": Story(kimi.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
    "cline": Story(cline.write, Usage(input=60, output=20, cache_read=160, cache_write=5), lines=False),
    "roo": Story(cline.write_roo, Usage(input=60, output=20, cache_read=160, cache_write=5), lines=False),
    "goose": Story(goose.write, Usage(input=60, output=20), lines=False),
    "zed": Story(zed.write, Usage(input=60, output=20, cache_read=160, cache_write=5), lines=False),
    "continue": Story(continue_.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
    "kiro": Story(kiro.write, None),
    "aider": Story(
        aider.write, None, "quay", lines=False, edited="light.py", calls=(("shell", "ok"), ("edit", "ok")), unknown=()
    ),
    "windsurf": Story(windsurf.write, None),
    "atif": Story(atif.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
    "messages": Story(
        openai_messages.write,
        Usage(input=60, output=20, cache_read=160, cache_write=5),
        calls=(("shell", "ok"), ("shell", "ok"), ("edit", "ok")),
    ),
    "pi": Story(pi.write, Usage(input=60, output=20, cache_read=160, cache_write=5)),
}
"""By the agent's id."""
