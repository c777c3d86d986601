"""A session becomes a document in which nothing is missing that the view asks for."""

from collections.abc import Iterable, Iterator

import pytest

from tests.render.build import NOTICES, agent, call, everything, message, place, prompt, session, turn
from tests.render.seen import bare, said, said_by_all, seen
from unspool.doc import Code, Fields, Fold, Heading, Link, Node, Picture, Prose, Raw, Terminal
from unspool.errors import NotFound
from unspool.model import Branch, Image, Notice, Problem, Result, Text, Thinking, Todo, Todos, Unknown
from unspool.render.transcript import transcript_nodes
from unspool.render.view import View

ALL = View(full=True, agents=True)


def flat(document: Iterable[Node]) -> Iterator[Node]:
    for node in document:
        yield node
        if isinstance(node, Fold):
            yield from flat(node.children)


def folds(document: Iterable[Node], kind: str) -> list[Fold]:
    return [node for node in flat(document) if isinstance(node, Fold) and node.kind == kind]


def turns(document: Iterable[Node]) -> list[str]:
    return [node.anchor for node in document if isinstance(node, Heading) and node.kind == "turn"]


# --- nothing is lost --------------------------------------------------------------------------------


def test_every_word_is_shown() -> None:
    """Every prompt, text, thought and answer, those of nested subagents too, occurs in the full document."""
    whole = everything()
    shown = bare(seen(transcript_nodes(whole, ALL)))
    assert [words for words in said_by_all(whole) if bare(words) not in shown] == []


@pytest.mark.parametrize("number", [1, 2])
def test_every_word_of_a_branch_is_shown_with_it(number: int) -> None:
    """A branch is told whole, after what it has in common."""
    whole = everything()
    shown = bare(seen(transcript_nodes(whole, View(full=True, branch=number))))
    branch = next(branch for branch in whole.branches if branch.number == number)
    assert [words for words in said(branch.turns) if bare(words) not in shown] == []


def test_every_picture_is_shown() -> None:
    """Pictures of prompts, answers, notices and of the conversation itself are all there."""
    shown = [node.label for node in flat(transcript_nodes(everything(), ALL)) if isinstance(node, Picture)]
    assert {"a dot", "shots/one.png", *(f"of {kind}" for kind in NOTICES)} == set(shown)


def test_what_nobody_knows_is_one_row() -> None:
    """An unknown block is its name and line; its data are behind that, in a full document alone."""
    (whole,) = [
        node for node in transcript_nodes(everything(), ALL) if isinstance(node, Fold) and node.kind == "unknown"
    ]
    (brief,) = [
        node for node in transcript_nodes(everything(), View()) if isinstance(node, Fold) and node.kind == "unknown"
    ]
    assert whole.summary == brief.summary == "Unknown: hologram, line 7"
    (raw,) = whole.children
    assert isinstance(raw, Raw)
    assert '"hologram"' in raw.text
    assert brief.children == ()


def test_what_the_agent_tells_unasked_is_one_row_of_a_brief_document() -> None:
    """Environment, offers and reminders that follow one another say together what they are."""
    kinds = ("environment", "environment", "offer", "system-prompt")
    told = [Notice(place(), kind, "words") for kind in kinds]
    one = session(turn(1, "Go.", *told, Notice(place(), "note", "loud")))
    rows = [node.summary for node in transcript_nodes(one, View()) if isinstance(node, Fold)]
    assert rows == ["4 notices: environment ×2, offer, system prompt", "Note: loud"]
    assert len([node for node in transcript_nodes(one, View(full=True)) if isinstance(node, Fold)]) == 5


