"""One command for all benchmarks: makes the corpus, measures, prints one table, and ends 1 where an aim is missed."""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import answers, assembly, corpus, fuzz, memory, site, startup
from bench.table import Row, lines

PARTS = ("assembly", "answers", "site", "startup", "memory")


def main() -> int:
    """Parse, measure, print."""
    options = _options()
    source = _source(options.mb, options.seed)
    where = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    print(f"{corpus.size(source) / 1e6:.0f} MB of logs; {where}\n", flush=True)
    rows = list(_measured(options, source))
    print("\n".join(lines(rows)))
    return int(any(row.met is False for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure unspool beside its peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these of: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--mb", type=int, default=50, help="size of the corpus (default: 50)")
    parser.add_argument("--seed", type=int, default=1, help="which corpus, and which damage (default: 1)")
    parser.add_argument("--big-mb", type=int, default=2000, help="size of the one huge log (default: 2000)")
    parser.add_argument("--line-mb", type=int, default=100, help="size of the one huge line (default: 100)")
    parser.add_argument("--fuzz", action="store_true", help="also open damaged logs")
    parser.add_argument("--examples", type=int, default=20_000, help="how many damaged logs (default: 20000)")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return options


def _source(mb: int, seed: int) -> Path:
    shared = corpus.ROOT.parent / "shared"
    if (shared / "tools" / "make_corpus.py").is_file():
        return corpus.made(shared, seed, mb)
    print("no corpus maker in ../shared: the demo is repeated instead, so figures differ from published ones")
    from unspool.demo import write_demo

    with tempfile.TemporaryDirectory() as scratch:
        write_demo(Path(scratch))
        return corpus.repeated(Path(scratch) / "projects", mb)


def _measured(options: argparse.Namespace, source: Path) -> Iterator[Row]:
    parts = options.parts or PARTS
    if "assembly" in parts:
        yield _said(assembly.row(source))
    if "answers" in parts:
        yield from map(_said, answers.rows(source))
    if "site" in parts:
        yield from map(_said, site.rows(source))
    if "startup" in parts:
        yield _said(startup.row())
    if "memory" in parts:
        yield from map(_said, memory.rows(source, options.big_mb, options.line_mb))
    if options.fuzz:
        yield _said(fuzz.row(source, options.examples, options.seed))


def _said(row: Row) -> Row:
    print(f"{row.what}: {row.ours}", file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
