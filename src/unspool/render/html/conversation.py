"""HTML of a session's pages: turns and subagents, rail and pager, timeline, files and models."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unspool import human
from unspool.doc import Fold
from unspool.model import Usage
from unspool.render.html.elements import content, escape, ident, span, took_line


def turn(anchor: str, name: str, inside: Iterable[str]) -> str:
    """A turn; `name` is what it is called for those who hear the page."""
    label = f' aria-label="{content(name)}"' if name else ""
    return "".join((f'<section class="turn" id="{anchor}"{label}>', *inside, "</section>"))


def calls_box(rows: list[str]) -> list[str]:
    """Rows that follow one another, in a box."""
    return ['<div class="calls">', *rows, "</div>"]


def opening_head(level: int, name: str, time: str) -> str:
    """What stands above blocks that no prompt stands before; `time` is markup."""
    return f'<div class="who opening"><h{level}>{content(name)}</h{level}> {time}</div>'


def prompt(anchor: str, number: int, notes: Iterable[str], link: str, inside: str) -> str:
    """What was asked; `number` is the prompt's, 0 where it was asked of a subagent, and `link` is markup."""
    head = f"<h2>You <span>prompt {number}</span></h2>" if number else "<h3>Asked</h3>"
    said = "".join([f"<span>{content(note)}</span>" for note in notes])
    return f'<div class="prompt" id="{anchor}"><div class="who">{head}{said}{link}</div>{inside}</div>'


def answer(anchor: str, head: str, inside: str, took: str) -> str:
    return f'<div class="answer" id="{anchor}">{head}{inside}{took_line(took)}</div>'


def answer_head(name: str, model: str, link: str) -> str:
    """Who speaks; `link` is markup."""
    return f'<p class="who"><b>{content(name)}</b> <span>{content(model)}</span> {link}</p>'


def turn_foot(facts: Iterable[tuple[str, str]]) -> str:
    """What a turn took: short facts, each with what it is exactly; nothing where there are none."""
    items = [
        f'<li title="{escape(exact)}">{content(text)}</li>' if exact else f"<li>{content(text)}</li>"
        for text, exact in facts
        if text
    ]
    return f'<ul class="foot" aria-label="What it took">{"".join(items)}</ul>' if items else ""


def block_part(anchor: str, kind: str, inside: str) -> str:
    """A block that has no look of its own."""
    return f'<div id="{anchor}" data-kind="{kind}">{inside}</div>'


def block_line(anchor: str, kind: str, words: str) -> str:
    """A block of which one line is all there is to show."""
    return f'<p id="{anchor}" data-kind="{kind}">{content(words)}</p>'


def divider(words: str, *, bad: bool) -> str:
    """A line across the conversation."""
    return f'<p class="divider{" bad" if bad else ""}">{content(words)}</p>'


def folded_notices(summary: str, inside: str) -> str:
    """What few people read, behind one line that says what it is."""
    return f'<details class="notices"><summary>{content(summary)}</summary><div>{inside}</div></details>'


def long_notice(anchors: list[str], summary: str, inside: str) -> str:
    """All that a notice holds, or several that hold the same."""
    here, *others = map(ident, anchors)
    also = "".join(f'<i id="{one}"></i>' for one in others)
    return f'<section class="turn" id="{here}">{also}<h2>{content(summary)}</h2>{inside}</section>'


def copied_turns(summary: str, link: str, inside: str) -> str:
    """Turns that stand in another session too, folded; `link` leads there."""
    lead = f"<p>{link}</p>" if link else ""
    return f'<details class="card copied"><summary>{content(summary)}</summary><div>{lead}{inside}</div></details>'


def todo_box(anchor: str, fold: Fold, inside: str, took: str) -> str:
    """A todo list, folded to its progress."""
    name, _, progress = fold.summary.partition(" ")
    badge = f' <span class="badge">{content(fold.outcome)}</span>' if fold.outcome else ""
    words = span("took", took) if took else ""
    return (
        f'<details{" open" if fold.open else ""} class="card" data-kind="todos" id="{anchor}"><summary>'
        f"<span>{content(f'Todos: {progress}' if progress else name)}</span>{badge}{words}</summary>"
        f"<div>{inside}</div></details>"
    )


