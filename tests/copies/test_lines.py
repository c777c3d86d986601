"""Which lines a copy has, and what becomes of each kind of content."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.messages_api import refusals
from bench.resumed_messages import rebuilt
from tests.copies.making import NONE, TREATMENTS, copied, decoded, draught, faults, original, said
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import encode_line
from tests.log_builder.prompts import make_png
from unspool.agents import ClaudeCode
from unspool.copies.copy_plan import CopyRequest
from unspool.copies.treatment import Treatment

BARE = TREATMENTS["extreme"]
STRIPPED = Treatment(strip_tools=100, strip_thinking=0)
BOUND, FREE = "claude-opus-5-5", "claude-opus-4-8"


def raw(log: LogBuilder) -> list[bytes]:
    return [line if isinstance(line, bytes) else encode_line(line) for line in log.lines]


def sound(log: LogBuilder, treatment: Treatment = NONE) -> list[bytes]:
    """The copy, held to both judges."""
    copy = copied(raw(log), treatment)
    assert faults(copy) == []
    assert refusals(rebuilt(copy)) == []
    return copy


def of_type(lines: list[bytes], kind: str) -> list[dict[str, Any]]:
    return [line for line in decoded(lines) if line.get("type") == kind]


def blocks(lines: list[bytes], kind: str) -> list[dict[str, Any]]:
    return [json.loads(block) for _, block in said(lines, kind)]


def talk(**options: Any) -> LogBuilder:
    log = LogBuilder(**options)
    return log.prompt("Begin.").assistant(log.text("Begun."))


@pytest.mark.parametrize(
    "kind",
    ["atis-latch", "bridge-session", "continued-in", "cost-state", "fork-context-ref", "isolation-latch",
     "queue-operation", "relocated", "worktree-state", "last-prompt"],
)  # fmt: skip
def test_lines_that_tie_a_session_to_its_own_life_are_left_out(kind: str) -> None:
    log = talk().side(kind, what="x")
    assert of_type(sound(log), kind) == []


def test_lines_nobody_has_met_are_carried_with_their_references() -> None:
    log = talk()
    log.side("novelty", about=log.last, deep={"list": [log.last, "kept", 7, None, 1.5]}, text="as it was")
    copy = sound(log)
    (line,) = of_type(copy, "novelty")
    new = decoded(copy)[1]["uuid"]
    assert (line["about"], line["deep"]["list"], line["text"]) == (new, [new, "kept", 7, None, 1.5], "as it was")
    assert line["sessionId"] == decoded(copy)[1]["sessionId"] != log.session_id


@pytest.mark.parametrize("followed", [True, False])
def test_a_line_of_a_type_of_tomorrow_keeps_its_place_under_new_ids(followed: bool) -> None:
    log = talk()
    said = log.last
    log.put({"type": "of-tomorrow", "data": {"x": [1, None], "about": said}})
    log.rewind(log.last if followed else said).prompt("Go on.").assistant(log.text("On."))
    for treatment in (NONE, BARE):
        copy = copied(raw(log), treatment)
        assert faults(copy) == []
        lines = decoded(copy)
        (line,) = of_type(copy, "of-tomorrow")
        before, after = lines[lines.index(line) - 1], lines[lines.index(line) + 1]
        assert line["parentUuid"] == before["uuid"]
        assert after["parentUuid"] == (line if followed else before)["uuid"]
        assert line["data"] == {"x": [1, None], "about": before["uuid"]}
        assert line["uuid"] not in {one["uuid"] for one in decoded(raw(log))}
        assert line["sessionId"] == lines[0]["sessionId"] != log.session_id


def test_lines_of_a_type_of_tomorrow_that_follow_none_are_not_lost() -> None:
    log = LogBuilder().put({"type": "of-tomorrow"}).rewind(None)
    log.prompt("Begin.").assistant(log.text("Begun."))
    said = log.last
    log.rewind(None).put({"type": "of-tomorrow"}).rewind(said).prompt("Go on.").assistant(log.text("On."))
    copy = sound(log)
    spoken = [line["uuid"] for line in decoded(copy) if "message" in line]
    assert [line["parentUuid"] for line in of_type(copy, "of-tomorrow")] == spoken[:2]


def test_a_summary_comes_only_with_the_line_it_is_of() -> None:
    log = talk()
    log.summary("Of another.", "0a0b0c0d-1111-4222-8333-444455556666").summary("Of this.", log.last or "")
    copy = sound(log)
    (line,) = of_type(copy, "summary")
    assert line["summary"] == "Of this."
    assert line["leafUuid"] in {one.get("uuid") for one in decoded(copy)}


@pytest.mark.parametrize("number", [b"1e999", b"-0.5E+400", b"9" * 400, b"-" + b"9" * 4000])
@pytest.mark.parametrize("name", ["none", "truncate"])
def test_a_number_that_no_float_holds_is_no_obstacle(number: bytes, name: str) -> None:
    log = talk()
    use = log.use("Count", so="@", far="as" * 99)
    log.assistant(use, cost="@").result(use, "1" * 999, {"took": "@"}).prompt("On.", cost="@").assistant(
        log.text("On.")
    )
    lines = [line.replace(b'"@"', number) for line in raw(log)]
    for wish in (None, CopyRequest(paths=((log.cwd, "/elsewhere"),))):
        copy = copied(lines, TREATMENTS[name], wish)
        assert faults(copy) == []
        assert len(of_type(copy, "user")) == 3


def test_replaced_contents_are_carried() -> None:
    log = talk().side(
        "content-replacement", replacements=[{"kind": "tool-result", "toolUseId": "toolu_1", "replacement": "x"}]
    )
    (line,) = of_type(sound(log), "content-replacement")
    assert line["replacements"][0]["toolUseId"] == "toolu_1"


def test_a_prompt_beside_a_removed_result_is_not_lost() -> None:
    """It hangs from the result of a call in some logs; the person said it all the same."""
    log = talk()
    use = log.use("Bash", command="ls")
    log.prompt("Look.").assistant(use).result(use, "a\nb")
    result = log.last
    log.attachment("queued_command", prompt="And hurry.", commandMode="prompt")
    log.rewind(result).assistant(log.text("Two files."))
    for treatment in (NONE, BARE):
        assert [line["attachment"]["prompt"] for line in of_type(sound(log, treatment), "attachment")] == ["And hurry."]


def test_subagents_inside_the_log_come_along_unless_dropped() -> None:
    log = talk(version="1.0.60")
    use = log.agent_use("Explore", "Look", "Look.")
    log.assistant(use).subagent(use, "Explore", "Look", lambda child: child.assistant(child.text("Seen.")))
    log.assistant(log.text("It looked."))
    kept = [line for line in decoded(sound(log)) if line.get("isSidechain")]
    assert [line["message"]["role"] for line in kept] == ["user", "assistant"]
    assert kept[1]["parentUuid"] == kept[0]["uuid"]
    assert not [line for line in decoded(sound(log, Treatment(drop_side=True))) if line.get("isSidechain")]
    assert said(sound(log)) == said(sound(log, Treatment(drop_side=True)))


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_compaction_let_stay_stays(kept: bool) -> None:
    """Lines before it that the agent still loads; also where the rest of its history is left out."""
    log = talk()
    use = log.use("Bash", command="ls")
    log.prompt("Look.").assistant(use)
    first = log.last or ""
    log.result(use, "a\nb").assistant(log.text("Two files."))
    stayed = [first, *[line["uuid"] for line in log.lines[-2:] if isinstance(line, dict)]]
    log.compact("auto", "They looked.", keep=stayed if kept else ()).prompt("Go on.").assistant(log.text("On."))
    for treatment in (NONE, BARE, Treatment(drop_compacted=True), TREATMENTS["bare"]):
        words = [json.loads(block)["text"] for _, block in said(sound(log, treatment))]
        assert ("Two files." in words) == kept
        assert "Begun." not in words


@pytest.mark.parametrize(("model", "left"), [(BOUND, 1), (FREE, 2)])
def test_bound_reasoning_goes_behind_the_first_change(model: str, left: int) -> None:
    log = LogBuilder(model=model)
    log.prompt("One.").assistant(log.think(), log.text("First."))
    log.ran("ls", "a\n" * 100)
    log.prompt("Two.").assistant(log.think(), log.text("Second."))
    assert len(blocks(sound(log), "thinking")) == 2
    assert len(blocks(sound(log, STRIPPED), "thinking")) == left


def test_reasoning_stays_whole_or_goes_whole() -> None:
    log = LogBuilder(model=FREE)
    for number in range(4):
        log.prompt(f"{number}?").assistant(log.think("Hm. " * 50), log.redacted(), log.text(f"{number}."))
    before = blocks(raw(log), "thinking")
    assert blocks(sound(log, Treatment(strip_thinking=50)), "thinking") == before[2:]
    assert blocks(sound(log, Treatment(strip_thinking=100)), "redacted_thinking") == []


@pytest.mark.parametrize("mode", ["remove", "truncate", "stub"])
def test_answers_that_made_tools_known_stay(mode: Any) -> None:
    log = talk()
    use = log.use("ToolSearch", query="x")
    log.assistant(use).result(use, [{"type": "tool_reference", "tool_name": "mcp__sea__tides"}])
    log.assistant(log.text("Found."))
    copy = sound(log, Treatment(strip_tools=100, mode=mode))
    assert blocks(copy, "tool_result")[0]["content"] == [{"type": "tool_reference", "tool_name": "mcp__sea__tides"}]


@pytest.mark.parametrize("mode", ["remove", "truncate", "stub"])
def test_tools_of_the_provider_go_with_their_answers(mode: Any) -> None:
    log = talk()
    use = log.server_use("web_search", query="tides " * 100)
    found = {"type": "web_search_tool_result", "tool_use_id": use["id"], "content": [{"type": "web_search_result"}]}
    log.prompt("Search.").assistant(use, found, log.text("Found."))
    copy = sound(log, Treatment(strip_tools=100, mode=mode))
    kept = (len(blocks(copy, "server_tool_use")), len(blocks(copy, "web_search_tool_result")))
    assert kept == ((0, 0) if mode == "remove" else (1, 1))
    if mode != "remove":
        assert blocks(copy, "server_tool_use") == [use]


@pytest.mark.parametrize("mode", ["truncate", "stub"])
def test_pictures_in_answers(mode: Any) -> None:
    log = talk()
    picture = log.image(make_png(2, 2, b"\0\0\0\0"))
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    use = log.use("Read", file_path="a.png")
    log.prompt("Look.", images=[make_png(2, 2, b"\0\0\0\0")]).assistant(use)
    log.result(use, [log.text("x" * 500), picture, document], {"type": "image", "file": {"base64": "AAAA"}})
    log.assistant(log.text("Seen."))
    kinds = [
        block["type"]
        for block in blocks(sound(log, Treatment(strip_tools=100, mode=mode)), "tool_result")[0]["content"]
    ]
    assert kinds == (["text", "image", "document"] if mode == "truncate" else ["text"])
    dropped = sound(log, Treatment(drop_images=True))
    assert b"base64" not in b"".join(dropped)
    assert [block["type"] for block in blocks(dropped, "tool_result")[0]["content"]] == ["text", "text", "text"]


@pytest.mark.parametrize("mode", ["truncate", "stub"])
def test_the_structured_twin_goes_where_its_block_changed(mode: Any) -> None:
    log = talk()
    log.ran("cat a", "row\n" * 500).ran("true", "ok")
    log.assistant(log.text("Done."))
    users = [
        line for line in of_type(sound(log, Treatment(strip_tools=100, mode=mode)), "user") if "toolUseResult" in line
    ]
    assert [line["toolUseResult"]["stdout"] for line in users] == ["ok"]


@pytest.mark.parametrize("mode", ["truncate", "stub"])
def test_shortening_twice_is_shortening_once(mode: Any) -> None:
    log = talk()
    log.ran("cat a", "row\n" * 500).ran("cat b", "x" * 500).ran("cat c", "...\n" * 3).ran("cat d", "ü" * 119 + "\n\n\n")
    log.assistant(log.text("Done."))
    treatment = Treatment(strip_tools=100, mode=mode)
    once = sound(log, treatment)
    assert rebuilt(copied(once, treatment)) == rebuilt(once)
    narrower = Treatment(strip_tools=100, mode="truncate", truncate_chars=40)
    assert rebuilt(copied(copied(once, narrower), narrower)) == rebuilt(copied(once, narrower))


def test_a_call_or_result_that_stands_twice_stays_once() -> None:
    log = talk()
    use = log.use("Bash", command="ls")
    log.assistant_whole(use, use)
    answer = {"type": "tool_result", "tool_use_id": use["id"], "content": "a"}
    log.user([answer, dict(answer)]).assistant(log.text("Done."))
    copy = sound(log)
    assert (len(blocks(copy, "tool_use")), len(blocks(copy, "tool_result"))) == (1, 1)


def test_a_line_of_many_megabytes() -> None:
    log = talk().ran("cat", "x" * 20_000_000)
    log.assistant(log.text("Long."))
    assert len(b"".join(sound(log))) > 20_000_000
    assert len(b"".join(sound(log, BARE))) < 5_000


def test_the_way_back_over_a_subagents_log(tmp_path: Path) -> None:
    """The live path's parents lie in a subagent's file: what was said before is still there."""
    from unspool.agents import AGENTS
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.original import read_original

    log = LogBuilder()
    log.prompt("Left behind.").assistant(log.text("Gone."))
    log.rewind(None).prompt("Begin.").assistant(log.text("Begun."))
    use = log.agent_use("Explore", "Look", "Look.")
    log.assistant(use)
    log.subagent(use, "Explore", "Look", lambda child: child.assistant(child.text("Seen.")))
    child = log.children[0]
    first = next(line for line in child.lines if isinstance(line, dict))
    called = next(
        line["uuid"] for line in log.lines if isinstance(line, dict) and b'"type":"tool_use"' in encode_line(line)
    )
    first["parentUuid"] = called
    log.rewind(None).prompt("Aside.").assistant(log.text("Said aside."))
    log.rewind(child.last).prompt("Go on.").assistant(log.text("On."))
    path = log.write(tmp_path)
    (found,) = [one for one in AGENTS[0].discover(tmp_path) if one.path == str(path)]
    copy = list(plan_copy(read_original(found), NONE, CopyRequest()).copy.chunks())
    assert faults(copy) == []
    words = [json.loads(block)["text"] for _, block in said(copy)]
    assert words == ["Begin.", "Begun.", "Go on.", "On."]


def test_what_was_weighed_before_changes_nothing() -> None:
    """Copies drawn from one material, in any order, are those drawn alone."""
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.material import CopyMaterial

    log = talk()
    for number in range(6):
        log.prompt(f"{number}?").ran("cat", "row\n" * 90, lead=(log.think("Hm."),)).meta("A remark.")
        log.assistant(log.text(f"{number}."))

    material = CopyMaterial(original(raw(log)))
    names = [*TREATMENTS, *reversed(TREATMENTS)]
    for name in names:
        shared, alone = plan_copy(material, TREATMENTS[name], CopyRequest()), draught(raw(log), TREATMENTS[name])
        assert rebuilt(list(shared.copy.chunks())) == rebuilt(list(alone.copy.chunks())), name
        assert (shared.before, shared.after) == (alone.before, alone.after)


def test_a_copy_of_a_session_that_carries_out_a_plan_has_the_title_of_the_plan() -> None:
    log = LogBuilder(version="2.1.230")
    log.prompt("Implement the following plan:\n\n# Mend the tide table\n\nFirst this, then that.")
    log.assistant(log.text("Done."))
    lines = copied([encode_line(line) for line in log.lines if isinstance(line, dict)])
    assert decoded(lines)[-1]["customTitle"].startswith("Clone: Mend the tide table (")


def test_a_time_that_is_no_date_is_no_obstacle_and_is_noted_and_mended() -> None:
    log = talk()
    log.assistant(log.text("More."), timestamp="9999999").prompt("Go on.").assistant(log.text("On."))
    sound(log)
    found = ClaudeCode().writer.lint(raw(log), strict=False)
    assert [(one.rule, one.line, one.severity) for one in found] == [("bad-json-type", 3, "warning")]
    mended = ClaudeCode().writer.mended(raw(log), dict)
    assert [(deed.rule, deed.line) for deed in mended.deeds] == [("bad-json-type", 3)]
    assert ClaudeCode().writer.lint(mended.lines, strict=False) == []


@pytest.mark.parametrize("name", ["default", "aggressive", "heavy", "extreme"])
def test_errors_that_the_agent_put_into_the_models_mouth_go_in_lighter_copies(name: str) -> None:
    log = talk().synthetic("No response requested.")
    log.prompt("Go on.").synthetic("API Error: 529", isApiErrorMessage=True, error="rate_limit")
    log.prompt("Try again.").assistant(log.text("On."))
    kept, light = sound(log), sound(log, TREATMENTS[name])
    assert sum(b"<synthetic>" in line for line in kept) == 2
    assert sum(b"<synthetic>" in line for line in light) == 0
    assert said(light) == [one for one in said(kept) if "No response" not in one[1] and "API Error" not in one[1]]
