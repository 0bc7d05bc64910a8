"""MedBERTScore and MedBARTScore: higher weights for tokens of medical concepts.

Ben Abacha et al. 2023. Here the values are those of BERTScore and BARTScore if `alpha`
is 0, or if all tokens or none are of concepts.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import fsum
from typing import Any, Literal, NamedTuple

from pydantic import Field

from metassay.concepts import linkers
from metassay.concepts.terms import Link, Mention
from metassay.core.errors import BadInput
from metassay.metrics import bartscore
from metassay.metrics.bertscore import DESCRIPTIONS as BERTSCORE
from metassay.metrics.bertscore import columns, match_all
from metassay.metrics.describe import Description, Measured, Metric
from metassay.models import extra
from metassay.models.encoders import (
    Encoder,
    EncoderOptions,
    Tokens,
    load_encoder,
    locate_tokens,
    vectors,
)
from metassay.models.likelihood import Likelihoods
from metassay.models.matching import (
    Embed,
    Match,
    MatchOptions,
    Weigh,
    layers_of,
    matches,
    recipe_parts,
)
from metassay.models.outputs import STORE
from metassay.models.rows import Scores, recipe_of

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME, WINDOW_NAME = "med_bertscore", "med_bertscore_window"
METHOD = 2  # part of the store's keys; raise it with every change of matches


class MedBertscoreOptions(EncoderOptions):
    """An encoder, and a linker that finds concepts.

    `alpha`: a token that overlaps a concept has weight 1 + alpha. `divisor`: the sum of
    weighted cosines is divided by the tokens' `weights` or, as printed, by their
    `count`; a text with itself then has more than 1. `special`: tokens that the encoder
    adds are `matched` like others, as by BERTScore, or `dropped` before, as in the
    released code; they have weight 0.
    """

    linker: linkers.Linker
    alpha: float = Field(default=1.0, ge=0)
    divisor: Literal["weights", "count"] = "weights"
    special: Literal["matched", "dropped"] = "matched"


def describe(name: str, read: str) -> tuple[Description, ...]:
    """Return BERTScore's descriptions under another name; `read` is about long texts."""
    return tuple(
        replace(
            description,
            name=description.name.replace("bertscore", name),
            meaning=description.meaning.replace("BERTScore", "MedBERTScore").replace(
                "What is past the encoder's limit is not read",
                f"Tokens of medical concepts weigh more. {read}",
            ),
            missing="null if both texts are empty; 0 if one text is empty",
            source="Ben Abacha et al. 2023, MedBERTScore",
        )
        for description in BERTSCORE
    )


def score(
    name: str,
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: MedBertscoreOptions,
    embed: Embed | None = None,
) -> dict[str, list[Measured]]:
    """Return precision, recall and F1, under a name, of each candidate against its reference.

    `embed` returns the vectors of rows of any length; None: the encoder's, up to its
    limit.
    """

    def load() -> Scores:
        encoder = load_encoder(options, layers_of(options.model, options.layers))
        weigh = weighing(
            encoder, linkers.load(options.linker), options.alpha, options.model
        )
        # tokens past the limit too
        read = encoder._replace(limit=None) if embed else encoder
        way = MatchOptions(
            (lambda _, rows, most: embed(encoder, rows, most)) if embed else None,
            bare=options.special == "dropped",
            by_count=options.divisor == "count",
        )
        return lambda here, most: matches(read, here, weigh, most, way)

    def match(pairs: Sequence[tuple[str, str]]) -> list[Match]:
        settings = {**_settings(options), "method": METHOD}
        return match_all(name, pairs, options, load, settings, store=STORE)

    return columns([d.name for d in describe(name, "")], candidates, evidence, match)


def weighing(encoder: Encoder, link: Link, alpha: float, model: str) -> Weigh:
    """Return weights: 1, of tokens that overlap a concept 1 + alpha, of the encoder's marks 0.

    The function raises BadInput if the tokenizer has no offsets of tokens.
    """
    marks = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}

    def weigh(text: str, read: Tokens) -> list[float]:
        encoding = locate_tokens(encoder, text, read, model)
        heavy = overlaps(encoding["offset_mapping"], link(text))
        return [
            0.0 if number in marks else 1 + alpha * overlapping
            for number, overlapping in zip(read.numbers, heavy, strict=False)
        ]

    return weigh


