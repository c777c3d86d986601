"""What stands where a secret would and is none: fillers, words, references to elsewhere, values that all know."""

import re

from unspool.redact.letter_pairs import chance

_SAYS = re.compile(
    r"(?i:example|placeholder|redacted|change.?me|change.?(?:it|this)\b|\byour|[_-]your|dummy|sample|not.?a.?(?:real|secret)"
    r"|insert.?|replace.?|goes.?here|foobar|abcdefgh|deadbeef|cafebabe)"
    r"|x{4}|X{4}|\*\*\*|\.\.\.|\.env\b|^(?i:env)[.\[]|^os\.|^process\.|^[%{<@&]|\$\{|0123456789|1234567890"
    r"|^(?i:sha\d{1,3}[:-])"
)
"""A text that says itself that it is no secret."""
_VARIABLE = re.compile(
    r"^\$(?:[A-Za-z_][\w.:>-]*|\(.*|\d)$|\$[A-Z_]{4,}(?![a-z0-9])|#\{|%[A-Z_]{2,}%|^\$\w+\b(?=$|[:/])"
)
_WORDS = re.compile(
    r"(?i)(?:^|[\W_])(?:test(?:s|ing)?|fake|mock(?:ed)?|demo|foo|bar|baz|todo|fixme|my|some|put|here|none|null"
    r"|undefined|string|secret|password|passwd|passw0rd|hidden|masked|filtered|removed|invalid|wrong|default|stub|spam|eggs)"
    r"\d{0,6}(?:$|[\W_])|[_-](?:key|token)\d{0,4}$|([A-Za-z0-9])\1{11}"
)
"""A word that a secret would not have, with signs and digits beside it; or one character again and again."""
_COMMON = re.compile(
    r"(?i)(?:my|super|top|very|the|a|not|no|some|new|old|test|db|root|admin|user|this|is|your){0,4}(?:secret|password|passwd|passw0rd|pass"
    r"|pwd|token|key|admin|root|hunter2$|letmein|postgres|mysql|qwerty|welcome|guest|test|user|default|null|none|true|false)"
    r"(?:key|token|password|value|string)?[\d!]{0,6}"
)
_REFERENCE = re.compile(
    r"(?i)(?:[a-z][a-z0-9+.-]{1,20}:(?://|secret/)|(?:file|vault|ssm|arn|ref|env|secret|op|gcp-sm|sm|kms|urn):|enc\[|!(?:ref|sub|vault)"
    r"|projects/|[a-z]:\\|\.{0,2}/[\w.-]*(?:/|$)|~/|\(hidden|\[(?:masked|filtered|removed|your)"
    r"|(?:@[\w.-]+/)?[a-z][\w.-]*@[~^]?\d+(?:\.\d+)+|\d+(?:\.\d+){2,}$)"
)
"""What names something elsewhere: an address, a path, a package with its version, a number of an object."""
_REST = 14
"""Characters of chance beside a word that make a secret of both."""
_LEAST = 5
"""Different characters that a secret has at least."""
_KNOWN = frozenset(
    {
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
        "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        "sk" + "_test_4eC39HqLyjWDarjtT1zdp7dc",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
        + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        "8a477f597d28d172789f06886806bc55",  # of CACHEDIR.TAG
        "DE89370400440532013000",
        "078-05-1120",
    }
)
"""Digests of nothing, keys of emulators, and what documents show."""


def is_made_up(text: str) -> bool:
    """Whether a text says itself that it is no secret, is one that all know, or has too few different characters."""
    return _SAYS.search(text) is not None or len(set(text)) < _LEAST or text in _KNOWN or text.rstrip("=") in _BARE


_BARE = frozenset(value.rstrip("=") for value in _KNOWN)


def is_placeholder(text: str) -> bool:
    """Whether what a name promises to be a secret is none: made up, a common word, or said to be elsewhere."""
    if is_made_up(text) or _VARIABLE.search(text) or _REFERENCE.match(text) or _COMMON.fullmatch(text):
        return True
    return _repeats(text) or (_WORDS.search(text) is not None and not _is_chance(_WORDS.sub("", text)))


def _is_chance(rest: str) -> bool:
    """Whether what stands beside a word is made by chance, as in `secret-` and forty random characters."""
    return len(rest) >= _REST and chance(rest) >= 1.6 * len(rest)


def _repeats(text: str) -> bool:
    """Whether each group between signs has one or two different characters, as in 1111-2222."""
    return all(len(set(group)) < 3 for group in re.split(r"[\W_]", text))
