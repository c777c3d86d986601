"""What a value is met in: sentences, settings, code, terminals, encodings. Each is given its name and the value."""

import base64
import html
import json
import textwrap
import urllib.parse
from collections.abc import Callable

Worn = Callable[[str, str], str]


def assigned(name: str, value: str) -> str:
    """The value with its name, where it needs one."""
    return f"{name}={value}" if name else value


def _bare(worn: Callable[[str], str]) -> Worn:
    return lambda name, value: worn(assigned(name, value))


def _word(name: str, neutral: str = "HARBOUR") -> str:
    return name or neutral


def _columns(text: str) -> str:
    """A box of a terminal program, as wide as it is."""
    lines = [part for line in f"The value is now: {text}".split("\n") for part in textwrap.wrap(line, 46) or [""]]
    return "\n".join(["╭" + "─" * 48 + "╮", *(f"│ {line:<46} │" for line in lines), "╰" + "─" * 48 + "╯"])


def _terminal(text: str) -> str:
    """A terminal of 80 columns that breaks where the line is full."""
    full = "2026-03-01T10:00:00Z harbour[4711]: loaded settings, using " + text
    return "\n".join(line[at : at + 80] for line in full.split("\n") for at in range(0, max(1, len(line)), 80))


def _at_76(text: str) -> str:
    full = "Please find the value that you asked for last week here: " + text
    return "\n".join(full[at : at + 76] for at in range(0, len(full), 76))


def _literal(text: str) -> str:
    parts = [repr(text[at : at + 40]) for at in range(0, len(text), 40)]
    return "VALUE = (\n" + "\n".join(f"    {part}" for part in parts) + "\n)"


def _concatenated(text: str) -> str:
    parts = [json.dumps(text[at : at + 24]) for at in range(0, len(text), 24)]
    return "const value = " + " +\n  ".join(parts) + ";"


def _dump(text: str) -> str:
    """As xxd writes it."""
    data = f"value: {text}\n".encode()
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
        lines.append(f"{at:08x}: {pairs:<39}  {''.join(chr(b) if 32 <= b < 127 else '.' for b in row)}")
    return "\n".join(lines)


def _numbered(text: str) -> str:
    lines = f"# settings\n{text}\nPORT=8080".split("\n")
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 41))


def _base64_76(text: str) -> str:
    data = base64.b64encode(f"[default]\nregion = eu-central-1\n{text}\noutput = json\n".encode()).decode()
    return "\n".join(data[at : at + 76] for at in range(0, len(data), 76))


def _patch(text: str) -> str:
    lines = text.split("\n")
    return "@@ -1,3 +1,3 @@\n PORT=80\n" + "\n".join(f"-{line}" for line in lines) + "\n+VALUE=none\n MODE=dev"


