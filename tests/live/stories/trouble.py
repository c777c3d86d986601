"""Scenarios in which something goes wrong: refused requests, forbidden tools, answers that break off."""

from tests.live.scenario import Play
from tests.live.steps import Step, bash, call, fail, say


def errors(play: Play) -> None:
    """Requests that are refused for good, and some that go through when tried again."""
    play.run("Refused", *[fail(400)] * 12)
    play.run("Again", fail(529), fail(429), say("At last."), resume=True, env={"CLAUDE_CODE_MAX_RETRIES": "3"})
    play.run("Once more", bash("echo before"), *[fail(400)] * 12, resume=True)
    play.run("Unknown key", *[fail(401)] * 12, resume=True, env={"CLAUDE_CODE_MAX_RETRIES": "1"})
    play.run("Too often", *[fail(500)] * 3, resume=True, env={"CLAUDE_CODE_MAX_RETRIES": "1"})


def refused(play: Play) -> None:
    """Tools that are forbidden, and some that nobody is there to allow."""
    play.run(
        "Try it", bash("rm -rf build", "Clean"), *play.edits(), say("Could not."), args=["--disallowedTools", "Bash"]
    )
    denied = ["--permission-mode", "dontAsk"]
    play.run("Try again", bash("touch denied", "Touch"), say("Could not either."), args=denied)
    wrong = Step(call("Read", wrong="name").calls)
    play.run("Wrongly", wrong, Step(call("NoSuchTool").calls, left_out=False), say("Sorry."))


def broken_off(play: Play) -> None:
    """Answers that the model does not end: out of tokens, refused by the model, cut off on the way."""
    play.run("Go on and on", Step(text="And so on and on", stop="max_tokens"), say("At an end."))
    play.run("Do something bad", Step(text="I will not.", stop="refusal"), say("Rather this."))
    play.run("Break off", Step(text="Half of an ans", cut=True), say("The whole answer."))
    play.run("Pause", Step(text="A pause", stop="pause_turn"), say("After the pause."))
    sealed = {"type": "redacted_thinking", "data": "c2VhbGVk"}
    play.run("Think in secret", Step(blocks=(sealed, {"type": "text", "text": "Thought."})))


def too_long(play: Play) -> None:
    """A conversation that no longer fits, and one that costs or turns too much."""
    said = "prompt is too long: 1200000 tokens > 1000000 maximum"
    play.run("Before it is too long", bash("seq 1 2000"), say("Fits."))
    play.run("Now it is too long", fail(400, said), say("Fits again."), resume=True)
    play.run("Too dear", bash("echo dear"), bash("echo dearer"), say("Dear."), args=["--max-budget-usd", "0.001"])
    play.run("Too many turns", bash("echo one"), bash("echo two"), say("Many."), args=["--max-turns", "1"])


def fallen_back(play: Play) -> None:
    """Another model takes over from one that is overloaded."""
    overloaded = [fail(529, "Overloaded")] * 4
    env = {"CLAUDE_CODE_MAX_RETRIES": "2"}
    play.run("Whoever is there", *overloaded, say("I am."), args=["--fallback-model", "haiku"], env=env)
