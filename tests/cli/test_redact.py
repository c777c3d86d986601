"""`unspool redact`: what must not leave is told without being shown, and a log is written without it."""

import json
from pathlib import Path

import pytest

from tests.cli.archived import Synced, synced
from tests.cli.running import Outcome, run, source, talk
from tests.log_builder.builder import LogBuilder
from unspool.config import config_folder
from unspool.redact.rules import OWN
from unspool.share.choices import load_replacements
from unspool.store.archive.database import archive_folder

__all__ = ["synced"]

SESSION = "ab0c7a9e-1077-4d0c-8e77-00000000000a"
KEY = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def telling() -> LogBuilder:
    log = talk(f"Push it with {KEY}, said grace@navy.mil", SESSION)
    return log.prompt(f"Again: {KEY} for Project Tern")


def redacted(tmp_path: Path, *arguments: str) -> Outcome:
    done = run("redact", *arguments, *source(tmp_path, telling()))
    assert done.code == 0, done.err
    return done


def test_findings_are_told_and_not_shown(tmp_path: Path) -> None:
    """Rule, line and place of each; of the value its first characters."""
    done = redacted(tmp_path, "ab0c")
    assert "github-token" in done.out
    assert "ghp_…" in done.out
    assert "email" in done.out
    assert KEY not in done.out
    assert "grace@" not in done.out


def test_json_has_every_finding(tmp_path: Path) -> None:
    """With the version of the rules; --secrets leaves out people, --term adds words."""
    told = json.loads(redacted(tmp_path, "ab0c", "--json", "--secrets", "--term", "project tern").out)
    (log,) = told["logs"]
    assert {one["rule"] for one in log["findings"]} == {"github-token", "term"}
    assert {one["length"] for one in log["findings"] if one["rule"] == "github-token"} == {len(KEY)}
    assert len(told["rules"]) == 12


def test_a_log_is_written_without_them(tmp_path: Path) -> None:
    """Private, with one name for one value, and sound; a digest of what was replaced stays in the user's own folder."""
    out = tmp_path / "clean.jsonl"
    redacted(tmp_path, "ab0c", "-o", str(out))
    assert KEY.encode() not in out.read_bytes()
    assert out.read_bytes().count(b"[redacted:github-token-1]") >= 2
    assert out.stat().st_mode & 0o77 == 0
    assert run("lint", str(out)).code == 0
    assert run("redact", str(out)).out.startswith("Nothing was found.\nRules ")
    (names,) = (archive_folder() / "shares" / "replaced").iterdir()
    assert "[redacted:github-token-1]" in json.loads(names.read_bytes())
    assert KEY.encode() not in names.read_bytes()


def test_a_session_is_called_the_same_however_it_is_named(tmp_path: Path) -> None:
    """By the start of its id, by all of it or by its path: its names are kept once, and are those of its shares."""
    redacted(tmp_path, "ab0c", "-o", str(tmp_path / "a.jsonl"))
    redacted(tmp_path, SESSION, "-o", str(tmp_path / "b.jsonl"))
    (log,) = (tmp_path / "projects").rglob(f"{SESSION}.jsonl")
    told = json.loads(redacted(tmp_path, str(log), "-o", str(tmp_path / "c.jsonl"), "--json").out)
    assert [(one["session"], one["path"]) for one in told["logs"]] == [(SESSION, str(log))]
    assert len({(tmp_path / f"{name}.jsonl").read_bytes() for name in "abc"}) == 1
    assert len(list((archive_folder() / "shares" / "replaced").iterdir())) == 1
    assert load_replacements(SESSION)


def test_what_belongs_to_a_session_is_looked_through_too(tmp_path: Path) -> None:
    """Subagents' logs and answers in files of their own, each told by its path."""
    log = talk("Look", SESSION)
    use = log.agent_use("explorer", "Look", "Look around")
    log.assistant(use).subagent(use, "explorer", "Look", lambda child: child.ran("env", f"TOKEN={KEY}"))
    log.assistant(big := log.use("Bash", command="cat big")).spilled(big, f"{'tide ' * 900}{KEY}")
    told = json.loads(run("redact", SESSION, *source(tmp_path, log), "--secrets", "--json").out)
    names = {Path(one["path"]).parent.name for one in told["logs"]}
    assert {"subagents", "tool-results"} <= names
    shown = run("redact", SESSION, "--source", str(tmp_path), "--secrets").out
    assert all(one["path"] in shown for one in told["logs"] if "/subagents/" in one["path"])
    assert KEY not in shown


