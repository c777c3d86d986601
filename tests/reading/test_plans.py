"""Plans and what became of them, in every way that versions tell it."""

from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.lines import answer, asked, said, use
from tests.reading.reading import jsonl, library, opened, plans, prompts, session
from tests.site.pages import made
from unspool.model import Plan, Session
from unspool.reading.prompts import plans_of
from unspool.render.writers import find_writer, write

PLAN = "# Plan: Add a tide table\n\n1. Parse it\n2. Show it"
VERSIONS = ["1.0.88", "2.0.76", "2.1.7", "2.1.33", "2.1.90", "2.1.230"]
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def only(read: Session) -> Plan:
    (found,) = plans(read)
    return found


def planned(version: str = "2.1.230", **fields: Any) -> LogBuilder:
    return LogBuilder(version=version, mode="plan", **fields).prompt("Plan a tide table")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_approved_plan(version: str) -> None:
    found = only(session(planned(version).plan(PLAN, "approved")))
    assert (found.title, found.text, found.status) == ("Add a tide table", PLAN, "approved")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plan_sent_back_with_feedback(version: str) -> None:
    found = only(session(planned(version).plan(PLAN, "rejected", feedback="smaller steps")))
    assert (found.status, found.feedback) == ("rejected", "smaller steps")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plan_that_nobody_answered_is_pending(version: str) -> None:
    assert only(session(planned(version).plan(PLAN, "pending"))).status == "pending"


def test_a_plan_that_was_interrupted_is_not_approved() -> None:
    log = planned().plan(PLAN, "pending").interrupt(tool=True)
    assert only(session(log)).status in ("pending", "rejected")


@pytest.mark.parametrize("version", ["1.0.88", "2.1.7"])
def test_a_plan_accepted_with_cleared_context_in_the_same_log_is_approved(version: str) -> None:
    read = session(planned(version).plan(PLAN, "cleared"))
    assert only(read).status == "approved"
    assert [prompt.kind for prompt in prompts(read)] == ["text", "plan"]
    assert [plan.title for plan in plans_of(read.turns)] == ["Add a tide table"]


def test_only_the_plan_that_is_implemented_turns_approved() -> None:
    log = planned("2.1.7").plan("# First\n\nx", "rejected", "no").plan(PLAN, "cleared")
    assert [plan.status for plan in plans(session(log))] == ["rejected", "approved"]


def test_a_prompt_before_the_plan_does_not_approve_it() -> None:
    log = LogBuilder(version="2.1.7").prompt(f"Implement the following plan:\n\n{PLAN}")
    assert only(session(log.plan(PLAN, "rejected"))).status == "rejected"


def clearing(planning: LogBuilder, **fields: Any) -> LogBuilder:
    """The session that an accepted plan opened, an hour later."""
    made = LogBuilder(seed="implementation", version=planning.version, start=planning.now, **fields)
    return made.wait(3600)


@pytest.mark.parametrize("version", ["2.1.12", "2.1.33", "2.1.230"])
def test_a_plan_accepted_into_another_session_is_approved_there_and_here(version: str, tmp_path: Path) -> None:
    planning = planned(version, slug="quiet-tide").plan(PLAN, "cleared")
    doing = clearing(planning, slug="quiet-tide").implement(PLAN, planning)
    there = library(tmp_path, planning, doing)
    before, after = there.open(planning.session_id), there.open(doing.session_id)
    assert (only(before).status, only(before).settled_by) == ("approved", doing.session_id)
    assert [(plan.title, plan.status) for plan in plans_of(after.turns)] == [("Add a tide table", "approved")]
    assert (before.kind, after.kind) == ("planning", "implementation")


def unaddressed(plan: str) -> str:
    return (
        f"Implement the following plan:\n\n{plan}\n\n\nIf you need specific details from before exiting plan mode, ask."
    )


def test_a_plan_is_settled_by_slug_where_no_path_is_named(tmp_path: Path) -> None:
    planning = planned("2.1.20", slug="quiet-tide").plan(PLAN, "cleared")
    doing = clearing(planning, slug="quiet-tide").prompt(unaddressed(PLAN))
    assert only(opened(tmp_path, planning, doing)).status == "approved"


def test_a_plan_is_settled_by_its_text_where_nothing_else_tells(tmp_path: Path) -> None:
    planning = planned("2.1.20").plan(PLAN, "cleared")
    doing = clearing(planning).prompt(unaddressed(PLAN))
    assert only(opened(tmp_path, planning, doing)).status == "approved"


def test_a_plan_is_not_settled_by_a_session_that_implements_another(tmp_path: Path) -> None:
    planning = planned("2.1.20").plan(PLAN, "rejected")
    doing = clearing(planning).prompt(unaddressed("# Something else\n\nx"))
    assert only(opened(tmp_path, planning, doing)).status == "rejected"


def test_the_plan_field_of_a_prompt_is_the_plan() -> None:
    log = LogBuilder().prompt(unaddressed("# Shown\n\nx"), planContent="# Kept\n\ny")
    (prompt,) = prompts(session(log))
    assert prompt.plan is not None
    assert (prompt.kind, prompt.plan.title, prompt.plan.text, prompt.plan.status) == (
        "plan",
        "Kept",
        "# Kept\n\ny",
        "approved",
    )


