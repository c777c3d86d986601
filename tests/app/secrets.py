"""A session with much that must not leave, in every kind of place; all of it is made up."""

from datetime import timedelta

from tests.app.asking import NOW
from tests.log_builder.builder import LogBuilder

TOKEN = "ghp_" + "q7Rk2Lw9Zt4Xc8Vb1Nm5Hj3Gf6Ds0PaYeUiO"
OTHER = "ghp_" + "Zx8Cv7Bn6Mq5We4Rt3Yu2Io1Pa9Sd0FgHjKl"
MAIL = "marit.solberg@nordlys-havn.no"
PERSON = "maritsol"
CUSTOMER = "Brennevik"
WORD = "kestrel"
"""What only the second turn says."""


def leaky() -> LogBuilder:
    """Three turns: a token that is printed twice, another one, a person, a customer; thinking, a subagent."""
    log = LogBuilder(
        session_id="leaky", seed="leaky", cwd=f"/home/{PERSON}/harbour", branch="main", start=NOW - timedelta(hours=3)
    )
    log.prompt(f"Deploy the tide table for {CUSTOMER}; mail {MAIL} when it is done.")
    log.assistant(log.think("The token is in the environment."), log.text(f"I shall deploy it for {CUSTOMER}."))
    log.ran("cat notes.txt", f"the first one is {TOKEN} and works\n\nthe other one is {OTHER} and does not")
    log.ran(f"deploy tides --with {TOKEN} --now", "deployed")
    log.prompt(f"What is the {WORD} for?").assistant(log.text(f"The {WORD} watches the harbour."))
    use = log.agent_use("Explore", "look around", "Find the configuration.")
    log.prompt("Look around.").assistant(use)
    log.subagent(use, "Explore", "look around", _explored)
    return log.assistant(log.text("Done.")).title("The tide table")


def _explored(child: LogBuilder) -> None:
    child.assistant(child.text(f"The configuration has {TOKEN} in it.")).assistant(child.text("I found it."))
