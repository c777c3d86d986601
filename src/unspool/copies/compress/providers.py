"""Models that can be asked: HTTP endpoints and an agent's print mode."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import IO, Any, NamedTuple, NoReturn, Protocol
from urllib.parse import urlsplit

import msgspec

from unspool.agents import CodingAgent
from unspool.errors import FetchFailed, NotFound, Unreadable, UsageProblem
from unspool.http import HttpStatusError, checked_address, post
from unspool.render.sanitize import one_line


class ModelRequest(NamedTuple):
    system: str
    """What to do."""
    content: str
    """What to do it with."""
    most: int
    """Tokens that an answer may have."""


class ModelFailed(Exception):
    def __init__(self, words: str, *, again: bool = True, pause: float | None = None) -> None:
        super().__init__(words)
        self.again = again
        """Whether the same request may do better later."""
        self.pause = pause
        """Seconds for which nothing at all should be asked."""


class ModelRefused(Exception):
    """Every request would fail as this one did."""


class ModelProvider(Protocol):
    """A model that can be asked, from several threads at once."""

    name: str
    """Where passages are sent, for a person to agree to."""
    model: str
    """Empty where it is left to the provider."""
    width: int
    """How many requests at once are usual."""

    def ask(self, ask: ModelRequest, seconds: float, stop: Event) -> str:
        """The answer, as it came. Failed or Refused where there is none within the seconds; sooner when `stop` is
        set, where that can be done."""


CONNECTIONS = 10
_LATER = frozenset({408, 409, 425, 429})
_THIS_ONE = frozenset({400, 413, 422})
"""Answers that say something of the one request."""
_PAUSE = 2.0
"""Seconds for a service that asks for a pause and does not say how long."""
_WORDS = 200


class Endpoint:
    """What the dialects have in common. The key is sent to the one address and shown nowhere."""

    width = CONNECTIONS

    def __init__(self, base: str, model: str, key: str) -> None:
        self._base = checked_address(base)
        self._key = key
        self.model = model
        self.name = urlsplit(self._base).netloc

    def ask(self, ask: ModelRequest, seconds: float, stop: Event) -> str:
        """The text of the answer."""
        del stop  # a request on its way cannot be called back
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "unspool"}
        body = msgspec.json.encode(self._body(ask))
        try:
            answer = post(self._url(), {**headers, **self._signed()}, body, seconds)
            return self._text(answer)
        except HttpStatusError as status:
            self._told(status)
        except FetchFailed as problem:
            raise ModelFailed(self._safe(str(problem))) from None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise ModelFailed("the service answered something else than a message") from None

    def _url(self) -> str:
        raise NotImplementedError

    def _signed(self) -> dict[str, str]:
        raise NotImplementedError

    def _body(self, ask: ModelRequest) -> dict[str, Any]:
        raise NotImplementedError

    def _text(self, answer: bytes) -> str:
        raise NotImplementedError

    def _told(self, status: HttpStatusError) -> NoReturn:
        """Say what a status means."""
        code, why = status.code, self._safe(_message(status.body))
        words = f"{self.name} answered {code}" + (f": {why}" if why else "")
        if code in _LATER or code >= 500:
            raise ModelFailed(words, pause=_PAUSE if code == 429 and status.pause is None else status.pause)
        if code in _THIS_ONE:
            raise ModelFailed(words, again=False)
        raise ModelRefused(words)

    def _safe(self, words: str) -> str:
        """Words of a service on one line, without the key, which some repeat."""
        if self._key:
            words = words.replace(self._key, "(key)")
        return one_line(words)[:_WORDS]


class OpenAi(Endpoint):
    def _url(self) -> str:
        return f"{self._base}/chat/completions"

    def _signed(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _body(self, ask: ModelRequest) -> dict[str, Any]:
        messages = [{"role": "system", "content": ask.system}, {"role": "user", "content": ask.content}]
        return {"model": self.model, "messages": messages, "stream": False}

    def _text(self, answer: bytes) -> str:
        choices = msgspec.json.decode(answer, type=_Completion).choices
        return choices[0].message.content if choices else ""


class Anthropic(Endpoint):
    def _url(self) -> str:
        return f"{self._base.removesuffix('/v1')}/v1/messages"

    def _signed(self) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        return {**version, "x-api-key": self._key} if self._key else version

    def _body(self, ask: ModelRequest) -> dict[str, Any]:
        messages = [{"role": "user", "content": ask.content}]
        return {"model": self.model, "max_tokens": ask.most, "system": ask.system, "messages": messages}

    def _text(self, answer: bytes) -> str:
        blocks = msgspec.json.decode(answer, type=_Message).content
        return "".join(block.text for block in blocks if block.type == "text")


class _Said(msgspec.Struct):
    content: str


class _Way(msgspec.Struct):
    message: _Said


class _Completion(msgspec.Struct):
    choices: list[_Way]


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    content: list[_Block]


class _Why(msgspec.Struct):
    message: str = ""


class _Trouble(msgspec.Struct):
    error: _Why


def _message(body: bytes) -> str:
    """What an error says of itself, in the shape that both dialects have."""
    try:
        return msgspec.json.decode(body, type=_Trouble).error.message
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""


PROCESSES = 4
"""Processes at once: each is an agent of some hundred megabytes."""
_LOOK = 0.05
_MOST = 4 * 1024 * 1024


class PrintMode:
    """The agent whose sessions are shortened, asked with the account that it has."""

    width = PROCESSES

    def __init__(self, agent: CodingAgent, model: str) -> None:
        if agent.asking is None:
            raise NotFound(f"{agent.name} has no print mode that could be asked.")
        self._ask = agent.asking.ask
        command = self._ask(model, "")
        if shutil.which(command[0]) is None:
            raise NotFound(f"There is no command {command[0]} to ask; name a service with its address instead.")
        self.model = model
        self.name = f"{command[0]} {command[1]}"

    def ask(self, ask: ModelRequest, seconds: float, stop: Event) -> str:
        """What the process prints. It runs in an empty folder, so that nothing of a project speaks to it."""
        command = self._ask(self.model, ask.system)
        with tempfile.TemporaryDirectory(prefix="unspool-") as empty, tempfile.TemporaryFile() as prompt:
            prompt.write(ask.content.encode())
            prompt.seek(0)
            with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
                code = self._run(command, empty, (prompt, printed, complaint), (seconds, stop))
                if code:
                    words = one_line(_read(complaint) or _read(printed))[:_WORDS]
                    raise ModelFailed(f"{self.name} ended with {code}" + (f": {words}" if words else ""))
                return _read(printed)

    def _run(
        self, command: list[str], folder: str, files: tuple[IO[bytes], IO[bytes], IO[bytes]], until: tuple[float, Event]
    ) -> int:
        """The exit code; files instead of pipes, which a process left behind could hold open."""
        (stdin, stdout, stderr), (seconds, stop) = files, until
        try:
            process = subprocess.Popen(  # noqa: S603  the agent's own command, and no shell
                [shutil.which(command[0]) or command[0], *command[1:]],
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as problem:
            raise ModelRefused(f"{self.name} cannot be started: {problem.strerror}") from None
        deadline = time.monotonic() + seconds
        try:
            while process.poll() is None:
                if stop.wait(_LOOK):
                    raise ModelFailed("stopped", again=False)
                if time.monotonic() > deadline:
                    raise ModelFailed(f"{self.name} took more than {seconds:.0f} s")
                if os.fstat(stdout.fileno()).st_size > _MOST:
                    raise ModelFailed(f"{self.name} printed without end")
            return process.returncode
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Nothing of it is left running: not the process, nor what it has started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MOST).decode("utf-8", "replace")


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


class ServiceOptions(NamedTuple):
    """What was said of the service; empty where nothing was."""

    provider: str = ""
    """`agent`, `openai` or `anthropic`."""
    url: str = ""
    model: str = ""
    key_variable: str = ""
    """The variable of the environment that holds the key."""
    key_file: str = ""
    """The file that holds it."""


NAMES = ServiceOptions._fields
"""The keys of the table, and after UNSPOOL_COMPRESS_ the variables of the environment."""


def service_options(flags: ServiceOptions, environment: Mapping[str, str], table: Mapping[str, Any]) -> ServiceOptions:
    """Everything that was said, the more particular over the more general."""
    wrong = [name for name in table if name not in NAMES or not isinstance(table[name], str)]
    if wrong:
        raise UsageProblem(f"The setting compress.{wrong[0]} is none, or no text; there are {', '.join(NAMES)}.")
    over = (environment.get(f"UNSPOOL_COMPRESS_{name.upper()}", "").strip() for name in NAMES)
    return ServiceOptions(
        *(flag or variable or table.get(name, "") for flag, variable, name in zip(flags, over, NAMES, strict=True))
    )


def connect(said: ServiceOptions, environment: Mapping[str, str], agent: CodingAgent) -> ModelProvider:
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
    url = checked_address(said.url or _USUAL[kind])
    return DIALECTS[kind](url, said.model, _key(said, environment, urlsplit(url).hostname or ""))


def _kind(url: str) -> str:
    """Without a word about it: whoever lives at the address, and the agent where there is none."""
    if not url:
        return AGENT
    return "anthropic" if url.startswith(_USUAL["anthropic"]) else "openai"


def _key(said: ServiceOptions, environment: Mapping[str, str], host: str) -> str:
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
