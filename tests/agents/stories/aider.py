"""The story as Aider keeps it: Markdown."""

from pathlib import Path

HISTORY = """
# aider chat started at 2026-04-25 21:44:09

> /usr/bin/aider --model gpt-5
> Aider v0.86.2
> Model: gpt-5 with diff edit format

#### Mend the quay

<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>

Stones first

</thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>

Let us look.

> ls
> Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: y
> Running ls
> Added 1 line of output to the chat.

> Tokens: 4.2k sent, 318 received. Cost: $0.02 message, $0.05 session.

#### And the lighthouse

light.py
```python
<<<<<<< SEARCH
off
=======
on
>>>>>>> REPLACE
```

> Applied edit to light.py
> Commit 1a2b3c4 feat: light

Lit since dusk.
"""


def write(home: Path) -> Path:
    path = home / "quay" / ".aider.chat.history.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HISTORY)
    return path
