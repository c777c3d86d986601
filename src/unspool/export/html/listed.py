"""Lists and tables of a session's first page: its timeline, its files, its models."""

from collections.abc import Iterable, Sequence

from unspool.export.html.escape import content


def timeline(items: Sequence[str]) -> str:
    """The timeline around its items; nothing where there are none."""
    return f'<ol class="timeline">{"".join(items)}</ol>' if items else ""


def aside(inside: str) -> str:
    """An item that is no prompt."""
    return f'<li class="aside">{inside}</li>'


def before_prompts(inside: str) -> str:
    """What happened before the first prompt."""
    return aside(f'<p class="who"><b>Before the first prompt</b></p>{inside}')


def asked(number: int, href: str, link: str, inside: str) -> str:
    """A prompt; `link` is markup."""
    return f'<li id="at-{number}"><p class="who"><b><a href="{href}">Prompt {number}</a></b>{link}</p>{inside}</li>'


def words(inside: str) -> str:
    """What a prompt says, in short."""
    return f'<div class="words">{inside}</div>'


def unfolding(start: str, inside: str) -> str:
    """What a prompt says: its beginning, which opens to the whole."""
    return (
        f'<details class="words whole"><summary>{content(start)}</summary><div class="prose">{inside}</div></details>'
    )


def done(inside: str) -> str:
    """What was done for a prompt; nothing where nothing was."""
    return f'<p class="done">{inside}</p>' if inside else ""


def events(items: Iterable[str]) -> str:
    """What came of a prompt; nothing where nothing did."""
    inside = "".join(items)
    return f'<ul class="events">{inside}</ul>' if inside else ""


def event(kind: str, inside: str, tone: str = "") -> str:
    """One thing that came of a prompt."""
    return f'<li class="{tone}"><span class="kind">{kind}</span><span class="said">{inside}</span></li>'


def agent(inside: str) -> str:
    """A subagent that no prompt accounts for."""
    return f'<li class="agents"><span class="kind">subagent</span><span>{inside}</span></li>'


def files(rows: Iterable[tuple[str, bool, int, int]]) -> str:
    """Files with whether they are new, and how many lines came and went."""
    shown = [
        f'<tr><td class="mono">{content(path)}</td><td class="end">{"yes" if created else ""}</td>'
        f'<td class="end">+{added:,}</td><td class="end">−{removed:,}</td></tr>'
        for path, created, added, removed in rows
    ]
    heads = '<th>File</th><th>New</th><th class="end">Lines in</th><th class="end">Lines out</th>'
    return _table(heads, shown)


def models(rows: Iterable[tuple[str, Iterable[tuple[str, int]]]]) -> str:
    """Models with the tokens they used, each figure in short and exactly."""
    shown = [f"<tr><td>{content(model)}</td>{''.join([_tokens(*one) for one in used])}</tr>" for model, used in rows]
    names = "".join([f'<th class="end">{name}</th>' for name in ("In", "Out", "From cache", "To cache")])
    return _table(f"<th>Model</th>{names}", shown)


def _tokens(short: str, exact: int) -> str:
    return f'<td class="end num" title="{exact:,}">{short}</td>'


def _table(heads: str, rows: list[str]) -> str:
    return f'<div class="table"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
