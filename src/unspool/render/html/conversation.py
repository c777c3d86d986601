"""HTML of a session's pages: turns and subagents, rail and pager, timeline, files and models."""

from collections.abc import Iterable, Sequence

from unspool.doc import Fold
from unspool.render.html.elements import content, escape


def turn(anchor: str, name: str, inside: str) -> str:
    """A turn; `name` is what it is called for those who hear the page."""
    label = f' aria-label="{content(name)}"' if name else ""
    return f'<section class="turn" id="{anchor}"{label}>{inside}</section>'


def opening_head(level: int, time: str) -> str:
    """What stands above blocks that came before any prompt; `time` is markup."""
    return f'<div class="who opening"><h{level}>Before the first prompt</h{level}> {time}</div>'


def prompt(anchor: str, head: str, inside: str) -> str:
    """What was asked, under its head."""
    return f'<div class="prompt" id="{anchor}" data-kind="prompt"><div class="who">{head}</div>{inside}</div>'


def prompt_head(level: int, who: str, number: int, notes: Iterable[str], link: str) -> str:
    """Who asked; `number` is the prompt's, 0 for none, and `link` is markup."""
    nth = f" <span>prompt {number}</span>" if number else ""
    said = "".join([f"<span>{content(note)}</span>" for note in notes])
    return f"<h{level}>{who}{nth}</h{level}>{said}{link}"


def answer(anchor: str, inside: str) -> str:
    return f'<div class="answer" id="{anchor}" data-kind="text">{inside}</div>'


def answer_head(name: str, model: str, link: str) -> str:
    """Who speaks; `link` is markup."""
    return f'<p class="who"><b>{content(name)}</b> <span>{content(model)}</span> {link}</p>'


def turn_foot(facts: Iterable[tuple[str, str]]) -> str:
    """What a turn took: short facts, each with what it is exactly; nothing where there are none."""
    items = [_fact(text, exact) for text, exact in facts if text]
    return f'<ul class="foot" aria-label="What it took">{"".join(items)}</ul>' if items else ""


def _fact(text: str, exact: str) -> str:
    title = f' title="{escape(exact)}"' if exact else ""
    return f"<li{title}>{content(text)}</li>"


def block_part(anchor: str, kind: str, inside: str) -> str:
    """A block that has no look of its own."""
    return f'<div id="{anchor}" data-kind="{kind}">{inside}</div>'


def block_line(anchor: str, kind: str, words: str) -> str:
    """A block of which one line is all there is to tell."""
    return f'<p id="{anchor}" data-kind="{kind}">{content(words)}</p>'


def divider(words: str, *, bad: bool) -> str:
    """A line across the conversation."""
    return f'<p class="divider{" bad" if bad else ""}">{content(words)}</p>'


def row_box(inside: str) -> str:
    """Rows in a box together."""
    return f'<div class="calls">{inside}</div>'


def quiet_lines(inside: str) -> str:
    """Lines that few people read."""
    return f'<div class="hush">{inside}</div>'


def folded_notices(summary: str, inside: str) -> str:
    """What few people read, behind one line that says what it is."""
    return (
        f'<details class="notices" data-kind="notice"><summary>{content(summary)}</summary>'
        f"<div>{inside}</div></details>"
    )


def todo_box(anchor: str, fold: Fold, inside: str) -> str:
    """A todo list, folded to its progress."""
    name, _, progress = fold.summary.partition(" ")
    badge = f' <span class="badge">{content(fold.outcome)}</span>' if fold.outcome else ""
    return (
        f'<details{" open" if fold.open else ""} class="card" data-kind="todos" id="{anchor}"><summary>'
        f"<span>{content(f'Todos: {progress}' if progress else name)}</span>{badge}</summary>"
        f"<div>{inside}</div></details>"
    )


def push_card(inside: str, where: str) -> str:
    """Where something went, where that was done."""
    return (
        f'<div class="commit push"><b aria-hidden="true">⇡</b><span>{inside}</span>'
        f'<span class="mono">{content(where)}</span></div>'
    )


def agent_page(anchor: str, name: str, gist: str, inside: str) -> tuple[str, str]:
    """Head and conversation of a page that is a subagent's."""
    badges = '<div class="badges"><span class="badge plan">subagent</span></div>'
    head = f'<h1>{content(name)}</h1>{badges}<p class="facts">{content(gist)}</p>'
    return head, f'<h2 class="label">Conversation</h2><div class="agent own" id="{anchor}">{inside}</div>'


def agent_card(anchor: str, name: str, inside: str) -> str:
    """A subagent that is told by itself on the page of its session."""
    return (
        f'<details class="card" data-kind="agent" id="{anchor}"><summary>Subagent: '
        f'{content(name)}</summary><div class="agent">{inside}</div></details>'
    )


def agent_link(anchor: str, href: str, name: str, gist: str) -> str:
    """A row that leads to a subagent; `anchor` is empty where that is told elsewhere on the page."""
    mark = f' id="{anchor}"' if anchor else ""
    return (
        f'<div class="call" data-kind="agent"{mark}><span class="name">Subagent</span> '
        f'<a class="what" href="{href}">{content(name)}</a> <span class="gist">{content(gist)}</span></div>'
    )


