"""A third set of labelled secrets, new at every run: what is found, by group, kind, surrounding and encoding.

    python -m bench.third_set [--seed N] [--misses] [--doors]

It was written without a look at the rules, from how issuers make their keys and how sessions of engineers look.
"""

import argparse
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple, Protocol

from bench import third_forms as forms
from bench.third_places import ARTEFACTS, ENCODINGS, Place, encoded, placed, places

PLACEHOLDERS = Path(__file__).with_name("third_placeholders.txt")
GROUPS = {"form": 0.97, "named": 0.95, "private key": 1.0, "personal": 0.95, "gitleaks kind": 0.98}
"""What is looked for, and the share of it that is to be found."""
_GROUP_OF = {
    "form": "form",
    "weak": "form",
    "gitleaks": "gitleaks kind",
    "gitleaks-named": "gitleaks kind",
    "named": "named",
}
_RAW, _ENCODED = 3, 2
"""Values of each kind as they are, and encoded."""


class Match(Protocol):
    """What was found: where it begins and ends."""

    @property
    def kind(self) -> str:
        """secret or personal."""

    @property
    def start(self) -> int:
        """Where it begins."""

    @property
    def end(self) -> int:
        """Where it ends."""


class Labelled(NamedTuple):
    """A text, and what of it must go."""

    group: str
    kind: str
    place: str
    encoding: str
    artefact: str
    text: str
    secrets: tuple[str, ...]
    """What must go, before it was encoded."""
    shown: tuple[tuple[str, ...], ...]
    """Of each of them the pieces that tell it in the text."""


def generate(seed: int) -> list[Labelled]:
    """The set of that seed: several values of every kind, each in surroundings of its own."""
    random = Random(seed)
    by_sort: dict[str, list[Place]] = defaultdict(list)
    for place in places():
        by_sort[place.sort].append(place)
    return [
        *_by_form_or_name(by_sort, random),
        *_by_place(by_sort["placed"], random),
        *_private_keys(random),
        *_personal(random),
        *_placeholders(by_sort, random),
    ]


def _by_form_or_name(by_sort: dict[str, list[Place]], random: Random) -> Iterator[Labelled]:
    for kind in forms.kinds():
        for number in range(_RAW + _ENCODED):
            bare = kind.group in {"form", "gitleaks"} and number != _RAW - 1
            value = forms.made(kind.form, random)
            place = _place_for("".join(value), by_sort["bare" if bare else "named"], random)
            encoding = "raw" if number < _RAW else random.choice(ENCODINGS)
            parts = placed(place.text, kind.variable, value)
            yield _labelled(_GROUP_OF[kind.group], kind.name, f"{place.sort}: {place.name}", encoding, parts, random)


def _place_for(value: str, among: list[Place], random: Random) -> Place:
    return random.choice([place for place in among if place.takes(value)])


_PASSWORDS = ("<pw:10-18>", "<human>", "<short>", "<an:12-24>", "<let:8-14>")
_TOKENS = ("<uuid4>", "<url:40>", "<an:32>")
_OF_TOKENS = {"npm token", "kubeconfig"}
"""Places in which no person's password stands."""


def _by_place(among: list[Place], random: Random) -> Iterator[Labelled]:
    """Passwords that only their place tells."""
    for place in among:
        for number in range(_RAW + _ENCODED):
            value = ("", "", "")
            while not value[1] or not place.takes(value[1]):
                value = forms.made(random.choice(_TOKENS if place.name in _OF_TOKENS else _PASSWORDS), random)
            encoding = "raw" if number < _RAW else random.choice(ENCODINGS)
            parts = placed(place.text, "", value)
            yield _labelled("named", f"in its place: {place.name}", f"placed: {place.name}", encoding, parts, random)


def _labelled(
    group: str, kind: str, place: str, encoding: str, parts: tuple[str, str, str], random: Random
) -> Labelled:
    text, shown = encoded(encoding, parts, random)
    return Labelled(group, kind, place, encoding, random.choice(ARTEFACTS), text, (parts[1],), (shown,))


# Private keys ---------------------------------------------------------------------------------------------------------

_Lines = list[str]
_KEY_PLACES: dict[str, Callable[[_Lines], str]] = {
    "whole": "\n".join,
    "after a prompt": lambda lines: "$ cat deploy.key\n" + "\n".join(lines) + "\n$ ls",
    "head -4": lambda lines: "\n".join(lines[:4]),
    "tail -5": lambda lines: "\n".join(lines[-5:]),
    "indented": lambda lines: "key: |\n" + "\n".join(f"    {line}" for line in lines),
    "JSON": lambda lines: '{"type": "service_account", "private_key": "' + "\\n".join(lines) + '\\n"}',
    "escapes in a variable": lambda lines: 'DEPLOY_KEY="' + "\\n".join(lines) + '"',
    "a diff": lambda lines: "@@ -0,0 +1,9 @@\n" + "\n".join(f"+{line}" for line in lines),
    "cat -n": lambda lines: "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1)),
    "Read tool": lambda lines: "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, 1)),
    "grep -n": lambda lines: "\n".join(f"deploy.key:{number}:{line}" for number, line in enumerate(lines, 1)),
    "strings of code": lambda lines: "KEY = (\n" + "\n".join(f'    "{line}\\n"' for line in lines) + "\n)",
    "joined by +": lambda lines: "var k = " + " +\n  ".join(f"'{line}\\n'" for line in lines) + ";",
    "carriage returns": "\r\n".join,
    "a quote": lambda lines: "\n".join(f"> {line}" for line in lines),
    "one line": " ".join,
}


