"""What the agent's own tools are for, in words that no other part needs the names behind."""

ROLES = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Read": "read",
    "NotebookRead": "read",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Task": "agent",
    "Agent": "agent",
    "Workflow": "agent",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "AskUserQuestion": "question",
    "TodoWrite": "todos",
    "TaskCreate": "todos",
    "TaskUpdate": "todos",
    "TaskList": "todos",
    "TaskGet": "todos",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "web_search": "web",
    "web_fetch": "web",
    "Skill": "skill",
    "SlashCommand": "skill",
}


def role(name: str) -> str:
    """The role of a tool: one of the above, `mcp` for a server's tool, else empty."""
    return ROLES.get(name) or ("mcp" if name.startswith("mcp__") else "")