WORN: dict[str, Worn] = {
    "sentence": _bare(lambda text: f"Sure, the one for staging is {text} and please rotate it soon."),
    "code span": _bare(lambda text: f"Run it with `{text}` in the shell, then check the log."),
    "export": lambda name, text: f"$ export {_word(name)}='{text}' && make deploy",
    "powershell": lambda name, text: f'PS C:\\> $env:{_word(name)} = "{text}"',
    "docker": lambda name, text: f"docker run --rm -e {_word(name)}={text} -p 80:80 harbour/crane:latest",
    "env file": lambda name, text: f"MODE=prod\nPORT=80\n{_word(name)}={text}\nDEBUG=false\n",
    "yaml": lambda name, text: f"services:\n  crane:\n    environment:\n      {_word(name)}: {json.dumps(text)}\n",
    "yaml list": lambda name, text: f"env:\n  - name: {_word(name)}\n    value: {json.dumps(text)}\n",
    "toml": lambda name, text: f"[crane]\n{_word(name).lower()} = {json.dumps(text)}\nport = 80\n",
    "python": lambda name, text: f"client = Client(region='eu', {_word(name).lower().replace('-', '_')}={text!r})",
    "split literal": _bare(_literal),
    "concatenated": _bare(_concatenated),
    "header": lambda name, text: (
        f"> GET /v1/ships HTTP/2\n> Host: harbour.net\n> {_word(name, 'X-Harbour')}: {text}\n> "
    ),
    "json": lambda name, text: json.dumps({"region": "eu", _word(name): text, "port": 80}, indent=2),
    "json in json": lambda name, text: json.dumps({"stdout": json.dumps({"a": 1, _word(name): text})}),
    "json in json in json": lambda name, text: json.dumps([json.dumps({"x": json.dumps({_word(name): text})})]),
    "base64": _bare(lambda text: f"data: {base64.b64encode(text.encode()).decode()}"),
    "base64 with newline": _bare(lambda text: f"data: {base64.b64encode((text + chr(10)).encode()).decode()}"),
    "base64url": _bare(lambda text: base64.urlsafe_b64encode(f"a?b>{text}".encode()).decode().rstrip("=")),
    "base64 at 76": _bare(_base64_76),
    "url": _bare(lambda text: f"https://harbour.net/hook?next=1&value={urllib.parse.quote(text, safe='')}&ok=1"),
    "url twice": _bare(lambda text: "https://harbour.net/r?u=" + urllib.parse.quote(urllib.parse.quote(text, safe=""))),
    "at 76": _bare(_at_76),
    "terminal": _bare(_terminal),
    "columns": _bare(_columns),
    "diff added": _bare(lambda text: "@@ -1 +1 @@\n-MODE=dev\n" + "\n".join(f"+{line}" for line in text.split("\n"))),
    "diff removed": _bare(_patch),
    "numbered": _bare(_numbered),
    "grep": _bare(lambda text: "\n".join(f"config/prod.env:12:{line}" for line in text.split("\n"))),
    "file name": _bare(lambda text: f"-rw-r--r-- 1 root root 812 Mar  1 10:00 /tmp/cache/{text}.json"),
    "entities": _bare(lambda text: "<td>" + "".join(f"&#{ord(char)};" for char in text) + "</td>"),
    "html": lambda name, text: f'<input type="hidden" name="{_word(name)}" value="{html.escape(text)}">',
    "hex dump": _bare(_dump),
    "octets": _bare(lambda text: "payload = b'" + "".join(f"\\x{byte:02x}" for byte in text.encode()) + "'"),
    "colours": _bare(lambda text: f"\x1b[2m10:00\x1b[0m \x1b[32m{text}\x1b[0m\x1b[K"),
    "table": lambda name, text: f"| name | value |\n|---|---|\n| {_word(name)} | {text} |\n",
}


LATER: dict[str, Worn] = {
    "xml": lambda name, text: f"<add><{_word(name)}>{html.escape(text)}</{_word(name)}></add>",
    "sql": lambda name, text: f"INSERT INTO settings VALUES (7, '{_word(name)}', '{text}', now());",  # noqa: S608  never run
    "csv": lambda name, text: f'id,name,value\n7,{_word(name)},"{text}"\n',
    "template": lambda name, text: f"const headers = {{ {_word(name).replace('-', '_')}: `{text}` }};",
    "hcl": lambda name, text: f'variable "{_word(name).lower()}" {{\n  default = "{text}"\n}}',
    "secret of a cluster": lambda name, text: (
        f"data:\n  {_word(name).lower()}: {base64.b64encode(assigned(name, text).encode()).decode()}\n"
    ),
    "set": lambda name, text: f"C:\\> set {_word(name)}={text}",
    "logfmt": lambda name, text: f'level=info msg="loaded" {_word(name).lower()}="{text}" took=3ms',
    "hash rocket": lambda name, text: f":{_word(name).lower()} => '{text}',",
    "quoted mail": _bare(lambda text: "\n".join(f"> > {line}" for line in text.split("\n"))),
    "octal": _bare(lambda text: "$'" + "".join(f"\\{ord(char):03o}" for char in text) + "'"),
    "form": _bare(lambda text: f"grant=x&{urllib.parse.urlencode({'value': text})}&scope=all"),
    "merge conflict": _bare(lambda text: f"<<<<<<< HEAD\n{text}\n=======\nnone\n>>>>>>> main"),
    "comment": _bare(lambda text: "\n".join(f"// {line}" for line in f"was: {text}".split("\n"))),
}
"""Written after the rules were mended by the others, and nothing was mended by these."""
