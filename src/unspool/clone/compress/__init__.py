"""Passages of a session rewritten shorter by a model.

    bands      which turns, and how strongly
    passage    which passages fall into them
    estimate   what that would cost, before anything is sent
    service    who is asked, from flags, environment and settings
    run        asks: many at once, again where it fails, keeping the original where it fails for good
    record     what was before and what is after, for a person to read

A passage is data throughout: a model is told so, and what it answers is only ever used as text.
"""

from unspool.clone.compress.bands import Bands
from unspool.clone.compress.estimate import Estimate
from unspool.clone.compress.outcome import Outcome, Shortened, Stats
from unspool.clone.compress.passage import Choice, Passage, Wish, choose
from unspool.clone.compress.provider import Provider
from unspool.clone.compress.record import write_record
from unspool.clone.compress.run import compress
from unspool.clone.compress.service import Given, connect, given

__all__ = [
    "Bands",
    "Choice",
    "Estimate",
    "Given",
    "Outcome",
    "Passage",
    "Provider",
    "Shortened",
    "Stats",
    "Wish",
    "choose",
    "compress",
    "connect",
    "given",
    "write_record",
]
