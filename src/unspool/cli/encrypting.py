"""What opens an encrypted share: a fresh key, or a passphrase from a file, from standard input or typed."""

from pathlib import Path
from typing import TYPE_CHECKING

from unspool.cli import typed

if TYPE_CHECKING:
    from unspool.share.sealing import Secret


def secret_of(passphrase_file: str) -> "Secret":
    """A fresh key where no file is named; else the passphrase that is its first line, `-` being asked for."""
    from unspool.share.sealing import passphrase, random_key

    return passphrase(typed.secret(passphrase_file, "Passphrase", twice=True)) if passphrase_file else random_key()


def told(file: Path, secret: "Secret") -> list[str]:
    """Where the file is and how it is opened, a line each."""
    if secret.how == "passphrase":
        return [str(file)]
    return [
        str(file),
        f"Link: {file.resolve().as_uri()}{secret.fragment}",
        f"Key: {secret.fragment} goes behind its address, wherever it is put; without it nobody can open it.",
    ]