def test_quiet_notices_that_follow_one_another_are_one_row_of_a_brief_document() -> None:
    """Six attached files and a line that nobody knows stand on one line; what failed stands by itself."""
    attached = [Notice(place(), "attachment", "words")] * 6
    failed = Notice(place(), "hook", "boom", facts={"exitCode": 2})
    one = session(turn(1, "Go.", *attached, Unknown(place(), "odd", {}), failed, attached[0]))
    runs, hook, last = (node for node in transcript_nodes(one, View()) if isinstance(node, Fold))
    assert (runs.summary, runs.tone) == ("7 notices: attachment ×6, unknown odd", "quiet")
    assert (hook.kind, hook.tone, last.kind) == ("notice:hook", "bad", "notice:attachment")
    assert len([node for node in transcript_nodes(one, View(full=True)) if isinstance(node, Fold)]) == 9


def test_problems_are_shown_with_their_bytes_made_printable() -> None:
    """A line that could not be read has its number, its reason and bytes that cannot drive a terminal."""
    torn, glued = (
        fold for fold in transcript_nodes(everything(), View()) if isinstance(fold, Fold) and fold.kind == "problem"
    )
    assert torn.summary == "Line 12: not JSON: torn"
    assert torn.outcome == "not read"
    assert isinstance(torn.children[0], Raw)
    assert torn.children[0].text == r'{"type":"us\x1b[2J\xff\x00'
    assert glued.outcome == "mended"


def test_a_huge_problem_is_cut_unless_all_is_wanted() -> None:
    """Only a full document holds megabytes of an unreadable line."""
    huge = session(problems=(Problem(place(), "not JSON", b"x" * 50_000),))
    assert len(seen(transcript_nodes(huge, View()))) < 10_000
    assert "x" * 50_000 in seen(transcript_nodes(huge, ALL))


def test_side_lines_are_counted_by_type() -> None:
    """Lines beside the conversation are not shown but accounted for."""
    *_, last = transcript_nodes(everything(), View())
    assert isinstance(last, Fields)
    assert dict(last.items)["· title"] == "2"
    assert dict(last.items)["beside the conversation"] == "3"


def test_an_empty_session_is_a_document() -> None:
    """A session of nothing still has a title and its facts."""
    first, second = transcript_nodes(session())
    assert first == Heading("session", 1, "s1")
    assert isinstance(second, Fields)


# --- what the head and the headings say -------------------------------------------------------------


def test_the_facts_of_a_session() -> None:
    """Each message's tokens are counted once, here and with subagents."""
    facts = next(node for node in transcript_nodes(everything()) if isinstance(node, Fields))
    told = dict(facts.items)
    assert told["duration"] == "1 h 47 m"
    assert told["turns"] == "8 · 2 of them on 2 abandoned branches"
    assert told["model"] == "sonnet-9, opus-9"
    assert told["tokens"] == "20 in · 1.8 k out · 3.8 M read from cache · 8.0 k written to cache"
    assert told["with subagents"] == "9.5 M tokens in all"
    assert told["lines not read"] == "3 · 1 of them in subagents"


def test_sessions_before_and_after_are_links() -> None:
    """A chain can be walked."""
    assert Link("session:s0", "Continues: Planning it · s0") in list(transcript_nodes(everything()))


def test_a_turn_heading_has_time_model_and_tokens() -> None:
    """What a reader asks of a turn stands beside its number."""
    heading = next(
        node for node in transcript_nodes(everything()) if isinstance(node, Heading) and node.anchor == "turn-1"
    )
    assert heading.text == "Turn 1"
    assert heading.notes[:4] == ("2026-03-01 10:10 UTC", "3 m", "sonnet-9, opus-9", "13 k tokens")


def test_prompts_of_each_kind() -> None:
    """Words are prose, shell lines are a terminal, an accepted plan is a fold with the plan's name."""
    document = list(transcript_nodes(everything()))
    assert Terminal((), command="git status --short") in document
    assert Prose("always say please") in document
    assert [fold.summary for fold in folds(document, "plan")][-1] == "Plan: Ship it"


def test_a_command_shows_what_was_typed_once() -> None:
    """Name and arguments are the text of most commands; a text that says more is shown too."""
    plain = session(turn(1, prompt("/go far", "command", command="/go", arguments="far")))
    more = session(turn(1, prompt("Walk as far as you can", "command", command="/go", arguments="far")))
    assert seen(transcript_nodes(plain)).count("/go far") == 1
    assert "Walk as far" in seen(transcript_nodes(more))


