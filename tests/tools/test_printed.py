"""Code in what a command printed is shown as code; what is not sure stays what a terminal shows."""

import pytest

from tests.render.seen import seen
from tests.tools.calls import called
from unspool import tools
from unspool.doc import Code, Diff, Node, Terminal
from unspool.tools.printed import output_nodes

CHANGE = """diff --git a/tide.py b/tide.py
index 1..2 100644
--- a/tide.py
+++ b/tide.py
@@ -1,3 +1,3 @@ def tide():
 one
-two
+2
 three
\\ No newline at end of file
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
"""
YAML = "---\nname: tide\nsteps:\n  - run: make\n    with: {a: 1}\n"


def kinds(nodes: tuple[Node, ...]) -> list[str]:
    return [node.language if isinstance(node, Code) else type(node).__name__ for node in nodes]


def test_a_diff_is_the_changes_of_each_file_after_what_stands_before() -> None:
    said, first, second = output_nodes(f"commit 1234\n\n    Count\n\n{CHANGE}", "git show")
    assert isinstance(said, Terminal)
    assert isinstance(first, Diff)
    assert isinstance(second, Diff)
    assert (first.path, first.added, first.removed, first.created) == ("tide.py", 1, 1, False)
    assert first.hunks[0].lines == (" one", "-two", "+2", " three")
    assert (second.path, second.added, second.created) == ("new.txt", 1, True)


def test_the_plain_form_of_diff_is_one_too() -> None:
    (shown,) = output_nodes("--- old.txt\t2026\n+++ new.txt\t2026\n@@ -1 +1 @@\n-a\n+b\n", "diff -u old.txt new.txt")
    assert isinstance(shown, Diff)
    assert shown.path == "new.txt"


@pytest.mark.parametrize("cut", range(1, CHANGE.count("\n")))
def test_a_diff_that_is_cut_off_or_talks_on_is_never_half_shown(cut: int) -> None:
    text = "\n".join(CHANGE.split("\n")[:cut])
    for output in (text, f"{text}\nand so on\n"):
        told = seen(output_nodes(output, "git diff"))
        assert all(line in told for line in ("one", "-two", "+2") if line in output)


@pytest.mark.parametrize(
    ("command", "output", "kind"),
    [
        ("cat src/tide.py", "def tide():\n    pass\n", "python"),
        ("cd /work && cat 'a b.py'", "x = 1\n", "python"),
        ("sed -n '1,20p' src/main.rs", "fn main() {}\n", "rust"),
        ("head -50 app.ts", "const a = 1\n", "typescript"),
        ("cat Main.java | head -20", "class Main {}\n", "java"),
        ("kubectl get pod x -o yaml", "apiVersion: v1\nkind: Pod\nspec:\n  a: b\n", "yaml"),
        ("cat ci.yml", YAML, "yaml"),
        ("make config", YAML, "yaml"),
        ("curl -s https://x.test", '{"a": [1, 2]}', "json"),
        ("curl -s https://x.test", "<?xml version='1.0'?>\n<a/>", "xml"),
        ("cat run", "#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("jq . a.json", '{"a": 1}', "json"),
        ("cat a.py b.py", "x = 1\n", "Terminal"),
        ("cat -n a.py", "1 x\n", "Terminal"),
        ("grep -n x a.py", "1: x\n", "Terminal"),
        ("cat a.py | grep x", "x\n", "Terminal"),
        ("cat a.py > b.py", "x\n", "Terminal"),
        ("cat a.py; make", "x\n", "Terminal"),
        ("cat $(ls *.py)", "x\n", "Terminal"),
        ("cat 'a.py", "x\n", "Terminal"),
        ("cat a.yaml", "cat: a.yaml: no such thing\nat all\n", "Terminal"),
        ("python a.py", "x = 1\n", "Terminal"),
        ("cat a.py", "\x1b[31mx\x1b[0m\n", "Terminal"),
        ("ls", "a.py\nb.py\n", "Terminal"),
        ("npm test", "--- a\n+++ b\nnot a diff\n", "Terminal"),
    ],
)
def test_code_is_told_by_the_command_and_by_how_it_looks(command: str, output: str, kind: str) -> None:
    assert kinds(output_nodes(output, command)) == [kind]


def test_a_call_shows_what_it_printed_as_code() -> None:
    fold = tools.describe(called("Bash", {"command": "git diff"}, CHANGE))
    assert [type(node).__name__ for node in fold.children] == ["Code", "Diff", "Diff"]
