"""Where findings are gathered, each as bad as the way of looking makes it."""

from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.findings import Finding, Severity


class Notes:
    """Findings so far; strictly, what is only odd in an agent's own log is an error in a copy of ours."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.findings: list[Finding] = []

    def error(self, rule: str, line: Line | int, message: str, where: str = "") -> None:
        """Keeps the session, or a part of it, from being resumed."""
        self._add(rule, line, message, "error", where)

    def odd(self, rule: str, line: Line | int, message: str, where: str = "") -> None:
        """Harmless where the agent wrote it, and nothing that a copy may have."""
        self._add(rule, line, message, "error" if self.strict else "warning", where)

    def warn(self, rule: str, line: Line | int, message: str, where: str = "") -> None:
        """Worth knowing, in a copy too."""
        self._add(rule, line, message, "warning", where)

    def judged(self, severe: bool, rule: str, line: Line | int, message: str) -> None:
        """An error where it is severe, else odd."""
        (self.error if severe else self.odd)(rule, line, message)

    def _add(self, rule: str, line: Line | int, message: str, severity: Severity, where: str) -> None:
        number = line if isinstance(line, int) else line.number
        place = where or ("" if isinstance(line, int) else line.id)
        self.findings.append(Finding(rule, number, message, severity, place))

    def sorted(self) -> list[Finding]:
        """By line, the worst of a line first."""
        return sorted(self.findings, key=lambda one: (one.line, one.severity, one.rule))
