"""What the tools of an agent mean that has no plans, questions or todo lists of its own."""

from collections.abc import Collection

from unspool.model import AgentDetails, Plan, Questionnaire, Result, Todo, Todos, ToolCall


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
        return None

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        return None

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        return ()

    def agent_prompt(self, call: ToolCall) -> str:
        return ""

    def agent_details(self, call: ToolCall) -> AgentDetails:
        return AgentDetails()

    def state(self, result: Result) -> str:
        return "denied" if result.denial else "error" if result.error else "ok"
