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
    """One format: what writes it, whom it is for, and whether unspool reads it back."""

    writer: Writer
    purpose: str
    reads_back: bool = False

    @property
    def name(self) -> str:
        return self.writer.name

    @property
    def ending(self) -> str:
        """How its files end."""
        return self.writer.suffixes[0]


EXCHANGE_FORMATS = (
    ExchangeFormat(OtelWriter(), "observing: collectors, Langfuse, Phoenix, Grafana"),
    ExchangeFormat(AtifWriter(), "evaluation and reinforcement learning: Harbor and its viewers", reads_back=True),
    ExchangeFormat(MessagesWriter(), "training: TRL, OpenAI fine-tuning and most trainers", reads_back=True),
    ExchangeFormat(ShareGptWriter(), "training: LLaMA-Factory, Axolotl"),
    ExchangeFormat(HfTracesWriter(), "publishing: datasets of traces on the Hugging Face Hub"),
    ExchangeFormat(InspectWriter(), "scanning: Inspect Scout"),
)
