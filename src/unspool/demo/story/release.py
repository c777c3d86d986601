"""October, version 2.1.300: a release. Local commands, sealed reasoning, a torn line, things never met before."""

from datetime import UTC, datetime

from unspool.demo.builder import LogBuilder
from unspool.demo.story import harbour
from unspool.demo.usage import Tokens

ID = "2e1ea5e0-0f66-4d0c-8e66-000000000006"


def release() -> LogBuilder:
    """Release version 1.0, with a crash in the middle."""
    log = LogBuilder(
        session_id=ID,
        pace=7.5,
        version="2.1.300",
        model="claude-opus-5-5",
        start=datetime(2026, 10, 14, 15, 2, tzinfo=UTC),
        branch="release/1.0",
    )
    log.snapshot()
    log.local_command("model", stdout="Set model to \x1b[1mOpus 5.5\x1b[22m (default)")
    log.command(
        "changelog",
        "since v0.9",
        body="Write the changelog for the given range, one line a change, in the user's words.",
    )
    _changelog(log)
    _compacted(log)
    _strange(log)
    log.wait(120).prompt("How shall we tell him?")
    log.plan("# Tell the lock keeper\n\nPrint the changelog and walk over.\n", "pending")
    return _leave(log)


def _changelog(log: LogBuilder) -> None:
    lead = (log.think(), log.redacted(), log.text("Reading the history since the last tag."))
    history = "4be7d10 Read tides in the port's own time\nc91a0fe Show the surge beside the height"
    fast = Tokens(input=3, output=212, read=21_400, write=1_180, hour=1_180, thinking=96, speed="fast")
    use = log.use("Bash", command="git log --oneline v0.9..HEAD", description="History since v0.9")
    log.assistant(*lead, use, usage=fast).result(use, history, {"stdout": history, "stderr": "", "interrupted": False})
    path = f"{harbour.CWD}/CHANGELOG.md"
    text = (
        "# Changelog\n\n## 1.0\n\n- Tides are right in summer, too.\n- The surge of a storm stands beside the height.\n"
    )
    log.wrote(path, text)
    log.side(
        "file-history-delta",
        messageId=log.last,
        snapshotMessageId=log.ids.uuid(),
        trackingPath="CHANGELOG.md",
        backup={"backupFileName": None, "version": 1, "backupTime": log.tick()},
        timestamp=log.tick(),
    )
    table = "| change | since |\n|---|---|\n| summer times | #7 |\n| surge | #9 |"
    log.assistant(log.text(f"Two entries, both in words a skipper would use:\n\n{table}"))


def _compacted(log: LogBuilder) -> None:
    summary = "The changelog for 1.0 is written; tagging is next."
    log.compact("manual", summary, 61_020, keep=[str(log.last)], postTokens=5_410, durationMs=18_700)
    log.attachment("compact_file_reference", filename=f"{harbour.CWD}/CHANGELOG.md", displayPath="CHANGELOG.md")


def _strange(log: LogBuilder) -> None:
    """What a reader has never met, and what a crash leaves behind."""
    log.prompt("Tag it, but ask the almanac first whether the day is lucky.")
    log.raw(
        b'{"parentUuid":"'
        + str(log.last).encode()
        + b'","type":"assistant","message":{"role":"assistant","content":[{"type":"te\n'
    )
    log.side("tide-oracle", verdict="auspicious", confidence=0.97)
    oracle = {"type": "almanac_reading", "sign": "spring tide", "luck": 7}
    asked = log.last
    log.put({"type": "barometer", "pressure": 1018, "trend": "rising"}).rewind(asked)
    use = log.use("Bash", command='git commit -am "Release 1.0" && git tag v1.0', description="Commit and tag")
    log.assistant(oracle, log.text("The almanac says spring tide, luck seven. Tagging."), use)
    out = "[release/1.0 d00dfee] Release 1.0\n 1 file changed, 6 insertions(+)"
    made = {"commit": {"sha": "d00dfee", "kind": "committed", "branch": "release/1.0"}}
    log.result(use, out, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False, "gitOperation": made})
    log.assistant(log.text("Version **1.0** is tagged. Only the lock keeper does not know yet."))


def _leave(log: LogBuilder) -> LogBuilder:
    log.title("Release 1.0").ai_title("Write changelog and tag release").side("agent-name", agentName="release-1-0")
    spent = {"inputTokens": 41, "outputTokens": 2_310, "thinkingTokens": 310, "cacheReadInputTokens": 148_000}
    spent.update(cacheCreationInputTokens=31_400, webSearchRequests=0)
    return log.side(
        "cost-state",
        totalCostUSD=0.3271,
        totalAPIDuration=48_200,
        totalAPIDurationWithoutRetries=48_200,
        totalToolDuration=1_900,
        totalDuration=402_000,
        totalLinesAdded=12,
        totalLinesRemoved=0,
        startTime=int(log.start.timestamp() * 1000),
        modelUsage={"claude-opus-5-5": {**spent, "costUSD": 0.3271}},
        hasUnknownModelCost=False,
    )
