"""What holds of every copy: sound by two independent judges, and what it keeps is what was there."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.messages_api import refusals
from bench.resumed_messages import rebuilt
from tests.copies.made_logs import VERSIONS, made
from tests.copies.making import TREATMENTS, copied, decoded, draught, faults, said
from tests.thorough import tries
from unspool.copies.treatment import Treatment
from unspool.copies.write import write_copy

steps = st.lists(st.integers(0, 8), max_size=14)
versions = st.sampled_from(VERSIONS)
treatments = st.sampled_from(sorted(TREATMENTS))
figures = st.builds(
    Treatment,
    keep_tool_turns=st.none() | st.integers(0, 6),
    truncate=st.integers(0, 100),
    strip_tools=st.integers(0, 100),
    strip_thinking=st.none() | st.integers(0, 100),
    mode=st.sampled_from(["remove", "truncate", "stub"]),
    truncate_lines=st.integers(1, 5),
    truncate_chars=st.integers(1, 200),
    drop_compacted=st.booleans(),
)


@settings(max_examples=tries(25, 300))
@given(versions, steps, treatments | figures)
def test_a_copy_is_sound(version: str, happened: list[int], treatment: str | Treatment) -> None:
    """Our validator has nothing to say, nor have the provider's own rules."""
    chosen = TREATMENTS[treatment] if isinstance(treatment, str) else treatment
    copy = copied(made(version, happened), chosen)
    assert faults(copy) == []
    assert refusals(rebuilt(copy)) == []


@settings(max_examples=tries(25, 300))
@given(versions, steps, figures)
def test_what_was_said_stays(version: str, happened: list[int], treatment: Treatment) -> None:
    """Whatever goes, prompts and answers are there, word for word and in order."""
    lines = made(version, happened)
    assert said(copied(lines, treatment)) == said(copied(lines))


@settings(max_examples=tries(25, 300))
@given(versions, steps)
def test_a_plain_copy_has_every_block(version: str, happened: list[int]) -> None:
    """Without a treatment the messages that are sent are those of the original."""
    lines = made(version, happened)
    everything = ("text", "thinking", "tool_use", "tool_result", "image")
    assert sorted(said(copied(lines), *everything)) == sorted(said(lines, *everything))


@settings(max_examples=tries(25, 300))
@given(versions, steps, treatments | figures)
def test_a_copy_of_a_copy_loses_no_more(version: str, happened: list[int], treatment: str | Treatment) -> None:
    chosen = TREATMENTS[treatment] if isinstance(treatment, str) else treatment
    once = copied(made(version, happened), chosen)
    assert rebuilt(copied(once, chosen)) == rebuilt(once)


@settings(max_examples=tries(25, 300))
@given(versions, steps, figures)
def test_the_figures_are_those_of_the_copy(version: str, happened: list[int], treatment: Treatment) -> None:
    """What was told is what a reader of the copy counts; tokens never grow."""
    lines = made(version, happened)
    planned = draught(lines, treatment)
    told = write_copy(planned, Path("copy.jsonl").absolute(), None, "/work", dry_run=True).after
    copy = list(planned.copy.chunks())
    read = draught(copy).before
    assert (told.calls, told.thinking, told.turns, told.tokens) == (read.calls, read.thinking, read.turns, read.tokens)
    assert told.bytes == sum(map(len, copy))
    assert told.tokens <= planned.before.tokens


@settings(max_examples=tries(25, 300))
@given(versions, steps)
def test_every_id_is_new(version: str, happened: list[int]) -> None:
    lines = made(version, happened)
    old = {line["uuid"] for line in decoded(lines) if "uuid" in line}
    for line in decoded(copied(lines)):
        origin = line.pop("forkedFrom", {"messageUuid": ""})["messageUuid"]
        line.pop("message", None)
        assert not [one for one in old if json.dumps(one) in json.dumps(line)]
        assert "uuid" not in line or origin in old


@pytest.mark.parametrize("name", sorted(TREATMENTS))
def test_the_chain_is_one_strand(name: str) -> None:
    """Every line but the first of a segment follows the one before it."""
    chain = [line for line in decoded(copied(made("2.1.230", range(9)), TREATMENTS[name])) if "uuid" in line]
    for before, line in pairwise(chain):
        assert line["parentUuid"] == before["uuid"] or line.get("subtype") == "compact_boundary"
