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

import jinja2
from markupsafe import Markup

from unspool.errors import UsageProblem
from unspool.export.html import worn
from unspool.share.sealing import Secret, sealed

FIRST = "index.html"
_HERE = Path(__file__).parent
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
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
    page = _environment().get_template("sealed.html")
    return page.render(
        policy=_whole([_hash(style), *_of(policies, "style-src")], [_hash(script), *_of(policies, "script-src")]),
        style=_safe(worn.style_inside(style)),
        script=_safe(worn.script_inside(script)),
        header=_safe(made.header.decode("ascii")),
        facts=json.loads(made.header),
        chunks=[b64encode(chunk).decode("ascii") for chunk in made.chunks],
    ).encode("utf-8")


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


def _safe(markup: str) -> Markup:
    """Markup of our own."""
    return Markup(markup)  # noqa: S704


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("unspool.share"),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )
