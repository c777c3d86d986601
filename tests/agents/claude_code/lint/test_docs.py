"""docs/lint.md has every rule that there is, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_RULE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CALLS = {"error", "odd", "warn", "judged", "note", "BlockFlaw"}


def rules_of(tree: ast.Module) -> Iterator[str]:
    """Names of rules: the first text given to what notes them, or the first of a pair that is returned."""
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            values = node.args[:2] if name in _CALLS else []
        elif isinstance(node, ast.Tuple):
            values = [one for one in node.elts[:1] if isinstance(one, ast.Constant) and "-" in str(one.value)]
        yield from (
            value.value
            for value in values
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and _RULE.fullmatch(value.value)
        )


def test_every_rule_is_explained(repository: Path) -> None:
    folder = repository / "src/unspool/agents/claude_code/lint"
    known = {rule for path in folder.glob("*.py") for rule in rules_of(ast.parse(path.read_text("utf-8")))}
    text = (repository / "docs/lint.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    assert {rule for row in rows for rule in re.findall(r"`([^`]+)`", row)} == known