def test_empty_thinking_says_why() -> None:
    """A thought that the log did not keep is still a thought."""
    kept, empty, redacted = folds(transcript_nodes(everything()), "thinking")
    assert kept.summary == "Thinking: First I consider the dot."
    assert (empty.outcome, redacted.outcome) == ("not kept in the log", "redacted")


def test_withdrawn_words_are_marked() -> None:
    """What the model's provider took back is shown as taken back."""
    (fold,) = folds(transcript_nodes(everything()), "retracted")
    assert fold.children == (Prose("This was taken back."),)


def test_the_todo_list_ends_the_document() -> None:
    """Tasks say what they wait for; a state nobody knows is open."""
    todos = Todos((Todo("a", "in_progress"), Todo("b", "someday", id="2", blocked_by=("1",)), Todo("c", "deleted")))
    text = seen(transcript_nodes(session(todos=todos)))
    assert all(word in text for word in ("active", "#2 · waits for 1", "open", "dropped"))


# --- what a view leaves out -------------------------------------------------------------------------


def test_thinking_tools_and_notices_can_be_hidden() -> None:
    """Only what the view names is gone; plans and questions stay, compactions stay."""
    document = list(transcript_nodes(everything(), View(thinking=False, tools=False, notices=False)))
    assert folds(document, "thinking") == folds(document, "tool") == folds(document, "notice:hook") == []
    assert [fold.kind for fold in flat(document) if isinstance(fold, Fold) and fold.kind in ("question", "plan")] == [
        "question",
        "plan",
        "plan",
    ]
    assert any(isinstance(node, Heading) and node.kind == "compaction" for node in document)


def test_turns_can_be_chosen() -> None:
    """Ranges name both their ends, and may be several."""
    assert turns(transcript_nodes(everything(), View(turns=((2, 3), (6, 9))))) == ["turn-2", "turn-3", "turn-6"]


def test_long_outputs_are_cut_unless_all_is_wanted() -> None:
    """A cut output says so; the assistant's own words are never cut."""
    long = "a line of output\n" * 500
    one = session(turn(1, "go", call("Odd", {}, long), Text(place(), long)))
    assert seen(transcript_nodes(one)).count("a line of output") == 500 + 18
    assert "left out" in seen(transcript_nodes(one))
    assert seen(transcript_nodes(one, ALL)).count("a line of output") == 1_000


def test_interruptions_stay_where_notices_are_hidden() -> None:
    """They divide the conversation, as compactions do."""
    one = session(turn(1, "go", Notice(place(), "interruption", "stopped"), Notice(place(), "hook", "ran")))
    rows = [node.kind for node in transcript_nodes(one, View(notices=False)) if isinstance(node, Fold)]
    assert rows == ["notice:interruption"]


def test_files_and_commands_are_named_from_the_folder_of_the_session() -> None:
    """Where the session worked is not repeated in every row."""
    read = call("Read", {"file_path": "/home/ann/shop/src/a.py"}, "1\tx", role="read")
    ran = call("Bash", {"command": "cd /home/ann/shop && ls"}, "a.py", role="shell")
    rows = [
        node.summary
        for node in transcript_nodes(session(turn(1, "go", read, ran), cwd="/home/ann/shop"))
        if isinstance(node, Fold)
    ]
    assert rows == ["Read src/a.py", "Bash ls"]


@pytest.mark.parametrize("way", ["cd /home/ann/shop && ", 'cd "/home/ann/shop" && ', "cd /home/ann/shop; "])
def test_a_command_is_shown_without_the_way_to_its_folder_unless_all_is_wanted(way: str) -> None:
    ran = call("Bash", {"command": f"{way}ls", "description": "Look"}, "a.py", role="shell")
    one = session(turn(1, "go", ran), cwd="/home/ann/shop")
    (brief,), (whole,) = (folds(transcript_nodes(one, View(full=full)), "tool") for full in (False, True))
    assert brief.summary == whole.summary == "Bash Look"
    assert [node.text for fold in (brief, whole) for node in fold.children if isinstance(node, Code)] == [
        "ls",
        f"{way}ls",
    ]


