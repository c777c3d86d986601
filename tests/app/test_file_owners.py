"""Who wrote each line, on a file's page: by the file as it lies there, its repository and the logs."""

import subprocess
from pathlib import Path

from tests.app.asking import NOW, site
from tests.log_builder.builder import LogBuilder

AGENTS = "def tide():\n    return measured_height_of_the_water\n"
BY_HAND = "# checked against the gauge by hand\n"


def git(folder: Path, *words: str) -> None:
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", "-C", str(folder), *person, *words], check=True, capture_output=True)  # noqa: S607


def told(folder: Path) -> LogBuilder:
    log = LogBuilder(session_id="wrote", cwd=str(folder), start=NOW)
    log.prompt("Write the tide").wrote(str(folder / "tide.py"), AGENTS)
    return log.assistant(log.text("Written."))


def test_lines_of_a_file_that_is_here_are_told_by_sessions_and_by_its_repository(tmp_path: Path) -> None:
    """What a person committed bears the commit, what is not committed says so, and a session's lines lead to it."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "tide.py").write_text(AGENTS)
    with site(tmp_path / "app", told(folder)) as app:
        (folder / "tide.py").write_text(AGENTS + BY_HAND)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "Checked by hand")
        (folder / "tide.py").write_text(AGENTS + BY_HAND + "# and once more, in the evening of that day\n")
        page = app.get("/files", path=str(folder / "tide.py"), view="lines")
    assert "As the file lies on this machine" in page.said
    runs = page.text.split('<li class="by-')[1:]
    assert [run.partition('"')[0] for run in runs] == ["change", "outside", "before"]
    assert "Write the tide" in runs[0]
    assert "/s/wrote/" in runs[0]
    assert "Checked by hand" in runs[1]
    assert "Ada" in runs[1]
    assert "not committed yet" in runs[2]


def test_lines_of_a_file_that_is_gone_are_told_by_the_logs(tmp_path: Path) -> None:
    with site(tmp_path / "app", told(tmp_path / "gone")) as app:
        page = app.get("/files", path=str(tmp_path / "gone/tide.py"), view="lines")
    assert "As the file lies on this machine" not in page.said
    assert [run.partition('"')[0] for run in page.text.split('<li class="by-')[1:]] == ["change"]


def test_a_file_outside_of_repositories_or_that_lets_somebody_in_is_not_read(tmp_path: Path) -> None:
    """A log may say that it wrote anything."""
    outside, inside = tmp_path / "home", tmp_path / "repository"
    for folder in (outside, inside):
        folder.mkdir()
    git(inside, "init", "-q")
    (outside / "tide.py").write_text("of this machine alone\n")
    (inside / "id_rsa").write_text("of this machine alone\n")
    (inside / "linked.py").symlink_to(outside / "tide.py")
    (inside / "folder").symlink_to(outside)
    log = LogBuilder(session_id="claims", cwd=str(inside), start=NOW).prompt("Write")
    named = [outside / "tide.py", inside / "id_rsa", inside / "linked.py", inside / "folder/tide.py"]
    for path in named:
        log.wrote(str(path), AGENTS)
    with site(tmp_path / "app", log.assistant(log.text("Written."))) as app:
        pages = [app.get("/files", path=str(path), view="lines").said for path in named]
    assert not [page for page in pages if "of this machine alone" in page or "As the file lies" in page]
