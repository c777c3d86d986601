"""Scenarios at the agent's own screen: dialogs, queued prompts, commands that only it has."""

from tests.live.scenario import Play
from tests.live.steps import MATCH, Step, agent, bash, call, calls, fail, say
from tests.live.terminal import END, RELEASE, Act, gone, keys, outside, typed, wait

READY = wait("\u276f")
"""The agent takes input."""

MANUAL = ("--permission-mode", "manual")
EXIT = (*typed("/exit"), END)


def turn(prompt: str, answer: str) -> tuple[Act, ...]:
    """A prompt, and the answer that ends its turn."""
    return *typed(prompt), wait(answer)


def screen(play: Play) -> None:
    """A plain conversation of two turns."""
    steps = [*play.edits(), say("First seen.", thinking="Hm."), bash("echo second"), say("Second seen.")]
    play.screen(READY, *turn("First typed", "First seen"), *turn("Second typed", "Second seen"), *EXIT, steps=steps)


def permissions(play: Play) -> None:
    """Asked whether a tool may run: yes, yes from now on, no, no with a reason."""
    steps = [
        bash("touch one", "Touch one"),
        call("Write", file_path=play.path("two.txt"), content="two\n"),
        call("Edit", file_path=play.path("two.txt"), old_string="two", new_string="three"),
        say("Both touched."),
        bash("env -i four", "Run four"),
        bash("env -i five", "Run five"),
        say("Understood."),
    ]
    play.screen(
        READY,
        *typed("May you touch?"),
        wait("Do you want to proceed"),
        keys("1", until="Do you want to create"),
        keys("2", until="Both touched"),
        *typed("And now?"),
        wait("(?s)env -i four.*Do you want to"),
        keys("Escape", until="Interrupted"),
        *typed("Then this one"),
        wait("(?s)env -i five.*Do you want to"),
        keys("Up", until="\u276f 4. No"),
        keys("Tab", until="No, and"),
        Act("type", "rather not"),
        keys("Enter", until="Understood"),
        *EXIT,
        steps=steps,
        args=MANUAL,
    )


def question(play: Play) -> None:
    """Asked by the model: one choice, words of one's own, several choices, no answer."""

    def asked(text: str, many: bool = False) -> Step:
        options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
        one = {"question": text, "header": "Colour", "multiSelect": many, "options": options}
        return call("AskUserQuestion", questions=[one])

    steps = [asked("Which colour?"), asked("Which other?"), asked("Which ones?", True), say("Chosen."), asked("None?")]
    play.screen(
        READY,
        *typed("Ask me"),
        wait("Which colour"),
        keys("2", until="Which other"),
        keys("Down", until="\u276f 3"),
        Act("type", "a green one"),
        keys("Enter"),
        wait("Which ones"),
        keys("1", until="✔.*Red"),
        keys("Right", until="Submit answers"),
        keys("1", until="Chosen"),
        *typed("Ask once more"),
        wait("None"),
        keys("Escape", until="Interrupted|[Dd]eclined"),
        *EXIT,
        steps=steps,
    )


def _plan(play: Play) -> list[Step]:
    text = "# Plan\n\n1. Write flow.py\n2. Test it\n"
    return [
        call("Write", file_path=MATCH + r"(/[^\"\\ ]*/plans/[\w-]+\.md)", content=text),
        call("ExitPlanMode", plan=text),
    ]


def plan_accepted(play: Play) -> None:
    """A plan that is taken as it is."""
    play.screen(
        READY,
        *typed("Plan it"),
        wait("Would you like to proceed"),
        keys("1", until="User approved|Approved Claude"),
        wait("Plan carried out"),
        *EXIT,
        steps=[*_plan(play), *play.edits(), say("Plan carried out.")],
        args=("--permission-mode", "plan"),
    )


def plan_refused(play: Play) -> None:
    """A plan that is sent back with words, and then left."""
    play.screen(
        READY,
        *typed("Plan it"),
        wait("Would you like to proceed"),
        keys("Down", until="\u276f 3"),
        Act("type", "make it shorter"),
        keys("Enter"),
        wait("(?s)proceed.*\u276f 1"),
        keys("Escape", until="Interrupted|[Rr]ejected"),
        *EXIT,
        steps=[*_plan(play), *_plan(play), say("Shorter.")],
        args=("--permission-mode", "plan"),
    )


def queued(play: Play) -> None:
    """Prompts typed while the model works: one is taken up in the same turn, one is taken back, one follows."""
    play.screen(
        READY,
        *typed("Work for a while"),
        wait("esc to interrupt"),
        *typed("And think of the ebb"),
        RELEASE,
        wait("Thought of the ebb"),
        *EXIT,
        steps=[
            Step(bash("echo working").calls, held=True),
            Step(bash("echo still").calls),
            say("Thought of the ebb."),
            say("Thought of the ebb, again."),
        ],
    )


