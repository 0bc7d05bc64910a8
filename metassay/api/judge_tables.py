"""The tables of `judge_check`: cards, pass rates, labels, raters, disagreements; rows of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.api.verdict_table import Verdicts
from metassay.meta_evaluation.judge_cards import Judged, Row, card
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics.annotator_test import AnnotatorTest, annotator_test
from metassay.statistics.classification import COEFFICIENTS, PRIOR, gwet_ac1
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.hidden_truth import by_agreement, latent_classes
from metassay.statistics.shares import (
    Clusters,
    Estimate,
    cells,
    drawn,
    judgments,
    own_clusters,
)

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
_CARD = ["slice", "judge", "statistic", "value", "low", "high", "n", "n_effective", "base_rate"]
_COUNTS = ["n_judged", "n_missing", "n_split", "threshold"]


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
    split: Mask
    cluster: Clusters


def people_of(given: Verdicts) -> People:
    """The majority, and what belongs together."""
    n = len(given.items)
    table = np.array([*given.raters.values()], dtype=np.float64).reshape(len(given.raters), n)
    raters = np.isfinite(table).sum(axis=0)
    share = np.full(n, np.nan)
    np.divide(np.nansum(table, axis=0), raters, out=share, where=raters > 0)
    split = share == 0.5
    passed = np.where(np.isnan(share) | split, np.nan, share > 0.5)
    doc = given.items.get("doc")
    return People(table, passed, share, split, own_clusters(doc, n))


def tables(given: Verdicts, chosen: Choices) -> tuple[dict[str, pd.DataFrame], list[Shown]]:
    """Every table by name, and what the first screen shows of each judge."""
    people, shown = people_of(given), []
    rows: dict[str, list[Row]] = {name: [] for name in _COLUMNS}
    for name, verdict in given.judges.items():
        estimates: dict[str, Estimate] = {}
        for part, here in _slices(given):
            made, bins = _card_rows(name, part, verdict, people, here, chosen)
            if part == WHOLE:
                estimates = {str(row["statistic"]): _estimate(row) for row in made}
            refused = bool(unmet(estimates, chosen.require))
            _deal(rows, name, part, made, chosen, refused=refused)
            rows["calibration"] += [{"slice": part, "judge": name, **one} for one in bins]
        judged = judgments(verdict)
        options = {"epsilon": chosen.epsilon, "level": 1 - chosen.confidence}
        test = annotator_test(judged, people.table, cluster=people.cluster, **options)
        guess = np.where(np.isnan(judged), np.nan, _commoner(people.passed))
        base = annotator_test(guess, people.table, cluster=people.cluster, **options)
        shown.append(Shown(name, estimates, test, base))
        rows["replacement"].append(_replacement(name, test, base, chosen.epsilon))
        rows["contests"] += _contests(name, test, [*given.raters])
        rows["by_agreement"] += _agreement_rows(name, judged, people, chosen)
        rows["latent"] += _latent_rows(name, judged, people, given, chosen, estimates)
        rows["disagreements"] += _disagreements(name, verdict, people, given)
    made_tables = {
        name: pd.DataFrame(found, columns=_COLUMNS[name])
        for name, found in rows.items()
        if found or name in ("card", "pass_rates", "disagreements")
    }
    return made_tables, shown


def unmet(card_of: Mapping[str, Estimate], require: Mapping[str, float]) -> list[str]:
    """The requirements that the lower end of an interval does not reach; unknown is not met."""
    return [name for name, least in require.items() if not card_of[name].low >= least]


def more_labels(found: Estimate, least: float, n: int) -> float:
    """Further labels at which the lower end reaches `least`, if the value holds; NaN if never."""
    if not found.value > least:
        return np.nan
    ratio = (found.value - found.low) / (found.value - least)
    return max(float(np.ceil(n * ratio**2)) - n, 0.0)


_COLUMNS = {
    "card": [*_CARD, *_COUNTS],
    "pass_rates": ["slice", "judge", "method", "value", "low", "high", "n", "n_effective",
                   "refused"],
    "labels": ["judge", "for", "aim", "labelled", "needed", "more"],
    "replacement": ["judge", "epsilon", "n_raters", "winning_rate", "passes", "advantage",
                    "winning_rate_published", "passes_published", "base_rate_passes"],
    "contests": ["judge", "rater", "n", "n_documents", "advantage", "rater_advantage", "p", "wins",
                 "p_published", "wins_published"],
    "by_agreement": ["judge", "items", "of", "value", "low", "high", "n"],
    "latent": ["judge", "observer", "statistic", "by_majority", "value", "low", "high", "n",
               "identified"],
    "calibration": ["slice", "judge", "bin", "lowest", "highest", "mean", "passed", "low", "high",
                    "n"],
    "disagreements": ["judge", "id", "doc", "system", "verdict", "probability", "people_pass",
                      "n_raters", "sureness", "judges_alike"],
}  # fmt: skip


def _slices(given: Verdicts) -> Iterator[tuple[str, Mask]]:
    yield WHOLE, np.ones(len(given.items), dtype=np.bool_)
    by = {name: name for name in given.columns.by}
    if "system" in given.items and given.items["system"].nunique() > 1:
        by = {given.columns.system: "system", **by}
    for name, column in by.items():
        for value in sorted({*given.items[column]} - {""}):
            yield f"{name}={value}", (given.items[column] == value).to_numpy(dtype=np.bool_)


def _card_rows(
    name: str, part: str, verdict: Array, people: People, here: Mask, chosen: Choices
) -> tuple[list[Row], list[Row]]:
    known = verdict[np.isfinite(verdict)]
    probable = not bool(np.isin(known, (0.0, 1.0)).all())
    judge, passed, of = verdict[here], people.passed[here], people.cluster[here]
    split = int(np.count_nonzero(people.split[here]))
    judged = Judged(judge, passed, of, split, judge if probable else None, probable)
    options = MetaOptions(
        resamples=1, confidence=chosen.confidence, seed=chosen.seed, label_width=chosen.width
    )
    rows, bins = card(judged, options, [name, part], {})
    said = judgments(judge)
    both = np.isfinite(said) & np.isfinite(passed)
    rng = generator(chosen.seed, AC1, name, part)
    cell = cells(said[both], passed[both])
    found = drawn(
        gwet_ac1, cell, of[both], cells=4, prior=PRIOR, confidence=chosen.confidence, rng=rng
    )
    rows.append({**rows[0], "statistic": AC1, **found._asdict()})
    guesses = _base_rates(passed[both])
    return [{**row, "base_rate": guesses.get(str(row["statistic"]), np.nan)} for row in rows], bins


def _commoner(passed: Array) -> float:
    return float(np.nanmean(passed) >= 0.5) if np.isfinite(passed).any() else np.nan


def _base_rates(passed: Array) -> dict[str, float]:
    """The numbers of a judge that gives every text the verdict that most texts have."""
    if not passed.size:
        return {}
    always, share = _commoner(passed), float(np.mean(passed))
    table = np.array([share, 1 - share, 0, 0] if always else [0, 0, share, 1 - share])
    return {
        "sensitivity": always if share > 0 else np.nan,
        "specificity": 1 - always if share < 1 else np.nan,
        "balanced_accuracy": 0.5,
        "agreement": max(share, 1 - share),
        AC1: float(gwet_ac1(table)),
        **{name: float(of(table)) for name, of in COEFFICIENTS.items()},
    }


def _estimate(row: Row) -> Estimate:
    return Estimate(*(row[name] for name in Estimate._fields))  # type: ignore[arg-type]


def _deal(
    rows: dict[str, list[Row]], name: str, part: str, made: Sequence[Row], chosen: Choices, *,
    refused: bool,
) -> None:  # fmt: skip
    """The rows of a card to the tables `card`, `pass_rates` and `labels`."""
    by = {str(row["statistic"]): row for row in made}
    labelled = int(_estimate(by["agreement"]).n)
    for statistic, row in by.items():
        keyed: Row = {"slice": part, "judge": name, **row}
        if statistic in _RATES:
            hidden = refused and "corrected" in _RATES[statistic]
            gone: Row = dict.fromkeys(("value", "low", "high"), np.nan) if hidden else {}
            method: Row = {"method": _RATES[statistic], "refused": hidden}
            rows["pass_rates"].append({**keyed, **method, **gone})
        elif not statistic.startswith("labels_"):
            rows["card"].append(keyed)
        elif part == WHOLE:
            what, needed = statistic.removeprefix("labels_"), _estimate(row).value
            rows["labels"].append(
                _label_row(name, what, f"{chosen.width:g} wide", labelled, needed)
            )
    if part == WHOLE:
        for statistic, least in chosen.require.items():
            more = more_labels(_estimate(by[statistic]), least, labelled)
            aim = f"lower end {least:g}"
            rows["labels"].append(_label_row(name, statistic, aim, labelled, labelled + more))


def _label_row(name: str, what: str, aim: str, labelled: int, needed: float) -> Row:
    more = np.nan if np.isnan(needed) else max(needed - labelled, 0.0)
    return {"judge": name, "for": what, "aim": aim, "labelled": labelled, "needed": needed,
            "more": more}  # fmt: skip


def _replacement(name: str, test: AnnotatorTest, base: AnnotatorTest, epsilon: float) -> Row:
    told = np.isfinite(test.winning_rate)
    return {
        "judge": name,
        "epsilon": epsilon,
        "n_raters": sum(np.isfinite(one.p) for one in test.contests),
        "winning_rate": test.winning_rate,
        "passes": test.passes if told else None,
        "advantage": test.advantage,
        "winning_rate_published": test.winning_rate_published,
        "passes_published": (
            test.passes_published if np.isfinite(test.winning_rate_published) else None
        ),
        "base_rate_passes": base.passes if told else None,
    }


def _contests(name: str, test: AnnotatorTest, raters: Sequence[str]) -> Iterator[Row]:
    for rater, one in zip(raters, test.contests, strict=True):
        if one.n:
            yield {"judge": name, "rater": rater, "n_documents": one.n_clusters, **one._asdict()}


def _agreement_rows(name: str, judged: Array, people: People, chosen: Choices) -> Iterator[Row]:
    cluster, sure = people.cluster, chosen.confidence
    for items, found in by_agreement(
        judged, people.table, confidence=sure, cluster=cluster
    ).items():
        for of, one in found._asdict().items():
            if one.n:
                yield {"judge": name, "items": items, "of": of, **one._asdict()}


def _latent_rows(
    name: str, judged: Array, people: People, given: Verdicts, chosen: Choices,
    card_of: Mapping[str, Estimate],
) -> Iterator[Row]:  # fmt: skip
    """The judge's and raters' rates beside a hidden truth; of the judge also the majority's."""
    column = "system" if "system" in given.items else next(iter(given.columns.by), "")
    found = latent_classes(
        judged,
        people.table,
        confidence=chosen.confidence,
        rng=generator(chosen.seed, "latent", name),
        population=given.items[column].to_numpy() if column else None,
        cluster=people.cluster,
    )
    for statistic, every in (
        ("sensitivity", found.sensitivity),
        ("specificity", found.specificity),
    ):
        for observer, one in zip((name, *given.raters), every, strict=True):
            majority = card_of[statistic].value if observer == name else np.nan
            why: Row = {"by_majority": majority, "identified": found.why}
            yield {"judge": name, "observer": observer, "statistic": statistic, **why,
                   **one._asdict()}  # fmt: skip


def _disagreements(name: str, verdict: Array, people: People, given: Verdicts) -> list[Row]:
    """Where the judge says what most people do not, surest first: both are far from undecided."""
    judged = judgments(verdict)
    against = np.isfinite(people.passed) & np.isfinite(judged) & (judged != people.passed)
    alike = np.sum([judgments(other) == judged for other in given.judges.values()], axis=0)
    raters = np.isfinite(people.table).sum(axis=0)
    sure = 4 * np.abs(verdict - 0.5) * np.abs(people.share - 0.5)
    order = sorted(np.flatnonzero(against), key=lambda at: (-sure[at], -raters[at], -alike[at], at))
    items = given.items
    return [
        {
            "judge": name,
            "id": items["id"].iloc[at],
            **{key: items[key].iloc[at] for key in ("doc", "system") if key in items},
            "verdict": int(judged[at]),
            "probability": verdict[at] if verdict[at] not in (0.0, 1.0) else np.nan,
            "people_pass": people.share[at],
            "n_raters": int(raters[at]),
            "sureness": sure[at],
            "judges_alike": int(alike[at]),
        }
        for at in order
    ]
