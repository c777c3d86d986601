"""The everyday tools with their structured results, one call and its answer at a time."""

import difflib
from typing import Any, Self

from unspool.demo.blocks import Block
from unspool.demo.plans import Plans
from unspool.demo.usage import Fields

Lead = tuple[Block, ...]
"""What is said before a call in the same message."""


class Tools(Plans):
    """Calls that come with their answer."""

    def call(
        self, name: str, arguments: Fields, answer: str | list[Block], detail: Any = None, lead: Lead = ()
    ) -> Self:
        """Any tool: the call and the answer it got."""
        use = self.use(name, **arguments)
        return self.assistant(*lead, use).result(use, answer, detail)

    def failed(self, name: str, arguments: Fields, message: str, lead: Lead = ()) -> Self:
        """Any tool that answered with an error."""
        use = self.use(name, **arguments)
        return self.assistant(*lead, use).result(use, message, error=True)

    def ran(self, command: str, stdout: str, about: str = "", lead: Lead = (), **detail: Any) -> Self:
        """A shell command that ended well."""
        told = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **detail}
        return self.call("Bash", {"command": command, "description": about}, stdout, told, lead)

    def read(self, path: str, content: str, lead: Lead = ()) -> Self:
        """A whole file read."""
        count = content.count("\n") + 1
        file = {"filePath": path, "content": content, "numLines": count, "startLine": 1, "totalLines": count}
        shown = "\n".join(f"{at:6d}→{line}" for at, line in enumerate(content.split("\n"), 1))
        return self.call("Read", {"file_path": path}, shown, {"type": "text", "file": file}, lead)

    def wrote(self, path: str, content: str, original: str | None = None, lead: Lead = ()) -> Self:
        """A file written whole, new or over what was there."""
        fresh = original is None
        said = f"File created successfully at: {path}" if fresh else f"The file {path} has been updated successfully."
        detail: Fields = {"type": "create" if fresh else "update", "filePath": path, "content": content}
        detail.update(structuredPatch=[] if original is None else patch(original, content), originalFile=original)
        return self.call("Write", {"file_path": path, "content": content}, said, detail, lead)

    def edited(self, path: str, original: str, old: str, new: str, lead: Lead = ()) -> Self:
        """One passage of a file replaced."""
        arguments = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        detail: Fields = {"filePath": path, "oldString": old, "newString": new, "originalFile": original}
        detail["structuredPatch"] = patch(original, original.replace(old, new, 1))
        said = f"The file {path} has been updated successfully."
        return self.call("Edit", arguments, said, {**detail, "userModified": False, "replaceAll": False}, lead)


def patch(before: str, after: str) -> list[Fields]:
    """The hunks between two texts, in Claude Code's structured form."""
    old, new = before.splitlines(), after.splitlines()
    hunks: list[Fields] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        first, last = group[0], group[-1]
        lines: list[str] = []
        for tag, a, b, c, d in group:
            lines += [f" {line}" for line in old[a:b]] if tag == "equal" else [f"-{line}" for line in old[a:b]]
            lines += [] if tag == "equal" else [f"+{line}" for line in new[c:d]]
        sizes = {"oldStart": first[1] + 1, "oldLines": last[2] - first[1], "newStart": first[3] + 1}
        hunks.append({**sizes, "newLines": last[4] - first[3], "lines": lines})
    return hunks
