"""The tables of `judge_check`: cards, pass rates, labels, raters, disagreements; rows of each."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.api.verdict_table import BY, Verdicts
from metassay.meta_evaluation.judge_cards import Judged, Row, numbers
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics import shares
from metassay.statistics.annotator_test import AnnotatorTest, annotator_test
from metassay.statistics.classification import COEFFICIENTS, PRIOR, gwet_ac1
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.hidden_truth import by_agreement, latent_classes
from metassay.statistics.shares import Clusters, Estimate, judgments

WHOLE = "all"
AC1 = "gwet_ac1"
REQUIRED = (
    *("sensitivity", "specificity", "precision", "negative_predictive_value"),
    *("balanced_accuracy", "f1", "cohen_kappa", AC1, "mcc", "agreement"),
)  # what a gate may ask for
_RATES = {
    "judge_pass_rate": "as judged",
    "prediction_powered_pass_rate": "corrected",
    "rogan_gladen_pass_rate": "corrected by sensitivity and specificity",
    "people_pass_rate": "people alone",
}


class Choices(NamedTuple):
    """What the numbers depend on beside the table."""

    require: Mapping[str, float]
    epsilon: float
    confidence: float
    width: float
    seed: int


class Shown(NamedTuple):
    """A judge's numbers on all items, by statistic, and its test against the raters."""

    judge: str
    card: Mapping[str, Estimate]
    test: AnnotatorTest
    base_rate_test: AnnotatorTest


class People(NamedTuple):
    """What the raters say together."""

    table: Array  # (raters, items)
    passed: Array  # (items,) 1 or 0 by the majority; NaN where it is split, or nobody rated
    share: Array  # (items,) of raters who pass the item
    n: Array  # (items,) how many rated it
    cluster: Clusters


def people_of(given: Verdicts) -> People:
    """The majority, and what belongs together."""
    n = len(given.items)
    table = np.array([*given.raters.values()], dtype=np.float64).reshape(len(given.raters), n)
    raters = np.isfinite(table).sum(axis=0).astype(np.float64)
    share = np.full(n, np.nan)
    np.divide(np.nansum(table, axis=0), raters, out=share, where=raters > 0)
    passed = np.where(np.isnan(share) | (share == 0.5), np.nan, share > 0.5)
    return People(table, passed, share, raters, shares.own_clusters(given.items.get("doc"), n))


def tables(given: Verdicts, chosen: Choices) -> tuple[dict[str, pd.DataFrame], list[Shown]]:
    """Every table by name, and what the first screen shows of each judge."""
    people, shown = people_of(given), []
    rows: dict[str, list[Row]] = {name: [] for name in ("card", "pass_rates", "labels")}
    for name, verdict in given.judges.items():
        judged, of_all = judgments(verdict), dict[str, Estimate]()
        for part, here in _slices(given):
            found, guesses = _card(name, part, verdict, people, here, chosen)
            of_all = of_all or found  # the first part is the whole
            key: Row = {"slice": part, "judge": name}
            refused = bool(unmet(of_all, chosen.require))
            rows["pass_rates"] += _pass_rates(key, found, refused=refused)
            rows["card"] += [
                {**key, "statistic": number, **one._asdict(), "base_rate": guesses.get(number)}
                for number, one in found.items()
                if number not in _RATES and not number.startswith("labels_")
            ]
        rows["labels"] += [{"judge": name, **row} for row in _labels(of_all, chosen)]
        guess = np.where(np.isnan(judged), np.nan, _commoner(people.passed))
        options: Any = {"epsilon": chosen.epsilon, "level": 1 - chosen.confidence}
        test, base = (
            annotator_test(one, people.table, cluster=people.cluster, **options)
            for one in (judged, guess)
        )
        shown.append(Shown(name, of_all, test, base))
        of_raters = zip(given.raters, test.contests, strict=True)
        for table, more in (
            ("replacement", [_replacement(test, base, chosen.epsilon)]),
            ("contests", [{"rater": rater, **one._asdict()} for rater, one in of_raters if one.n]),
            ("by_agreement", _agreement_rows(judged, people, chosen)),
            ("latent", _latent_rows(name, judged, people, given, chosen, of_all)),
            ("disagreements", _disagreements(verdict, people, given)),
        ):
            rows.setdefault(table, []).extend({"judge": name, **row} for row in more)
    return {name: pd.DataFrame(found) for name, found in rows.items() if found}, shown


def unmet(card_of: Mapping[str, Estimate], require: Mapping[str, float]) -> list[str]:
    """The requirements that the lower end of an interval does not reach; unknown is not met."""
    return [name for name, least in require.items() if not card_of[name].low >= least]


def _slices(given: Verdicts) -> Iterator[tuple[str, Mask]]:
    yield WHOLE, np.ones(len(given.items), dtype=np.bool_)
    by = {name: BY + name for name in given.columns.by}
    if "system" in given.items and given.items["system"].nunique() > 1:
        by = {given.columns.system: "system", **by}
    for name, column in by.items():
        for value in sorted({*given.items[column]} - {""}):
            yield f"{name}={value}", (given.items[column] == value).to_numpy(dtype=np.bool_)


