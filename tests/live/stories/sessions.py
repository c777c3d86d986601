"""Scenarios of sessions that are gone on with: resumed, forked, rewound, compacted, cleared, named."""

import json

from tests.live.scenario import Play
from tests.live.steps import Step, agent, bash, call, say


def resumed(play: Play) -> None:
    """Gone on with twice, with another model at the end."""
    play.run("First of three", *play.edits(), say("First done."))
    play.run("Second of three", bash("echo two"), say("Second done."), resume=True)
    play.run("Third of three", say("Third done."), resume=True, args=["--model", "haiku"])


def forked(play: Play) -> None:
    """Gone on with in a copy that the agent makes."""
    play.run("Before the fork", *play.edits(), say("Ready."))
    play.run("In the fork", bash("echo fork"), say("Forked."), resume=True, args=["--fork-session"])


def rewound(play: Play) -> None:
    """Gone on with from an earlier answer, so that what came after it is left behind."""
    play.run("Kept prompt", bash("echo kept"), say("Kept answer."))
    answer = [line["uuid"] for line in play.lines() if line["type"] == "assistant"][-1]
    play.run("Left prompt", bash("echo left"), say("Left answer."), resume=True)
    play.run("New prompt", say("New answer."), resume=True, args=["--resume-session-at", answer])


def compacted(play: Play) -> None:
    """Compacted by command, with and without a wish, and gone on with."""
    play.run("Before the compaction", *play.edits(), say("Written."))
    play.run("/compact", resume=True)
    play.run("After the compaction", bash("echo after"), say("After."), resume=True)
    play.run("/compact keep the tide", resume=True)
    play.run("After both", say("After both."), resume=True)


def cleared(play: Play) -> None:
    """Cleared by command."""
    play.run("Before the clearing", say("Yes."))
    play.run("/clear", resume=True)
    play.run("After the clearing", say("Anew."), resume=True)


def commands(play: Play) -> None:
    """The agent's own commands, and one of the project's."""
    play.write(".claude/commands/tide.md", "---\ndescription: Tell the tide\n---\nTell the tide of $ARGUMENTS.\n")
    play.run("/context")
    play.run("/cost", resume=True)
    play.run("/tide Dover", say("High at Dover."), resume=True)
    play.run("/no-such-command", say("Hm."), resume=True)
    play.run("/init", say("Nothing to do."), resume=True)


def named(play: Play) -> None:
    """A session that has a name from the start, with a system prompt and folders of its own."""
    (play.cwd.parent / "more").mkdir(exist_ok=True)
    more = ["--name", "The tide", "--add-dir", str(play.cwd.parent / "more"), "--append-system-prompt", "Be brief."]
    play.run("With a name", bash("pwd"), say("Named."), args=more)


def thinking(play: Play) -> None:
    """Reasoning with its text, without it, and none, at several efforts."""
    play.run("Think", Step(bash("echo hm").calls, "So.", "First I look."), say("Thought.", thinking="Then I say."))
    play.run("Think harder", say("Harder.", thinking=""), resume=True, args=["--effort", "high"])
    play.run("ultrathink", Step(bash("echo ultra").calls, thinking="Deep."), say("Ultra."), resume=True)


def models(play: Play) -> None:
    """Each family of models, which are offered different tools."""
    for name in ("fable", "opus", "sonnet", "haiku"):
        play.run(f"As {name}", bash(f"echo {name}"), say(f"{name} it is.", thinking="Me."), args=["--model", name])


def compacted_by_itself(play: Play) -> None:
    """A window that fills up, and is compacted in the middle of a turn."""
    fill = "head -c 28000 /dev/zero | tr '\\0' x | fold -w 100"
    play.run(
        "Fill the window",
        *[bash(f"{fill} | sed 's/^/{number} /'", f"Fill {number}") for number in range(20)],
        say("Filled."),
        args=["--autocompact", "100000"],
    )
    play.run("After it was filled", say("After."), resume=True)


def commands_of_its_own(play: Play) -> None:
    """Further commands that the agent answers without a screen."""
    play.run("Something to look back on", bash("echo look"), say("Looked."))
    for command in (
        "recap",
        "goal the tide is high",
        "rename Low tide",
        "effort high",
        "usage",
        "list-agents",
        "color red",
    ):
        play.run(f"/{command}", say("Answered."), resume=True)
    play.run("/goal clear", say("Cleared."), resume=True)
    play.run("/autocompact 200k", say("Set."), resume=True)


def as_somebody(play: Play) -> None:
    """An agent of the project speaks instead of the usual one, and one that is only named on the command line."""
    play.write(".claude/agents/sailor.md", "---\nname: sailor\ndescription: Sails\n---\nYou sail.\n")
    play.run("Speak as a sailor", bash("echo ahoy"), say("Ahoy."), args=["--agent", "sailor"])
    named = {"pilot": {"description": "Steers", "prompt": "You steer."}}
    asked = agent("SUBAGENT PILOT", subagent_type="pilot", run_in_background=False)
    play.run("Ask the pilot", asked, say("Asked."), args=["--agents", json.dumps(named)])
    brief = call("SendUserMessage", message="The tide is high.", status="normal")
    play.run("Be brief", brief, say("Brief."), args=["--brief"], env={"CLAUDE_CODE_BRIEF": "1"})


def in_background(play: Play) -> None:
    """A session that the agent's own server runs, without a screen, until it is stopped."""
    play.shell(
        """
        id=$("$0" --bg "Work in the background" --permission-mode acceptEdits | awk '/^backgrounded/ {print $NF}')
        until grep -qs "Worked in the background" "$CLAUDE_CONFIG_DIR"/projects/*/"$id"*.jsonl; do sleep 0.1; done
        "$0" stop "$id"
        """,
        bash("echo background"),
        say("Worked in the background."),
    )
