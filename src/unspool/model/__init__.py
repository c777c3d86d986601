"""The session, as every part of unspool knows it, whichever agent wrote the log.

Values only: no I/O, no agent's or tool's name, no knowledge of where anything is stored. What a log
holds that nobody has met before is an `Unknown`; what cannot be read is a `Problem`; neither is dropped.
"""

from unspool.model.blocks import (
    Block,
    CallState,
    Image,
    Message,
    Notice,
    Prompt,
    PromptKind,
    Result,
    Text,
    Thinking,
    ToolCall,
    Unknown,
)
from unspool.model.entry import (
    Entry,
    Json,
    Place,
    Problem,
)
from unspool.model.events import (
    AgentSource,
    Dialect,
    Event,
    EventKind,
    Facts,
    Part,
    Transcript,
)
from unspool.model.meaning import (
    Option,
    Plan,
    PlanStatus,
    Question,
    Questionnaire,
    Todo,
    Todos,
)
from unspool.model.overview import (
    Overview,
)
from unspool.model.session import (
    Agent,
    Branch,
    ChainLink,
    Commit,
    FileChange,
    Lines,
    LogFile,
    Push,
    Session,
    SessionKind,
    SideLine,
    Titles,
    Turn,
)
from unspool.model.usage import (
    Call,
    Usage,
)

__all__ = [
    "Agent",
    "AgentSource",
    "Block",
    "Branch",
    "Call",
    "CallState",
    "ChainLink",
    "Commit",
    "Dialect",
    "Entry",
    "Event",
    "EventKind",
    "Facts",
    "FileChange",
    "Image",
    "Json",
    "Lines",
    "LogFile",
    "Message",
    "Notice",
    "Option",
    "Overview",
    "Part",
    "Place",
    "Plan",
    "PlanStatus",
    "Problem",
    "Prompt",
    "PromptKind",
    "Push",
    "Question",
    "Questionnaire",
    "Result",
    "Session",
    "SessionKind",
    "SideLine",
    "Text",
    "Thinking",
    "Titles",
    "Todo",
    "Todos",
    "ToolCall",
    "Transcript",
    "Turn",
    "Unknown",
    "Usage",
]
