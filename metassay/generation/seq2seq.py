"""Encoder-decoders on this machine that were tuned to write; see generation.decoding."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from metassay.generation.decoding import DecodingOptions, Input, Way, Writer, write_locally
from metassay.generation.prompted import Order
from metassay.generation.record import Generated, System
from metassay.models.store import STORE
from metassay.tables.names import FULL


class Seq2SeqOptions(DecodingOptions):
    """An encoder-decoder that was tuned to write; it does not cite.

    It reads the passages, one per line and each after its speaker in brackets if it has one, with
    `prefix` before them all. An input that is `too_long` fails, or is cut after its beginning.
    """

    prefix: str = ""
    too_long: Literal["fail", "cut"] = "fail"


def write_seq2seq(
    sources: pd.DataFrame, name: str, options: Seq2SeqOptions, *, store: Path = STORE
) -> Generated:
    """Let an encoder-decoder write for every source: SOURCES to TEXTS, author `name`.

    Statuses and errors are those of `write_locally`; error: there was no passage to read.
    """
    recipe = f"prefix:{options.prefix!r}|too_long:{options.too_long}"
    rows = sources.sort_values("doc_id")
    columns: Any = (rows[column] for column in ("doc_id", "passages", "speaker"))
    asked = [
        (Order(doc_id, FULL, (), recipe), _lines(passages, speakers, options.prefix))
        for doc_id, passages, speakers in zip(*columns, strict=True)
    ]

    def read(writer: Writer, text: str) -> Input:
        tokens = writer.tokenizer(text)["input_ids"]
        length = len(tokens)
        if options.too_long == "cut" and writer.limit is not None and length > writer.limit:
            # By the tokenizer, which leaves the end mark where the model expects it.
            short = {"truncation": True, "max_length": writer.limit}
            tokens = writer.tokenizer(text, **short)["input_ids"]
        return Input(tokens, length)

    way = Way("seq2seq", "AutoModelForSeq2SeqLM", read, {"too_long": options.too_long})
    return write_locally(way, asked, name, options, store)


def _lines(passages: Sequence[str], speakers: Sequence[str], prefix: str) -> str:
    said = [(s, text.strip()) for s, text in zip(speakers, passages, strict=True) if text.strip()]
    if not said:
        return ""
    return prefix + "\n".join(f"[{speaker}] {text}" if speaker else text for speaker, text in said)


KIND = System(
    options=Seq2SeqOptions,
    write=lambda sources, name, options, _: write_seq2seq(sources, name, options),
    costly=True,
)
