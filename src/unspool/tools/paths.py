"""File names: shortened for a reader who knows the folder, and the language their ending tells of."""

from typing import Final

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
_BY_ENDING: Final = {ending: name for name, endings in _LANGUAGES.items() for ending in endings.split()}


def name(path: str) -> str:
    """The last part of a path, of either kind."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def language(path: str) -> str:
    """The language of a file by its ending or its name; empty where it tells nothing."""
    return _BY_ENDING.get(name(path).rpartition(".")[2].lower(), "")


def shorten(path: str, cwd: str) -> str:
    """The path as seen from `cwd`; as it is where it lies elsewhere."""
    base = cwd.rstrip("/\\")
    if not base:
        return path
    if path.rstrip("/\\") == base:
        return "."
    inside = path.startswith(base) and path[len(base)] in "/\\"
    return path[len(base) + 1 :].lstrip("/\\") or "." if inside else path
