"""Headings as markup."""

from unspool.doc import Heading
from unspool.export.html.escape import content, css_class, ident
from unspool.human import joined


def heading(node: Heading) -> str:
    """A heading below the page's own, with the short facts beside it."""
    level = min(6, max(2, node.level))
    kind = css_class(node.kind)
    marks = (f' class="{kind}"' if kind else "") + (f' id="{ident(node.anchor)}"' if node.anchor else "")
    notes = f' <span class="notes">{content(joined(*node.notes))}</span>' if any(node.notes) else ""
    return f"<h{level}{marks}>{content(node.text)}{notes}</h{level}>"
