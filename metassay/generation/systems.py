"""Every kind of system that writes texts, and how each is set to work."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from metassay.errors import BadInput
from metassay.generation.chat import ChatOptions, Style, write_chat
from metassay.generation.few_shot import read_examples
from metassay.generation.generate import generate
from metassay.generation.lead import LeadOptions
from metassay.generation.local import (
    CausalOptions,
    LocalTexts,
    Seq2SeqOptions,
    write_causal,
    write_seq2seq,
)
from metassay.generation.longest_turn import LongestTurnOptions
from metassay.llm.egress import datasets_of
from metassay.llm.project import Desk
from metassay.params import Options

SYSTEMS: Mapping[str, type[Options]] = {
    "lead": LeadOptions,
    "longest_turn": LongestTurnOptions,
    "chat": ChatOptions,
    "seq2seq": Seq2SeqOptions,
    "causal": CausalOptions,
}


def write_texts(sources: pd.DataFrame, name: str, options: Options, desk: Desk) -> LocalTexts:
    """Write a text for every source: tables.SOURCES to tables.TEXTS, with `name` as the author.

    The kind of system follows from the class of `options`. Raises BadInput as the kinds do.
    """
    match options:
        case ChatOptions():
            examples = read_examples(options.examples, desk.raw)
            asked = desk.model(options.model, options.max_tokens, datasets_of(options.examples))
            return LocalTexts(write_chat(sources, name, options, *asked, examples), ())
        case CausalOptions():
            return write_causal(sources, name, options, read_examples(options.examples, desk.raw))
        case Seq2SeqOptions():
            return write_seq2seq(sources, name, options)
        case _:
            return LocalTexts(generate(sources, name, options), ())


def check_reads(options: Options, reads: Path, raw: Path, *, where: str) -> None:
    """Check that the examples of a system lie in `reads`, the folder that DVC watches for it.

    Else BadInput: a change of them would go unnoticed. `raw` has a folder per dataset.
    """
    named = datasets_of(options.examples) if isinstance(options, Style) else []
    folders = [raw / dataset for dataset in named]
    if not all(folder.is_relative_to(reads) for folder in folders):
        there = ", ".join(map(str, folders))
        several = f" ({raw}, which holds them all)" if len(folders) > 1 else ""
        raise BadInput(
            f"{where} > reads: is {reads}, but the examples are in {there}; name that folder"
            f"{several}, so that a change in it is noticed"
        )
