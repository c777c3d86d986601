"""Words for what fills a model's window, and for why its cache was written again."""

KINDS = (
    "instructions",
    "prompts",
    "answers",
    "thinking",
    "tool input",
    "files",
    "tool output",
    "images",
    "summaries",
    "other",
)
"""What a piece of a window may be. Instructions: what the agent itself tells the model. Files: read by a tool or named
by a person. Summaries: what a compaction left."""

SYSTEM_PROMPT, TOOL_DEFINITIONS = "system prompt", "tool definitions"
"""Kinds that only a request kept whole tells of; else they are part of what is unaccounted for."""

CAUSES = ("expired", "model switched", "compacted", "other")
"""Why the cache did not hold: too long a pause, another model, another beginning, or what the log does not tell."""
