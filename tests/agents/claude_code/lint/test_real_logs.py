"""The validator on real logs: what it calls an error is one."""

from pathlib import Path

from unspool.agents.claude_code.lint import lint
from unspool.agents.writing import errors

REAL = {
    "a2b25ca9-1cbb-41d7-a3b1-89c66f8697f9": "glued-lines",  # two lines of an interrupted write
    "0a93878f-dc30-4a5d-882f-3cd81cd3d499": "missing-parent",  # a slice of a log: 143 lines hang apart
    "ff71dbed-a4f2-4284-a4fc-fe2fb90de929": "no-chain",  # nothing but checkpoints
    "medium-conversation": "no-chain",  # the same
}


def test_real_logs_are_sound_but_for_those_known_not_to_be(shared: Path) -> None:
    found = {}
    for path in sorted((shared / "corpora" / "claude").rglob("*.jsonl")):
        with path.open("rb") as lines:
            wrong = errors(lint(lines, strict=False))
        if wrong:
            found[path.stem] = ", ".join(one.rule for one in wrong)
    assert found == REAL
