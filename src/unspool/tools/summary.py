"""Short text for one-line summaries: lines cut, counts, changes, file names and languages."""

from typing import Final

from unspool.tools.ansi import strip_ansi

LIMIT = 120


def short_line(text: str, limit: int = LIMIT) -> str:
    """The text on one line without control characters, cut at about `limit` characters."""
    if len(text) <= limit and text.isprintable():
        return " ".join(text.split())
    text = text.lstrip()
    head = text[: limit * 8]
    folded = " ".join(strip_ansi(head).split())
    if len(folded) <= limit and len(head) == len(text):
        return folded
    return folded[: limit - 1].rstrip() + "…"


def first_line(text: str, limit: int = 80) -> str:
    """The first line that says something, without controls, cut to `limit` characters."""
    if len(text) <= limit and text.isprintable():
        return " ".join(text.split())
    first = strip_ansi(text[:4_000]).lstrip().partition("\n")[0]
    line = " ".join(first.splitlines()[0].split()) if first else ""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def join_facts(*words: str) -> str:
    """Short facts beside each other; empty ones are left out."""
    return " · ".join(filter(None, words))


def count_lines(text: str) -> int:
    """How many lines the text has; a last one without its newline counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def changed_lines(added: int, removed: int) -> str:
    return f"+{added:,} −{removed:,}"


_NAMED_BY_ENDING = "css dart dockerfile go java less lua php r scala sql svelte swift vue zig"
"""Languages whose files end with the name of the language."""
_LANGUAGES: Final = {
    "bash": "bash sh zsh bashrc",
    "c": "c h",
    "clojure": "clj cljs",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "diff": "diff patch",
    "elixir": "ex exs",
    "erlang": "erl",
    "graphql": "gql graphql",
    "haskell": "hs",
    "html": "html htm xhtml",
    "ini": "cfg conf ini toml",
    "javascript": "js jsx mjs cjs",
    "json": "json jsonl ipynb",
    "kotlin": "kt kts",
    "latex": "tex",
    "makefile": "makefile mk",
    "markdown": "md markdown mdx",
    "objectivec": "m mm",
    "perl": "pl pm",
    "powershell": "ps1 psm1",
    "python": "py pyi",
    "ruby": "rb gemfile rakefile",
    "rust": "rs",
    "scss": "scss sass",
    "typescript": "ts tsx mts cts",
    "xml": "xml svg plist xsd",
    "yaml": "yaml yml",
}
_BY_ENDING: Final = {
    **{ending: ending for ending in _NAMED_BY_ENDING.split()},
    **{ending: language for language, endings in _LANGUAGES.items() for ending in endings.split()},
}


def language(path: str) -> str:
    """The language of a file by its ending or its name; empty where it tells nothing."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return _BY_ENDING.get(name.rpartition(".")[2].lower(), "")


def shorten_path(path: str, cwd: str) -> str:
    """The path as seen from `cwd`; as it is where it lies elsewhere."""
    base = cwd.rstrip("/\\")
    if not base:
        return path
    if path.rstrip("/\\") == base:
        return "."
    inside = path.startswith(base) and path[len(base)] in "/\\"
    return path[len(base) + 1 :].lstrip("/\\") or "." if inside else path