def _private_keys(random: Random) -> Iterator[Labelled]:
    for kind in forms.PEM_KINDS:
        lines = forms.pem(kind, random)
        for name, place in _KEY_PLACES.items():
            text = place(lines)
            body = tuple(
                line for line in lines if line and not line.startswith("-----") and len(line) > 5 and line in text
            )
            yield Labelled(
                "private key",
                kind,
                f"key: {name}",
                "raw",
                random.choice(ARTEFACTS),
                text,
                body,
                tuple((line,) for line in body),
            )


# People ---------------------------------------------------------------------------------------------------------------

_FIELDS: dict[str, tuple[Callable[[Random], str], tuple[str, ...]]] = {
    "phone": (
        forms.phone,
        (
            "call me at §v",
            '{"phone": "§v"}',
            "tel:§v",
            "Mobile: §v",
            "contact §v or write",
            "- §v (on call)",
            "id,§v,SE",
        ),
    ),
    "card": (
        forms.card,
        ("card §v declined", '"number": "§v"', "pan=§v", "4711,§v,2027-04", "PAN: §v", "charge('§v')"),
    ),
    "IBAN": (forms.iban, ("IBAN §v", '{"iban": "§v"}', "pay to §v by Friday", "account: §v", "7,§v,EUR")),
    "social security number": (forms.ssn, ("SSN §v", '{"ssn": "§v"}', "ssn: §v", "social security number is §v")),
    "MAC": (
        forms.mac,
        ("link/ether §v brd ff:ff:ff:ff:ff:ff", "wlan0 HWaddr §v", '"mac": "§v"', "lease 10.3.2.1 §v 3600"),
    ),
    "street": (
        forms.street,
        ('{"street": "§v", "city": "X"}', "address: §v", "shipping_address_line1=§v", "Address: §v"),
    ),
    "e-mail": (
        lambda random: f"{'.'.join(forms.person(random)[:2])}@fernwerk.io".lower(),
        ("Author: x <§v>", "mailto:§v", '"email": "§v"', "ask §v", "git config user.email §v", "git@host:§v", "Cc: §v"),
    ),
    "IPv4": (
        lambda random: ".".join(map(str, (random.choice((81, 91, 143, 188)), *random.choices(range(1, 255), k=3)))),
        ("ssh deploy@§v", "from §v port 50122", '"ip": "§v"', "HOST=§v", "listening on §v:8443", "https://§v/x"),
    ),
    "home, Linux": (lambda random: forms.person(random)[2], ("cd /home/§v/src/orders", "/home/§v/.ssh/config:3: bad")),
    "home, macOS": (lambda random: forms.person(random)[2], ("/Users/§v/Library/x", '{"cwd": "/Users/§v/orders"}')),
    "home, Windows": (
        lambda random: forms.person(random)[2],
        ("C:\\Users\\§v\\AppData", "/c/Users/§v/orders", "/mnt/c/Users/§v/x"),
    ),
    "author": (
        lambda random: " ".join(forms.person(random)[:2]),
        (
            "commit 3f2a91bc\nAuthor: §v <x@y.io>\nDate:   Mon",
            "Co-authored-by: §v <x@y.io>",
            "Signed-off-by: §v <x@y.io>",
            "git config user.name '§v'",
            'export GIT_AUTHOR_NAME="§v"',
            "3f2a91bc (§v 2026-01-02 10:11:12 +0100 4) x = 1",
        ),
    ),
    "host": (
        lambda random: f"{random.choice(forms.LAST).lower()}-{random.choice(('mbp', 'thinkpad', 'xps13', 'desktop'))}",
        (
            "HOSTNAME=§v",
            "Linux §v 6.8.0-41-generic #41 SMP x86_64 GNU/Linux",
            "mlind@§v:~/orders$ ls",
            "Static hostname: §v",
            "$ hostname\n§v\n",
        ),
    ),
    "owner of a file": (
        lambda random: forms.person(random)[2],
        (
            "-rw-r--r--  1 §v  staff  120 May  4 09:11 a.txt",
            "USER=§v",
            "LOGNAME=§v",
            "uid=501(§v) gid=20(staff)",
            "$ whoami\n§v\n",
        ),
    ),
}


