"""One command for all benchmarks: makes the corpus, measures, prints one table, and ends 1 where an aim is missed."""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench import (
    agents,
    answers,
    app,
    archive,
    assembly,
    before,
    clones,
    corpus,
    fuzz,
    hostile,
    lake,
    long_clone,
    memory,
    pages,
    questions,
    redact,
    scale,
    site,
    startup,
)
from bench.table import Row, lines

PARTS = ("assembly", "answers", "site", "startup", "memory", "archive", "app", "clone", "redact", "hostile", "agents")
LONG = ("before", "scale", "lake", "pages", "questions", "hub", "hub-scale")
"""Only where they are named."""
_PARTS = f"{', '.join(PARTS)} (or of archive: {', '.join(archive.PARTS)}); or {', '.join(LONG)}, which take long"
_HUB_MB = 20
"""Of logs that are really pushed and shared."""
_MANY = 100_000
SHARED = corpus.ROOT.parent / "shared"


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
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these of: {_PARTS} (default: all but that)")
    parser.add_argument("--mb", type=int, default=50, help="size of the corpus (default: 50)")
    parser.add_argument(
        "--more-mb", type=int, default=500, help="a second corpus for the archive; 0: none (default: 500)"
    )
    parser.add_argument("--no-real", action="store_true", help="leave out real logs (of site, archive, clone and hub)")
    parser.add_argument(
        "--real-mb",
        type=int,
        default=0,
        help="real logs of site, archive and before: copies, so large (default: as is)",
    )
    parser.add_argument(
        "--sizes", type=_sizes, metavar="MB,MB,...", default=scale.SIZES, help="of scale (default: 50 MB to 5 GB)"
    )
    parser.add_argument(
        "--plot", type=Path, help="where scale or hub draws (default: .cache/scale.svg, .cache/hub.svg)"
    )
    parser.add_argument(
        "--sessions", type=_sizes, metavar="N,N,...", help="of hub (default: 100,1000,10000) and hub-scale (100000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="which corpus, and which damage (default: 1)")
    parser.add_argument("--set-seed", type=int, help="of redact: which third set of secrets (default: a new one)")
    parser.add_argument("--big-mb", type=int, default=2000, help="size of the one huge log (default: 2000)")
    parser.add_argument("--line-mb", type=int, default=100, help="size of the one huge line (default: 100)")
    parser.add_argument("--session-mb", type=int, default=100, help="size of the session cloned (default: 100)")
    parser.add_argument("--agents-mb", type=int, default=100, help="logs of many agents together (default: 100)")
    parser.add_argument("--before", default="HEAD~20", metavar="REV", help="which version `before` compares with")
    parser.add_argument("--fuzz", action="store_true", help="also open damaged logs")
    parser.add_argument("--examples", type=int, default=20_000, help="how many damaged logs (default: 20000)")
    options = parser.parse_args()
    if unknown := set(options.parts) - {*PARTS, *archive.PARTS, *LONG}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return options


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(","))


def _source(mb: int, seed: int) -> Path:
    if (SHARED / "tools" / "make_corpus.py").is_file():
        return corpus.made(SHARED, seed, mb)
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
        for logs in (source, *_real(options, options.real_mb)):
            yield from map(_said, site.rows(logs))
    if "startup" in parts:
        yield _said(startup.row())
    if "memory" in parts:
        yield from map(_said, memory.rows(source, options.big_mb, options.line_mb))
    kept = archive.PARTS if "archive" in parts else [part for part in archive.PARTS if part in parts]
    if kept:
        yield from map(_said, archive.rows(_sources(options, source), options.seed, kept))
    if "app" in parts:
        yield from map(_said, app.rows(source, options.seed))
    if "clone" in parts:
        yield from map(_said, clones.rows([source, *_real(options)]))
        yield from map(_said, long_clone.rows(source, options.session_mb))
    yield from map(_said, _asked_for(options, source))


def _asked_for(options: argparse.Namespace, source: Path) -> Iterator[Row]:
    """What needs no corpus, and what takes long and is not part of everything."""
    if "redact" in (options.parts or PARTS):
        yield from redact.rows(SHARED, options.set_seed)
    if "hostile" in (options.parts or PARTS):
        yield from hostile.rows()
    if "agents" in (options.parts or PARTS):
        yield from agents.rows(SHARED, options.agents_mb)
    if "before" in options.parts:
        yield from before.rows("made", source, options.before)
        for real in _real(options, options.real_mb):
            yield from before.rows("real", real, options.before)
    if "scale" in options.parts:
        made = partial(_source, seed=options.seed)
        yield from scale.rows(made, options.sizes, _plot(options, "scale"))
    if "pages" in options.parts:
        yield from pages.rows(source, next(_real(options), None))
    if "questions" in options.parts:
        yield from map(_said, questions.rows(next(_real(options), source)))
    yield from _with_extras(options, source)
    if options.fuzz:
        yield fuzz.row(source, options.examples, options.seed)


def _with_extras(options: argparse.Namespace, source: Path) -> Iterator[Row]:
    """What needs servers and the packages of the tests."""
    if "lake" in options.parts:
        yield from lake.rows(source)
    if not {"hub", "hub-scale"}.isdisjoint(options.parts):
        from bench import hub

        if "hub" in options.parts:
            sources = [_source(_HUB_MB, options.seed), *_real(options)]
            yield from hub.rows(sources, options.sessions or hub.SIZES, _plot(options, "hub"))
        if "hub-scale" in options.parts:
            yield from hub.scale_rows(max(options.sessions or (_MANY,)), next(_real(options), None))


def _plot(options: argparse.Namespace, name: str) -> Path:
    place: Path = options.plot or corpus.ROOT / ".cache" / f"{name}.svg"
    return place.absolute()


def _sources(options: argparse.Namespace, source: Path) -> Iterator[Path]:
    """What the archive is measured with: the corpus, a larger one, and real logs."""
    yield source
    if options.more_mb:
        yield _source(options.more_mb, options.seed)
    yield from _real(options, options.real_mb)


def _real(options: argparse.Namespace, mb: int = 0) -> Iterator[Path]:
    """The real logs, where there are any; as so many MB of copies, where it is said."""
    real = SHARED / "corpora" / "claude"
    if real.is_dir() and not options.no_real:
        yield corpus.repeated(real / "projects", mb, "real") if mb else real


def _said(row: Row) -> Row:
    print(f"{row.what}: {row.ours}", file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