def overlaps(
    spans: Sequence[tuple[int, int]], mentions: Sequence[Mention]
) -> list[bool]:
    """Return whether each span of a text (start and end in characters) overlaps a mention."""
    inside = {
        place for mention in mentions for place in range(mention.start, mention.end)
    }
    return [not inside.isdisjoint(range(start, end)) for start, end in spans]


def _settings(options: MedBertscoreOptions) -> dict[str, object]:
    """Return the settings, other than the encoder, that can change a value."""
    settings = options.model_dump(exclude={*EncoderOptions.model_fields, "linker"})
    # Segments come first, as in recipes of earlier scores, which must stay equal.
    segments: dict[str, object] = {
        name: settings.pop(name) for name in ("window", "overlap") if name in settings
    }
    return {"linker": linkers.recipe(options.linker), **segments, **settings}


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MedBertscoreOptions
) -> dict[str, list[Measured]]:
    """Return MedBERTScore of each candidate against the reference at the same index of `evidence`.

    -1 to 1, higher is better. Null if both texts are empty; 0 if one is. `cut`: a text
    was longer than the encoder reads. There are no statistics: a corpus value is a
    mean. Raises BadInput as `bertscore.measure` and `linkers.load`.
    """
    return score(NAME, candidates, evidence, options)


KIND = Metric(
    options=MedBertscoreOptions,
    measure=measure,
    recipe=lambda options: "|".join(recipe_parts(options, **_settings(options))),
    descriptions=describe(NAME, "What is past the encoder's limit is not read"),
    files=lambda options: linkers.files(options.linker),
    costly=True,
)


class MedBertscoreWindowOptions(MedBertscoreOptions):
    """`window`: tokens of a segment, with the encoder's marks, up to the encoder's
    limit. `overlap`: tokens that a segment shares with the next. `rule`: segments are
    `overlapping`, or `released`, without overlap (see `window_vectors`).
    """

    window: int = Field(default=512, ge=3)
    overlap: int = Field(default=100, ge=0)
    rule: Literal["overlapping", "released"] = "overlapping"


class Segment(NamedTuple):
    """Tokens that are encoded together; the vectors of tokens[start:end] count."""

    tokens: list[int]
    start: int
    end: int


def window_vectors(
    encoder: Encoder,
    rows: Sequence[Sequence[int]],
    batch_tokens: int,
    options: MedBertscoreWindowOptions,
) -> list[Any]:
    """Return the vectors of rows of tokens of any length, as `encoders.vectors`.

    Each segment has the marks that begin and end a row; a token in two segments has its
    vector from the segment in which it is further from an edge (ties: the first). A row
    that fits into a segment is read as it is. Rule `released`: segments of `window` -
    `overlap` tokens of the row, with its marks, that do not overlap (the code of Ben
    Abacha et al. 2023). Raises BadInput if segments have no more tokens than overlap.
    """
    size = min(options.window, encoder.limit or options.window)
    marks = set(encoder.tokenizer.all_special_ids)
    segments = [
        _apart(row, size - options.overlap)
        if options.rule == "released"
        else overlapping(row, _marks(row, marks), size, options.overlap)
        for row in rows
    ]
    read = [segment.tokens for of_row in segments for segment in of_row]
    states, join = iter(vectors(encoder, read, batch_tokens)), extra.module("torch").cat
    return [
        join([next(states)[s.start : s.end] for s in of_row]) for of_row in segments
    ]


