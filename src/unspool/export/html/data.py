"""Tables, fields and checklists as markup."""

from itertools import zip_longest

from unspool.doc import Check, Checklist, Fields, Table
from unspool.export.html.escape import content
from unspool.export.html.panel import clipped

_STATES = {"open": "", "active": ' class="now"', "done": ' class="done"', "dropped": ' class="dropped"'}


def table(node: Table) -> str:
    """Rows under headings; a row may be longer or shorter than they are."""
    caption = f"<caption>{content(node.caption)}</caption>" if node.caption else ""
    width = max((len(row) for row in (node.headings, *node.rows)), default=0)
    head = _row("th", node.headings, width) if any(node.headings) else ""
    rows = "".join([_row("td", row, width) for row in node.rows])
    head = f"<thead>{head}</thead>" if head else ""
    return f'<div class="table"><table>{caption}{head}<tbody>{rows}</tbody></table></div>'


def _row(tag: str, cells: tuple[str, ...], width: int) -> str:
    shown = [f"<{tag}>{content(cell)}</{tag}>" for cell, _ in zip_longest(cells, range(width), fillvalue="")]
    return f"<tr>{''.join(shown)}</tr>"


def fields(node: Fields) -> str:
    """Names with values; a value of several lines keeps them."""
    items = [f"<dt>{content(name)}</dt><dd>{_value(value)}</dd>" for name, value in node.items]
    return f"<dl>{''.join(items)}</dl>" if items else ""


def _value(value: str) -> str:
    return clipped(f"<pre><code>{content(value)}</code></pre>", value) if "\n" in value else content(value)


def checklist(node: Checklist) -> str:
    """Things to do, each in its state."""
    caption = f'<p class="caption">{content(node.caption)}</p>' if node.caption else ""
    return f'{caption}<ul class="todo">{"".join(map(_check, node.items))}</ul>'


def _check(check: Check) -> str:
    note = f' <span class="note">{content(check.note)}</span>' if check.note else ""
    text = f"<s>{content(check.text)}</s>" if check.state == "dropped" else content(check.text)
    return f"<li{_STATES[check.state]}>{text}{note}</li>"
