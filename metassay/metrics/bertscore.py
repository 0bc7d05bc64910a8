"""BERTScore: matches of tokens of a text and its reference, by contextual vectors.

Tokens, layers, weights and baselines are those of the package bert-score, and so are
the values, with one exception: there, a token with cosines below 0 counts 0 if its pair
shares the batch with a longer pair, as if it matched the padding. Here no pair depends
on another, and values have eight decimals, which with dtype float64 are the same on
every processor. SOURCE is of statements against their passages.

Each distinct text is encoded once, in batches of similar length. Results are in the
store of model outputs (metassay.models): a second run loads no model.
"""

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.metrics.describe import OVERLAP, Description, Measured, Metric
from metassay.metrics.faithfulness import reading, record
from metassay.models import encoders, extra, matching
from metassay.models.loading import NetworkOptions
from metassay.models.matching import (
    Match,
    layers_of,
    match_without_tokens,
    matches,
    recipe_parts,
    weighing,
)
from metassay.models.outputs import STORE, text_hash
from metassay.models.rows import Scores, compute_outputs

VERSION = 1  # raised by whoever changes results of this module's kinds

METHOD = 3  # part of the store's keys; raise it with every change of matches
_Three = Annotated[
    list[Annotated[float, Field(lt=1)]], Field(min_length=3, max_length=3)
]


class BertscoreOptions(encoders.EncoderOptions):
    """An encoder, and how its vectors are matched.

    `idf`: a token's weight is higher the fewer references have it. `baseline`: rescales
    so that unrelated texts have about 0; a name in bert-score, such as
    `en/roberta-large`, or precision, recall and F1 of unrelated texts.
    """

    idf: bool
    baseline: str | _Three | None = None


_describe = partial(
    Description,
    better="higher",
    range=(-1, 1),
    missing="null if both texts are empty, or if all tokens of one weigh nothing (with `idf`); 0 if"
    " one text is empty",
    family=OVERLAP,
)
_SOURCE = "Zhang et al. 2020, section 3, {}; bert-score 0.3.13"
_SIDE = (
    "mean, over the {}'s tokens, of the highest cosine similarity to a token of the {}. What is"
    " past the encoder's limit is not read"
)

DESCRIPTIONS = (
    _describe(
        "bertscore_precision",
        _SIDE.format("text", "reference"),
        source=_SOURCE.format("P_BERT and equation 1"),
    ),
    _describe(
        "bertscore_recall",
        _SIDE.format("reference", "text"),
        source=_SOURCE.format("R_BERT and equation 1"),
    ),
    _describe(
        "bertscore_f1",
        "harmonic mean of BERTScore precision and recall; 0 if one of them is not above 0",
        source=_SOURCE.format("F_BERT"),
        headline=True,
    ),
)


def recipe(options: BertscoreOptions) -> str:
    """Print every setting that can change more than a last digit, a folder by its content."""
    baseline = options.baseline or "none"
    parts = recipe_parts(
        options,
        idf="yes" if options.idf else "no",
        baseline=",".join(map(str, baseline))
        if isinstance(baseline, list)
        else baseline,
    )
    return "|".join(parts)


def measure(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: BertscoreOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[Measured]]:
    """Return BERTScore of each candidate against the reference at the same index of `evidence`.

    -1 to 1 (rescaled values can be lower), higher is better. Null if both texts are
    empty; 0 if one is, rescaled or not. A text with special tokens only is empty.
    Weights of `idf` are those of a call of bert-score with the same lists: of all
    references but empty ones, with repetitions. `cut`: a text was longer than the
    encoder reads. There are no statistics: a corpus value is a mean. Raises BadInput if
    the extra `models` is not installed, or the model or the baseline cannot be loaded.
    """
    texts = map(str.strip, evidence)
    references = (
        Counter(reference for reference in texts if reference) if options.idf else None
    )
    names = [description.name for description in DESCRIPTIONS]

    def match(pairs: Sequence[tuple[str, str]]) -> list[Match]:
        return matches_of(pairs, options, references, store=store)

    return columns(names, candidates, evidence, match, _baseline(options))


def columns(
    names: Sequence[str],
    candidates: Sequence[str],
    evidence: Sequence[str],
    match: Callable[[Sequence[tuple[str, str]]], Sequence[Match]],
    baseline: Sequence[float] | None = None,
) -> dict[str, list[Measured]]:
    """Return precision, recall and F1 by name; `match` receives pairs without empty texts."""
    pairs = [(c.strip(), r.strip()) for c, r in zip(candidates, evidence, strict=True)]
    full = [pair for pair in pairs if all(pair)]
    results = iter(match(full))
    rows = [
        next(results) if all(pair) else match_without_tokens(*pair) for pair in pairs
    ]
    values = [(values_of(row, baseline), any(row.unread)) for row in rows]
    return {
        name: [Measured(row[at], None, cut) for row, cut in values]
        for at, name in enumerate(names)
    }


KIND = Metric(
    options=BertscoreOptions,
    measure=measure,
    recipe=recipe,
    descriptions=DESCRIPTIONS,
    costly=True,
    whole=lambda options: options.idf,
)


