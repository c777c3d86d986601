"""Short text for one-line summaries: lines cut, counts, changes, file names and languages."""

from collections.abc import Iterable
from typing import Final

from unspool.tools.ansi import strip_ansi

LIMIT = 120


def short_line(text: str, limit: int = LIMIT) -> str:
    """The text on one line without control characters, cut at about `limit` characters."""
    text = text.lstrip()
    head = text[: limit * 8]
    folded = " ".join(strip_ansi(head).split())
    if len(folded) <= limit and len(head) == len(text):
        return folded
    return folded[: limit - 1].rstrip() + "…"


def first_line(text: str, limit: int = 80) -> str:
    """The first line that says something, without controls, cut to `limit` characters."""
    line = next((line for line in strip_ansi(text[:4_000]).splitlines() if line.strip()), "")
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def join_facts(words: Iterable[str]) -> str:
    """Short facts beside each other; empty ones are left out."""
    return " · ".join(word for word in words if word)


def count_lines(text: str) -> int:
    """How many lines the text has; a last one without its newline counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def changed_lines(added: int, removed: int) -> str:
    return f"+{added:,} −{removed:,}"


_LANGUAGES: Final = {
    "bash": "bash sh zsh bashrc",
    "c": "c h",
    "clojure": "clj cljs",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "css": "css",
    "dart": "dart",
    "diff": "diff patch",
    "dockerfile": "dockerfile",
    "elixir": "ex exs",
    "erlang": "erl",
    "go": "go",
    "graphql": "gql graphql",
    "haskell": "hs",
    "html": "html htm xhtml",
    "ini": "cfg conf ini toml",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "json": "json jsonl ipynb",
    "kotlin": "kt kts",
    "latex": "tex",
    "less": "less",
    "lua": "lua",
    "makefile": "makefile mk",
    "markdown": "md markdown mdx",
    "objectivec": "m mm",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1 psm1",
    "python": "py pyi",
    "r": "r",
    "ruby": "rb gemfile rakefile",
    "rust": "rs",
    "scala": "scala",
    "scss": "scss sass",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "typescript": "ts tsx mts cts",
    "vue": "vue",
    "xml": "xml svg plist xsd",
    "yaml": "yaml yml",
    "zig": "zig",
}
_BY_ENDING: Final = {ending: file_name for file_name, endings in _LANGUAGES.items() for ending in endings.split()}


def file_name(path: str) -> str:
    """The last part of a path, of either kind."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def language(path: str) -> str:
    """The language of a file by its ending or its name; empty where it tells nothing."""
    return _BY_ENDING.get(file_name(path).rpartition(".")[2].lower(), "")


def shorten_path(path: str, cwd: str) -> str:
    """The path as seen from `cwd`; as it is where it lies elsewhere."""
    base = cwd.rstrip("/\\")
    if not base:
        return path
    if path.rstrip("/\\") == base:
        return "."
    inside = path.startswith(base) and path[len(base)] in "/\\"
    return path[len(base) + 1 :].lstrip("/\\") or "." if inside else path
