"""Prices of other providers' models, as facts with a date: `python -m bench.prices`, where `genai-prices` is installed,
writes src/unspool/prices/others.json and other_windows.json from it. unspool itself does not need the package."""

import datetime as dt
import json
import re
import sys
from collections.abc import Iterable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from unspool.prices.table import names_model, plain_name

PROVIDERS = ("openai", "google", "x-ai", "deepseek", "mistral", "moonshotai", "zai", "minimax")
FOLDER = Path(__file__).parent.parent / "src" / "unspool" / "prices"
_APART = re.compile(
    r"image|audio|tts|live|embed|ocr|moderation|realtime|transcribe|search-api|robotics|veo|imagen|dall-e|whisper|gemma"
    r"|claude|computer-use|learnlm|sora|voxtral|davinci|babbage|curie|ada-|instruct|-vl|vision|pixtral"
)
"""Models that no coding agent asks, and those whose prices are kept by hand."""
_DATED = re.compile(r"-20\d\d-\d\d-\d\d$|-\d{4}$")


def main() -> None:
    from genai_prices.data import providers  # type: ignore[import-not-found]

    models: dict[tuple[str, str], dict[str, Any]] = {}
    windows: dict[str, int] = {}
    for provider in providers:
        for model in provider.models if provider.id in PROVIDERS else ():
            if _APART.search(model.id):
                continue
            for name in _names(model):
                if model.context_window:
                    windows.setdefault(name, model.context_window)
                for price in _prices(model.prices, provider.id):
                    models.setdefault((name, price.get("from", "")), {"model": name, **price})
    models = {key: one for key, one in models.items() if not _told_by_another(one, models.values())}
    windows = {name: size for name, size in windows.items() if not _window_told(name, windows)}
    today = dt.datetime.now(dt.UTC).date().isoformat()
    source = f"genai-prices {version('genai-prices')}, list prices of {', '.join(PROVIDERS)}"
    _write("others.json", {"date": today, "source": source}, [models[key] for key in sorted(models)])
    _write_windows(windows)


def _names(model: Any) -> list[str]:
    """The names of a model that are no dated ones: those are known by their beginning."""
    clauses = getattr(model.match, "or_", None) or [model.match]
    found = {getattr(clause, "equals", "") for clause in clauses} | {model.id}
    return sorted({plain_name(name) for name in found if name and not _DATED.search(name) and "/" not in name})


def _told_by_another(one: dict[str, Any], models: Iterable[dict[str, Any]]) -> bool:
    """Whether a shorter name says the same: a model is known by how its name begins."""
    shorter = [other for other in models if other is not one and names_model(other["model"], one["model"])]
    longest = max((len(other["model"]) for other in shorter), default=0)
    nearest = [other for other in shorter if len(other["model"]) == longest]
    mine = [{**other, "model": ""} for other in nearest]
    return len(nearest) == 1 and {**one, "model": ""} == mine[0]


def _window_told(name: str, windows: dict[str, int]) -> bool:
    shorter = [other for other in windows if other != name and names_model(other, name)]
    return bool(shorter) and windows[max(shorter, key=len)] == windows[name]


def _prices(prices: Any, provider: str) -> list[dict[str, Any]]:
    """The prices of a model, by the days that each is from."""
    if not isinstance(prices, list):
        return [made] if (made := _rates(prices, provider)) else []
    found = []
    for one in prices:
        start = getattr(one.constraint, "start_date", None)
        if one.constraint is not None and start is None:
            continue  # a time of day
        if made := _rates(one.prices, provider):
            found.append({**made, **({"from": start.isoformat()} if start is not None else {})})
    found = [one for number, one in enumerate(found) if not number or _bare(one) != _bare(found[number - 1])]
    for one, after in pairwise(found):
        one["until"] = after["from"]
    return found


def _bare(price: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in price.items() if name not in ("from", "until")}


def _rates(price: Any, provider: str) -> dict[str, Any]:
    kinds = {
        "input": price.input_mtok,
        "output": price.output_mtok,
        "read": price.cache_read_mtok,
        "write": price.cache_write_mtok,
    }
    if kinds["input"] is None or kinds["output"] is None:
        return {}
    kinds["read"] = kinds["input"] if kinds["read"] is None else kinds["read"]
    if provider == "openai" and kinds["write"] is None:
        kinds["write"] = kinds["input"]  # what is written to the cache costs what input does
    known = {name: value for name, value in kinds.items() if value is not None}
    base: dict[str, Any] = {name: _text(getattr(value, "base", value)) for name, value in known.items()}
    tiers = [tier for value in kinds.values() for tier in getattr(value, "tiers", ())]
    if tiers:
        start = min(tier.start for tier in tiers)
        above = {name: _text(_at(value, start)) for name, value in known.items()}
        base["above"] = {"tokens": start, **above}
    return base


def _at(value: Any, start: int) -> Any:
    return next(
        (tier.price for tier in getattr(value, "tiers", ()) if tier.start == start), getattr(value, "base", value)
    )


def _text(value: Any) -> str:
    return f"{value.normalize():f}"


def _write(name: str, head: dict[str, str], models: list[dict[str, Any]]) -> None:
    lines = ",\n".join(f"    {json.dumps(one)}" for one in models)
    first = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    (FOLDER / name).write_text(f'{{\n{first}  "models": [\n{lines}\n  ]\n}}\n')
    sys.stdout.write(f"{name}: {len(models)} prices\n")


def _write_windows(windows: dict[str, int]) -> None:
    lines = ",\n".join(f"  {json.dumps({'model': name, 'window': windows[name]})}" for name in sorted(windows))
    (FOLDER / "other_windows.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
