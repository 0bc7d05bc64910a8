"""Scores of texts by metrics that need no judge, without a project."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.metrics import METRICS

# Options of the kinds that have no defaults, as in the params.yaml of a new project.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "rouge": {"stemmer": False, "split": "newline"},
    "bleu": {"tokenize": "13a", "lowercase": False},
}

Texts = Sequence[str | None] | pd.Series


def score(
    texts: Texts,
    references: Texts | None = None,
    *,
    sources: Texts | None = None,
    metrics: Sequence[str | Mapping[str, Any]] = ("rouge", "bleu"),
) -> pd.DataFrame:
    """Score texts by metrics that need no judge.

    Parameters
    ----------
    texts : sequence of str or Series, length n
        The texts. None or NaN is a missing text, whose scores are NaN.
    references : sequence of str or Series, length n, optional
        References to compare with. "rouge", "bleu", "edit_distance" and "bertscore"
        need them.
    sources : sequence of str or Series, length n, optional
        Sources that the texts were written from. "extractiveness" needs them.
    metrics : sequence of str or mapping
        Kinds of metrics: "rouge", "bleu", "edit_distance", "extractiveness", "lengths",
        "numbers", "bertscore", or the dotted path of one of your own
        (`mylab.metrics:NEGATIONS`). A mapping is a block as in params.yaml: `{"kind":
        "rouge", "stemmer": True, "split": "newline"}`.

    Returns
    -------
    DataFrame, shape (n, columns)
        One row per text, with the index of `texts` if that is a Series, and one column
        per metric (docs/metrics.md): a kind has several, such as `rouge1_fmeasure`. NaN
        is undefined.

    Raises
    ------
    BadInput
        If the numbers of texts and references differ, a kind or its options are
        unknown, a kind needs references or sources that are missing, or two kinds have
        the same metric.

    Notes
    -----
    Texts are scored unchanged. A benchmark removes citations such as `[3]` first, so its scores of
    texts with citations differ.

    Examples
    --------
    >>> import metassay
    >>> metassay.score(["the cat sat"], ["the cat"], metrics=["lengths"])["words"].tolist()
    [3.0]
    """
    inputs = {"text": _as_list("texts", texts)}
    inputs |= {
        name: _as_list(f"{name}s", values)
        for name, values in (("reference", references), ("source", sources))
        if values is not None
    }
    counts = {f"{name}s": len(values) for name, values in inputs.items()}
    if len(set(counts.values())) > 1:
        sizes = ", ".join(f"{n:,} {name}" for name, n in counts.items())
        raise BadInput(f"texts: there are {sizes}; give one of each per text")
    kinds = [_choose(metric, inputs) for metric in metrics]
    index = (
        texts.index
        if isinstance(texts, pd.Series)
        else pd.RangeIndex(len(inputs["text"]))
    )
    scores: dict[str, list[float]] = {}
    for kind in kinds:
        of_kind = _measure(kind, inputs)
        if twice := sorted(set(scores) & set(of_kind)):
            raise BadInput(
                f"metrics: {', '.join(twice)} is measured twice; name one kind of it"
            )
        scores |= of_kind
    return pd.DataFrame(scores, index=index, dtype=np.float64)


def _as_list(argument: str, texts: Texts) -> list[str | None]:
    if isinstance(texts, str):
        raise BadInput(f"{argument}: is one text; give a list of texts")
    values = [None if is_scalar(text) and pd.isna(text) else text for text in texts]
    if wrong := sorted(
        {type(v).__name__ for v in values if not isinstance(v, str | None)}
    ):
        raise BadInput(f"{argument}: has {', '.join(wrong)}; give text (str) or None")
    return values


def _choose(metric: str | Mapping[str, Any], inputs: Mapping[str, object]) -> Chosen:
    block = (
        {"kind": metric, **DEFAULTS.get(metric, {})}
        if isinstance(metric, str)
        else metric
    )
    chosen = choose(METRICS, dict(block), where="metrics")
    lacking = [f"{name}s" for name in _needed(chosen) if name not in inputs]
    if lacking:
        raise BadInput(
            f"metrics: {chosen.kind!r} needs {' and '.join(lacking)}; give them"
        )
    return chosen


def _needed(chosen: Chosen) -> list[str]:
    """Return what a text is compared with: `source`, `reference`, both or nothing."""
    against = chosen.record.against
    return [] if against == "nothing" else against.split(" and ")


def _measure(
    chosen: Chosen, inputs: Mapping[str, Sequence[str | None]]
) -> dict[str, list[float]]:
    """Return values by metric; NaN where a text, or what it is compared with, is missing."""
    pairs = list(
        zip(*(inputs[name] for name in ("text", *_needed(chosen))), strict=True)
    )
    complete = [place for place, pair in enumerate(pairs) if None not in pair]
    candidates = [pairs[place][0] for place in complete]
    others = [pairs[place][1:] or ("",) for place in complete]
    compared = [texts if len(texts) > 1 else texts[0] for texts in others]
    try:
        values = chosen.record.measure(candidates, compared, chosen.options)
    except ModuleNotFoundError as error:
        if chosen.kind not in METRICS:
            raise
        raise BadInput(
            f"metrics: {chosen.kind!r} needs {error.name}, which is not installed; run:"
            ' pip install "metassay[pipeline]"'
        ) from None
    scores = {}
    for metric in chosen.record.descriptions:
        column = np.full(len(pairs), np.nan)
        column[complete] = [
            np.nan if s.value is None else s.value for s in values[metric.name]
        ]
        scores[metric.name] = column.tolist()
    return scores
