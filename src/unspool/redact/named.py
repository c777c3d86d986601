"""Whether what stands beside a name is the secret that the name promises."""

import re
from typing import NamedTuple

from unspool.redact.letter_pairs import chance
from unspool.redact.placeholders import is_placeholder

_BEFORE = 60
_NAME = re.compile(r"[A-Za-z0-9_.$-]+")
_STRONG = re.compile(
    r"(?i)pass(?!ive|age|ing|ed|port|enger|th)|pwd|(?<![a-z])pw(?![a-z])|(?:bind|root|admin|user)pw|psk|secret|credential"
    r"|(?:api|access|private|secret|signing|signature|encrypt(?:ion)?|master|account|shared|storage|licen[sc]e|role|app"
    r"|client|consumer|deploy|webhook|session|admin|auth|service|jwt|hmac|server|cookie|fernet|subscription|ingest)"
    r"[._ -]?keys?(?![a-z])"
    r"|[a-z0-9][._-]?(?-i:[Tt]oken|TOKEN)|[_ -]pat(?![a-z])|(?-i:[a-z]Pat(?![a-z]))"
    r"|bearer|_salt|r[ow]community|creds|masterauth"
)
_PASSWORD = re.compile(
    r"(?i)pass(?:w|p|code|_p|$|\d)|pwd|(?<![a-z])pw(?![a-z])|(?:bind|root|admin|user)pw|psk|(?<=[a-z_.-])pass(?![a-z])"
)
_NO_SECRET = re.compile(
    r"(?i)public|publishable|primary_?key|foreign|sort_?key|partition|cache_?key|keyboard|keyword|keyframe|keystone|monkey"
    r"|hotkey|tokens?_?(?:count|type|url|uri|endpoint|name|limit|budget|usage|class|kind)|tokeni[sz]|max_?tokens"
    r"|idempotency|csrf|etag|finger_?print|thumb_?print|(?<![a-z])sha\d*(?![a-z])|digest|check_?sum|integrity|author(?!iz)"
    r"|secret_?name|secret_?(?:key_?)?ref|(?:key|token|secret|pass\w{0,6})_?(?:file|path|dir|policy|length|len|size|ref"
    r"|field|label|prefix|format|pattern|regex|hint)|key_?(?:name|type|code|path|words?|ring)s?$|passive|passage"
    r"|pass_?(?:through|ed|ing)|compass|bypass"
)
_CODE = re.compile(r"[!*&]{0,2}[A-Za-z_$][\w$]*(?:\(|\[|(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*(?:$|\(|\[|\.|:|->))")
_FILE = re.compile(
    r"[\w./-]*\.(?:py|[cm]?[jt]sx?|json|ya?ml|toml|md|txt|html?|css|sh|go|rs|java|rb|php|cfg|conf|ini|pem|key|crt|log|lock"
    r"|pkl|xml|csv|sql|ipynb|cpp|png|jpe?g|svg|zip|gz|dart|kt|swift|cs)(?::[\d:-]*)?"
)
_ARN = re.compile(r"arn:[\w:/-]*$")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_THOUGHT_OF = re.compile(r"(?:[A-Z][a-z]{2,}){2,4}\d{2,4}")
"""Words with a number behind, as people choose passwords; names of code have one digit, or a word behind it."""
_CLOSED = re.compile(r"\s{0,8}</")
_SIGNS = re.compile(r"[!@#$%^*?~]")
_SET_BY_WORD = re.compile(
    r"(?:(?:^|[\s\0\"'(;&|])(?:ENV|ARG|#\s*define|setx?|[sS]et[eE]nv|set -\w+|env|define|config set|--arg|put|add"
    r"|export|auth|-?-?secret)\s+[\"']?|(?:^|[\s\0\"'`(\[])--?)$"
)
_FLAG = re.compile(r"(?:^|[^\w-]|\\[nrt]|\[[\d;]*m)(?:--?|/)[\w.-]*$")


class Demand(NamedTuple):
    """What a value must have to be taken for a secret: characters, and bits of chance at least and for each."""

    length: int
    bits: float
    each: float

    def of(self, value: str) -> float:
        """The bits that a value must have."""
        return max(self.bits, self.each * len(value))


