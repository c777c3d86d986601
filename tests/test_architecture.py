"""The shape of the code, held by a test: budgets, words in their places, light imports, pins that fit.

An exception to a budget is a named line in EXCEPTIONS, with its reason.
"""

import ast
import functools
import importlib
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from unspool.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "unspool"
MODULES = sorted(PACKAGE.rglob("*.py"))
PYTHON = [*MODULES, *sorted((ROOT / "bench").rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]

FILE_LINES = 400
MEDIAN_LINES = 250
FUNCTION_LINES = 60
PARAMETERS = 6
OWN_IMPORTS = 30
TEMPLATE_COLUMNS = 160

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""(budget, "path" or "path:function") -> why it may be broken there."""

HEAVY = {
    "asyncio",
    "concurrent",
    "http",
    "jsonschema",
    "multiprocessing",
    "rich",
    "sqlite3",
    "urllib.request",
    "zstandard",
}

MARKUP = re.compile(r"(?<!\?P)<(?:/?[a-zA-Z]|!--)")
"""A tag or a comment, or the beginning of one."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def walked(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All that is in a tree, gone through once for all who ask."""
    return tuple(ast.walk(tree))


def functions(tree: ast.Module) -> Iterator[Function]:
    return (node for node in walked(tree) if isinstance(node, Function))


def part_of(path: Path) -> str:
    """The top-level module or package of unspool that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def over(budget: str, found: Iterator[tuple[str, int]], most: int) -> list[str]:
    return [
        f"{where}: {count} > {most}" for where, count in found if count > most and (budget, where) not in EXCEPTIONS
    ]


def docstrings(tree: ast.Module) -> set[int]:
    """Strings that stand alone as statements: docstrings of modules, classes, functions and attributes."""
    alone = (node.value for node in walked(tree) if isinstance(node, ast.Expr))
    return {id(value) for value in alone if isinstance(value, ast.Constant)}


def exported(tree: ast.Module) -> set[int]:
    """Strings of `__all__`, which are identifiers."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return {id(inner) for inner in ast.walk(node.value)}
    return set()


def help_texts(tree: ast.Module) -> set[int]:
    """Strings that a command line shows as help."""
    shown = (node.value for node in walked(tree) if isinstance(node, ast.keyword) and node.arg in {"help", "epilog"})
    return {id(inner) for value in shown for inner in ast.walk(value)}


def literals(tree: ast.AST, skipped: set[int]) -> Iterator[tuple[int, str]]:
    """Every string of the code itself, with its line."""
    for node in walked(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def identifiers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name that is bound or imported, with its line."""
    for node in walked(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.alias(name=name):
                yield node.lineno, name
            case ast.ImportFrom(module=str(name)):
                yield node.lineno, name


# --- size -------------------------------------------------------------------------------------------


def test_there_is_code_to_look_at() -> None:
    """The budgets would hold for an empty package too, so the package must have been found."""
    assert PACKAGE / "model" / "__init__.py" in MODULES


def test_no_file_is_too_long() -> None:
    """No file has more lines than a reader takes in; half of them are short."""
    lengths = [(name_of(path), len(path.read_text("utf-8").splitlines())) for path in PYTHON]
    assert over("file", iter(lengths), FILE_LINES) == []
    assert statistics.median(length for name, length in lengths if name.startswith("src/")) <= MEDIAN_LINES


def test_no_function_is_too_long() -> None:
    """No function, its docstring included, is longer than a screen."""
    lengths = (
        (f"{name_of(path)}:{function.name}", (function.end_lineno or 0) - function.lineno + 1)
        for path in PYTHON
        for function in functions(tree_of(path))
    )
    assert over("function", lengths, FUNCTION_LINES) == []


def test_no_line_of_a_template_is_too_long() -> None:
    """A line of a template is read without scrolling sideways."""
    widths = (
        (f"{name_of(path)}:{number}", len(line))
        for path in sorted(PACKAGE.rglob("*.html"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    )
    assert over("columns", widths, TEMPLATE_COLUMNS) == []


def test_no_function_takes_too_many_parameters() -> None:
    """More than a handful of parameters is a value that has no name yet."""
    counts = (
        (f"{name_of(path)}:{function.name}", parameters(function))
        for path in MODULES
        for function in functions(tree_of(path))
        if not function.decorator_list or part_of(path) != "cli"
    )
    assert over("parameters", counts, PARAMETERS) == []


def parameters(function: Function) -> int:
    """Parameters a caller gives; self and cls are not given."""
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([one for one in every if one.arg not in {"self", "cls"}])


def test_no_module_leans_on_too_many_others() -> None:
    """A module that imports thirty of ours is doing several jobs; the command line, which joins them, may."""
    counts = ((name_of(path), own_imports(tree_of(path))) for path in MODULES if part_of(path) != "cli")
    assert over("imports", counts, OWN_IMPORTS) == []


def own_imports(tree: ast.Module) -> int:
    named = {node.module or "" for node in walked(tree) if isinstance(node, ast.ImportFrom)}
    return len([name for name in named if name.split(".")[0] == "unspool"])


# --- words and rules --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_every_module_says_what_it_is(path: Path) -> None:
    """A module begins with a docstring."""
    assert ast.get_docstring(tree_of(path)), "no module docstring"


def test_no_two_public_classes_have_one_name() -> None:
    """Whoever reads the name of a class knows which one is meant."""
    named = Counter(
        node.name
        for path in MODULES
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, number in named.items() if number > 1] == []


def test_nothing_is_caught_blindly() -> None:
    """The package has no bare `except:`, no `except Exception` and no `except BaseException`."""
    blind = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        for node in walked(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and catches_all(node.type)
    ]
    assert blind == []


def catches_all(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = (node.id for node in ast.walk(caught) if isinstance(node, ast.Name))
    return not {"Exception", "BaseException"}.isdisjoint(names)


AGENT_IDS = re.compile(r"claude|codex", re.IGNORECASE)
MODEL_NAMES = re.compile(r"claude-[a-z0-9]", re.IGNORECASE)


def test_no_agent_is_named_outside_its_format() -> None:
    """Agents' ids stand in agents, in the demo and in help texts; names of models and of tools are something else."""
    tools = tool_names()
    found = [
        f"{name_of(path)}:{line}: {text[:60]!r}"
        for path in MODULES
        if part_of(path) not in {"agents", "demo"}
        for line, text in agent_words(path)
        if AGENT_IDS.search(text) and not (part_of(path) == "tools" and text in tools)
    ]
    assert found == []


def agent_words(path: Path) -> Iterator[tuple[int, str]]:
    tree = tree_of(path)
    skipped = docstrings(tree) | (help_texts(tree) if part_of(path) == "cli" else set())
    for line, text in literals(tree, skipped):
        yield line, MODEL_NAMES.sub("", text) if part_of(path) == "prices" else text
    yield from identifiers(tree)


def called_in(name: str) -> set[str]:
    """The files of the source that call a function or method of that name."""
    return {
        name_of(path).removeprefix("src/unspool/")
        for path in MODULES
        for node in walked(tree_of(path))
        if isinstance(node, ast.Call) and name in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
    }


def test_a_log_is_read_in_one_place() -> None:
    """An agent's parser and the loop over the lines of a log are made by `CodingAgent.events` alone."""
    assert called_in("parser") == called_in("LogEvents") == {"agents/base.py"}
    assert called_in("ClaudeParser") == {"agents/claude_code/__init__.py"}


def test_what_a_turn_is_is_decided_in_one_place() -> None:
    assert called_in("number_turns") == {"reading/draft.py", "reading/skeleton.py"}
    assert called_in("BranchMap") == {"reading/draft.py", "reading/skeleton.py"}


def test_no_tool_is_named_outside_tools_and_agents() -> None:
    """Whatever else needs to know what a tool does asks for its role, not for its name."""
    names = tool_names()
    found = [
        f"{name_of(path)}:{line}: {text!r}"
        for path in MODULES
        if part_of(path) not in {"tools", "agents", "demo"}
        for line, text in literals(tree_of(path), docstrings(tree_of(path)) | exported(tree_of(path)))
        if text in names
    ]
    assert found == []


def tool_names() -> set[str]:
    """The whole names that renderers are listed under; a star stands for many names."""
    return {name for tool in TOOLS for name in tool.NAMES if not name.endswith("*")}


def test_pages_make_no_markup_themselves() -> None:
    """What a page is made of comes from the HTML writer and the templates, which alone make text safe."""
    found = [
        f"{name_of(path)}:{line}: {text!r}"
        for path in MODULES
        if part_of(path) == "site"
        for line, text in literals(tree_of(path), docstrings(tree_of(path)))
        if MARKUP.search(text)
    ]
    assert found == []


def test_markup_is_known_when_it_is_seen() -> None:
    """Tags are, whole or begun; named groups of patterns and comparisons are not."""
    assert all(map(MARKUP.search, ["<p>", "</a>", '<div class="', "<!-- ", "a <b> c", "<h"]))
    assert not any(map(MARKUP.search, ["(?P<host>.*)", "1 < 2", "<[^>]*>", "a<", "->"]))


def test_every_renderer_is_listed() -> None:
    """A module of tools/ that names tools is in TOOLS: nothing is found by scanning folders."""
    stems = [path.stem for path in (PACKAGE / "tools").glob("*.py") if path.stem != "__init__"]
    modules = [importlib.import_module(f"unspool.tools.{stem}") for stem in stems]
    naming = {module.__name__ for module in modules if getattr(module, "NAMES", ())}
    assert naming == {module.__name__ for module in modules if module in TOOLS}
    assert len(naming) == len(TOOLS)


# --- light imports ----------------------------------------------------------------------------------


def imported_by(code: str) -> set[str]:
    """The modules in memory after `code` ran in a fresh Python, however it ended."""
    script = f"import sys\ntry:\n    {code}\nfinally:\n    print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def heavy(modules: set[str]) -> set[str]:
    return {name for name in modules if name in HEAVY or name.split(".")[0] in HEAVY}


def test_importing_the_package_is_light() -> None:
    """`import unspool` loads no heavy library and no command line."""
    modules = imported_by("import unspool")
    assert heavy(modules) | ({"click"} & modules) == set()


def test_help_is_light() -> None:
    """`unspool --help` loads only what it prints."""
    modules = imported_by("sys.argv = ['unspool', '--help']; import unspool.cli; unspool.cli.main()")
    assert heavy(modules) == set()


# --- pins -------------------------------------------------------------------------------------------

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WANTED = {"run": PROJECT["project"]["dependencies"], **PROJECT["dependency-groups"]}


@pytest.mark.parametrize("layer", WANTED)
def test_pins_fit_what_is_asked_for(layer: str) -> None:
    """Each dependency of pyproject.toml is pinned to a version that fits; if not, run scripts/lock."""
    text = (ROOT / "requirements" / f"{layer}.txt").read_text("utf-8")
    pins = {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}
    wanted = [Requirement(line) for line in WANTED[layer]]
    misfits = [str(one) for one in wanted if not one.specifier.contains(pins.get(canonicalize_name(one.name), "0"))]
    assert misfits == []


@pytest.mark.parametrize("layer", [*WANTED, "uv"])
def test_pins_name_no_address(layer: str) -> None:
    """Packages are named by name, version and digest; where they come from is the machine's business."""
    text = (ROOT / "requirements" / f"{layer}.txt").read_text("utf-8")
    assert "--hash=sha256:" in text
    assert re.findall(r"\w+://\S*|--(?:extra-)?index-url|--find-links", text) == []
