"""Whatever is left out, what remains resumes, and holds nothing of what was left out."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.copies.made_logs import VERSIONS, made
from tests.copies.making import SESSION, faults
from tests.log_builder.builder import LogBuilder
from unspool.copies.fork import Move
from unspool.copies.original import open_source
from unspool.redact.rules import builtin_rules
from unspool.share.choices import ShareChoices, ShareSettings, finding_id, load_choices, save_choices
from unspool.share.prepare import prepare_shares
from unspool.share.publish import write_bundle
from unspool.store.library import Library
from unspool.store.library.bundle import receive_logs

TRIES = 8


def chosen(random_: random.Random) -> ShareChoices:
    thinking, tools, images, subagents = (random_.random() < 0.5 for _ in range(4))
    without = ((1, 1),) if random_.random() < 0.4 else ()
    return ShareChoices(without, thinking, tools, images, subagents)


def blocks(lines: list[bytes]) -> list[dict[str, Any]]:
    """Every block of every message, those inside answers too."""
    found: list[dict[str, Any]] = []
    for line in lines:
        content = json.loads(line).get("message", {}).get("content")
        outer = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        found += outer
        for block in outer:
            inner = block.get("content")
            found += [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_left_resumes_and_holds_nothing_of_the_rest(tmp_path: Path, version: str) -> None:
    random_, hidden = random.Random(version), 0
    for number in range(TRIES):
        log = tmp_path / f"{number}" / "projects" / "-srv-harbour" / f"{SESSION}.jsonl"
        log.parent.mkdir(parents=True)
        log.write_bytes(b"".join(made(version, [random_.randrange(12) for _ in range(8)])))
        choices = chosen(random_)
        ask = ShareSettings(lambda _, choices=choices: choices, builtin_rules(), environment={})  # type: ignore[misc]
        with prepare_shares(Library((log.parents[1],)), [str(log)], ask) as share:
            lines = share.main.log.read_bytes().splitlines(keepends=True)
            bundle = write_bundle(share, tmp_path / f"{number}.tar.gz")
        hidden += _nothing_of(lines, choices)
        with receive_logs(str(bundle)) as (first, *_), open_source(Library(()), str(first)) as source:
            draught = Move(tmp_path / "tool", tmp_path / "home").drawn(source.log, "", "import")
            assert faults(draught.copy.chunks()) == [], (version, number, choices)

    assert hidden


def _nothing_of(lines: list[bytes], choices: ShareChoices) -> int:
    """How many answers are hidden; all, where answers are left out."""
    held = blocks(lines)
    kinds = {block["type"] for block in held}
    assert choices.thinking or not kinds & {"thinking", "redacted_thinking"}
    assert choices.images or not kinds & {"image", "document"}
    answers = [block["content"] for block in held if block["type"] == "tool_result"]
    if choices.tools:
        return 0
    assert all(answer == [{"type": "text", "text": "[left out]"}] for answer in answers)
    assert not any("toolUseResult" in json.loads(line) for line in lines)
    return len(answers)


def test_choices_of_a_project_are_its_own_and_turns_are_nobodys(home: Path) -> None:
    save_choices("/srv/a", ShareChoices(((1, 2),), thinking=False, terms=("Acme",), keep=frozenset({"email"})))
    assert load_choices("/srv/a") == ShareChoices((), thinking=False, terms=("Acme",), keep=frozenset({"email"}))
    assert load_choices("/srv/b") == ShareChoices()
    (kept,) = (path for path in home.rglob("shares/*.json"))
    assert "srv" not in kept.name
    kept.write_bytes(b'{"thinking": 7}')
    assert load_choices("/srv/a") == ShareChoices()


def test_a_finding_is_named_by_rule_and_value() -> None:
    assert finding_id("email", "a@b.example") == finding_id("email", "a@b.example")
    assert len({finding_id(rule, value) for rule in ("email", "home") for value in ("x", "y")}) == 4


@pytest.mark.parametrize("choices", [ShareChoices(without=((2, 2),)), ShareChoices(tools=False)], ids=["turn", "tools"])
def test_lines_nobody_understands_go_where_something_is_left_out(tmp_path: Path, choices: ShareChoices) -> None:
    """They may tell of what was left out."""
    log = LogBuilder()
    log.prompt("One?").assistant(log.text("One.")).put({"type": "of-tomorrow", "said": "the hidden word"})
    path = log.prompt("Two?").ran("ls", "a").prompt("Three?").assistant(log.text("Three.")).write(tmp_path)
    for asked, told in ((ShareChoices(), True), (choices, False)):
        ask = ShareSettings(lambda _, asked=asked: asked, builtin_rules(), environment={})  # type: ignore[misc]
        with prepare_shares(Library((tmp_path,)), [str(path)], ask) as share:
            assert (b"the hidden word" in share.main.log.read_bytes()) == told
