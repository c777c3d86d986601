"""Code in what a command printed: a diff, data, or a file, told by the command and by how the output looks.

Only what is sure is taken for code; anything else stays what a terminal shows.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final

from unspool.doc import Code, Hunk, Node
from unspool.tools import fields, nodes, summary
from unspool.tools.diff import join_hunks

_LONGEST = 2_000_000
_PRINTERS: Final = frozenset({"cat", "head", "tail", "sed", "bat"})
_MAKERS: Final = frozenset({"yq"})
"""What makes YAML of whatever it reads."""
_TELLING: Final = (*_PRINTERS, *_MAKERS, "yaml", "yml")
"""One of them is in every command whose output has a language."""
_CUTTERS: Final = frozenset({"head", "tail", "sed"})
_SPLIT: Final = re.compile(r"\n\s*(?:&&|;)?\s*|(?:&&|;)\s*")
"""Where one step of a command ends; white space before it is left to the step."""
_SHELL: Final = re.compile(r"[`<>$()]|\|\||(?<!&)&(?!&)")
"""What makes a command more than one that prints a file."""
_YAML_OPTION: Final = re.compile(r"(?:^|\s)(?:-o|--output)[ =]?ya?ml\b")
_YAML: Final = re.compile(r"\s*(?:#|- |[\w.\"'/@-]+:(?: |$)|---$)")
_BEGINNINGS: Final = (
    (re.compile(r"<\?xml\b"), "xml"),
    (re.compile(r"<!doctype html", re.IGNORECASE), "html"),
    (re.compile(r"#!\S*(?:/|env +)python"), "python"),
    (re.compile(r"#!\S*(?:/|env +)(?:ba|z)?sh\b"), "bash"),
    (re.compile(r"#!\S*(?:/|env +)node\b"), "javascript"),
)
_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_TARGET: Final = re.compile(r"\+\+\+ (?:b/)?([^\t\n]+)")
_ABOVE: Final = re.compile(
    r"(?:index |new file|deleted file|old mode|new mode|similarity|rename |copy |--- |\+\+\+ |Binary )"
)


def output_nodes(output: str, command: str) -> tuple[Node, ...]:
    """What a command printed, for reading: code as code, changes as changes."""
    if not output.strip() or "\x1b" in output or len(output) > _LONGEST:
        return nodes.terminal_nodes(output)
    if changed := _changes(output):
        return changed
    layout = fields.indent_json(output)
    if layout is not None:
        return (Code(layout, "json"),)
    language = _by_command(command) or _by_beginning(output)
    if language == "yaml" and not _is_yaml(output):
        language = ""
    return (Code(output.strip("\n"), language),) if language else nodes.terminal_nodes(output)


def _by_command(command: str) -> str:
    """The language of the one file that a command prints, or of the data that it makes."""
    command = command.strip()
    if not command.startswith("cd ") and ("\n" in command or "&&" in command or ";" in command):
        return ""
    *before, last = _SPLIT.split(command)
    if any(not step.rstrip().startswith("cd ") for step in before) or _SHELL.search(last):
        return ""
    if _YAML_OPTION.search(last):
        return "yaml"
    first, *pipes = last.split("|")
    if _is_other(first, _PRINTERS) and _is_other(pipes[-1] if pipes else first, _MAKERS):
        return ""
    if not any(word in command for word in _TELLING):
        return ""
    steps = [_words(step) for step in (first, *pipes)]
    if not all(steps):
        return ""
    if steps[-1][0] in _MAKERS:
        return "yaml"
    printed = [word for word in steps[0][1:] if not word.startswith("-") and summary.language(word)]
    plain = steps[0][0] in _PRINTERS and all(step[0] in _CUTTERS for step in steps[1:])
    numbered = steps[0][0] == "cat" and any(word.startswith("-") for word in steps[0][1:])
    return summary.language(printed[0]) if plain and len(printed) == 1 and not numbered else ""


def _is_other(step: str, commands: frozenset[str]) -> bool:
    """Whether a step is seen at once to run none of these commands; where it quotes, that takes a closer look."""
    name = step.split(None, 1)[:1]
    return not name or not (name[0] in commands or "'" in name[0] or '"' in name[0] or "\\" in name[0])


def _words(step: str) -> list[str]:
    try:
        return shlex.split(step)
    except ValueError:
        return []


def _by_beginning(output: str) -> str:
    head = output.lstrip()[:200]
    if head.startswith("---\n"):
        return "yaml"
    return next((language for start, language in _BEGINNINGS if start.match(head)), "")


def _is_yaml(output: str) -> bool:
    """Whether most lines are keys, items or remarks, or go on with a text that a key began."""
    lines = [line for line in output.split("\n") if line.strip()]
    return sum(_YAML.match(line) is not None or line.startswith("  ") for line in lines) >= 0.9 * len(lines)


def _changes(output: str) -> tuple[Node, ...]:
    """The changes of each file, and before them what else was printed; nothing where it is no diff."""
    if "diff --git " not in output and "--- " not in output:
        return ()
    lines = output.rstrip("\n").split("\n")
    start = next((at for at, line in enumerate(lines) if _begins(lines, at)), None)
    if start is None:
        return ()
    try:
        files = tuple(_files(lines, start))
    except ValueError:
        return ()
    return (*nodes.terminal_nodes("\n".join(lines[:start])), *files)


def _begins(lines: list[str], at: int) -> bool:
    if lines[at].startswith("diff --git "):
        return True
    return lines[at].startswith("--- ") and at + 2 < len(lines) and bool(_HUNK.match(lines[at + 2]))


def _files(lines: list[str], at: int) -> Iterator[Node]:
    """Each file's changes; ValueError where a line is no part of them."""
    while at < len(lines):
        if not _begins(lines, at):
            raise ValueError("no file begins here")
        head = at
        at += 1
        while at < len(lines) and _ABOVE.match(lines[at]):
            at += 1
        named = [found[1] for line in lines[head:at] if (found := _TARGET.match(line)) and found[1] != "/dev/null"]
        path = named[0] if named else lines[head].rpartition(" b/")[2].removeprefix("--- a/").removeprefix("--- ")
        hunks: list[Hunk] = []
        while at < len(lines) and (found := _HUNK.match(lines[at])):
            size = _size(lines, at + 1, int(found[2] or 1), int(found[4] or 1))
            said = [line for line in lines[at + 1 : at + 1 + size] if not line.startswith("\\")]
            hunks.append(Hunk(int(found[1]), int(found[3]), tuple(line or " " for line in said)))
            at += 1 + size
        created = any(line.startswith("new file") for line in lines[head:at])
        yield join_hunks(path, tuple(hunks), created)
        while at < len(lines) and not lines[at]:
            at += 1


def _size(lines: list[str], at: int, old: int, new: int) -> int:
    """How many lines a hunk has that tells of so many before and after it; ValueError where they are not there."""
    begun = at
    while old > 0 or new > 0:
        sign = lines[at][:1] if at < len(lines) else ""
        if at >= len(lines) or sign not in " +-\\":
            raise ValueError("a line of a diff is missing")
        old -= sign in " -"  # an empty line is one that stayed
        new -= sign in " +"
        at += 1
    while at < len(lines) and lines[at].startswith("\\"):
        at += 1
    return at - begun