def interrupted(play: Play) -> None:
    """Stopped while a tool runs, and while the model thinks, which gives the prompt back to be changed."""
    play.screen(
        READY,
        *typed("Work until I stop you"),
        wait(r"\$ tail -f"),
        keys("Escape", until="Interrupted"),
        *typed("Now think until I stop you"),
        wait("esc to interrupt"),
        keys("Escape"),
        gone("esc to interrupt"),
        RELEASE,
        *turn(" after all", "Answered"),
        *EXIT,
        steps=[bash("tail -f README.md", "Follow"), Step(text="Never seen.", held=True), say("Answered.")],
    )


def cleared_at_screen(play: Play) -> None:
    """Cleared, renamed and compacted by commands."""
    play.screen(
        READY,
        *turn("Before it is cleared", "First answer"),
        *typed("/clear"),
        wait("(?s)^(?!.*First answer)"),
        *turn("After it was cleared", "Second answer"),
        *typed("/rename The tide"),
        wait("Session renamed|renamed to"),
        *typed("/compact"),
        wait("Compacted|compacted"),
        *turn("After it was compacted", "Third answer"),
        *EXIT,
        steps=[say("First answer."), say("Second answer."), say("Third answer.")],
    )


def rewound_at_screen(play: Play) -> None:
    """Gone back to an earlier prompt, with the files as they were then."""
    change = call("Edit", file_path=play.path("flow.py"), old_string="return 2", new_string="return 3")
    play.screen(
        READY,
        *turn("Write a file", "File written"),
        *turn("Change it", "File changed"),
        *typed("/rewind"),
        wait("Enter to continue"),
        keys("Up", until="\u276f Change it"),
        keys("Enter", until="Restore code and conv"),
        keys("Enter", until="(?s)^(?!.*File changed).*\u276f Change it"),
        *turn(" differently", "After rewinding"),
        *EXIT,
        steps=[*play.edits(), say("File written."), change, say("File changed."), say("After rewinding.")],
    )


def bash_mode(play: Play) -> None:
    """Lines run by the user, and things told to remember."""
    play.screen(
        READY,
        Act("type", "!echo by hand"),
        keys("Enter"),
        wait(r"⎿\s+by hand"),
        wait("Seen by hand"),
        *turn("And what did it say?", "It said so"),
        *EXIT,
        steps=[say("Seen by hand."), say("It said so.")],
    )


def commands_at_screen(play: Play) -> None:
    """Commands that open something."""
    play.screen(
        READY,
        *turn("Hello", "Hello yourself"),
        *typed("/model sonnet"),
        wait("Switch model"),
        keys("1", until="Set model to"),
        *turn("Hello again", "Again yourself"),
        *typed("/cost"),
        wait("Total cost|Estimated cost"),
        keys("Escape", until="⏵⏵"),
        *typed("/model default"),
        wait("Switch model"),
        keys("1", until="(?s)Set model to.*Set model to"),
        *EXIT,
        steps=[say("Hello yourself."), say("Again yourself.")],
    )


def team(play: Play) -> None:
    """Subagents that run on while the user talks, and their notifications."""
    play.screen(
        READY,
        *turn("Send two", "Sent them"),
        wait("Heard from"),
        wait("· done"),
        *EXIT,
        steps=[
            calls(agent("SUBAGENT ALPHA", name="alpha"), agent("SUBAGENT BETA", name="beta")),
            say("Sent them."),
            say("Heard from one."),
            say("Heard from both."),
            bash("echo alpha", "Greet", within="SUBAGENT ALPHA"),
            say("Alpha is back.", within="SUBAGENT ALPHA"),
            say("Beta is back.", within="SUBAGENT BETA"),
        ],
    )


def changed_outside(play: Play) -> None:
    """A file that the agent knows is changed by somebody else, who then also deletes it."""
    steps = [*play.edits(), say("File read."), say("Change noticed."), say("Loss noticed.")]
    play.screen(
        READY,
        *turn("Read it", "File read"),
        outside("echo '# by hand' >>flow.py"),
        *turn("Anything new?", "Change noticed"),
        outside("rm flow.py"),
        *turn("And now?", "Loss noticed"),
        *EXIT,
        steps=steps,
    )


def branched(play: Play) -> None:
    """Gone on in a branch, after a question on the side."""
    play.screen(
        READY,
        *turn("Before the branch", "Branch ahead"),
        *typed("/btw what is a tide?"),
        wait("Aside answered"),
        keys("Escape", until="⏵⏵"),
        *typed("/branch"),
        wait("(?i)branch(ed)? "),
        *turn("In the branch", "Branch taken"),
        *EXIT,
        steps=[say("Branch ahead."), say("Aside answered."), say("Branch taken.")],
    )


def trouble_at_screen(play: Play) -> None:
    """Requests that are refused while somebody looks on: tried again, then given up."""
    play.screen(
        READY,
        *turn("Try twice", "Second try"),
        *typed("Give up"),
        wait("API Error"),
        *EXIT,
        steps=[fail(529, "Overloaded"), say("Second try."), *[fail(400)] * 12],
    )
