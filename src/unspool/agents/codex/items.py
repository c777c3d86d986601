"""Items of the model's interface, as rollouts hold them: messages, reasoning, calls and answers."""

import re
from typing import Any, NamedTuple

from msgspec.structs import replace

from unspool.agents.codex.outputs import ToolEnd
from unspool.agents.events import answered, called, picture, said, thought, words_of
from unspool.agents.records import Detail
from unspool.agents.values import decode_object, items, mapping, text
from unspool.model import Block, Event, Image, Json, Notice, Result, ToolCall

ROLES = {
    "exec_command": "shell", "shell": "shell", "shell_command": "shell", "local_shell": "shell", "exec": "shell",
    "container.exec": "shell", "unified_exec": "shell", "apply_patch": "edit", "view_image": "read",
    "read_file": "read", "list_dir": "search", "grep_files": "search", "tool_search": "search", "web_search": "web",
    "update_plan": "todos", "spawn_agent": "agent", "request_user_input": "question", "plan": "plan",
}  # fmt: skip
ITEMS = frozenset(
    {
        "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
        "local_shell_call", "web_search_call", "image_generation_call", "tool_search_call", "tool_search_output",
        "agent_message", "compaction", "compaction_summary", "context_compaction",
    }
)  # fmt: skip
ANSWERS = ("function_call_output", "custom_tool_call_output")
_ENVELOPES = (
    "<environment_context", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>",
    "<skills_instructions>", "<collaboration_mode>", "<apps_instructions>", "<plugins_instructions>",
    "<multi_agent_mode>", "<turn_aborted>", "<user_shell_command>", "<subagent_notification>", "<goal_context>",
    "<codex_internal_context", "<recommended_plugins>", "<hook_prompt", "<model_switch>", "<personality_spec>",
    "<INSTRUCTIONS>", "<skill>", "<context_window", "<realtime_conversation>", "<image name=", "</image>",
)  # fmt: skip
_SHELL = "<user_shell_command>"


_TAG = re.compile(r"<([A-Za-z_ ]{3,40})[ >/]")
_CWD = re.compile(r"<environment_context>.{0,400}?<cwd>([^<>\n]{1,4000})</cwd>", re.DOTALL)


def told_cwd(words: str) -> str:
    """The working folder, as the first versions told it to the model alone."""
    found = _CWD.match(words.lstrip()[:8000])
    return found[1].strip() if found is not None else ""


class UserParts(NamedTuple):
    """What a message from the user's side holds."""

    typed: str
    injected: tuple[str, ...]
    images: tuple[Image, ...]


def is_injected(words: str) -> bool:
    """Whether Codex put a text into the conversation, and no person."""
    return words.lstrip().startswith(_ENVELOPES)


def user_parts(event: Event, content: Json) -> UserParts:
    """The parts of a message, those that were typed apart from those that Codex put in."""
    typed: list[str] = []
    injected: list[str] = []
    for words in filter(None, (text(mapping(part).get("text")) for part in items(content))):
        (injected if is_injected(words) else typed).append(words)
    return UserParts("\n".join(typed).strip() or text(content).strip(), tuple(injected), images_in(event, content))


def images_in(event: Event, content: Json) -> tuple[Image, ...]:
    """Pictures that stand in parts of a message by their addresses, which mostly hold their data."""
    urls = (text(mapping(part).get("image_url")) for part in items(content))
    return tuple(picture(event, "", url=url) for url in urls if url)


def shell_command(words: str) -> tuple[str, str] | None:
    """A command that a person ran himself, and what it printed; None where a text tells of none."""
    if not words.lstrip().startswith(_SHELL):
        return None
    command, _, rest = words.partition("<command>")[2].partition("</command>")
    printed = rest.partition("<result>")[2].rpartition("</result>")[0]
    return (command.strip(), printed.strip()) if command.strip() else None


def injected_notice(event: Event, words: str) -> Notice:
    """A text that Codex put into the conversation, with what it calls it."""
    head = words.lstrip()
    kind = "task-notification" if head.startswith("<subagent_notification>") else "environment"
    tag = _TAG.match(head)
    name = tag[1] if tag is not None else "instructions" if head.startswith("# AGENTS.md") else "put in by Codex"
    return Notice(event.place, kind, words, {"type": name}, event.id, event.time)


_AGENTS_FILE = re.compile(
    r"\s*# AGENTS\.md instructions for ([^\n]{1,4000})\n+<INSTRUCTIONS>\n(.*?)\n?</INSTRUCTIONS>", re.DOTALL
)