def test_the_output_is_the_log_alone(tmp_path: Path) -> None:
    done = redacted(tmp_path, SESSION, "-o", "-")
    assert [json.loads(line)["sessionId"] for line in done.out.splitlines()]
    assert KEY not in done.out


def test_own_rules_count(tmp_path: Path, home: Path) -> None:
    """Rules in redact.toml beside the settings are looked for; a wrong file is said to be."""
    mine = home / "xdg_config_home" / "unspool" / "redact.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text(
        '[[rule]]\nid = "tern"\nkind = "secret"\nabout = "x"\nkeys = ["project"]\npattern = "(?i)project tern"\n'
    )
    assert "tern" in redacted(tmp_path, "ab0c").out
    mine.write_text("[[rule]]\n")
    done = run("redact", SESSION, *source(tmp_path, telling()))
    assert (done.code, "redact.toml" in done.err) == (2, True)


def test_all_sessions_are_looked_through(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sources and archive, also those that only the archive has."""
    log = next(
        path for path in synced.source.rglob("*.jsonl") if path.stat().st_size > 1000 and "agent" not in path.name
    )
    log.write_bytes(log.read_bytes() + json.dumps({"type": "x", "text": KEY}).encode() + b"\n")
    synced.sync()
    log.unlink()
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(synced.folder))
    told = json.loads(run("redact", "--archive", "--secrets", "--json").out)
    assert [(one["session"], one["path"]) for one in told["logs"]] == [(log.stem, str(log))]


def test_one_or_all() -> None:
    """A session or --archive, not both and not neither."""
    assert run("redact").code == 2
    assert run("redact", "latest", "--archive").code == 2


def test_personal_data_is_chosen_by_kind(tmp_path: Path) -> None:
    """On the command line, or in the file of own rules; secrets stay out whatever is chosen."""
    log = talk(f"Write to grace@navy.mil, call +44 20 7946 1234 or +49 30 901820, {KEY}", SESSION)
    given = source(tmp_path, log)

    def rules(*arguments: str) -> set[str]:
        done = run("redact", SESSION, *given, "--json", *arguments)
        assert done.code == 0, done.err
        return {one["rule"] for log in json.loads(done.out)["logs"] for one in log["findings"]}

    everything = rules()
    assert {"email", "github-token"} < everything
    assert rules("--personal", "mails") == {"email", "github-token"}
    assert rules("--personal", "none") == {"github-token"}
    assert rules("--personal", "all") == everything
    (config_folder() / OWN).parent.mkdir(parents=True, exist_ok=True)
    (config_folder() / OWN).write_text('personal = ["mails"]\n')
    assert rules() == {"email", "github-token"}
    assert rules("--personal", "all") == everything
    refused = run("redact", SESSION, *given, "--personal", "mail")
    assert (refused.code, "names, machines, mails" in refused.err) == (2, True)


def test_a_share_has_the_kinds_that_are_chosen(tmp_path: Path) -> None:
    given = source(tmp_path / "logs", talk(f"Write to grace@navy.mil with {KEY}", SESSION))
    to = tmp_path / "made"
    done = run("share", SESSION, *given, "--site", "-o", str(to), "--yes", "--personal", "none")
    assert done.code == 0, done.err
    held = b"".join(file.read_bytes() for file in to.rglob("*") if file.is_file())
    assert b"grace@navy.mil" in held
    assert KEY.encode() not in held


def test_the_listing_shows_surroundings_near_names_and_what_was_not_looked_for(tmp_path: Path) -> None:
    log = talk(f"Look in /home/eligio/x, gmeligio knows; SECRET_TOKEN={KEY}", SESSION)
    log.prompt(f"Once more {KEY}")
    done = run("redact", SESSION, *source(tmp_path, log))
    assert done.code == 0, done.err
    assert "SECRET_TOKEN=⟦ghp_…⟧" in done.out
    assert "Once more ⟦ghp_…⟧" in done.out
    assert done.out.count("github-token") == 1
    assert "gmeligio" in done.out.partition("Built on a name")[2]
    assert "Looked for only where a rule finds it: 1 value" in done.out
    assert KEY not in done.out