def push_card(link: str, where: str) -> str:
    """Where something went, at the call that sent it; `link` is markup."""
    return (
        f'<div class="commit push"><b aria-hidden="true">⇡</b><span>{link}</span>'
        f'<span class="mono">{content(where)}</span></div>'
    )


def agent_page(anchor: str, name: str, gist: str, inside: str) -> tuple[str, str]:
    """Head and conversation of a page that is a subagent's."""
    badges = '<div class="badges"><span class="badge plan">subagent</span></div>'
    head = f'<h1>{content(name)}</h1>{badges}<p class="facts">{content(gist)}</p>'
    return head, f'<h2 class="label">Conversation</h2><div class="agent own" id="{anchor}">{inside}</div>'


def agent_card(anchor: str, name: str, inside: str) -> str:
    """A subagent that stands by itself on the page of its session."""
    return (
        f'<details class="card" data-kind="agent" id="{anchor}"><summary>Subagent: '
        f'{content(name)}</summary><div class="agent">{inside}</div></details>'
    )


def agent_link(anchor: str, href: str, name: str, gist: str) -> str:
    """A row that leads to a subagent; `anchor` is empty where the subagent has it elsewhere on the page."""
    mark = f' id="{anchor}"' if anchor else ""
    return (
        f'<div class="call" data-kind="agent"{mark}><b>Subagent</b> '
        f'<a class="what" href="{href}">{content(name)}</a> <i>{content(gist)}</i></div>'
    )


def agent_row(anchor: str, name: str, gist: str, own: str, inside: str) -> str:
    """A row that opens to a subagent; `own` is the page of its own, if it has one."""
    there = f'<p class="link"><a href="{own}">Open alone</a></p>' if own else ""
    return (
        f'<details class="call" data-kind="agent" id="{anchor}"><summary><b>Subagent</b> '
        f'<span class="what">{content(name)}</span> <i>{content(gist)}</i></summary>'
        f'<div class="agent">{there}{inside}</div></details>'
    )


def looked_row(words: str, took: str, inside: str) -> str:
    """Calls that only looked around, behind one line that says at what."""
    return (
        f'<details class="call sum"><summary><b>Looked</b> '
        f'<span class="what for">{content(words)}</span> <i>{content(took)}</i></summary>'
        f'<div class="within">{inside}</div></details>'
    )


def group_head(words: str) -> str:
    """A line above rows that belong together."""
    return f'<p class="together" data-kind="agent">{content(words)}</p>'


def rail(name: str, stops: Iterable[tuple[str, int, str]], earlier: int, later: int) -> str:
    """Prompts beside a page, by address, number and words, and how many more there are before and after them."""
    inside = "".join(
        [
            f'<li><a href="{href}"><i>{number}</i> <span>{content(words)}</span></a></li>'
            for href, number, words in stops
        ]
    )
    before = f'<li class="skipped">{earlier:,} earlier</li>' if earlier else ""
    after = f'<li class="skipped">{later:,} later</li>' if later else ""
    return f'<p class="label">{name}</p><ol>{before}{inside}{after}</ol>'


def pager(links: Iterable[str], *, below: bool = False) -> str:
    """The pages of a chapter, above its turns or below them."""
    return f'<nav class="pager" aria-label="Pages{", below" if below else ""}">{"".join(links)}</nav>'


def pager_step(href: str, name: str, rel: str) -> str:
    """A page that has a part in the order of pages; without an address, that there is none."""
    return f'<a href="{href}" rel="{rel}">{name}</a>' if href else f'<span class="off">{name}</span>'


