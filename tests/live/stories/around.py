"""Scenarios of what is around a conversation: pictures, servers, hooks, memory, worktrees, secrets."""

import base64
import json
import os
import sys

from tests.live.picture import dot
from tests.live.scenario import Play
from tests.live.stage import ROOT
from tests.live.steps import Step, agent, bash, call, say


def pictures(play: Play) -> None:
    """A picture in a prompt, given line by line as an SDK does, and two prompts at once."""
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(dot()).decode()}
    shown = [{"type": "image", "source": source}, {"type": "text", "text": "What is this?"}]
    given = [
        {"type": "user", "message": {"role": "user", "content": shown}},
        {"type": "user", "message": {"role": "user", "content": "And this is the second prompt"}},
    ]
    play.run(
        "",
        Step(bash("echo looking").calls, held=False),
        say("A dot."),
        say("The second answer."),
        args=["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
        given="".join(json.dumps(one) + "\n" for one in given),
    )


def streamed(play: Play) -> None:
    """With every event told while it happens."""
    more = ["--output-format", "stream-json", "--verbose", "--include-partial-messages", "--include-hook-events"]
    play.run("Tell me everything", bash("echo event"), say("Told."), args=more)
    form = {"type": "object", "properties": {"tide": {"type": "string"}}, "required": ["tide"]}
    answer = call("StructuredOutput", tide="high")
    play.run("In a form", answer, say("Filled in."), args=["--json-schema", json.dumps(form)])


def mcp(play: Play) -> None:
    """Tools of a server of our own, one of which answers for the user whether others may run."""
    env = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    server = {"command": sys.executable, "args": ["-m", "tests.live.mcp_server"], "env": env}
    more = ["--mcp-config", json.dumps({"mcpServers": {"tides": server}}), "--strict-mcp-config"]
    play.run(
        "Ask the server",
        call("mcp__tides__high", port="Dover"),
        call("mcp__tides__chart"),
        call("mcp__tides__broken"),
        call("ListMcpResourcesTool", server="tides"),
        call("ReadMcpResourceTool", server="tides", uri="tides://today"),
        say("Asked."),
        args=more,
    )
    asking = ["--permission-mode", "manual", "--permission-prompt-tool", "mcp__tides__allow"]
    play.run("May I?", bash("touch allowed", "Touch"), say("I may."), args=[*more, *asking])


def hooks(play: Play) -> None:
    """Hooks before and after everything: some say something, one blocks, one fails."""
    seen = {"type": "command", "command": "cat >>hooks.txt"}
    told = {"type": "command", "command": "echo 'the hook speaks'"}
    more = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "the tide is high"}}
    context = {"type": "command", "command": f"echo '{json.dumps(more)}'"}
    failing = {"type": "command", "command": "echo broken >&2; exit 1"}
    blocking = {"type": "command", "command": "grep -q forbidden && { echo 'not this' >&2; exit 2; } || true"}
    stopping = {"type": "command", "command": "test -e stopped || { touch stopped; echo 'go on' >&2; exit 2; }"}
    play.settings(
        hooks={
            "SessionStart": [{"hooks": [told]}],
            "UserPromptSubmit": [{"hooks": [told]}],
            "PreToolUse": [{"matcher": "Bash", "hooks": [blocking, seen]}],
            "PostToolUse": [{"matcher": "*", "hooks": [context, failing]}],
            "Stop": [{"hooks": [stopping]}],
            "SubagentStop": [{"hooks": [seen]}],
            "PreCompact": [{"hooks": [told]}],
            "SessionEnd": [{"hooks": [seen]}],
            "Notification": [{"hooks": [seen]}],
        }
    )
    play.run(
        "With hooks",
        bash("echo allowed"),
        bash("echo forbidden"),
        agent("SUBAGENT HOOKED", run_in_background=False),
        say("Stopping."),
        say("Now really."),
    )
    play.run("/compact", resume=True)