_LOOSE, _FIRM, _STRICT = Demand(6, 6, 0.55), Demand(8, 10, 0.9), Demand(16, 14, 0.95)
_SPOKEN, _NEVER = Demand(6, 10, 1.3), Demand(10_000, 0, 0)


def full_name(match: "re.Match[str]") -> str:
    """The name as far as it goes back."""
    before = _NAME.match(match.string[max(0, match.start() - _BEFORE) : match.start()][::-1])
    return (before[0][::-1] if before else "") + match["name"]


def is_named_secret(match: "re.Match[str]", value: str) -> bool:
    """Whether a value is the secret that its name promises: no placeholder, variable, path, type or plain word."""
    bits = chance(value)
    if bits < _LOOSE.of(value) and not any(map(str.isdigit, value)):
        return False  # what most values are, seen quickly
    name, quoted = full_name(match), bool(match["quote"]) or _is_element(match)
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    demand = _demand(match, name, quoted)
    if len(value) < demand.length or (demand is _SPOKEN and not quoted and len(value) < 12 and value[1:].islower()):
        return False
    chosen = demand is _LOOSE and _PASSWORD.search(name) is not None and _is_chosen(match, value, quoted)
    if bits < demand.of(value) and not chosen:
        return False
    return not (
        _NO_SECRET.search(name) or _ARN.search(before) or is_placeholder(value) or _is_code(match, value, quoted)
    )


def _is_element(match: "re.Match[str]") -> bool:
    """Whether a value stands between tags, which are as good as quotes."""
    return match["link"].rstrip().endswith(">") and _CLOSED.match(match.string, match.end()) is not None


def _demand(match: "re.Match[str]", name: str, quoted: bool) -> Demand:
    """A name that says no more than `key` asks for more chance; so does a value behind nothing but a space."""
    strong = _STRONG.search(name) is not None and not name.lower().endswith("id")
    link, after = match["link"], match.string[match.end() : match.end() + 1]
    if not link.strip("\"'` \t") and not _is_set(match):
        return _SPOKEN if strong and name.lower() != "pass" else _NEVER
    if not strong:
        paired = quoted and "(" in link and "auth" in name.lower()
        return _FIRM if paired or _is_option(match) else _STRICT
    if (quoted and after in {" ", "\t"}) or link.endswith("(") or (not quoted and _is_spoken(link)):
        return _FIRM
    return _LOOSE if quoted or _PASSWORD.search(name) else _FIRM


def _is_spoken(link: str) -> bool:
    return "," in link or link.strip().isalpha()


def _is_option(match: "re.Match[str]") -> bool:
    return _FLAG.search(match.string[max(0, match.start() - _BEFORE) : match.start()]) is not None


def _is_set(match: "re.Match[str]") -> bool:
    """Whether the name is an option, or stands behind a word that sets one."""
    start = match.start() - len(full_name(match)) + len(match["name"])
    return _is_option(match) or _SET_BY_WORD.search(match.string[max(0, start - 20) : start]) is not None


def _is_code(match: "re.Match[str]", value: str, quoted: bool) -> bool:
    if _CAPITALS.fullmatch(value) and chance(value) < 2.0 * len(value):
        return True
    after = match.string[match.end() : match.end() + 1]
    if value.startswith("--") or _FILE.fullmatch(value) or (value[0] in "-(" and not quoted):
        return True
    return not quoted and (after in {"(", "["} or (_CODE.match(value) is not None and chance(value) < 1.8 * len(value)))


def _is_chosen(match: "re.Match[str]", value: str, quoted: bool) -> bool:
    """Whether a value that is no chance may be a password that somebody thought of: words with digits in them."""
    if len(value) < 8 or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)) or value[0] in "/~.-!=":
        return False
    if quoted:
        return not _HUMP.search(value) or not value.isalnum() or _THOUGHT_OF.fullmatch(value) is not None
    rest = match.string[match.end() : match.end() + 2]
    ends = rest[:1] in {"", "\0", "\n", "\r", ";"} or rest in {"\\n", "\\r"}
    tight = match["link"] in {"=", ":"} or (match["link"] == ": " and ends)
    tight = tight or (match["link"] == " = " and ends and _SIGNS.search(value) is not None)
    return tight and "_" not in value and "." not in value
