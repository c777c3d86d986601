"""What the tools of an agent mean that has no plans, questions or todo lists of its own."""

from collections.abc import Collection

from unspool.agents.values import items, mapping, text
from unspool.model import (
    AgentDetails,
    Json,
    Option,
    Plan,
    Question,
    Questionnaire,
    Result,
    Todo,
    Todos,
    ToolCall,
)
from unspool.model.tool_input import usual_input

_STATES = {"done": "completed", "complete": "completed", "in-progress": "in_progress", "inProgress": "in_progress",
           "not-started": "pending", "todo": "pending", "cancelled": "cancelled"}  # fmt: skip


class PlainDialect:
    """A dialect in which a call is a call: it succeeded, failed, or was refused."""

    named: Collection[str] = ()

    def __init__(self, agent: str) -> None:
        self.agent = agent

    def note(self, call: ToolCall) -> None:
        pass

    def plan(self, call: ToolCall) -> Plan | None:
        return None

    def questions(self, call: ToolCall) -> Questionnaire | None:
        return self.asked(call, None)

    @staticmethod
    def asked(call: ToolCall, answers: Json) -> Questionnaire | None:
        """The questions that a call was given, with a list of answers to them where there is one."""
        given = answers if isinstance(answers, list) else []
        found = []
        for number, one in enumerate(map(mapping, items(mapping(call.input).get("questions")))):
            answer = given[number] if number < len(given) else None
            words = ", ".join(map(text, answer)) if isinstance(answer, list) else text(answer)
            offered = (mapping(option) for option in items(one.get("options")))
            options = tuple(
                Option(label, text(option.get("description")), label in words.split(", "))
                for option in offered
                if (label := text(option.get("label")))
            )
            found.append(Question(text(one.get("question")), text(one.get("header")), options, answer=words or None))
        if not found:
            return None
        refused = call.result is not None and bool(call.result.denial)
        return Questionnaire(tuple(found), "answered" if given else "rejected" if refused else "pending")

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        listed = mapping(usual_input(call)).get("todos")
        if not isinstance(listed, list):
            return None
        found = [
            Todo(words, _STATES.get(state, state) or "pending", priority=text(one.get("priority")))
            for one in map(mapping, listed)
            if (words := text(one.get("content"))) and isinstance(state := text(one.get("status")), str)
        ]
        before.clear()
        before.update({str(number): one for number, one in enumerate(found)})
        return Todos(tuple(found))

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        return ()

    def agent_prompt(self, call: ToolCall) -> str:
        return text(mapping(usual_input(call)).get("prompt"))

    def agent_details(self, call: ToolCall) -> AgentDetails:
        given = mapping(usual_input(call))
        return AgentDetails(text(given.get("subagent_type")), text(given.get("description")))

    def state(self, result: Result) -> str:
        return "denied" if result.denial else "error" if result.error else "ok"
