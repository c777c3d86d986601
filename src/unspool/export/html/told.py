"""The conversation as markup: turns, prompts, answers, what happened around them, and subagents where they spoke."""

from collections.abc import Iterable

from unspool.export.html.escape import content, escape


def turn(anchor: str, name: str, inside: str) -> str:
    """A turn; `name` is what it is called for those who hear the page."""
    label = f' aria-label="{content(name)}"' if name else ""
    return f'<section class="turn" id="{anchor}"{label}>{inside}</section>'


def opening(level: int, time: str) -> str:
    """What stands above blocks that came before any prompt; `time` is markup."""
    return f'<div class="who opening"><h{level}>Before the first prompt</h{level}> {time}</div>'


def prompt(anchor: str, head: str, inside: str) -> str:
    """What was asked, under its head."""
    return f'<div class="prompt" id="{anchor}" data-kind="prompt"><div class="who">{head}</div>{inside}</div>'


def asker(level: int, who: str, number: int, notes: Iterable[str], link: str) -> str:
    """Who asked; `number` is the prompt's, 0 for none, and `link` is markup."""
    nth = f" <span>prompt {number}</span>" if number else ""
    said = "".join([f"<span>{content(note)}</span>" for note in notes])
    return f"<h{level}>{who}{nth}</h{level}>{said}{link}"


def answer(anchor: str, inside: str) -> str:
    """What the agent said."""
    return f'<div class="answer" id="{anchor}" data-kind="text">{inside}</div>'


def speaker(name: str, model: str, link: str) -> str:
    """Who speaks; `link` is markup."""
    return f'<p class="who"><b>{content(name)}</b> <span>{content(model)}</span> {link}</p>'


def foot(facts: Iterable[tuple[str, str]]) -> str:
    """What a turn took: short facts, each with what it is exactly; nothing where there are none."""
    items = [_fact(text, exact) for text, exact in facts if text]
    return f'<ul class="foot" aria-label="What it took">{"".join(items)}</ul>' if items else ""


def _fact(text: str, exact: str) -> str:
    title = f' title="{escape(exact)}"' if exact else ""
    return f"<li{title}>{content(text)}</li>"


def part(anchor: str, kind: str, inside: str) -> str:
    """A block that has no look of its own."""
    return f'<div id="{anchor}" data-kind="{kind}">{inside}</div>'


def line(anchor: str, kind: str, words: str) -> str:
    """A block of which one line is all there is to tell."""
    return f'<p id="{anchor}" data-kind="{kind}">{content(words)}</p>'


def divider(words: str, *, bad: bool) -> str:
    """A line across the conversation."""
    return f'<p class="divider{" bad" if bad else ""}">{content(words)}</p>'


def rows(inside: str) -> str:
    """Rows in a box together."""
    return f'<div class="calls">{inside}</div>'


def hush(inside: str) -> str:
    """Lines that few people read."""
    return f'<div class="hush">{inside}</div>'


def notices(summary: str, inside: str) -> str:
    """What few people read, behind one line that says what it is."""
    return (
        f'<details class="notices" data-kind="notice"><summary>{content(summary)}</summary>'
        f"<div>{inside}</div></details>"
    )


def todos(anchor: str, progress: str, outcome: str, inside: str) -> str:
    """A todo list, folded to its progress."""
    badge = f' <span class="badge">{content(outcome)}</span>' if outcome else ""
    return (
        f'<details class="card" data-kind="todos" id="{anchor}"><summary><span>{content(progress)}</span>{badge}'
        f"</summary><div>{inside}</div></details>"
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


def agent_lead(anchor: str, href: str, name: str, gist: str) -> str:
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
