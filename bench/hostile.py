"""Texts that strangers made to be slow: how long each takes that is made of one piece, again and again.

The tests read the same pieces to their end; how long that may take is asked here, where nothing else runs.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.table import Row
from tests.log_builder.builder import LogBuilder
from unspool.figures.tokens import estimate_tokens
from unspool.redact.finder import Finder
from unspool.render.gfm import safe_markdown
from unspool.render.html.prose import prose_html
from unspool.tools.ansi import styled_spans
from unspool.tools.diff import diff_of_texts

SECRETS = (
    *("a", "-", "\\", "=", ".", "%25", "%41", "&amp;", "&#65;", "://", "://a:", "key=", "token:", "password = "),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "eyJ", "eyJaaaaaaaaaaaa.", "cookie: a=b; ", "@", "a@b.", "1.1.1."),
    *(":a:", "+1-1", "\n", "a\n", "A1b2C3d4E5f6G7h8I9j0K1L2\n", '"a" "b" ', '" +\n"', 'abc" +\n"9', "ab │\n│ "),
    *("\x1b[0m", "00000010: 6767\n", "machine a.b login c password ", "PuTTY-User-Key-File-3: Private-Lines: 1"),
    *("/home/", "\\u0041", "=\n", "=3D", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n", "67", "a\u200b", "secret value="),
    *("$2b$12$", "authorization: basic ", "bearer ", "[redacted:a-1]", "a\0", '\\"', "\\\\n", "2:2:2:", "SG.a"),
    *(
        "password,user\n",
        "password | ",
        "insert into t (password) values ('a'),",
        "jwt.sign(a, ",
        "connect(,,,",
    ),
    *("key:::", "mysql -p", "echo aaaaaaaa | ", 'token" {', '<password a="b"', "secret set ", "password is "),
    '%41&#65;\\u0041=3D\u200b\x1b[0m abc" +\n"A9 │\n│ ',
)
"""What a rule or a disguise of redaction begins with."""
ESCAPES = (
    *("\x1b]", "\x1b[1;", "\x1b[m", "\x9d", "\x1bP", "a\r", "\b", "a\b", "\x1b", "\x1b[38;5;1mx", "\r\x1b[m", "x\n\b"),
)
MARKDOWN = ("]:", "](", "![", "`", "<a", "<https://", "> ", "- ", "http://", "\\", "[a](b", "|`", "~~~\n")
PROSE = (
    *(">", "> ", "- ", "[", "![", "[a](b", "*a _b ", "~a ", "<", "<a ", "<!--", "`` ` ", "|", "a@b.cc ", "www.a.b "),
    *("]:", "\n"),
)
_ENDS = 2.0
"""Seconds in which the app ends."""


def rows() -> Iterator[Row]:
    """The slowest piece of each kind, estimates of tokens, and how soon the app ends."""
    find = Finder().find
    yield _slowest("30 KB that look like secrets", SECRETS, 30_000, find, 6)
    yield _slowest("1 MB of a terminal's escapes", ESCAPES, 1_000_000, styled_spans, 5)
    yield _slowest("1 MB of Markdown made safe", MARKDOWN, 1_000_000, safe_markdown, 10)
    yield _slowest("300 KB of Markdown as HTML", PROSE, 300_000, prose_html, 2)
    yield _slowest("9,000 lines that repeat, compared", ("x\n", "x\ny\n"), 18_000, _compared, 20)
    text = "def pay(till: Till, price: Money) -> None:\n    till.put(price)  # 12.50\n" * 60_000
    speed = len(text) / 1e6 / _seconds(estimate_tokens, text)
    yield Row("tokens estimated", f"{speed:.0f} MB/s", aim=">= 30 MB/s", met=speed >= 30)
    took = min(_end() for _ in range(3))
    yield Row("the app ends", f"{took:.2f} s", aim=f"< {_ENDS:g} s", met=took < _ENDS)


def _slowest(what: str, pieces: tuple[str, ...], length: int, read: Callable[[str], object], most: float) -> Row:
    took = {piece: _seconds(read, (piece * length)[:length]) for piece in pieces}
    worst = max(took, key=took.__getitem__)
    return Row(f"{what} (slowest: {worst!r})", f"{took[worst]:.2f} s", aim=f"< {most:g} s", met=took[worst] < most)


def _seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def _compared(text: str) -> object:
    """With a new line after each two."""
    lines = text.split("\n")
    after = [part for at in range(0, len(lines), 2) for part in (*lines[at : at + 2], "new")]
    return diff_of_texts("f", text, "\n".join(after[: len(lines)]))


def _end() -> float:
    """Seconds from SIGTERM to the end of an app that has synced one session."""
    with tempfile.TemporaryDirectory() as scratch:
        log = LogBuilder().prompt("Waves")
        log.assistant(log.text("Aye.")).write(Path(scratch))
        place = ("--source", scratch, "--archive", f"{scratch}/archive")
        command = [sys.executable, "-m", "unspool", "open", "--no-browser", *place]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "HOME": scratch}) as app:
            while not Path(scratch, "archive", "index.db").exists():
                time.sleep(0.05)
            time.sleep(1)
            began = time.monotonic()
            app.send_signal(signal.SIGTERM)
            app.wait()
            return time.monotonic() - began