def agent_row(anchor: str, name: str, gist: str, own: str, inside: str) -> str:
    """A row that opens to a subagent; `own` is the page of its own, if it has one."""
    there = f'<p class="link"><a href="{own}">On a page of its own</a></p>' if own else ""
    return (
        f'<details class="call" data-kind="agent" id="{anchor}"><summary><span class="name">Subagent</span> '
        f'<span class="what">{content(name)}</span> <span class="gist">{content(gist)}</span></summary>'
        f'<div class="agent">{there}{inside}</div></details>'
    )


PREVIOUS, NEXT = "← Prev", "Next →"


def rail(name: str, stops: Iterable[str], earlier: int, later: int) -> str:
    """Prompts beside a page, and how many more there are before and after them."""
    inside = "".join(stops)
    return f"<h2>{name}</h2><ol>{_skipped(earlier, 'earlier')}{inside}{_skipped(later, 'later')}</ol>"


def rail_stop(href: str, number: int, words: str) -> str:
    """One prompt of a rail."""
    return f'<li><a href="{href}"><span class="num">{number}</span> <span>{content(words)}</span></a></li>'


def _skipped(number: int, name: str) -> str:
    return f'<li class="skipped">{number:,} {name}</li>' if number else ""


def pager(steps: Sequence[str], *, below: bool = False) -> str:
    """The pages of a chapter, above its turns or below them."""
    return f'<nav class="pager" aria-label="Pages{", below" if below else ""}">{"".join(steps)}</nav>'


def pager_step(href: str, name: str, rel: str = "") -> str:
    """A page that has a part in the order of pages; without an address, that there is none."""
    return f'<a href="{href}" rel="{rel}">{name}</a>' if href else f'<span class="off">{name}</span>'


def pager_number(href: str, nth: int, *, here: bool) -> str:
    """A page by its number."""
    return f'<a href="{href}" aria-current="page">{nth}</a>' if here else f'<a href="{href}">{nth}</a>'


def pager_gap() -> str:
    """Pages that are not named."""
    return '<span class="gap" aria-hidden="true">…</span>'


def branch_links(ways: Sequence[str]) -> str:
    """The ways a conversation goes on."""
    return f'<nav class="branches" aria-label="Branches"><span>From here:</span> {"".join(ways)}</nav>'


def branch_link(href: str, words: str, *, here: bool) -> str:
    mark = ' aria-current="true"' if here else ""
    return f'<a href="{href}"{mark}>{content(words)}</a>'


def timeline(items: Sequence[str]) -> str:
    """The timeline around its items; nothing where there are none."""
    return f'<ol class="timeline">{"".join(items)}</ol>' if items else ""


def timeline_aside(inside: str) -> str:
    """An item that is no prompt."""
    return f'<li class="aside">{inside}</li>'


def timeline_start(inside: str) -> str:
    """What happened before the first prompt."""
    return timeline_aside(f'<p class="who"><b>Before the first prompt</b></p>{inside}')


def timeline_prompt(number: int, href: str, link: str, inside: str) -> str:
    """A prompt; `link` is markup."""
    return f'<li id="at-{number}"><p class="who"><b><a href="{href}">Prompt {number}</a></b>{link}</p>{inside}</li>'


def prompt_words(inside: str) -> str:
    """What a prompt says, in short."""
    return f'<div class="words">{inside}</div>'


def expandable_words(start: str, inside: str) -> str:
    """What a prompt says: its beginning, which opens to the whole."""
    return (
        f'<details class="words whole"><summary>{content(start)}</summary><div class="prose">{inside}</div></details>'
    )


def prompt_work(inside: str) -> str:
    """What was done for a prompt; nothing where nothing was."""
    return f'<p class="done">{inside}</p>' if inside else ""


def event_list(items: Iterable[str]) -> str:
    """What came of a prompt; nothing where nothing did."""
    inside = "".join(items)
    return f'<ul class="events">{inside}</ul>' if inside else ""


def event_item(kind: str, inside: str, tone: str = "") -> str:
    """One thing that came of a prompt."""
    return f'<li class="{tone}"><span class="kind">{kind}</span><span class="said">{inside}</span></li>'


def agent_item(inside: str) -> str:
    """A subagent that no prompt accounts for."""
    return f'<li class="agents"><span class="kind">subagent</span><span>{inside}</span></li>'


def files_table(rows: Iterable[tuple[str, bool, int, int]]) -> str:
    """Files with whether they are new, and how many lines came and went."""
    shown = [
        f'<tr><td class="mono">{content(path)}</td><td class="end">{"yes" if created else ""}</td>'
        f'<td class="end">+{added:,}</td><td class="end">−{removed:,}</td></tr>'
        for path, created, added, removed in rows
    ]
    heads = '<th>File</th><th>New</th><th class="end">Lines in</th><th class="end">Lines out</th>'
    return _table(heads, shown)


def models_table(rows: Iterable[tuple[str, Iterable[tuple[str, int]]]]) -> str:
    """Models with the tokens they used, each figure in short and exactly."""
    shown = [f"<tr><td>{content(model)}</td>{''.join([_tokens(*one) for one in used])}</tr>" for model, used in rows]
    names = "".join([f'<th class="end">{name}</th>' for name in ("In", "Out", "From cache", "To cache")])
    return _table(f"<th>Model</th>{names}", shown)


def _tokens(short: str, exact: int) -> str:
    return f'<td class="end num" title="{exact:,}">{short}</td>'


def _table(heads: str, rows: list[str]) -> str:
    return f'<div class="table"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