def test_the_tail_of_a_prompt_is_no_part_of_its_plan_and_names_the_log_it_came_from() -> None:
    planning = planned("2.1.20")
    log = LogBuilder(version="2.1.20", seed="x").implement(PLAN, planning)
    read = session(log)
    (prompt,) = prompts(read)
    assert prompt.plan is not None
    assert prompt.plan.text == PLAN
    assert read.source == prompt.source == f"{planning.home}/{planning.path}"


def test_a_plan_that_the_user_edited_is_the_edited_one() -> None:
    found = only(session(planned().plan(PLAN, "approved", edited=PLAN + "\n3. Test it")))
    assert (found.edited, found.text) == (True, PLAN + "\n3. Test it")


def exiting(given: dict[str, Any], result: list[dict[str, Any]] | None = None, **extra: Any) -> bytes:
    lines = [asked("u", "plan"), said("a", "m", [use("t", "ExitPlanMode", **given)], "u")]
    return jsonl(*lines, *([asked("r", result, "a", **extra)] if result else []))


APPROVED = answer("t", "User has approved your plan. You can now start coding.")


@pytest.mark.parametrize(
    "words",
    [
        "User has approved your plan. You can now start coding.",
        "User has approved exiting plan mode. You can now proceed.",
        "user has APPROVED YOUR PLAN",
    ],
)
def test_every_way_of_approving_is_known(words: str) -> None:
    assert only(session(exiting({"plan": PLAN}, [answer("t", words)]))).status == "approved"


def test_an_error_that_speaks_of_approval_does_not_approve() -> None:
    assert (
        only(session(exiting({"plan": PLAN}, [answer("t", REFUSED + " approved your plan", error=True)]))).status
        == "rejected"
    )


def test_the_plan_in_the_structured_result_is_used_where_the_input_has_none() -> None:
    read = session(exiting({"allowedPrompts": []}, [APPROVED], toolUseResult={"plan": PLAN, "isAgent": False}))
    assert only(read).text == PLAN


def test_a_plan_that_waits_for_the_leader_is_pending() -> None:
    detail = {"plan": PLAN, "awaitingLeaderApproval": True}
    read = session(
        exiting({"plan": PLAN}, [answer("t", "Your plan has been submitted to the team lead.")], toolUseResult=detail)
    )
    assert only(read).status == "pending"


def test_a_plan_that_stands_only_in_a_file_is_read_from_it(tmp_path: Path) -> None:
    log = planned(slug="quiet-tide").plan(PLAN, "rejected")
    for line in log.lines:
        if isinstance(line, dict) and line["type"] == "assistant":
            for block in line["message"]["content"]:
                block.get("input", {}).pop("plan", None)
    assert only(opened(tmp_path, log)).text == PLAN


def test_a_plan_file_is_found_by_slug_where_no_path_is_named(tmp_path: Path) -> None:
    log = planned("2.1.20", slug="quiet-tide")
    use_ = log.use("ExitPlanMode", allowedPrompts=[])
    log.assistant(use_).rejected(use_).file("plans/quiet-tide.md", PLAN.encode())
    assert only(opened(tmp_path, log)).text == PLAN


def test_a_plan_that_stands_only_in_an_earlier_write_is_read_from_it() -> None:
    log = planned(slug="quiet-tide")
    log.wrote(log.plan_path, PLAN).edited(log.plan_path, PLAN, "Show it", "Draw it")
    use_ = log.use("ExitPlanMode", planFilePath=log.plan_path)
    found = only(session(log.assistant(use_).rejected(use_)))
    assert found.text == PLAN.replace("Show it", "Draw it")
    assert found.path == log.plan_path


def test_a_log_cannot_name_a_plan_outside_the_plans_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret")
    read = None
    for number, path in enumerate(["/x/../../secret.md", "..", "../secret.md"]):
        log = LogBuilder(seed=str(number)).prompt("plan")
        use_ = log.use("ExitPlanMode", planFilePath=path)
        read = opened(tmp_path / "home", log.assistant(use_).rejected(use_))
        assert only(read).text == ""


TITLES = [
    ("# Plan: Tides\n\nx", "Tides"),
    ("# Tides\n", "Tides"),
    ("intro\n# Tides\n", "Tides"),
    ("Just do it\nthen rest", "Just do it"),
    ("\n\n  Plan: Tides\n", "Tides"),
    ("## Steps\n1. x", "Steps"),
    ("", "Plan"),
]


@pytest.mark.parametrize(("text", "title"), TITLES)
def test_the_title_of_a_plan_is_its_first_heading_or_line(text: str, title: str) -> None:
    assert only(session(exiting({"plan": text}, [APPROVED]))).title == title


@pytest.mark.parametrize("version", ["2.1.20", "2.1.230"])
def test_what_the_agent_puts_around_an_accepted_plan_is_not_shown(version: str, tmp_path: Path) -> None:
    planning = planned(version, seed="planning")
    log = LogBuilder(version=version, seed="doing").implement(PLAN, planning)
    read = session(log.assistant(log.text("on it")))
    write(find_writer("text"), read, tmp_path / "x.txt")
    shown = [*made(read).values(), (tmp_path / "x.txt").read_text()]
    assert all("Parse it" in text for text in shown)
    around = ("Implement the following", "read the full transcript", str(planning.path))
    assert [text for text in shown for words in around if words in text] == []
    assert read.titles.prompt.startswith("# Plan: Add a tide table")
    (prompt,) = prompts(read)
    assert prompt.text.startswith("Implement the following plan:")  # which the data keeps
