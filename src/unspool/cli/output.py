"""What commands print: JSON, lines that cannot drive the terminal, and questions at the terminal."""

import sys
from collections.abc import Iterable
from typing import Any

import click


def printable_data(value: Any) -> Any:
    """Data with what no text can hold (bytes of names that are no text) replaced."""
    import msgspec

    def printable(part: Any) -> Any:
        if isinstance(part, str):
            return part.encode(errors="replace").decode()
        if isinstance(part, dict):
            return {printable(key): printable(inner) for key, inner in part.items()}
        return [printable(inner) for inner in part] if isinstance(part, (list, tuple)) else part

    return printable(msgspec.to_builtins(value))


def print_json(value: Any) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(printable_data(value))).decode())


def say_line(text: str, *, err: bool = False) -> None:
    """Print text in which names of files may stand; they cannot drive the terminal."""
    from unspool.render.sanitize import safe_lines

    click.echo("\n".join(safe_lines(printable_data(text))), err=err)


def print_result(data: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a command found or did, as JSON or line by line."""
    if as_json:
        print_json(data)
        return
    for line in lines:
        say_line(line)


def is_interactive() -> bool:
    """Whether somebody can be asked something."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm_typed(question: str, answer: str) -> bool:
    """Whether somebody at a terminal typed the answer."""
    return is_interactive() and str(click.prompt(question, default="", show_default=False, err=True)).strip() == answer