def matches_of(
    pairs: Sequence[tuple[str, str]],
    options: BertscoreOptions,
    references: Mapping[str, int] | None = None,
    *,
    store: Path = STORE,
) -> list[Match]:
    """Return matches of pairs (candidate, reference), none empty; idf is by `references`."""
    counted = ((text_hash(text), n) for text, n in (references or {}).items())
    idf = None if references is None else text_hash(repr(sorted(counted)))

    def load() -> Scores:
        encoder = encoders.load_encoder(
            options, layers_of(options.model, options.layers)
        )
        weigh = weighing(encoder, references)
        return lambda here, most: matches(encoder, here, weigh, most)

    settings = {"method": METHOD, "idf": idf}
    return match_all("bertscore", pairs, options, load, settings, store=store)


def match_all(
    name: str,
    pairs: Sequence[tuple[str, str]],
    options: encoders.EncoderOptions,
    load: Callable[[], Scores],
    settings: Mapping[str, object],
    *,
    store: Path,
) -> list[Match]:
    """Return matches of pairs, from the store or by `load`.

    `settings`: all settings that can change a match, other than the encoder.
    """
    task = matching.task_of(name, options, settings)
    rows = compute_outputs(task, pairs, load, options.batch_tokens, store=store)
    return [Match(*row) for row in rows]


def values_of(
    match: Match, baseline: Sequence[float] | None = None
) -> tuple[float | None, ...]:
    """Return precision, recall and F1; not rescaled if there was nothing to match."""
    precision, recall, f1 = match.precision, match.recall, None
    if precision is not None and recall is not None:
        least, total = min(precision, recall), precision + recall
        f1 = 2 * precision * recall / total if least > 0 else 0.0
    values = (precision, recall, f1)
    if baseline is None or not match.matched:
        return values
    return tuple(
        None if value is None else (value - base) / (1 - base)
        for value, base in zip(values, baseline, strict=True)
    )


def _baseline(options: BertscoreOptions) -> Sequence[float] | None:
    """Return precision, recall and F1 of unrelated texts."""
    if not isinstance(options.baseline, str):
        return options.baseline
    layers = layers_of(options.model, options.layers)
    if layers is None:
        raise BadInput(
            f"baseline {options.baseline!r}: has a row per layer, and the number of layers of"
            f" {options.model!r} is not known; give `layers`"
        )
    path = extra.folder("bert_score") / "rescale_baseline" / f"{options.baseline}.tsv"
    if not path.is_file():
        raise BadInput(
            f"baseline {options.baseline!r}: is not in bert-score; give a baseline of bert-score,"
            " such as en/roberta-large, or three numbers"
        )
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["LAYER"]: row for row in csv.DictReader(file)}
    if str(layers) not in rows:
        raise BadInput(
            f"baseline {options.baseline!r}: has no layer {layers}; correct `layers`"
        )
    return [float(rows[str(layers)][column]) for column in ("P", "R", "F")]


SIDES = ("precision", "recall", "f1")
NAMES = tuple(f"bertscore_source_{side}" for side in SIDES)


class SourceOptions(reading.CheckpointOptions):
    """Encoders, with `layers` and `batch_tokens` of the metric `bertscore`."""

    layers: int | None = Field(default=None, ge=1)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[record.Case], options: SourceOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return BERTScore of each statement, the candidate, against its passages, joined by a space.

    -1 to 1, higher is closer. Null for a blank statement or without passages; failed if
    a number is not finite. Text past the encoder's limit is not read. Zhang et al.
    2020, section 3. Raises BadInput as `measure`.
    """
    encoder = make_bertscore_options(checkpoint, options.layers, options.batch_tokens)

    def scores(pairs: Sequence[reading.Pair]) -> list[tuple[record.Scored, ...]]:
        flipped = [(statement, passages) for passages, statement in reading.join(pairs)]
        return [
            tuple(
                record.Scored(
                    value, value is None, match.unread[1], match.unread[0] > 0
                )
                for value in values_of(match)
            )
            for match in matches_of(flipped, encoder)
        ]

    results = reading.score_statements(
        cases, scores, (record.Scored(None),) * len(NAMES)
    )
    by_name: dict[str, list[list[record.Scored]]] = {name: [] for name in NAMES}
    for case in results:
        for place, name in enumerate(NAMES):
            by_name[name].append([scored[place] for scored in case])
    return by_name


def make_bertscore_options(
    network: NetworkOptions, layers: int | None, batch_tokens: int
) -> BertscoreOptions:
    """Return options of metric `bertscore` for an encoder, without weights and baseline."""
    settings = network.model_dump(include=set(NetworkOptions.model_fields))
    settings |= {"layers": layers, "batch_tokens": batch_tokens, "idf": False}
    return BertscoreOptions.model_validate(settings)


SOURCE = record.FaithfulnessMetric(
    options=SourceOptions,
    score=score,
    recipe=lambda options, network: recipe(
        make_bertscore_options(network, options.layers, options.batch_tokens)
    ),
    descriptions=tuple(
        reading.described(
            name,
            f"BERTScore's {side} of the statement against its passages, joined by a blank; what is"
            " past the encoder's limit is not read",
            range=(-1, 1),
            source="Zhang et al. 2020, section 3; bert-score 0.3.13",
            headline=side == "f1",
        )
        for name, side in zip(NAMES, SIDES, strict=True)
    ),
)