def memory(play: Play) -> None:
    """What the project remembers, agents, skills and rules of its own, and files named in a prompt."""
    play.write("CLAUDE.md", f"# Tides\n\n@docs/more.md\n\nRemember: {play.plant['memory']}\n")
    play.write("docs/more.md", "Low tide is at noon.\n")
    play.write("sub/CLAUDE.md", "In this folder, tides are high.\n")
    play.write("sub/moon.py", "moon = 1\n")
    play.write(".claude/rules/style.md", "---\npaths: '*.py'\n---\nShort lines.\n")
    play.write(
        ".claude/agents/sailor.md", "---\nname: sailor\ndescription: Sails\ntools: Read\nmodel: haiku\n---\nYou sail.\n"
    )
    play.write(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots\n---\nTie $ARGUMENTS.\n")
    play.write(".claude/output-styles/pirate.md", "---\nname: pirate\ndescription: Arr\n---\nTalk like a pirate.\n")
    play.settings(outputStyle="pirate")
    play.run(
        "Look at @tide.py and @sub and @dot.png and @missing.txt",
        call("Skill", skill="knots", args="a bowline"),
        agent("SUBAGENT SAILOR", subagent_type="sailor", run_in_background=False),
        call("Read", file_path=play.path("sub/moon.py")),
        call("Skill", skill="no-such-skill"),
        say("Seen."),
    )
    play.run("/knots a reef knot", say("Tied."), resume=True)


def worktrees(play: Play) -> None:
    """A worktree entered and left, and one from the start."""
    play.run(
        "Work elsewhere",
        call("EnterWorktree", name="ebb"),
        bash("echo ebb > ebb.txt && pwd"),
        call("ExitWorktree", action="keep"),
        bash("pwd"),
        say("Back."),
    )
    play.run("Begin elsewhere", bash("pwd"), say("Elsewhere."), args=["--worktree", "flood"])


def secrets(play: Play) -> None:
    """Everything that was planted comes by: typed, read, printed, committed, remembered, handed on."""
    play.write("CLAUDE.md", f"The password is {play.plant['memory']}\n")
    play.run(
        f"Deploy with {play.plant['prompt']}",
        Step(bash("cat .env").calls, f"I use {play.plant['prompt']}.", f"The token is {play.plant['file']}."),
        call("Read", file_path=play.path(".env")),
        bash("printenv TIDE_TOKEN; git remote -v; git log"),
        call("Grep", pattern="TOKEN", path=play.path(".env"), output_mode="content"),
        call("Write", file_path=play.path("deploy.sh"), content=f"TOKEN={play.plant['file']} ./deploy\n"),
        call(
            "Edit",
            file_path=play.path("deploy.sh"),
            old_string="./deploy",
            new_string=f"./go {play.plant['environment']}",
        ),
        agent(f"SUBAGENT DEPLOY with {play.plant['prompt']}", run_in_background=False),
        say(f"Deployed with {play.plant['environment']}."),
        bash("cat .env", "Read", within="SUBAGENT DEPLOY"),
        say(f"The token was {play.plant['file']}.", within="SUBAGENT DEPLOY"),
        env={"TIDE_TOKEN": play.plant["environment"]},
    )
    play.run("/compact", resume=True)
    play.run(f"Again, {play.plant['prompt']}", say("Again."), resume=True)


def pull_request(play: Play) -> None:
    """A branch that is pushed and a pull request that is made, by a stand-in for the real program."""
    address = "https://github.com/example/tides/pull/7"
    path = play.write("bin/gh", f"#!/bin/sh\necho {address}\n")
    path.chmod(0o755)
    play.run(
        "Make a pull request",
        bash("git checkout -qb ebb && git add -A && git commit -qm 'Ebb' && git log -1"),
        bash("gh pr create --title Ebb --body Ebb", "Make a pull request"),
        say(f"Made: {address}"),
        env={"PATH": f"{path.parent}:{os.environ['PATH']}"},
    )
    play.run("/mcp__tides__forecast", say("High."), resume=True)
