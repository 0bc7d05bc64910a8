"""MedBERTScore: BERTScore in which tokens of medical concepts weigh more.

Ben Abacha et al. 2023. Here the values are those of BERTScore where `alpha` is 0, and where all
tokens or none are of concepts.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pydantic import Field

from metassay.concepts import linkers
from metassay.concepts.terms import Link, Mention
from metassay.core.errors import BadInput
from metassay.metrics.bertscore import DESCRIPTIONS as BERTSCORE
from metassay.metrics.bertscore import columns, matched
from metassay.metrics.describe import Description, Measured, Metric
from metassay.models import extra
from metassay.models.encoders import Encoder, EncoderOptions, Tokens, load_encoder, vectors
from metassay.models.matching import Embed, Match, Way, Weigh, layers_of, matches, recipe_parts
from metassay.models.rows import Scores
from metassay.models.store import STORE

NAME, WINDOW_NAME = "med_bertscore", "med_bertscore_window"
METHOD = 2  # part of the store's keys; whoever changes what a match is raises it


class MedBertscoreOptions(EncoderOptions):
    """An encoder, and what finds concepts.

    `alpha`: a token that overlaps a concept weighs 1 + alpha. `divisor`: what the weighted cosines
    are divided by, the tokens' `weights` or, as printed, their `count`; then a text with itself
    gets more than 1. `special`: marks that the encoder adds are `matched` like any token, as by
    BERTScore, or `dropped` before, as the released code has it; they weigh nothing.
    """

    linker: linkers.Linker
    alpha: float = Field(default=1.0, ge=0)
    divisor: Literal["weights", "count"] = "weights"
    special: Literal["matched", "dropped"] = "matched"


def described(name: str, read: str) -> tuple[Description, ...]:
    """BERTScore's descriptions under another name; `read`: what of long texts is read."""
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
    """Precision, recall and F1 under a name, of each candidate against its reference.

    `embed` gives the vectors of rows of any length; None: the encoder's own, of as much of a text
    as it reads.
    """

    def load() -> Scores:
        encoder = load_encoder(options, layers_of(options.model, options.layers))
        weigh = weighing(encoder, linkers.load(options.linker), options.alpha, options.model)
        read = encoder._replace(limit=None) if embed else encoder  # tokens past the limit too
        way = Way(
            (lambda _, rows, most: embed(encoder, rows, most)) if embed else None,
            bare=options.special == "dropped",
            by_count=options.divisor == "count",
        )
        return lambda here, most: matches(read, here, weigh, most, way)

    def match(pairs: Sequence[tuple[str, str]]) -> list[Match]:
        known = {**_settings(options), "method": METHOD}
        return matched(name, pairs, options, load, known, store=STORE)

    return columns([each.name for each in described(name, "")], candidates, evidence, match)


def weighing(encoder: Encoder, link: Link, alpha: float, model: str) -> Weigh:
    """Tokens weigh 1, those that overlap a concept 1 + alpha, and marks of the encoder nothing.

    Raises BadInput, when it weighs, if the tokenizer does not say where its tokens are in a text.
    """
    marks = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}

    def weigh(text: str, read: Tokens) -> list[float]:
        told = {"return_offsets_mapping": encoder.tokenizer.is_fast, "verbose": False}
        again = encoder.tokenizer(text, **told)
        both = zip(read.numbers, again["input_ids"], strict=False)
        # Where a text was cut, a mark stands in the place of what goes on.
        if "offset_mapping" not in again or any(a != b and a not in marks for a, b in both):
            raise BadInput(
                f"model {model!r}: where its tokens are in a text is not known; take an encoder"
                " with a fast tokenizer"
            )
        heavy = overlaps(again["offset_mapping"], link(text))
        return [
            0.0 if number in marks else 1 + alpha * more
            for number, more in zip(read.numbers, heavy, strict=False)
        ]

    return weigh


def overlaps(spans: Sequence[tuple[int, int]], mentions: Sequence[Mention]) -> list[bool]:
    """Whether each stretch of a text, of characters from start to end, overlaps a mention."""
    inside = {place for mention in mentions for place in range(mention.start, mention.end)}
    return [not inside.isdisjoint(range(start, end)) for start, end in spans]


