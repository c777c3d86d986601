"""Formats by which sessions go to other programs: evaluation, training, observation. Imports the rest of render.

To add one: a file with a writer, and a line in `EXCHANGE_FORMATS`. Redaction is the caller's: what leaves the machine
is written from sessions that were redacted before.
"""

from typing import NamedTuple

from unspool.render.exchange.atif import AtifWriter
from unspool.render.exchange.hf_traces import HfTracesWriter
from unspool.render.exchange.inspect import InspectWriter
from unspool.render.exchange.messages import MessagesWriter, ShareGptWriter
from unspool.render.exchange.otel import OtelWriter

Writer = AtifWriter | MessagesWriter | ShareGptWriter | OtelWriter | HfTracesWriter | InspectWriter


class ExchangeFormat(NamedTuple):
    """One format: what writes it, whom it is for, and by what it is checked."""

    writer: Writer
    purpose: str
    reference: str
    """What says whether a file is sound, in tests or by hand."""
    reads_back: bool = False
    """Whether unspool reads it as a session."""

    @property
    def name(self) -> str:
        return self.writer.name

    @property
    def ending(self) -> str:
        """How its files end."""
        return self.writer.suffixes[0]


EXCHANGE_FORMATS = (
    ExchangeFormat(
        OtelWriter(),
        "observing: collectors, Langfuse, Phoenix, Grafana",
        "the protocol's classes, `opentelemetry-proto`",
    ),
    ExchangeFormat(
        AtifWriter(),
        "evaluation, reinforcement learning: Harbor",
        "the package `atif` 1.8.0; by hand Harbor's own validator",
        reads_back=True,
    ),
    ExchangeFormat(
        MessagesWriter(), "training: TRL, OpenAI, most trainers", "by hand `datasets`, which loads it", reads_back=True
    ),
    ExchangeFormat(
        ShareGptWriter(), "training: LLaMA-Factory, Axolotl", "the order of turns of LLaMA-Factory; by hand `datasets`"
    ),
    ExchangeFormat(
        HfTracesWriter(),
        "publishing: the Hugging Face Hub",
        "the Hub's marks of each log; by hand `datasets` with `teich`",
    ),
    ExchangeFormat(InspectWriter(), "scanning: Inspect Scout", "by hand `scout db validate`, and Scout's reader"),
)
