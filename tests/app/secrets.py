"""A session with much that must not leave, in every kind of place; all of it is made up."""

from datetime import timedelta

from tests.app.asking import NOW
from unspool.demo.builder import LogBuilder

TOKEN = "ghp_" + "q7Rk2Lw9Zt4Xc8Vb1Nm5Hj3Gf6Ds0PaYeUiO"
OTHER = "ghp_" + "Zx8Cv7Bn6Mq5We4Rt3Yu2Io1Pa9Sd0FgHjKl"
MAIL = "marit.solberg@nordlys-havn.no"
PERSON = "maritsol"
CUSTOMER = "Brennevik"
WORD = "kestrel"
"""What only the second turn says."""


def leaky() -> LogBuilder:
    """Three turns: a token that is printed twice, another one, a person, a customer; thinking, a picture, a subagent."""
    log = LogBuilder(
        session_id="leaky", seed="leaky", cwd=f"/home/{PERSON}/harbour", branch="main", start=NOW - timedelta(hours=3)
    )
    log.prompt(f"Deploy the tide table for {CUSTOMER}; mail {MAIL} when it is done.")
    log.assistant(log.think("The token is in the environment."), log.text(f"I shall deploy it for {CUSTOMER}."))
    log.ran("env | grep TOKEN", f"GITHUB_TOKEN={TOKEN}\nOTHER_TOKEN={OTHER}")
    log.ran(f"curl -H 'Authorization: Bearer {TOKEN}' https://api.example.org/deploy", "deployed")
    log.prompt(f"What is the {WORD} for?").assistant(log.text(f"The {WORD} watches the harbour."))
    use = log.agent_use("Explore", "look around", "Find the configuration.")
    log.prompt("Look around.").assistant(use)
    log.subagent(use, "Explore", "look around", lambda child: child.assistant(child.text(f"It has {TOKEN} in it.")))
    return log.assistant(log.text("Done.")).title("The tide table")