def _personal(random: Random) -> Iterator[Labelled]:
    for kind, (make, texts) in _FIELDS.items():
        for text in texts:
            for encoding in ("raw", "raw", random.choice(ENCODINGS[:3])):
                parts = placed(text, "", ("", make(random), ""))
                yield _labelled("personal", kind, f"personal: {text}".replace("\n", "\\n"), encoding, parts, random)


def _placeholders(by_sort: dict[str, list[Place]], random: Random) -> Iterator[Labelled]:
    names = ("API_KEY", "DB_PASSWORD", "client_secret", "ACCESS_TOKEN", "SECRET_KEY", "authToken")
    for value in PLACEHOLDERS.read_text(encoding="utf-8").splitlines():
        for sort in ("bare", "named", "named", "named", "placed"):
            fitting = [place for place in by_sort[sort] if place.takes(value)]
            if fitting:
                place = random.choice(fitting)
                parts = placed(place.text, random.choice(names), ("", value, ""))
                yield _labelled("placeholder", value, f"{sort}: {place.name}", "raw", parts, random)


# Measuring ------------------------------------------------------------------------------------------------------------


def is_gone(shown: tuple[str, ...], left: str) -> bool:
    """Whether less than a third of a secret is told by what is left of its text, and less than five signs of it."""
    size = min(max(5, -(-sum(map(len, shown)) * 3 // 10)), max(map(len, shown)))
    return not any(
        piece[at : at + size] in left
        for piece in shown
        for at in range(max(1, len(piece) - size + 1))
        if len(piece) >= size
    )


def share_gone(label: Labelled, matches: Iterable[Match]) -> float:
    """What share of the secrets of a text is covered by what was found; of a placeholder, whether it is left alone."""
    if label.group == "placeholder":
        start = label.text.find(label.shown[0][0])
        end = start + len(label.shown[0][0])
        return float(not any(match.kind == "secret" and match.start < end and start < match.end for match in matches))
    left, at = "", 0
    for match in sorted(matches, key=lambda match: match.start):
        left += label.text[at : match.start] + "\0" if match.start > at else "\0"
        at = max(at, match.end)
    left += label.text[at:]
    return fmean(is_gone(shown, left) for shown in label.shown)


def by_kind(results: Iterable[tuple[Labelled, float]], of: Callable[[Labelled], str]) -> dict[str, float]:
    """Recall by something, with every kind counted alike."""
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for label, share in results:
        shares[of(label)][label.kind].append(share)
    return {name: fmean(fmean(values) for values in kinds.values()) for name, kinds in shares.items()}


def _tell(results: list[tuple[Labelled, float]], *, misses: bool) -> None:
    groups = by_kind(results, lambda label: label.group)
    raw = by_kind([result for result in results if result[0].encoding == "raw"], lambda label: label.group)
    print(f"{'group':16} {'all':>7} {'raw':>7} {'aim':>5}  texts")
    for group, share in groups.items():
        texts = sum(label.group == group for label, _ in results)
        aim = f"{GROUPS[group]:.0%}" if group in GROUPS else ""
        print(f"{group:16} {share:7.1%} {raw[group]:7.1%} {aim:>5}  {texts}")
    real = [result for result in results if result[0].group in GROUPS]
    for what, of in (
        ("encoding", lambda label: f"{label.group}, {label.encoding}"),
        ("surrounding", lambda label: label.place),
    ):
        print(f"\nby {what}, those below 95 %:")
        told = real if what == "encoding" else [result for result in real if result[0].encoding == "raw"]
        for name, share in sorted(by_kind(told, of).items(), key=lambda item: item[1]):
            if share < 0.95:
                print(f"  {share:6.1%}  {name}")
    print("\nkinds never found raw:")
    never = defaultdict(list)
    for label, share in real:
        if label.encoding == "raw":
            never[label.group, label.kind].append(share)
    print("  " + ", ".join(f"{kind} ({group})" for (group, kind), shares in never.items() if not max(shares)))
    if misses:
        for label, share in results:
            if share < 1:
                about = f"[{label.group}] {label.kind} | {label.place} | {label.encoding} | {share:.0%}"
                print(f"\n{about}\n{label.text[:600]}")


def main() -> None:
    """Measure once, with a new seed or the one that is given."""
    from bench import third_doors as doors  # reads this module
    from unspool.redact.finder import Finder

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    options.add_argument("--misses", action="store_true", help="print each text of which something was not found")
    options.add_argument("--doors", action="store_true", help="share a session with such values; search what was made")
    chosen = options.parse_args()
    print(f"seed {chosen.seed}")
    if chosen.doors:
        doors.tell(generate(chosen.seed), chosen.seed)
        return
    finder = Finder()
    _tell(
        [(label, share_gone(label, finder.find(label.text))) for label in generate(chosen.seed)], misses=chosen.misses
    )


if __name__ == "__main__":
    main()
