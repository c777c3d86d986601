"""What would keep unspool from starting on Windows, as far as that shows elsewhere."""

import ast
from pathlib import Path

import unspool

PACKAGE = Path(unspool.__file__).parent
FILES = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_NAMES = frozenset((
    "O_NOFOLLOW", "O_NONBLOCK", "SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "chown", "fork", "geteuid", "getuid",
    "killpg", "mkfifo", "setitimer", "setsid", "sysconf", "tzset", "uname",
))  # fmt: skip
"""Attributes of `os`, `signal` and `time` that Windows does not have."""
GUARDS = ("hasattr", "getattr", "sys.platform", "os.name", "AttributeError")
"""What says that a system may not have them."""


def imported(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Import):
        return {one.name.partition(".")[0] for one in node.names}
    return {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def test_no_module_needs_one_that_windows_does_not_have() -> None:
    """What only POSIX has is imported where the system was asked for, or in a function."""
    found = {
        name: needed
        for name, text in FILES.items()
        if (needed := POSIX_MODULES & set().union(*map(imported, ast.parse(text).body)))
    }
    assert found == {}


def test_what_only_posix_has_is_asked_for_before_it_is_used() -> None:
    """A function that uses it says what it does where it is not there."""
    bare = []
    for name, text in FILES.items():
        for function in ast.walk(ast.parse(text)) if any(one in text for one in POSIX_NAMES) else ():
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                used = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
                source = ast.get_source_segment(text, function) or ""
                if POSIX_NAMES & used and not any(guard in source for guard in GUARDS):
                    bare.append(f"{name}: {function.name}")
    assert bare == []


def test_files_are_opened_with_an_encoding() -> None:
    """Windows' own is another one."""
    needed = {"read_text": 1, "write_text": 2}
    bare = [
        f"{name}:{node.lineno}"
        for name, text in FILES.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords
        if len(node.args) < needed.get(node.func.attr, 0)
    ]
    assert bare == []
