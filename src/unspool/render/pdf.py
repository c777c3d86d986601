"""A session as a PDF, printed by the system's Chromium where there is one, else by WeasyPrint."""

import re
import subprocess
from pathlib import Path

from unspool.browsers import find_browser, run_without_window
from unspool.errors import UnspoolError, UsageProblem
from unspool.files import scratch_folder
from unspool.model import Session
from unspool.render.document import document_html
from unspool.render.html.elements import content
from unspool.render.view import View

_PATIENCE = 600
"""Seconds that a browser may take for one session."""
_WHEN = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)\d{14}[^)]*\)")
MISSING = (
    "A PDF is printed by Chromium or Chrome, and neither was found. Install one of them, or WeasyPrint: "
    "pip install 'unspool[pdf]'"
)


def write_pdf(session: Session, view: View) -> bytes:
    """One PDF; its pictures are inside."""
    browser = find_browser()
    page = _page(session.title, document_html(session, view))
    return print_by_browser(browser, page) if browser else print_by_weasyprint(page)


def _page(title: str, body: str) -> str:
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    styles = Path(__file__).with_name("pdf.css").read_text("utf-8")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{content(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{styles}</style></head>'
        f"<body>{body}</body></html>"
    )


def print_by_browser(browser: str, page: str) -> bytes:
    """The page printed; the browser leaves nothing behind."""
    with scratch_folder() as folder:
        source, target = folder / "session.html", folder / "session.pdf"
        source.write_text(page, "utf-8", errors="replace")
        printing = ["--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()]
        try:
            done = run_without_window(browser, folder, printing, _PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnspoolError(f"{browser} could not print the session: {error}") from error
        if not target.is_file():
            last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise UnspoolError(f"{browser} could not print the session: {last or f'it ended with {done.returncode}'}")
        return without_clock(target.read_bytes())


def print_by_weasyprint(page: str) -> bytes:
    try:
        import weasyprint
    except (ImportError, OSError) as error:  # its own libraries may be missing, too
        raise UsageProblem(MISSING) from error
    held = weasyprint.urls.URLFetcher(allowed_protocols=("data",))  # what is in the page, and nothing from elsewhere
    return without_clock(bytes(weasyprint.HTML(string=page, url_fetcher=held).write_pdf()))


def without_clock(made: bytes) -> bytes:
    """The PDF without the time at which it was made: the same session is the same file."""
    return _WHEN.sub(
        lambda found: found[1] + b"20000101000000" + b" " * (len(found[0]) - len(found[1]) - 15) + b")", made
    )
