"""What opens an encrypted share: a fresh key, or a passphrase from a file, from standard input or typed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from unspool.share.sealing import Secret


def secret_of(passphrase_file: str) -> "Secret":
    """A fresh key where no file is named; else the passphrase that is its first line, `-` being asked for."""
    from unspool.share.sealing import passphrase, random_key

    return passphrase(_words(passphrase_file)) if passphrase_file else random_key()


def told(file: Path, secret: "Secret") -> list[str]:
    """Where the file is and how it is opened, a line each."""
    if secret.how == "passphrase":
        return [str(file)]
    return [
        str(file),
        f"Link: {file.resolve().as_uri()}{secret.fragment}",
        f"Key: {secret.fragment} goes behind its address, wherever it is put; without it nobody can open the file.",
    ]


def _words(name: str) -> str:
    if name == "-" and sys.stdin.isatty():
        return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt="Once more", err=True))
    try:
        text = sys.stdin.readline() if name == "-" else Path(name).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageProblem(f"{name} holds no text.") from None
    except OSError as error:
        raise NotFound(f"{name} cannot be read: {error.strerror}.") from None
    return text.split("\n", 1)[0].rstrip("\r")
