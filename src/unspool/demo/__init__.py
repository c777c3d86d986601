"""Made-up sessions that show all a log can hold. They lie in `files` as an agent would have written them."""

import os
import re
import shutil
from datetime import datetime
from pathlib import Path

FILES = Path(__file__).parent / "files"
OTHERS = Path(__file__).parent / "others"
_OTHERS_TIME = 1770214600.0
_TIME = re.compile(rb'"timestamp": ?"([0-9T:.-]+Z)"')


def write_demo(root: Path, *, others: bool = False) -> Path:
    """Write the demo's sessions below root, each file as old as the last line of its session; gives root. With
    `others`, sessions of other agents too."""
    for path in sorted(OTHERS.rglob("*.json*")) if others else ():
        copy = root / path.relative_to(OTHERS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        os.utime(copy, (_OTHERS_TIME, _OTHERS_TIME))
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
