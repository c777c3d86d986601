"""ATIF trajectories, checked by the format's own models: whole, valid, and read back as the same session."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import msgspec
import pytest
from atif import Trajectory

from tests.agents.stories.atif import document
from tests.render.build import DOT, agent, call, everything, image, message, prompt, session, turn
from tests.render.build import place as at
from tests.render.exchange.given import PRICES, damaged, demo, exported, real_logs
from tests.thorough import THOROUGH
from unspool.figures import figures
from unspool.model import Call, Image, Result, Session, Text, Thinking, ToolCall, Usage
from unspool.store.library import Library


def written(one: Session, folder: Path) -> dict[str, Any]:
    """The trajectory as data, after its own models took it."""
    data: dict[str, Any] = json.loads(exported(one, "atif", folder).read_bytes())
    Trajectory.model_validate(data)
    return data


def quay() -> Session:
    usage = Usage(input=40, output=10, cache_read=60, cache_write=5)
    about = message("m1", model="claude-opus-4-6", stop="tool_use")
    about = msgspec.structs.replace(about, calls=(Call("m1:r1", "claude-opus-4-6", usage),))
    failed = Result(at(5), "c1", "no rule", error=True, detail={"code": 2})
    blocks = (
        Thinking(at(3), "Stones first", "m1"),
        Text(at(4), "I look.", "m1"),
        call("Bash", {"command": "make"}, call_id="c1", state="error", result=failed, role="shell"),
    )
    return session(turn(1, "Mend the quay", *blocks), messages=(about,), versions=("2.1.3",), cwd="/quay")


def test_a_step_holds_what_the_format_has_fields_for_and_the_rest_in_extra(tmp_path: Path) -> None:
    asked, answered = written(quay(), tmp_path)["steps"]
    assert (asked["source"], asked["message"]) == ("user", "Mend the quay")
    own = answered["metrics"].pop("extra")["unspool"]["requests"]
    assert answered == {
        "step_id": 2,
        "source": "agent",
        "model_name": "claude-opus-4-6",
        "message": "I look.",
        "reasoning_content": "Stones first",
        "tool_calls": [
            {
                "tool_call_id": "c1",
                "function_name": "Bash",
                "arguments": {"command": "make"},
                "extra": {"unspool": {"role": "shell"}},
            }
        ],
        "observation": {
            "results": [
                {
                    "source_call_id": "c1",
                    "content": "no rule",
                    "extra": {"unspool": {"result": {"error": True, "detail": {"code": 2}}}},
                }
            ]
        },
        "metrics": {"prompt_tokens": 105, "completion_tokens": 10, "cached_tokens": 60, "cost_usd": 0.00051125},
        "llm_call_count": 1,
        "extra": {"unspool": {"message": "m1", "stop": "tool_use"}},
    }
    assert own == [
        {
            "id": "r1",
            "model": "claude-opus-4-6",
            "usage": {"input": 40, "output": 10, "cache_read": 60, "cache_write": 5},
        }
    ]


def test_every_session_is_a_valid_trajectory_with_the_figures_of_info(tmp_path: Path) -> None:
    for one in (*demo(tmp_path / "demo"), everything(), session()):
        data, counted = written(one, tmp_path), figures(one, PRICES)
        final = data["final_metrics"]
        usage = counted.usage
        assert final["total_steps"] == len(data["steps"])
        if not counted.models:
            assert final == {"total_steps": len(data["steps"])}  # what nobody logged is not zero
            continue
        assert final["total_prompt_tokens"] == usage.input + usage.cache_read + usage.cache_write
        assert (final["total_completion_tokens"], final["total_cached_tokens"]) == (usage.output, usage.cache_read)
        assert final.get("total_cost_usd") == (float(counted.cost.amount) if not counted.cost.unpriced else None)


def all_steps(data: dict[str, Any]) -> list[dict[str, Any]]:
    own = data["extra"]["unspool"]
    return [*data["steps"], *(step for branch in own.get("branches", ()) for step in branch["steps"])]


def test_totals_are_the_sums_of_the_steps(tmp_path: Path) -> None:
    """Those on ways that were left, and requests that no answer shows, included; each once."""
    for one in demo(tmp_path / "demo"):
        data = written(one, tmp_path)
        metrics = [step["metrics"] for step in all_steps(data) if "metrics" in step]
        for name in ("prompt", "completion", "cached"):
            total = data["final_metrics"].get(f"total_{name}_tokens", 0)
            assert sum(used[f"{name}_tokens"] for used in metrics) == total


def test_a_subagent_is_a_trajectory_inside_that_its_call_leads_to(tmp_path: Path) -> None:
    asks = call("Task", {"prompt": "look"}, "seen", call_id="c9", agents=("a1",))
    inner = agent("a1", turn(1, "look", Text(at(3), "I looked.", "m-a1")), call_id="c9")
    one = session(turn(1, "Look", asks), messages=(message(),), agents=(inner, agent("a2", turn(1, "alone"))))
    data = written(one, tmp_path)
    result = data["steps"][1]["observation"]["results"][0]
    assert result["subagent_trajectory_ref"] == [{"trajectory_id": "a1"}]
    first, second = data["subagent_trajectories"]
    assert (first["trajectory_id"], second["trajectory_id"]) == ("a1", "a2")
    assert first["steps"][1]["message"] == "I looked."
    whole, below = figures(one, PRICES), figures(inner.session, PRICES)
    assert first["final_metrics"]["total_completion_tokens"] == below.usage.output == 900
    assert data["final_metrics"]["extra"]["unspool"]["agents_usage"]["output"] == whole.agents_usage.output == 1800


def test_copied_history_is_marked_and_paid_elsewhere(tmp_path: Path) -> None:
    one = quay()
    turns = tuple(msgspec.structs.replace(one, copied=True) for one in one.turns)
    messages = tuple(msgspec.structs.replace(one, copied=True) for one in one.messages)
    data = written(msgspec.structs.replace(one, turns=turns, messages=messages), tmp_path)
    assert [step["is_copied_context"] for step in data["steps"]] == [True, True]
    assert "metrics" not in data["steps"][1]
    assert data["final_metrics"] == {"total_steps": 2}


def test_pictures_lie_beside_the_file_and_are_read_from_there(tmp_path: Path) -> None:
    one = session(turn(1, prompt("Look", images=(image("a dot"), Image(at(), "application/pdf", DOT, label="doc")))))
    (step,) = written(one, tmp_path)["steps"]
    words, shown = step["message"]
    assert words == {"type": "text", "text": "Look\n\n[Image: doc]"}
    assert (tmp_path / shown["source"]["path"]).read_bytes() == b64decode(DOT)
    read = Library([tmp_path]).open(tmp_path / "s1.atif.json").turns[0].prompt
    assert read is not None
    assert [picture.data for picture in read.images] == [DOT]


@pytest.mark.parametrize("path", ["../secret.png", "/etc/hostname", "link.png", "a\\..\\b", "images", "\0", "x" * 5000])
def test_no_picture_is_read_from_elsewhere(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "images").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(b64decode(DOT))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    source = {"media_type": "image/png", "path": path}
    parts = [{"type": "text", "text": "Look"}, {"type": "image", "source": source}]
    data = {**document(), "steps": [{"step_id": 1, "source": "user", "message": parts}]}
    (folder / "x.atif.json").write_text(json.dumps(data))
    read = Library([folder]).open(folder / "x.atif.json").turns[0].prompt
    assert read is not None
    assert [picture.data for picture in read.images] == [""]


def again(path: Path, folder: Path) -> tuple[Session, bytes]:
    """What a file says when it is read, and written once more."""
    read = Library([path.parent]).open(path)
    return read, exported(read, "atif", folder).read_bytes()


def said(one: Session) -> list[str]:
    """Words, calls and their ends of a conversation, ways that were left included."""
    turns = [*one.turns, *(turn for branch in one.branches for turn in branch.turns)]
    found = []
    for turn_ in turns:
        found.append(turn_.prompt.text if turn_.prompt is not None else "")
        for block in turn_.blocks:
            if isinstance(block, ToolCall) and block.state != "orphan":
                found.append(f"{block.name} {block.role} {block.result.text if block.result else None}")
            elif isinstance(block, Text):
                found.append(block.text)
    return sorted(filter(None, found))


def same_back(one: Session, folder: Path) -> None:
    path = exported(one, "atif", folder / "a")
    read, data = again(path, folder / "b")
    assert data == path.read_bytes(), one.log.path
    before, after = figures(one, PRICES), figures(read, PRICES)
    for name in ("usage", "agents_usage", "cost", "tool_calls", "agents", "branches", "turns"):
        assert getattr(before, name) == getattr(after, name), (name, one.log.path)


def test_what_was_exported_is_read_back_and_exported_the_same(tmp_path: Path) -> None:
    for number, one in enumerate(damaged(tmp_path / "torn", 1000 if THOROUGH else 32)):
        same_back(one, tmp_path / str(number))
    for number, one in enumerate(demo(tmp_path / "demo")):
        same_back(one, tmp_path / f"demo-{number}")
        assert said(again(exported(one, "atif", tmp_path), tmp_path / "c")[0]) == said(one)


def test_real_logs_are_valid_and_read_back_the_same(shared: Path, tmp_path: Path) -> None:
    for number, (library, log) in enumerate(real_logs(shared)):
        one = library.open(log)
        written(one, tmp_path)
        same_back(one, tmp_path / str(number))


def test_what_others_wrote_is_kept_when_it_goes_out_again(tmp_path: Path) -> None:
    """Notes, the agent and extras of a trajectory that unspool did not write; totals are counted anew."""
    agent_ = {"name": "terminus", "version": "3", "extra": {"parser": "json"}}
    more = {"notes": "a note", "extra": {"run": 7}, "agent": agent_, "continued_trajectory_ref": "next.json"}
    steps = [step for step in document()["steps"] if step["source"] != "hologram"]
    steps = [{**step, "step_id": number} for number, step in enumerate(steps, 1)]
    (tmp_path / "x.atif.json").write_text(json.dumps({**document(), **more, "steps": steps}))
    data = written(Library([tmp_path]).open(tmp_path / "x.atif.json"), tmp_path / "out")
    assert {name: data[name] for name in more} == more
    assert data["final_metrics"]["total_prompt_tokens"] == 225


def test_a_harbor_job_is_listed_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "jobs" / "2026-02-28" / "mend__Xy" / "agent" / "trajectory.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document()))
    (listed,) = Library([tmp_path / "jobs"]).overviews()
    assert (listed.id, listed.agent, listed.turns) == ("mend__Xy", "atif", 2)
    assert Library([tmp_path]).open(path).id == "mend-the-quay__Xy12"  # named by itself, it says who it is


def test_copied_context_of_others_is_history_and_costs_nothing(tmp_path: Path) -> None:
    steps = [{**step, "is_copied_context": True} if number < 2 else step
             for number, step in enumerate(document()["steps"])]  # fmt: skip
    (tmp_path / "x.atif.json").write_text(json.dumps({**document(), "steps": steps}))
    read = Library([tmp_path]).open(tmp_path / "x.atif.json")
    assert [turn_.copied for turn_ in read.turns] == [True, False]
    assert figures(read, PRICES).usage == Usage(input=20, output=10, cache_read=100)