def test_the_last_todo_list_of_a_turn_stands_open() -> None:
    """It is how things were when the turn ended."""
    todos = Todos((Todo("read it", "completed"),))
    lists = [call("TodoWrite", {}, "ok", meaning=todos, role="todos", call_id=name) for name in ("t1", "t2")]
    assert [fold.open for fold in folds(transcript_nodes(session(turn(1, "go", *lists))), "todos")] == [False, True]


# --- branches ---------------------------------------------------------------------------------------


def told(document: Iterable[Node]) -> list[str]:
    """The anchors of turns and the mentions of branches, in order."""
    marks = (node for node in document if isinstance(node, Heading | Fold))
    return [
        node.anchor if isinstance(node, Heading) else node.summary for node in marks if node.kind in ("turn", "branch")
    ]


def branched() -> list[Branch]:
    lost = Branch(1, 1, (turn(2, "b2"), turn(3, "b3")))
    return [lost, Branch(2, 2, (turn(3, "c3"),), parent=1), Branch(3, 0, (turn(1, "d1"),))]


def test_the_live_conversation_mentions_the_branches_that_leave_it() -> None:
    """A mention stands after the turn a branch leaves, before all turns where it leaves at the beginning."""
    forked = session(turn(1, "a1"), turn(2, "a2"), branches=tuple(branched()))
    assert told(transcript_nodes(forked)) == ["Branch 3 leaves here", "turn-1", "Branch 1 leaves here", "turn-2"]
    assert told(transcript_nodes(forked, View(branches=False))) == ["turn-1", "turn-2"]


def test_a_branch_of_a_branch_is_followed_from_the_beginning() -> None:
    """Common turns first, then its own; the ways not taken are mentioned where they part."""
    forked = session(turn(1, "a1"), turn(2, "a2"), branches=tuple(branched()))
    assert told(transcript_nodes(forked, View(branch=2))) == [
        *("Branch 3 leaves here", "turn-1", "The live conversation goes on from here"),
        *("turn-2", "The branch 1 goes on from here", "turn-3"),
    ]
    assert "c3" in seen(transcript_nodes(forked, View(branch=2)))


def test_a_branch_that_is_not_there_is_an_error_with_the_ones_that_are() -> None:
    """The error comes before the first node, so that no half document is written."""
    with pytest.raises(NotFound, match=r"no branch 9: it has 1, 2, 3"):
        transcript_nodes(session(branches=tuple(branched())), View(branch=9))


def test_branches_that_grow_from_each_other_do_no_harm() -> None:
    """A circle of parents ends."""
    circle = (Branch(1, 1, (turn(2, "x"),), parent=2), Branch(2, 1, (turn(2, "y"),), parent=1))
    assert "turn-2" in told(transcript_nodes(session(turn(1, "a"), branches=circle), View(branch=1)))


# --- subagents --------------------------------------------------------------------------------------


def test_subagents_are_mentioned_unless_wanted() -> None:
    """Without their conversations, the call says whom it started and what that took."""
    text = seen(transcript_nodes(everything(), View()))
    assert "explorer · look into a1 · a1 · 1 turn · 1 tool call · 1.9 M tokens" in text
    assert "I looked." not in text


def test_subagents_stand_inside_the_call_that_started_them() -> None:
    """A subagent of a subagent stands inside the subagent, with an anchor of its own."""
    outer = next(fold for fold in folds(transcript_nodes(everything(), ALL), "agent") if fold.anchor == "agent-a1")
    inner = folds(outer.children, "agent")
    assert [fold.anchor for fold in inner] == ["agent-a2"]
    assert next(node.anchor for node in inner[0].children if isinstance(node, Heading)) == "agent-a2-turn-1"