def overlapping(
    row: Sequence[int], marks: tuple[int, int], size: int, overlap: int
) -> list[Segment]:
    """Return segments of a row whose first and last `marks` tokens are the encoder's."""
    head, tail = marks
    body, room = row[head : len(row) - tail], size - head - tail
    if len(body) <= room:
        return [Segment([*row], 0, len(row))]
    if room <= overlap:
        raise BadInput(
            f"`window`: {size} tokens are too few to overlap by {overlap}; raise it"
        )
    # A segment that begins in the last `overlap` tokens would add none.
    starts = range(0, len(body) - overlap, room - overlap)
    # Shared tokens are divided in the middle; a middle token is of the first segment.
    middles = [(start + before + room + 1) // 2 for before, start in pairwise(starts)]
    segments = []
    for start, (low, high) in zip(
        starts, pairwise([-head, *middles, len(row)]), strict=True
    ):
        part = [*row[:head], *body[start : start + room], *row[len(row) - tail :]]
        segments.append(Segment(part, head + low - start, head + high - start))
    return segments


def _apart(row: Sequence[int], size: int) -> list[Segment]:
    if size < 1:
        raise BadInput("`window`: has no more tokens than `overlap`; raise it")
    return [Segment([*row[at : at + size]], 0, size) for at in range(0, len(row), size)]


def _marks(row: Sequence[int], marks: set[int]) -> tuple[int, int]:
    words = [at for at, number in enumerate(row) if number not in marks]
    return (words[0], len(row) - words[-1] - 1) if words else (0, 0)


def measure_whole(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: MedBertscoreWindowOptions,
) -> dict[str, list[Measured]]:
    """Return MedBERTScore of each candidate against the reference at the same index of `evidence`.

    As `measure`, but without cuts: a text that fits into a segment has the same value.
    Raises BadInput also if segments have no more tokens than overlap.
    """
    embed = partial(window_vectors, options=options)
    return score(WINDOW_NAME, candidates, evidence, options, embed)


WINDOW = replace(
    KIND,
    options=MedBertscoreWindowOptions,
    measure=measure_whole,
    descriptions=describe(WINDOW_NAME, "Long texts are read in segments that overlap"),
)


class MedBartscoreOptions(bartscore.BartscoreOptions):
    """An encoder-decoder, and a linker that finds concepts.

    `alpha`: a token that overlaps a concept has weight 1 + alpha. `divisor`: the sum of
    weighted logarithms is divided by the tokens' `weights` or, as in the released code,
    by their `count`. That code counts padding, too, so that its values depend on the
    batch, unlike ours.
    """

    linker: linkers.Linker
    alpha: float = Field(default=1.0, ge=0)
    divisor: Literal["weights", "count"] = "weights"


BART_DESCRIPTIONS = bartscore.describe(
    "med_bartscore",
    "Ben Abacha et al. 2023, MedBARTScore",
    "those of medical concepts weigh more, and ",
)


def measure_bartscore(
    candidates: Sequence[str], evidence: Sequence[str], options: MedBartscoreOptions
) -> dict[str, list[Measured]]:
    """Return MedBARTScore of each candidate against the reference at the same index of `evidence`.

    As `bartscore.measure`; special tokens have weight 1. Raises BadInput as
    `linkers.load`, too.

    Logarithms -1, -2, -3, of which the second token is in a concept, alpha 1: -8/4, by
    count -8/3.
    """
    link = linkers.load(options.linker)

    def value(target: str, read: Likelihoods) -> float | None:
        if not read.values:
            return None
        heavy = overlaps(list(zip(read.begins, read.ends, strict=True)), link(target))
        weights = [1 + options.alpha * more for more in heavy]
        divisor = fsum(weights) if options.divisor == "weights" else len(weights)
        return fsum(w * v for w, v in zip(weights, read.values, strict=True)) / divisor

    rows = bartscore.both_ways(candidates, evidence, options, value)
    return {d.name: [row[at] for row in rows] for at, d in enumerate(BART_DESCRIPTIONS)}


BARTSCORE = Metric(
    options=MedBartscoreOptions,
    measure=measure_bartscore,
    recipe=lambda options: (
        f"linker:{linkers.recipe(options.linker)}|"
        + recipe_of(options, options, "alpha", "divisor", "f", "max_tokens")
    ),
    descriptions=BART_DESCRIPTIONS,
    files=lambda options: linkers.files(options.linker),
    costly=True,
)
