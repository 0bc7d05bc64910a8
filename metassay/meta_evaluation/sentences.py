"""A certificate in words: only what its numbers say, the most important first."""

from typing import Any, Literal

import numpy as np

from metassay.meta_evaluation.options import MetaOptions

_WHERE = {"global": "Over all texts", "document": "Within documents", "system": "Between systems"}
_THINGS = {"global": "texts", "document": "documents", "system": "systems"}
_COEFFICIENT = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
    "kendall_c": "Stuart's tau-c",
}
_GOES = {
    "contrary": "goes against",
    "not shown": "is not shown to go with",
    "shown": "goes with",
    "like a rater": "goes with",
}


def sentence(row: dict[str, Any], better: Literal["higher", "lower"], options: MetaOptions) -> str:
    """The certificate `row` in plain sentences; `better` is the criterion's direction."""
    metric = row["metric"] if row["judge"] == "none" else f"{row['metric']} ({row['judge']})"
    criterion = f"low {row['criterion']}" if better == "lower" else str(row["criterion"])
    if row["verdict"] == "undefined":
        return (
            f"{_WHERE[row['level']]}, nothing can be said of {metric} and {criterion}: there is no"
            f" correlation ({_counted(row)})."
        )
    said = [
        f"{_WHERE[row['level']]}, {metric} {_GOES[row['verdict']]} {criterion}:"
        f" {_COEFFICIENT[row['coefficient']]} {_number(row['value'])}"
        f" ({_interval(row, options)}, {_counted(row)}{_p(row)})."
    ]
    return " ".join([*said, *_accuracy(row), *_ceiling(row), *_confound(row), *_power(row)])


def _accuracy(row: dict[str, Any]) -> list[str]:
    if np.isnan(row["accuracy"]):
        return []
    pairs = "systems" if row["level"] == "system" else "texts"
    return [
        f"It orders or ties {row['accuracy']:.0%} of {row['n_pairs']:,} pairs of {pairs} as people"
        f" do; its scores dealt at random, {row['chance']:.0%}."
    ]


def _ceiling(row: dict[str, Any]) -> list[str]:
    if np.isnan(row["ceiling"]):
        return []
    rater = f"One rater reaches {_number(row['ceiling'])} with the others"
    difference = _number(row["against_ceiling"])
    if np.isnan(row["against_ceiling_low"]):
        return [f"{rater}; the difference of {difference} has no interval."]
    ends = f"{difference}, {_ends(row, 'against_ceiling_')}"
    if row["against_ceiling_high"] < 0:
        return [f"{rater}: the metric stays below that ({ends})."]
    if row["against_ceiling_low"] > 0:
        return [f"{rater}: the metric is above that ({ends})."]
    return [f"{rater}: the metric is not told apart from that ({ends})."]


def _confound(row: dict[str, Any]) -> list[str]:
    if row["confound"] is None:
        return []
    what = "the system" if row["confound"] == "system" else row["confound"]
    return [f"Beware: with {what} held constant, {_number(row['given_confound'])} is left."]


def _power(row: dict[str, Any]) -> list[str]:
    if row["verdict"] != "not shown" or np.isnan(row["detectable"]):
        return []
    return [
        f"So few {_THINGS[row['level']]} would miss a correlation under"
        f" {_number(max(row['detectable'], 0.01))} one time in five or more."
    ]


def _counted(row: dict[str, Any]) -> str:
    parts = [f"{row['n']:,} {_THINGS[row['level']]}"]
    if row["n_undefined"]:
        parts.append(f"{row['n_undefined']:,} undefined")
    if row["n_missing"]:
        parts.append(f"{row['n_missing']:,} texts missing")
    return ", ".join(parts)


def _interval(row: dict[str, Any], options: MetaOptions) -> str:
    if np.isnan(row["low"]):
        return "no interval"
    over = "documents and systems" if options.resample == "both" else options.resample
    return f"{options.confidence:.0%} interval over {over} {_ends(row, '')}"


def _p(row: dict[str, Any]) -> str:
    """Said of systems only: of texts it is optimistic, as those of one document belong together."""
    if row["level"] != "system" or np.isnan(row["p"]):
        return ""
    return ", p < .001" if row["p"] < 0.001 else f", p = {row['p']:.3f}".replace("0.", ".", 1)


def _ends(row: dict[str, Any], prefix: str) -> str:
    return f"{_number(row[f'{prefix}low'])} to {_number(row[f'{prefix}high'])}"


def _number(value: float) -> str:
    """Two decimals without the zero before the point, as correlations are written."""
    text = f"{value:.2f}"
    if float(text) == 0:
        return "0"
    return text.replace("0.", ".", 1).replace("-", "−")
