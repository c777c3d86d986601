"""Who is asked: from flags, then the environment, then the settings' table `[compress]`.

A key is never typed on a command line, where every process can see it: it comes from the environment, or from a file.
A key that belongs to a well-known service is only taken for that service's own address.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from unspool.clone.compress.endpoint import Anthropic, Endpoint, OpenAi
from unspool.clone.compress.printing import PrintMode
from unspool.clone.compress.provider import Provider
from unspool.errors import Unreadable, UsageProblem
from unspool.formats import Format
from unspool.formats.wire import checked

AGENT = "agent"
DIALECTS: Mapping[str, type[Endpoint]] = {"openai": OpenAi, "anthropic": Anthropic}
PROVIDERS = (AGENT, *DIALECTS)
_USUAL = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_OWN_KEYS = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
}
_LARGEST_KEY = 4096


class Given(NamedTuple):
    """What was said of the service; empty where nothing was."""

    provider: str = ""
    """`agent`, `openai` or `anthropic`."""
    url: str = ""
    model: str = ""
    key_variable: str = ""
    """The variable of the environment that holds the key."""
    key_file: str = ""
    """The file that holds it."""


NAMES = Given._fields
"""The keys of the table, and after UNSPOOL_COMPRESS_ the variables of the environment."""


def given(flags: Given, environment: Mapping[str, str], table: Mapping[str, Any]) -> Given:
    """Everything that was said, the more particular over the more general."""
    wrong = [name for name in table if name not in NAMES or not isinstance(table[name], str)]
    if wrong:
        raise UsageProblem(f"The setting compress.{wrong[0]} is none, or no text; there are {', '.join(NAMES)}.")
    over = (environment.get(f"UNSPOOL_COMPRESS_{name.upper()}", "").strip() for name in NAMES)
    return Given(
        *(flag or variable or table.get(name, "") for flag, variable, name in zip(flags, over, NAMES, strict=True))
    )


def connect(said: Given, environment: Mapping[str, str], agent: Format) -> Provider:
    """The one to ask; UsageProblem or NotFound says what is missing."""
    kind = said.provider or _kind(said.url)
    if kind not in PROVIDERS:
        raise UsageProblem(f"{kind} is no provider; there are {', '.join(PROVIDERS)}.")
    _plain(said.model, "model")
    if kind == AGENT:
        if said.url:
            raise UsageProblem("The agent itself is asked at no address; name openai or anthropic as provider.")
        return PrintMode(agent, said.model)
    if not said.model:
        raise UsageProblem("Name the model to ask, as the service calls it.")
    url = checked(said.url or _USUAL[kind])
    return DIALECTS[kind](url, said.model, _key(said, environment, urlsplit(url).hostname or ""))


def _kind(url: str) -> str:
    """Without a word about it: whoever lives at the address, and the agent where there is none."""
    if not url:
        return AGENT
    return "anthropic" if url.startswith(_USUAL["anthropic"]) else "openai"


def _key(said: Given, environment: Mapping[str, str], host: str) -> str:
    """Empty where none was named: a service on this machine needs none."""
    if said.key_file:
        return _plain(_from_file(Path(said.key_file).expanduser()), "key")
    names = (said.key_variable,) if said.key_variable else ("UNSPOOL_COMPRESS_KEY", _OWN_KEYS.get(host, ""))
    found = next((value for name in names if name and (value := environment.get(name, "").strip())), "")
    if said.key_variable and not found:
        raise UsageProblem(f"The environment variable {said.key_variable}, which should hold the key, is not set.")
    return _plain(found, "key")


def _from_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST_KEY).decode("ascii", "replace").strip()
    except OSError as problem:
        raise Unreadable(f"The key file {path} cannot be read: {problem.strerror}.") from None


def _plain(value: str, what: str) -> str:
    """What goes into a header or a command must neither end it nor be taken for something else."""
    if not value.isprintable() or not value.isascii() or value.startswith("-"):
        raise UsageProblem(f"The {what} holds characters that no {what} has.")
    return value
