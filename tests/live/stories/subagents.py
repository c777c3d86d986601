"""Scenarios of subagents: in the foreground, in the background, inside each other, apart."""

from tests.live.scenario import Play
from tests.live.steps import agent, bash, call, calls, say


def subagent(play: Play) -> None:
    """A subagent in the foreground that works, another kind that only looks, one that is unknown."""
    play.run(
        "Look around",
        agent("SUBAGENT ONE: change flow.py", run_in_background=False),
        agent("SUBAGENT TWO: look", subagent_type="Explore", run_in_background=False),
        agent("SUBAGENT THREE", subagent_type="no-such-agent"),
        say("Looked."),
        *play.edits("SUBAGENT ONE"),
        say("I changed flow.py.", within="SUBAGENT ONE"),
        call("Glob", within="SUBAGENT TWO", pattern="*.py"),
        say("I saw tide.py.", thinking="One file.", within="SUBAGENT TWO"),
    )


def subagents_together(play: Play) -> None:
    """Two at once in the background, one of which starts another; they are written to and report by notification."""
    play.run(
        "Look everywhere",
        calls(agent("SUBAGENT LEFT", name="left"), agent("SUBAGENT RIGHT", name="right")),
        call("SendMessage", to="left", message="And what of the ebb?", summary="Ask"),
        say("They are at work."),
        call("Read", within="SUBAGENT LEFT", file_path=play.path("tide.py")),
        say("Left is done.", within="SUBAGENT LEFT"),
        agent("SUBAGENT INNER", within="SUBAGENT RIGHT", run_in_background=False),
        say("Right is done.", within="SUBAGENT RIGHT"),
        call("Read", within="SUBAGENT INNER", file_path=play.path("README.md")),
        say("Inner is done.", within="SUBAGENT INNER"),
    )


def workflow(play: Play) -> None:
    """A script that starts agents itself."""
    script = (
        "export const meta = { name: 'tides', description: 'Look at the tide', phases: [{ title: 'Look' }] }\n"
        "phase('Look')\n"
        "const seen = await agent('SUBAGENT FLOW: look at the tide', { label: 'look' })\n"
        "log(seen)\n"
        "return seen\n"
    )
    play.run("Run a workflow", call("Workflow", script=script), say("It runs."), say("High.", within="SUBAGENT FLOW"))


def isolated_agent(play: Play) -> None:
    """A subagent in a worktree of its own."""
    prompt = "SUBAGENT APART: change something"
    play.run(
        "Work apart",
        agent(prompt, isolation="worktree", run_in_background=False),
        say("Worked."),
        bash("echo apart > apart.txt", "Write", within="SUBAGENT APART"),
        say("Apart is done.", within="SUBAGENT APART"),
    )


def teammates(play: Play) -> None:
    """Subagents that belong to a team, are written to by name, and write to each other."""
    play.run(
        "Make a team",
        calls(
            agent("TEAMMATE ONE", name="one", team_name="tides"), agent("TEAMMATE TWO", name="two", team_name="tides")
        ),
        call("SendMessage", to="one", message="How high is it?", summary="Ask one"),
        say("The team is at work."),
        call("SendMessage", within="TEAMMATE TWO", to="one", message="Hello from two", summary="Greet"),
        say("Two is done.", within="TEAMMATE TWO"),
        bash("echo one", within="TEAMMATE ONE"),
        say("One is done.", within="TEAMMATE ONE"),
        env={"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"},
    )