def _card(
    name: str, part: str, verdict: Array, people: People, here: Mask, chosen: Choices
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """A card with AC1, and the same numbers of a judge that only knows the base rate."""
    judge, passed, of = verdict[here], people.passed[here], people.cluster[here]
    sure: Any = {"confidence": chosen.confidence}
    options = MetaOptions(resamples=1, seed=chosen.seed, label_width=chosen.width, **sure)
    found = numbers(Judged(judge, passed, of, 0, None, False), options, [name, part])
    said = judgments(judge)
    both = np.isfinite(said) & np.isfinite(passed)
    cell, rng = shares.cells(said[both], passed[both]), generator(chosen.seed, AC1, name, part)
    sure |= {"most": shares.worth_at_most(passed[both], of[both])}
    ac1 = shares.drawn(gwet_ac1, cell, of[both], cells=4, prior=PRIOR, rng=rng, **sure)
    return {**found, AC1: ac1}, _base_rates(passed[both])


def _commoner(passed: Array) -> float:
    return float(np.nanmean(passed) >= 0.5) if np.isfinite(passed).any() else np.nan


def _base_rates(passed: Array) -> dict[str, float]:
    """The numbers of a judge that gives every text the verdict that most texts have."""
    if not passed.size:
        return {}
    always, share = _commoner(passed), float(np.mean(passed))
    table = np.array([share, 1 - share, 0, 0] if always else [0, 0, share, 1 - share])
    coefficients = {AC1: gwet_ac1, **COEFFICIENTS}
    return {
        "sensitivity": always if share > 0 else np.nan,
        "specificity": 1 - always if share < 1 else np.nan,
        "balanced_accuracy": 0.5,
        "agreement": max(share, 1 - share),
        **{name: float(of(table)) for name, of in coefficients.items()},
    }


def _pass_rates(key: Row, found: Mapping[str, Estimate], *, refused: bool) -> Iterator[Row]:
    for statistic, method in _RATES.items():
        row, hidden = found[statistic]._asdict(), refused and method.startswith("corrected")
        row |= dict.fromkeys(("value", "low", "high"), np.nan) if hidden else {}
        yield {**key, "method": method, **row, "refused": hidden}


def _labels(found: Mapping[str, Estimate], chosen: Choices) -> Iterator[Row]:
    """Labels for intervals of the width, and for each lower end that is required.

    An interval's reach falls as the root of the labels; no number of them is enough where the value
    itself is below what is required.
    """
    labelled = found["agreement"].n
    needed = {
        (name.removeprefix("labels_"), f"{chosen.width:g} wide"): one.value
        for name, one in found.items()
        if name.startswith("labels_")
    }
    for name, least in chosen.require.items():
        one = found[name]
        ratio = (one.value - one.low) / (one.value - least) if one.value > least else np.nan
        needed[name, f"lower end {least:g}"] = max(float(np.ceil(labelled * ratio**2)), labelled)
    for (name, aim), many in needed.items():
        more = np.nan if np.isnan(many) else max(many - labelled, 0.0)
        yield {"for": name, "aim": aim, "labelled": labelled, "needed": many, "more": more}


def _replacement(test: AnnotatorTest, base: AnnotatorTest, epsilon: float) -> Row:
    row = {"epsilon": epsilon, "n_raters": sum(np.isfinite(one.p) for one in test.contests)}
    row |= {**test._asdict(), "base_rate_passes": base.passes}
    del row["contests"]
    unknown = [name for name in ("winning_rate", "winning_rate_published") if np.isnan(row[name])]
    none = {name.replace("winning_rate", "passes"): None for name in unknown}
    return {**row, **none, **({"base_rate_passes": None} if "passes" in none else {})}


def _agreement_rows(judged: Array, people: People, chosen: Choices) -> Iterator[Row]:
    sure: Any = {"confidence": chosen.confidence, "cluster": people.cluster}
    for items, found in by_agreement(judged, people.table, **sure).items():
        for of, one in found._asdict().items():
            if one.n:
                yield {"items": items, "of": of, **one._asdict()}


def _latent_rows(
    name: str, judged: Array, people: People, given: Verdicts, chosen: Choices,
    card_of: Mapping[str, Estimate],
) -> Iterator[Row]:  # fmt: skip
    """The judge's and raters' rates beside a hidden truth; of the judge also the majority's."""
    by = (BY + name for name in given.columns.by)
    column = "system" if "system" in given.items else next(by, "")
    sure: Any = {"confidence": chosen.confidence, "cluster": people.cluster}
    sure["population"] = given.items[column].to_numpy() if column else None
    rng = generator(chosen.seed, "latent", name)
    found = latent_classes(judged, people.table, rng=rng, **sure)
    every = {"sensitivity": found.sensitivity, "specificity": found.specificity}
    for statistic, estimates in every.items():
        for observer, one in zip((name, *given.raters), estimates, strict=True):
            majority = card_of[statistic].value if observer == name else np.nan
            key: Row = {"observer": observer, "statistic": statistic, "by_majority": majority}
            yield {**key, **one._asdict(), "identified": found.why}


def _disagreements(verdict: Array, people: People, given: Verdicts) -> Iterator[Row]:
    """Where the judge says what most people do not, surest first: both are far from undecided."""
    judged, items, n = judgments(verdict), given.items, people.n
    against = np.isfinite(people.passed) & np.isfinite(judged) & (judged != people.passed)
    alike = np.sum([judgments(other) == judged for other in given.judges.values()], axis=0)
    sure = 4 * np.abs(verdict - 0.5) * np.abs(people.share - 0.5)
    for at in sorted(np.flatnonzero(against), key=lambda at: (-sure[at], -n[at], -alike[at], at)):
        yield {
            **{key: items[key].iloc[at] for key in ("id", "doc", "system") if key in items},
            "verdict": int(judged[at]),
            "probability": verdict[at] if verdict[at] not in (0.0, 1.0) else np.nan,
            "people_pass": people.share[at],
            "n_raters": int(n[at]),
            "sureness": sure[at],
            "judges_alike": int(alike[at]),
        }
