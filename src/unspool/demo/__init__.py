"""Made-up sessions that show all a log can hold. They lie in `files` as an agent would have written them."""

import os
import re
import shutil
from datetime import datetime
from pathlib import Path

FILES = Path(__file__).parent / "files"
_TIME = re.compile(rb'"timestamp": ?"([0-9T:.-]+Z)"')


def write_demo(root: Path) -> Path:
    """Write the demo's sessions below root, each file as old as the last line of its session; gives root."""
    logs = {path.stem: path.read_bytes() for path in sorted(FILES.glob("projects/*/*.jsonl"))}
    for path in sorted(path for path in FILES.rglob("*") if path.is_file()):
        name = path.relative_to(FILES)
        copy = root / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        session = Path(name.parts[2] if name.parts[0] == "projects" else name).stem  # a plan's name stands in its log
        log = logs.get(session) or next(log for log in logs.values() if session.encode() in log)
        time = datetime.fromisoformat(_TIME.findall(log)[-1].decode()).timestamp()
        os.utime(copy, (time, time))
    return root
