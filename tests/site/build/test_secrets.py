"""Secrets: every kind is found, wherever markup cuts it; talk about secrets is let through; nothing is shown whole."""

import string
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.site.build.rules import RULES
from unspool.site.build.secrets import Finding, found_in, located, scanned

RANDOM = Random(7)


def some(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    """Letters that look like a key's."""
    return "".join(RANDOM.choice(letters) for _ in range(length - 1)) + "7"


HEX = "0123456789abcdef"
# Put together here, so that no file of this repository holds what looks like a secret.
EXAMPLES = {
    "Anthropic API key": "sk-ant-" + "api03-" + some(80),
    "OpenAI API key": "sk-" + "proj-" + some(48),
    "GitHub token": "gh" + "p_" + some(36),
    "GitHub fine-grained token": "github" + "_pat_" + some(60),
    "GitLab token": "gl" + "pat-" + some(20),
    "Slack token": "xox" + "b-" + some(30),
    "Slack webhook": "https://hooks.slack" + ".com/services/T0000/B0000/" + some(24),
    "npm token": "npm" + "_" + some(36),
    "PyPI token": "pypi-" + "AgE" + some(60),
    "AWS access key id": "AK" + "IA" + some(16, string.ascii_uppercase),
    "AWS secret access key": "aws_secret" + "_access_key = " + some(40),
    "Google API key": "AI" + "za" + some(35),
    "Google OAuth token": "ya" + "29." + some(40),
    "Stripe key": "sk_" + "live_" + some(24),
    "SendGrid key": "S" + "G." + some(22) + "." + some(43),
    "Twilio key": "S" + "K" + some(32, HEX),
    "Hugging Face token": "h" + "f_" + some(34),
    "DigitalOcean token": "do" + "p_v1_" + some(64, HEX),
    "Telegram bot token": "123456789" + ":AA" + some(33),
    "JSON Web Token": "ey" + "J" + some(20) + ".ey" + "J" + some(30) + "." + some(30),
    "bearer token": "Authorization: Bear" + "er " + some(40),
    "private key": "-----BEGIN RSA PRIV" + "ATE KEY-----",
    "PuTTY private key": "PuTTY-User-" + "Key-File-3: ssh-ed25519",
    "PostgreSQL address with password": "postgres" + "://ada:hunter22@db.example/x",
    "MySQL address with password": "mysql" + "://ada:hunter22@db.example/x",
    "MongoDB address with password": "mongodb+srv" + "://ada:hunter22@db.example/x",
    "Redis address with password": "redis" + "://:hunter22@db.example/0",
    "AMQP address with password": "amqps" + "://ada:hunter22@mq.example",
    "web address with password": "https" + "://ada:hunter22@example.org/",
    "password": "pass" + "word: 'tr0ub4dor&3'",
    "key or token": "api" + "_key=" + some(24),
}


def kinds(text: str) -> list[str]:
    return [kind for kind, _, _ in found_in(text)]


def test_every_rule_has_an_example() -> None:
    """No rule is untested."""
    assert set(EXAMPLES) == {rule.kind for rule in RULES}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_each_kind_is_found_and_named(kind: str) -> None:
    """A secret among other words is found once, by its own kind."""
    assert kinds(f"then I ran it with {EXAMPLES[kind]} and it worked") == [kind]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_hints_are_in_every_match(kind: str) -> None:
    """The quick look for hints never hides a match, whatever its case."""
    rule = next(rule for rule in RULES if rule.kind == kind)
    assert any(hint in EXAMPLES[kind].lower() for hint in rule.hints)


@pytest.mark.parametrize(
    "text",
    [
        "The password: please ask the harbour master for it",
        "password = os.environ['PASSWORD']",
        "api_key = ${API_KEY_FROM_VAULT_1}",
        "PASSWORD=changeme123",
        "api_key: your-api-key-goes-here-1",
        "Authorization: Bearer <token>",
        "secret: ************",
        "the task-manager sk-button-style-rounded1 class",
        "postgres://localhost:5432/harbour",
        "https://example.org:8080/path@2x.png",
        "AKIAcademy of letters and some more words",
    ],
)
def test_talk_about_secrets_is_no_secret(text: str) -> None:
    """Sentences, variables and placeholders are let through."""
    assert kinds(text) == []


@given(st.text(max_size=200))
def test_any_text_can_be_looked_through(text: str) -> None:
    """No text raises, and what is found is part of the text."""
    for _, value, at in found_in(text):
        assert text[at : at + len(value)] == value


@given(st.lists(st.sampled_from(sorted(EXAMPLES)), min_size=1, max_size=4, unique=True))
def test_several_secrets_are_all_found(chosen: list[str]) -> None:
    """Secrets beside each other hide none of each other."""
    assert sorted(kinds(" ;\n".join(EXAMPLES[kind] for kind in chosen))) == sorted(chosen)


def test_markup_inside_a_secret_does_not_hide_it() -> None:
    """Word marks and colours cut a secret into pieces of markup; it is found all the same, by page and line."""
    key = EXAMPLES["GitHub token"]
    html = f'<p>one</p>\n<pre class="x">token <ins>{key[:9]}</ins><span class="b">{key[9:]}</span></pre>\n'
    (finding,) = scanned("index.html", html)
    assert (finding.kind, finding.file, finding.line, finding.value) == ("GitHub token", "index.html", 2, key)


def test_escaped_characters_do_not_hide_a_secret() -> None:
    """A value is read as the page shows it."""
    (finding,) = scanned("index.html", "<p>pass" + "word: &#39;tr0ub4dor&amp;3&#39;</p>")
    assert finding.value == "tr0ub4dor&3"


def test_a_finding_never_shows_the_secret() -> None:
    """What is printed holds the kind, the place and four characters."""
    key = EXAMPLES["npm token"]
    (finding,) = scanned("page-001.html", key)
    assert str(finding) == "npm token in page-001.html, line 1 (npm_…)"
    assert key not in str(finding)


def test_findings_are_told_by_the_line_of_the_log() -> None:
    """A value that stands on many pages is told once, by the line of the log it came from."""
    findings = [Finding("password", f"page-00{n}.html", 3, "tr0u", "tr0ub4dor") for n in (1, 2)]
    findings.append(Finding("password", "page-001.html", 9, "else", "elsewhere1"))
    told = list(located(findings, "log.jsonl", b'{}\n{}\n{"x":"tr0ub4dor"}\n{"x":"tr0ub4dor"}\n'))
    assert [(one.file, one.line) for one in told] == [("log.jsonl", 3), ("page-001.html", 9)]
