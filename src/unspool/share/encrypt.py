"""A page that shows nothing until its key or passphrase opens it in the reader's browser.

Everything of the share stands in it, compressed and sealed: pages with their search and pictures, and other files as
downloads. It loads nothing from anywhere. Its policy permits its own script, and the scripts and styles that the pages
inside permit for themselves.
"""

import gzip
import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from unspool.errors import UsageProblem
from unspool.export.html import worn
from unspool.share.sealing import Secret, sealed
from unspool.site.sheet import render, safe

FIRST = "index.html"
_HERE = Path(__file__).parent
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_LONGEST = 1 << 20
"""Bytes of a page among which what tells that it is sealed stands."""
_HASH = re.compile(r"'sha256-[A-Za-z0-9+/]{43}='")


def encrypted_page(files: Mapping[str, bytes], secret: Secret) -> bytes:
    """One HTML file that opens to these files, `index.html` or the first page of them before the others.

    Pages must be self-contained; UsageProblem where one is not, or where there is none.
    """
    pages = [name for name in files if name.endswith(".html")]
    if not pages:
        raise UsageProblem("There is no page to encrypt.")
    made = sealed(packed(files, FIRST if FIRST in files else pages[0]), secret)
    style, script = _static("sealed.css"), _static("sealed.js")
    policies = [_policy(name, files[name]) for name in pages]
    return render(
        "sealed.html",
        policy=_whole([_hash(style), *_of(policies, "style-src")], [_hash(script), *_of(policies, "script-src")]),
        style=safe(worn.style_inside(style)),
        script=safe(worn.script_inside(script)),
        header=safe(made.header.decode("ascii")),
        facts=json.loads(made.header),
        chunks=[safe(b64encode(chunk).decode("ascii")) for chunk in made.chunks],
    ).encode("utf-8")


def is_sealed(page: Path) -> bool:
    """Whether a file is such a page."""
    with page.open("rb") as file:
        return b'<script type="application/json" id="sealed">{"format":"unspool.sealed/' in file.read(_LONGEST)


def packed(files: Mapping[str, bytes], first: str) -> bytes:
    """The files as one: the length of a list in four bytes, the list of names and sizes, what they hold; compressed."""
    names = [first, *(name for name in files if name != first)]
    listed = json.dumps([[name, len(files[name])] for name in names]).encode("ascii")
    whole = b"".join((len(listed).to_bytes(4), listed, *(files[name] for name in names)))
    return gzip.compress(whole, 6, mtime=0)


def _policy(name: str, page: bytes) -> dict[str, str]:
    """What a page permits itself, by directive."""
    found = _POLICY.search(page, 0, 4096)
    told = html.unescape(found[1].decode("utf-8")) if found else ""
    parts = (part.strip().partition(" ") for part in told.split(";"))
    policy = {directive: sources for directive, _, sources in parts}
    if any("'sha256-" not in policy.get(one, "") or "'self'" in policy[one] for one in ("script-src", "style-src")):
        raise UsageProblem(f"{name} needs files beside it, so it cannot be encrypted; make self-contained pages.")
    return policy


def _of(policies: Iterable[Mapping[str, Any]], directive: str) -> list[str]:
    """The hashes that any of the policies permits, each once."""
    return list(dict.fromkeys(one for policy in policies for one in _HASH.findall(policy[directive])))


def _whole(styles: list[str], scripts: list[str]) -> str:
    return (
        f"default-src 'none'; img-src data:; style-src {' '.join(styles)}; script-src {' '.join(scripts)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _static(name: str) -> str:
    return _HERE.joinpath("static", name).read_text("utf-8").replace("\r\n", "\n")
