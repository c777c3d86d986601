"""What a secret looks like: one line a kind, as data. A rule is only tried where its hint stands in the text."""

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """A kind of secret; `value` is the group that holds the secret itself."""

    kind: str
    hints: tuple[str, ...]
    """Any of these, in lower case, stands in every match."""
    pattern: "re.Pattern[str]"
    value: int = 0


def _rule(kind: str, hints: str, pattern: str, value: int = 0) -> Rule:
    return Rule(kind, tuple(hints.split()), re.compile(pattern), value)


_EDGE = r"(?<![A-Za-z0-9_-])"
_ASSIGNED = r"""["']?\s*(?:[:=]|=>|:=)\s*["']?"""
_URL = r"://[^\s:/@\"'<>]*:([^\s/@\"'<>]{3,})@[^\s\"'<>]+"

RULES: tuple[Rule, ...] = (
    _rule("Anthropic API key", "sk-ant-", _EDGE + r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _rule("OpenAI API key", "sk-", _EDGE + r"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,}|[A-Za-z0-9]{20,})"),
    _rule("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _EDGE + r"gh[opusr]_[A-Za-z0-9]{36,}"),
    _rule("GitHub fine-grained token", "github_pat_", _EDGE + r"github_pat_[A-Za-z0-9_]{22,}"),
    _rule("GitLab token", "glpat- gldt- glrt-", _EDGE + r"gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}"),
    _rule("Slack token", "xox", _EDGE + r"xox[abeoprs]-[A-Za-z0-9-]{24,}"),
    _rule("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}"),
    _rule("npm token", "npm_", _EDGE + r"npm_[A-Za-z0-9]{36,}"),
    _rule("PyPI token", "pypi-age", _EDGE + r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _rule("AWS access key id", "akia asia", _EDGE + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule(
        "AWS secret access key",
        "aws_secret_access_key secretaccesskey",
        r"(?i)(?:aws_secret_access_key|secretaccesskey)" + _ASSIGNED + r"([A-Za-z0-9/+]{40})",
        1,
    ),
    _rule("Google API key", "aiza", _EDGE + r"AIza[A-Za-z0-9_-]{35}"),
    _rule("Google OAuth token", "ya29.", _EDGE + r"ya29\.[A-Za-z0-9_-]{30,}"),
    _rule("Stripe key", "k_live_ whsec_", _EDGE + r"(?:[rs]k_live_|whsec_)[A-Za-z0-9]{20,}"),
    _rule("SendGrid key", "sg.", _EDGE + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _rule("Twilio key", "sk", _EDGE + r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("Hugging Face token", "hf_", _EDGE + r"hf_[A-Za-z0-9]{30,}"),
    _rule("DigitalOcean token", "do", _EDGE + r"do[opr]_v1_[0-9a-f]{64}"),
    _rule("Telegram bot token", ":aa", _EDGE + r"\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    _rule("JSON Web Token", "eyj", _EDGE + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    _rule("bearer token", "bearer", r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{20,}=*)", 1),
    _rule("private key", "private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    _rule("PuTTY private key", "putty-user-key-file", r"PuTTY-User-Key-File-\d: \S+"),
    _rule("PostgreSQL address with password", "postgres", r"(?i)\bpostgres(?:ql)?(?:\+\w+)?" + _URL, 1),
    _rule("MySQL address with password", "mysql mariadb", r"(?i)\b(?:mysql|mariadb)(?:\+\w+)?" + _URL, 1),
    _rule("MongoDB address with password", "mongodb", r"(?i)\bmongodb(?:\+srv)?" + _URL, 1),
    _rule("Redis address with password", "redis", r"(?i)\brediss?" + _URL, 1),
    _rule("AMQP address with password", "amqp", r"(?i)\bamqps?" + _URL, 1),
    _rule("web address with password", "http", r"(?i)\bhttps?" + _URL, 1),
    _rule(
        "password",
        "passw pwd secret",
        r"(?i)(?<![A-Za-z])(?:password|passwd|pwd|secret)" + _ASSIGNED + r"([^\s\"'<>,;(){}\[\]]{8,})",
        1,
    ),
    _rule(
        "key or token",
        "key token",
        r"(?i)(?:api[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token"
        r"|client[_-]?secret)" + _ASSIGNED + r"([A-Za-z0-9_./+~-]{16,}=*)",
        1,
    ),
)
