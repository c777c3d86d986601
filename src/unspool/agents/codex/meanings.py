"""What calls of Codex mean: plans, questions with their answers, and the subagents that were started."""

from unspool.agents.dialect import PlainDialect
from unspool.agents.values import decode_object, items, mapping, text
from unspool.model import AgentDetails, Plan, Questionnaire, ToolCall
from unspool.model.tool_input import usual_input


def plan_title(plan: str) -> str:
    """What a plan is called: its first line."""
    return next((line.lstrip("# ").strip() for line in plan.splitlines() if line.strip()), "")


class CodexDialect(PlainDialect):
    def plan(self, call: ToolCall) -> Plan | None:
        words = text(mapping(call.input).get("plan"))
        if call.role != "plan" or not words:
            return None
        return Plan(plan_title(words), words, "pending")

    def questions(self, call: ToolCall) -> Questionnaire | None:
        given = mapping(decode_object(call.result.text) if call.result is not None else None)
        answers = mapping(given.get("answers"))
        asked = [mapping(one) for one in items(mapping(call.input).get("questions"))]
        said = [items(mapping(answers.get(text(one.get("id")))).get("answers")) for one in asked]
        return self.asked(call, said if answers else None)

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        told = mapping(decode_object(call.result.text) if call.result is not None else None)
        names = ("agent_id", "agent_thread_id", "thread_id", "new_thread_id")
        return tuple(filter(None, (text(told.get(name)) for name in names)))

    def agent_details(self, call: ToolCall) -> AgentDetails:
        given = mapping(usual_input(call))
        return AgentDetails(text(given.get("subagent_type")), text(given.get("description")), background=True)