def test_a_subagent_kept_flat_is_found_by_the_call_inside_another() -> None:
    """Logs keep nested subagents side by side; the call ids tell where each belongs."""
    asks = turn(1, "first", call("Odd", {}, "ok", call_id="inner"))
    flat_pair = (agent("a1", asks, call_id="outer"), agent("a2", turn(1, "second"), call_id="inner"))
    whole = session(turn(1, "go", call("Odd", {}, "ok", call_id="outer")), agents=flat_pair)
    assert [fold.anchor for fold in folds(transcript_nodes(whole, ALL), "agent")] == ["agent-a1", "agent-a2"]


def test_a_subagent_called_twice_is_told_once() -> None:
    """A resumed subagent is told at its first call and mentioned at the next."""
    again = (call("Odd", {}, "ok", call_id="c1", agents=("a1",)), call("Odd", {}, "ok", call_id="c2", agents=("a1",)))
    whole = session(turn(1, "go", *again), agents=(agent("a1", turn(1, "the inner prompt")),))
    assert seen(transcript_nodes(whole, ALL)).count("the inner prompt") == 1
    assert seen(transcript_nodes(whole, ALL)).count("look into a1") == 2


def test_subagents_without_a_call_are_told_at_the_end() -> None:
    """A subagent whose call is not in the log is not lost."""
    document = list(transcript_nodes(everything(), ALL))
    at = document.index(Heading("agents", 2, "Subagents that no call accounts for"))
    assert isinstance(document[at + 1], Fold)
    assert "Nobody called me." in seen(document[at + 1 : at + 2])


def test_subagents_nest_to_any_depth() -> None:
    """A hundred levels, and a subagent that calls itself, are all told."""
    deep = agent("a100", turn(1, "the deepest prompt"), call_id="c100")
    for level in reversed(range(100)):
        asks = call("Odd", {}, "ok", call_id=f"c{level + 1}")
        deep = agent(f"a{level}", turn(1, f"level {level}", asks), call_id=f"c{level}", inner={"agents": (deep,)})
    itself = agent("loop", turn(1, "again", call("Odd", {}, "ok", agents=("loop",))), call_id="c0")
    whole = session(turn(1, "go", call("Odd", {}, "ok", call_id="c0")), agents=(deep, itself))
    text = seen(transcript_nodes(whole, ALL))
    assert "the deepest prompt" in text
    assert all(f"level {level}" in text for level in range(100))


def test_answers_that_were_replaced_are_shown() -> None:
    """A call answered twice shows both answers."""
    twice = call("Odd", {}, "new words", earlier=(Result(place(), "x", "old words"),))
    assert "old words" in seen(transcript_nodes(session(turn(1, "go", twice))))


def test_an_image_without_data_keeps_its_address() -> None:
    """A picture that is elsewhere says where."""
    one = session(turn(1, "go", Image(place(), "image/png", url="http://x.org/a.png")))
    assert Picture("image/png", "", "http://x.org/a.png", "") in list(transcript_nodes(one))


def test_a_thought_tells_how_long_it_took() -> None:
    thoughts = (Thinking(place(), "Hm.", milliseconds=4200), Thinking(place(), "", milliseconds=12_000))
    one = session(turn(1, "Go.", *thoughts, Thinking(place(), "Quick.", milliseconds=3)))
    folds = [node.outcome for node in transcript_nodes(one, View()) if isinstance(node, Fold)]
    assert folds == ["4.2 s", "12 s · not kept in the log", ""]


def test_a_turn_tells_how_hard_the_model_was_told_to_think() -> None:
    said = Text(place(), "Done.", "m1")
    one = session(turn(1, "Go.", said), messages=(message("m1", effort="high"),))
    (heading,) = [node for node in transcript_nodes(one, View()) if isinstance(node, Heading) and node.kind == "turn"]
    assert "high effort" in heading.notes
