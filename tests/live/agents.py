"""How each agent is started: where npm put it, its command line, its environment, and settings that skip dialogs."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

KEY = "sk-ant-api03-played-by-the-test-itself"
ADDRESS = "{address}"
"""Stands for the played model's address, which only the stage knows."""

MODEL = "claude-sonnet-4-5"
OTHERS = ("copilot", "gemini", "opencode", "pi", "qwen")
"""Agents that are tried where npm has one that runs here."""

ALLOWED = (
    "Agent,AskUserQuestion,Bash,Edit,EnterWorktree,ExitPlanMode,ExitWorktree,Glob,Grep,KillShell,Monitor,NotebookEdit,Read,"
    "SendMessage,Skill,TaskCreate,TaskGet,TaskList,TaskOutput,TaskStop,TaskUpdate,TodoWrite,WebFetch,WebSearch,Workflow,"
    "Write,mcp__tides"
)


def program(agent: str) -> Path | None:
    """The agent's program under UNSPOOL_LIVE, where it is installed."""
    folder = os.environ.get("UNSPOOL_LIVE", "")
    path = Path(folder) / agent / "node_modules" / ".bin" / agent
    return path if folder and path.exists() else None


def version(agent: str) -> str:
    """What the installed program calls its version."""
    done = subprocess.run([str(program(agent)), "--version"], capture_output=True, text=True, check=True)
    return next(word for word in done.stdout.split() if word[0].isdigit())


def environment(config: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Only what the agent needs of ours; a home, a name for commits, and the played model."""
    home = config.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    person = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _PERSON.items()}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **person,
        "CLAUDE_CONFIG_DIR": str(config),
        "ANTHROPIC_BASE_URL": ADDRESS,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CODEX_HOME": str(config),
        "CODEX_API_KEY": KEY,
        "PI_CODING_AGENT_DIR": str(config),
        "PI_OFFLINE": "1",
        **(extra or {}),
    }


def other_environment(agent: str, config: Path) -> dict[str, str]:
    """The environment of one of OTHERS: it keeps all it writes below `config`, and asks the played model alone."""
    played = {"options": {"baseURL": f"{ADDRESS}/v1", "apiKey": KEY}, "models": {MODEL: {"name": "Played"}}}
    settings = {"model": f"anthropic/{MODEL}", "provider": {"anthropic": played}, "permission": {"*": "allow"}}
    own = {
        "copilot": {
            "COPILOT_HOME": str(config), "COPILOT_OFFLINE": "true", "COPILOT_MODEL": MODEL,
            "COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_BASE_URL": ADDRESS, "COPILOT_PROVIDER_API_KEY": KEY,
        },
        "gemini": {
            "GEMINI_CLI_HOME": str(config), "GEMINI_CLI_TRUST_WORKSPACE": "true", "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_VERTEX_BASE_URL": ADDRESS, "GOOGLE_API_KEY": KEY,
        },
        "opencode": {
            "XDG_DATA_HOME": str(config), "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        },
        "pi": {},
        "qwen": {"QWEN_HOME": str(config), "ANTHROPIC_MODEL": MODEL},
    }  # fmt: skip
    return environment(config, own[agent])


_PERSON = {"NAME": "Ada Tide", "EMAIL": "ada@example.org"}


def claude_words(prompt: str | None, args: Sequence[str], resume: str) -> list[str]:
    """Headless with a prompt, at the screen without one. `args` that name a permission mode replace the usual one."""
    words = [str(program("claude"))]
    if prompt is not None:
        words += ["-p", prompt] if prompt else ["-p"]
        words += [] if "--output-format" in args else ["--output-format", "json"]
    if "--permission-mode" not in args:
        words += ["--permission-mode", "acceptEdits", "--allowedTools", ALLOWED]
    return [*words, *args, *(["--resume", resume] if resume else [])]


def codex_words(prompt: str, args: Sequence[str], resume: str) -> list[str]:
    """Headless, without a sandbox of its own: it stands in one."""
    words = [str(program("codex")), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    played = f'{{name="Played", base_url="{ADDRESS}/v1", env_key="CODEX_API_KEY", wire_api="responses"}}'
    words += ["-c", f"model_providers.played={played}", "-c", 'model_provider="played"', "-c", 'model="gpt-5.4"', *args]
    return [*words, *(["resume", resume] if resume else []), prompt]


def other_words(agent: str, resume: str) -> list[str]:
    """One of OTHERS, headless, with all its tools allowed; the prompt is its input."""
    provider = str(Path(__file__).with_name("pi_provider.js"))  # leads pi to the played model
    words, resuming = {
        "copilot": (["--allow-all-tools"], [f"--resume={resume}"]),
        "gemini": (["--yolo", "--model", "gemini-2.5-pro"], ["--resume", resume]),
        "opencode": (["run"], ["--session", resume]),
        "pi": (["-p", "-e", provider, "--provider", "anthropic", "--model", MODEL], ["--session", resume]),
        "qwen": (["--auth-type", "anthropic", "--yolo"], ["--resume", resume]),
    }[agent]
    return [str(program(agent)), *words, *(resuming if resume else [])]


def trust(config: Path, cwd: Path) -> None:
    """Settings of an agent that was used here before: no welcome, no question whether folder and key are trusted."""
    path = config / ".claude.json"
    known = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    projects = known.get("projects", {})
    if projects.get(str(cwd), {}).get("hasTrustDialogAccepted"):
        return
    known |= {"hasCompletedOnboarding": True, "theme": "dark", "autoUpdates": False, "numStartups": 20}
    known["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
    project = known.setdefault("projects", {}).setdefault(str(cwd), {})
    project |= {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    config.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known), "utf-8")