def _settings(options: MedBertscoreOptions) -> dict[str, object]:
    """All but the encoder that can change a value, also of a kind with more options."""
    more = options.model_dump(exclude={*EncoderOptions.model_fields, "linker"})
    # Of segments first, as recipes of earlier scores have it: another recipe is not compared.
    segments: dict[str, object] = {
        name: more.pop(name) for name in ("window", "overlap") if name in more
    }
    return {"linker": linkers.recipe(options.linker), **segments, **more}


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MedBertscoreOptions
) -> dict[str, list[Measured]]:
    """MedBERTScore of each candidate against the reference text at the same index of `evidence`.

    -1 to 1, higher is better. Null where both texts are empty; 0 where one is. `cut` is true where
    a text was longer than the encoder reads. There are no statistics: a corpus value is a mean.
    Raises BadInput as `bertscore.measure` and `linkers.load`.
    """
    return score(NAME, candidates, evidence, options)


KIND = Metric(
    options=MedBertscoreOptions,
    measure=measure,
    recipe=lambda options: "|".join(recipe_parts(options, **_settings(options))),
    descriptions=described(NAME, "What is past the encoder's limit is not read"),
    files=lambda options: linkers.files(options.linker),
    costly=True,
)


class MedBertscoreWindowOptions(MedBertscoreOptions):
    """`window`: how many tokens a segment has, with the encoder's marks, or fewer where it reads no
    more at once. `overlap`: how many of them the next segment has as well. `rule`: segments are
    `overlapping`, or `released`, apart (see `window_vectors`)."""

    window: int = Field(default=512, ge=3)
    overlap: int = Field(default=100, ge=0)
    rule: Literal["overlapping", "released"] = "overlapping"


class Segment(NamedTuple):
    """Tokens that are read at once; the vectors of tokens[start:end] count."""

    tokens: list[int]
    start: int
    end: int


def window_vectors(
    encoder: Encoder,
    rows: Sequence[Sequence[int]],
    batch_tokens: int,
    options: MedBertscoreWindowOptions,
) -> list[Any]:
    """For each row of tokens its vectors, as `encoders.vectors` gives them, however long it is.

    Each segment has the marks that begin and end a row, and a token that two segments have gets its
    vector from that in which it is further from an edge (as far: from the first). A row that fits
    into one segment is read as it is. Rule `released`: segments of `window` - `overlap` tokens of
    the row, marks and all, that do not overlap (the code of Ben Abacha et al. 2023). Raises
    BadInput if segments have no more tokens than overlap.
    """
    size = min(options.window, encoder.limit or options.window)
    marks = set(encoder.tokenizer.all_special_ids)
    segments = [
        _apart(row, size - options.overlap)
        if options.rule == "released"
        else overlapping(row, _marks(row, marks), size, options.overlap)
        for row in rows
    ]
    read = [each.tokens for some in segments for each in some]
    states, join = iter(vectors(encoder, read, batch_tokens)), extra.module("torch").cat
    return [join([next(states)[each.start : each.end] for each in some]) for some in segments]


def overlapping(
    row: Sequence[int], marks: tuple[int, int], size: int, overlap: int
) -> list[Segment]:
    """Segments of a row, of which the first and the last `marks` tokens are the encoder's."""
    head, tail = marks
    inner, room = row[head : len(row) - tail], size - head - tail
    if len(inner) <= room:
        return [Segment([*row], 0, len(row))]
    if room <= overlap:
        raise BadInput(f"`window`: {size} tokens are too few to overlap by {overlap}; raise it")
    # A segment that began in the last `overlap` tokens would have none of its own.
    starts = range(0, len(inner) - overlap, room - overlap)
    # What two segments share is parted in its middle, where a token is the first one's.
    middles = [(start + before + room + 1) // 2 for before, start in pairwise(starts)]
    segments = []
    for start, (low, high) in zip(starts, pairwise([-head, *middles, len(row)]), strict=True):
        part = [*row[:head], *inner[start : start + room], *row[len(row) - tail :]]
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
    candidates: Sequence[str], evidence: Sequence[str], options: MedBertscoreWindowOptions
) -> dict[str, list[Measured]]:
    """MedBERTScore of each candidate against the reference text at the same index of `evidence`.

    As `measure`, but nothing is cut: a text that fits into a segment has the same
    value there. Raises BadInput also if segments have no more tokens than overlap.
    """
    embed = partial(window_vectors, options=options)
    return score(WINDOW_NAME, candidates, evidence, options, embed)


WINDOW = replace(
    KIND,
    options=MedBertscoreWindowOptions,
    measure=measure_whole,
    descriptions=described(WINDOW_NAME, "Long texts are read in segments that overlap"),
)