def pager_number(href: str, nth: int, *, here: bool) -> str:
    """A page by its number; without an address, that some are not named."""
    if not href:
        return '<span class="gap" aria-hidden="true">…</span>'
    return f'<a href="{href}" aria-current="page">{nth}</a>' if here else f'<a href="{href}">{nth}</a>'


def branch_links(choices: Iterable[tuple[str, str, bool]]) -> str:
    """The ways a conversation goes on: address, words, and whether it is the one that is being read."""
    marks = {True: ' aria-current="true"', False: ""}
    links = [f'<a href="{href}"{marks[here]}>{content(words)}</a>' for href, words, here in choices]
    return f'<nav class="branches" aria-label="Branches"><span>From here:</span> {"".join(links)}</nav>'


def timeline(items: Sequence[str]) -> str:
    """The timeline around its items; nothing where there are none."""
    return f'<ol class="timeline">{"".join(items)}</ol>' if items else ""


def timeline_item(inside: str, number: int = -1, href: str = "", link: str = "") -> str:
    """What came of a prompt, of the time before the first one (0), or something aside; `link` is markup."""
    if number < 1:
        who = "" if number else '<p class="who"><b>Before the first prompt</b></p>'
        return f'<li class="aside">{who}{inside}</li>'
    return f'<li id="at-{number}"><p class="who"><b><a href="{href}">Prompt {number}</a></b>{link}</p>{inside}</li>'


def expandable_words(start: str, inside: str) -> str:
    """What a prompt says: its beginning, which opens to the whole."""
    whole = f'<div class="prose" dir="auto">{inside}</div>'
    return f'<details class="words whole"><summary>{content(start)}</summary>{whole}</details>'


def prompt_work(inside: str) -> str:
    """What was done for a prompt; nothing where nothing was."""
    return f'<p class="done">{inside}</p>' if inside else ""


class TimelineEvent(NamedTuple):
    """One thing that came of a prompt; `words` is markup."""

    kind: str
    words: str
    tone: str = ""


def event_list(events: Iterable[TimelineEvent]) -> str:
    """What came of a prompt; nothing where nothing did."""
    items = [
        (f'<li class="{event.tone}">' if event.tone else "<li>")
        + f'<span class="kind">{event.kind}</span><span class="said">{event.words}</span></li>'
        for event in events
    ]
    return f'<ul class="events">{"".join(items)}</ul>' if items else ""


def strip_link(href: str, look: str, span: tuple[int, int], says: str, *, tabbed: bool) -> str:
    """A piece of a strip, from where on and how wide it is; `tabbed`: the Tab key comes to it."""
    start, width = span
    passed = "" if tabbed else ' tabindex="-1"'
    shape = f'<rect class="{look}" x="{start}" width="{width}" height="22"/>'
    return f'<a href="{escape(href)}"{passed}>{shape}<title>{content(says)}</title></a>'


def files_table(rows: Iterable[tuple[str, bool, int, int]]) -> str:
    """Files with whether they are new, and how many lines came and went."""
    shown = [
        f'<tr><td class="mono">{content(path)}</td><td class="end">{"yes" if created else ""}</td>'
        f'<td class="end">+{added:,}</td><td class="end">−{removed:,}</td></tr>'
        for path, created, added, removed in rows
    ]
    heads = '<th>File</th><th>New</th><th class="end">Lines in</th><th class="end">Lines out</th>'
    return _table(heads, shown)


def models_table(rows: Iterable[tuple[str, Usage]]) -> str:
    """Models with the tokens they used, each figure in short and exactly."""
    shown = []
    for model, used in rows:
        numbers = (used.input, used.output, used.cache_read, used.cache_write)
        cells = [f'<td class="end num" title="{number:,}">{human.tokens(number)}</td>' for number in numbers]
        shown.append(f"<tr><td>{content(model)}</td>{''.join(cells)}</tr>")
    names = "".join([f'<th class="end">{name}</th>' for name in ("In", "Out", "From cache", "To cache")])
    return _table(f"<th>Model</th>{names}", shown)


def _table(heads: str, rows: list[str]) -> str:
    return f'<div class="table"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
