"""Models behind an HTTP address, in the two dialects that most services speak."""

from threading import Event
from typing import Any, NoReturn
from urllib.parse import urlsplit

import msgspec

from unspool.clone.compress.provider import Ask, Failed, Refused
from unspool.errors import FetchFailed
from unspool.export.inert import one_line
from unspool.formats.wire import Status, checked, post

WIDTH = 10
_LATER = frozenset({408, 409, 425, 429})
_THIS_ONE = frozenset({400, 413, 422})
"""Answers that say something of the one request."""
_PAUSE = 2.0
"""Seconds for a service that asks for a pause and does not say how long."""
_WORDS = 200


class Endpoint:
    """What the dialects have in common. The key is sent to the one address and shown nowhere."""

    width = WIDTH

    def __init__(self, base: str, model: str, key: str) -> None:
        self._base = checked(base)
        self._key = key
        self.model = model
        self.name = urlsplit(self._base).netloc

    def ask(self, ask: Ask, seconds: float, stop: Event) -> str:
        """The text of the answer."""
        del stop  # a request on its way cannot be called back
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "unspool"}
        body = msgspec.json.encode(self._body(ask))
        try:
            answer = post(self._url(), {**headers, **self._signed()}, body, seconds)
            return self._text(answer)
        except Status as status:
            self._told(status)
        except FetchFailed as problem:
            raise Failed(self._safe(str(problem))) from None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise Failed("the service answered something else than a message") from None

    def _url(self) -> str:
        raise NotImplementedError

    def _signed(self) -> dict[str, str]:
        raise NotImplementedError

    def _body(self, ask: Ask) -> dict[str, Any]:
        raise NotImplementedError

    def _text(self, answer: bytes) -> str:
        raise NotImplementedError

    def _told(self, status: Status) -> NoReturn:
        """Say what a status means."""
        code, why = status.code, self._safe(_message(status.body))
        words = f"{self.name} answered {code}" + (f": {why}" if why else "")
        if code in _LATER or code >= 500:
            raise Failed(words, pause=_PAUSE if code == 429 and status.pause is None else status.pause)
        if code in _THIS_ONE:
            raise Failed(words, again=False)
        raise Refused(words)

    def _safe(self, words: str) -> str:
        """Words of a service on one line, without the key, which some repeat."""
        if self._key:
            words = words.replace(self._key, "(key)")
        return one_line(words)[:_WORDS]


class OpenAi(Endpoint):
    """`{base}/chat/completions`."""

    def _url(self) -> str:
        return f"{self._base}/chat/completions"

    def _signed(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _body(self, ask: Ask) -> dict[str, Any]:
        messages = [{"role": "system", "content": ask.system}, {"role": "user", "content": ask.content}]
        return {"model": self.model, "messages": messages, "stream": False}

    def _text(self, answer: bytes) -> str:
        choices = msgspec.json.decode(answer, type=_Completion).choices
        return choices[0].message.content if choices else ""


class Anthropic(Endpoint):
    """`{base}/v1/messages`."""

    def _url(self) -> str:
        return f"{self._base.removesuffix('/v1')}/v1/messages"

    def _signed(self) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        return {**version, "x-api-key": self._key} if self._key else version

    def _body(self, ask: Ask) -> dict[str, Any]:
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
