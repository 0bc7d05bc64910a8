"""SummaC-Conv: a layer over the histogram of the probabilities that passages entail a sentence.

It is not a convolution. Bins are counts, so passages that are unrelated to a sentence
raise its score: their number is a confound of the metric by construction.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import fsum, tanh
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.llm.needs import PromptFile
from metassay.metrics.faithfulness.reading import ByName, described
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric
from metassay.metrics.faithfulness.summac_zs import (
    NULL,
    SOURCE,
    Shares,
    SummacOptions,
    score_matrices,
)
from metassay.models import extra
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "summac_conv"
SENTENCES = 10  # of a statement that are read at most
EDGES = (
    0,
    0.01,
    0.02,
    0.03,
    0.04,
    0.07,
    0.13,
    0.37,
    0.90,
    0.91,
    0.92,
    0.93,
    0.94,
    0.95,
    0.955,
    0.96,
    0.965,
    0.97,
    0.975,
    0.98,
    0.985,
    0.99,
    0.995,
    1,
)
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    RuntimeError,
    UnpicklingError,
)


class ConvOptions(SummacOptions):
    """`head`: the file of the layers' weights, as released or JSON of `write_head`."""

    head: str


class Head(NamedTuple):
    """Two layers: 23 weights and a bias, then 2 x 3 weights and 2 biases."""

    weights: Sequence[float]
    bias: float
    last: Sequence[Sequence[float]]
    last_bias: Sequence[float]


def score(
    cases: Sequence[Case], options: ConvOptions, checkpoint: NetworkOptions
) -> ByName:
    """Return SummaC-Conv of each statement: 0 to 1, higher is more faithful.

    At most 10 sentences of a statement and 100 passages are read, sentences of more
    than 10 characters. Null if nothing is left, failed if a number is not finite. Laban
    et al. 2022, section 3.3. Raises BadInput as `score_matrices` and `read_head`.
    """
    head = read_head(Path(options.head))

    def score_matrix(entailed: Shares, _: Shares | None) -> float:
        return value(head, list(map(histogram, entailed)))

    return {
        NAME: score_matrices(cases, options, checkpoint, score_matrix, most=SENTENCES)
    }


def histogram(probabilities: Sequence[float]) -> list[int]:
    """Count the probabilities in each of the 23 bins; the last includes its upper end."""
    counts = [0] * (len(EDGES) - 1)
    for probability in probabilities:
        counts[min(bisect_right(EDGES, probability), len(counts)) - 1] += 1
    return counts


def value(head: Head, histograms: Sequence[Sequence[int]]) -> float:
    """Return the probability of class 1, a faithful text, of a text's sentences (at least 1)."""
    sums = [
        head.bias + fsum(w * n for w, n in zip(head.weights, counts, strict=True))
        for counts in histograms
    ]
    middle = fsum(sums) / len(sums)
    no, yes = (
        fsum((*(w * middle for w in row), b)) for row, b in zip(*head[2:], strict=True)
    )
    return (1 + tanh((yes - no) / 2)) / 2


def fit_head(
    texts: Sequence[Sequence[Sequence[int]]],
    labels: Sequence[bool],
    *,
    ridge: float = 1.0,
) -> Head:
    """Fit a head to texts, each of histograms, with labels (true: faithful).

    Both layers and the mean over sentences are linear, so this is a logistic regression
    on mean histograms, with half of `ridge` times the sum of squared weights as a
    penalty; six decimals are the same in any order and on any machine. Raises BadInput
    if all labels are the same.
    """
    if len(set(labels)) < 2:
        raise BadInput(
            "the labels of a head are all the same; add texts of the other label"
        )
    means = [
        [fsum(bin) / len(text) for bin in zip(*text, strict=True)] for text in texts
    ]
    regression = extra.module("sklearn.linear_model").LogisticRegression
    fitted = regression(C=1 / ridge, solver="newton-cg", tol=1e-10, max_iter=10_000)
    fitted.fit(means, [int(label) for label in labels])
    weights = [round(float(weight), 6) for weight in fitted.coef_[0]]
    bias = round(float(fitted.intercept_[0]), 6)
    return Head(weights, bias, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [0.0, 0.0])


def write_head(path: Path, head: Head) -> None:
    """Write a head as JSON."""
    with whole_file(path) as file:
        file.write(json.dumps(head._asdict(), indent=1).encode() + b"\n")


def read_head(path: Path) -> Head:
    """Read a head, JSON or the released format; BadInput if there is none."""
    try:
        if path.suffix == ".json":
            return _head(Head(**json.loads(path.read_bytes())))
        state: Mapping[str, Any] = extra.module("torch").load(path, weights_only=True)
        rows = state["mlp.weight"], state["mlp.bias"], state["layer_final.weight"]
        weights, bias, last = (tensor.double().tolist() for tensor in rows)
        return _head(
            Head(weights[0], bias[0], last, state["layer_final.bias"].double().tolist())
        )
    except _UNREADABLE as error:
        raise BadInput(
            f"head {path}: is not a head of SummaC-Conv ({type(error).__name__}); give the released"
            " file, or a file of write_head"
        ) from None


def _head(head: Head) -> Head:
    sizes = len(head.weights), [len(row) for row in head.last], len(head.last_bias)
    if sizes != (len(EDGES) - 1, [3, 3], 2):
        raise ValueError
    return head


def _recipe(options: ConvOptions, checkpoint: NetworkOptions) -> str:
    read_head(Path(options.head))
    digest = hashlib.sha256(Path(options.head).read_bytes()).hexdigest()
    settings = recipe_of(checkpoint, options, "labels", "max_tokens")
    return f"{settings}|head:{Path(options.head).name}#{digest[:8]}"


KIND = FaithfulnessMetric(
    options=ConvOptions,
    score=score,
    recipe=_recipe,
    files=lambda options: (PromptFile(Path(options.head), None),),
    descriptions=(
        described(
            NAME,
            "probability of a faithful text by a layer over histograms of the probabilities with"
            " which passages entail the statement's sentences; it depends on how many there are",
            missing=NULL,
            source=SOURCE,
        ),
    ),
)