def loaded_instructions(words: str) -> tuple[str, str]:
    """The file of instructions that a text repeats, and what it says; both empty where it repeats none. What lies above
    the folder stands in it too: only where the words are those of the file is it the whole of them."""
    found = _AGENTS_FILE.match(words)
    return (f"{found[1].strip().rstrip('/')}/AGENTS.md", found[2]) if found is not None else ("", "")


def subagent_facts(meta: dict[str, Any]) -> dict[str, str]:
    """What the record of a thread says of the subagent that it is."""
    inner = mapping(meta.get("source")).get("subagent")
    spawn = mapping(mapping(inner).get("thread_spawn"))
    kind = text(meta.get("agent_role")) or text(meta.get("agent_type")) or text(spawn.get("agent_role")) or text(inner)
    path = text(meta.get("agent_path")) or text(spawn.get("agent_path"))
    name = text(meta.get("agent_nickname")) or text(spawn.get("agent_nickname"))
    parent = text(meta.get("parent_thread_id")) or text(spawn.get("parent_thread_id"))
    return {"role": kind, "task": path.rpartition("/")[2], "name": name, "parent": parent}


def reasoning(event: Event, message: str, item: dict[str, Any], detail: Detail) -> Block:
    """Reasoning: its summary where it is told, else the words themselves; without any it is encrypted."""
    sealed = text(item.get("encrypted_content")) if detail is Detail.ALL else ""
    return thought(event, message, words_of(item.get("summary")) or words_of(item.get("content")), sealed)


def call_of(event: Event, message: str, item: dict[str, Any], detail: Detail) -> ToolCall:
    """A call that the agent answers with an item of its own."""
    kind, name, space = item.get("type"), text(item.get("name")), text(item.get("namespace"))
    if kind == "local_shell_call":
        name, given = "local_shell", item.get("action")
    elif kind == "tool_search_call":
        name, given = "tool_search", item.get("arguments")
    else:
        given = item.get("arguments", item.get("input"))
    given = None if detail is Detail.FIGURES else decode_object(given)
    if space.startswith("mcp__"):
        joint = "" if space.endswith("_") or name.startswith("_") else "__"
        name = f"{space}{joint}{name}"
    return called(event, message, text(item.get("call_id")) or text(item.get("id")), name, given, ROLES.get(name, ""))


def hosted_call(event: Event, message: str, item: dict[str, Any], end: ToolEnd | None) -> tuple[Block | Result, ...]:
    """A call that the model's provider answered itself: the call and what is known of its answer."""
    if item.get("type") == "web_search_call":
        name, given = "web_search", {k: v for k, v in mapping(item.get("action")).items() if k != "type"}
        given["query"] = given.get("query") or ", ".join(filter(None, map(text, items(given.pop("queries", None)))))
        given = {name: value for name, value in given.items() if value}
    else:
        name, given = "image_generation", {"prompt": text(item.get("revised_prompt"))}
    call = replace(called(event, message, text(item.get("id")) or event.id, name, given, ROLES.get(name, "")),
                   server=True)  # fmt: skip
    status, data = text(item.get("status")), text(item.get("result"))
    if status in ("in_progress", "searching", "generating"):
        return (call,)
    result = answered(event, call.call_id, "", error=status == "failed")
    images = (picture(event, "image/png", data),) if data else ()
    return call, replace(result, images=images, detail=end.detail if end is not None else None)


def found_tools(event: Event, item: dict[str, Any]) -> Result:
    """The tools that a search for tools made known."""
    tools = [mapping(tool) for tool in items(item.get("tools"))]
    inner = (mapping(one) for tool in tools for one in [tool, *items(tool.get("tools"))])
    names = "\n".join(filter(None, (text(one.get("name")) for one in inner)))
    return replace(answered(event, text(item.get("call_id")), names), parts=tuple(tools))


def from_agent(event: Event, item: dict[str, Any]) -> Notice:
    """A message of another agent; what of it is encrypted is said to be so."""
    content = item.get("content")
    words = words_of(content)
    hidden = item.get("encrypted_content") or any(
        "encrypted" in text(mapping(one).get("type")) for one in items(content)
    )
    if hidden:
        words = f"{words}\n[encrypted]".strip()
    facts: dict[str, Json] = {"from": text(item.get("author")), "to": text(item.get("recipient"))}
    return Notice(event.place, "teammate", words, facts, event.id, event.time)


def spoken(event: Event, message: str, item: dict[str, Any]) -> tuple[Block, ...]:
    """What a model said."""
    return (said(event, message, words_of(item.get("content"))),)
