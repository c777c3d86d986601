"""Plans: presented, approved, sent back, left open, or accepted into a session of their own."""

from typing import Literal, Self

from unspool.demo.agents import Agents
from unspool.demo.blocks import Block
from unspool.demo.chain import Chain
from unspool.demo.usage import Fields

Fate = Literal["approved", "rejected", "cleared", "pending"]


class Plans(Agents):
    """Calls of ExitPlanMode and what became of them."""

    def plan(self, text: str, fate: Fate, feedback: str = "", edited: str = "", say: str = "") -> Self:
        """Present a plan. `cleared`: accepted with the context cleared, which looks like a refusal here."""
        use = self.use("ExitPlanMode", **self._plan_input(text))
        self.assistant(self.think(), *([self.text(say)] if say else []), use)
        self.file(f"plans/{self.plan_name}", (edited or text).encode())
        if fate == "approved":
            return self._approve(use, text, edited)
        if fate == "rejected":
            return self.rejected(use, feedback)
        return self._clear(use, text) if fate == "cleared" else self

    def implement(self, text: str, planning: Chain) -> Self:
        """The first prompt of a session that an accepted plan opened, pointing at the session that made it."""
        extra: Fields = {"planContent": text} if self.since("2.1.29") else {}
        return self.prompt(_order(text, f"{planning.home}/{planning.path}"), **extra)

    @property
    def plan_name(self) -> str:
        """The file name of this session's plan."""
        return f"{self.slug or 'plan'}.md"

    @property
    def plan_path(self) -> str:
        """Where the plan is kept, as the log names it."""
        return f"{self.home}/plans/{self.plan_name}"

    def _plan_input(self, text: str) -> Fields:
        return {"plan": text, "planFilePath": self.plan_path} if self.since("2.1.80") else {"plan": text}

    def _approve(self, use: Block, text: str, edited: str) -> Self:
        said = "User has approved your plan. You can now start coding. Start with updating your todo list if applicable"
        detail: Fields = {"plan": edited or text, "isAgent": False}
        if self.since("2.1.7"):
            mark = " (edited by user)" if edited else ""
            detail["filePath"] = self.plan_path
            said += f"\n\nYour plan has been saved to: {self.plan_path}\n\n## Approved Plan{mark}:\n{edited or text}"
        if edited:
            detail["planWasEdited"] = True
        return self.result(use, said, detail)

    def _clear(self, use: Block, text: str) -> Self:
        self.rejected(use)
        if self.since("2.1.12"):
            return self
        return self.interrupt(tool=True).prompt(_order(text, f"{self.home}/{self.path}"))


def _order(text: str, transcript: str) -> str:
    return (
        f"Implement the following plan:\n\n{text}\n\n\nIf you need specific details from before exiting plan mode (like"
        f" exact code snippets, error messages, or content you generated), read the full transcript at: {transcript}"
    )
