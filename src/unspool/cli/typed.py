"""A secret that a command is told: from a file, from standard input, or typed without being shown."""

import sys
from pathlib import Path

import click

from unspool.errors import NotFound, UsageProblem


def secret(file: str, asked: str, *, twice: bool = False) -> str:
    """The first line of a file; `-` is standard input, or typed without being shown where that is a terminal."""
    if file == "-" and sys.stdin.isatty():
        return str(click.prompt(asked, hide_input=True, confirmation_prompt="Once more" if twice else False, err=True))
    try:
        text = sys.stdin.readline() if file == "-" else Path(file).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageProblem(f"{file} holds no text.") from None
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from None
    return text.split("\n", 1)[0].rstrip("\r")
