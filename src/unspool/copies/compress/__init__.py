"""Passages of a session rewritten shorter by a model.

`passages` says which turns, how strongly, and which passages fall into them; `providers` who is asked; `run` asks
many at once, again where it fails, keeping the original where it fails for good. A passage is data throughout: a
model is told so, and what it answers is only ever used as text.
"""

from unspool.copies.compress.passages import (
    CompressOptions,
    CompressOutcome,
    CompressStats,
    Passage,
    PassageChoice,
    ShortenedPassage,
    TurnBands,
    choose_passages,
    write_record,
)
from unspool.copies.compress.providers import ModelProvider, ServiceOptions, connect, service_options
from unspool.copies.compress.run import Estimate, compress

__all__ = [
    "CompressOptions",
    "CompressOutcome",
    "CompressStats",
    "Estimate",
    "ModelProvider",
    "Passage",
    "PassageChoice",
    "ServiceOptions",
    "ShortenedPassage",
    "TurnBands",
    "choose_passages",
    "compress",
    "connect",
    "service_options",
    "write_record",
]
