"""The tables of `judge_check`: cards, pass rates, labels, raters, disagreements; rows of each."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.api.verdict_table import BY, Choices, Verdicts
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
_RATES = {
    "judge_pass_rate": "as judged",
    "prediction_powered_pass_rate": "corrected",
    "rogan_gladen_pass_rate": "corrected by sensitivity and specificity",
    "people_pass_rate": "people alone",
}


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


def tables(given: Verdicts, people: People) -> dict[str, pd.DataFrame]:
    """Every table that has a row, by name."""
    chosen, rows = given.choices, dict[str, list[Row]]()
    sure: Any = {"confidence": chosen.confidence, "cluster": people.cluster}
    options: Any = {"epsilon": chosen.epsilon, "level": 1 - chosen.confidence}
    for name, verdict in given.judges.items():
        judged = judgments(verdict)
        guess = np.where(np.isnan(judged), np.nan, _commoner(people.passed))
        test, base = (
            annotator_test(one, people.table, cluster=people.cluster, **options)
            for one in (judged, guess)
        )
        cards = {
            part: _card(
                [name, part], verdict[here], people.passed[here], people.cluster[here], chosen
            )
            for part, here in _slices(given)
        }
        card = cards[WHOLE][0]
        agreement = by_agreement(judged, people.table, **sure)
        for table, more in {
            "card": _card_rows(cards),
            "pass_rates": _pass_rates(cards, refused=bool(unmet(card, chosen))),
            "labels": _labels(card, chosen),
            "replacement": [_replacement(test, base, chosen.epsilon)],
            "contests": [
                {"rater": rater, **one._asdict()}
                for rater, one in zip(given.raters, test.contests, strict=True)
                if one.n
            ],
            "by_agreement": [
                {"items": items, "of": of, **one._asdict()}
                for items, found in agreement.items()
                for of, one in found._asdict().items()
                if one.n
            ],
            "latent": _latent_rows(name, judged, people, given, card),
            "disagreements": _disagreements(verdict, people, given),
        }.items():
            rows.setdefault(table, []).extend({"judge": name, **row} for row in more)
    made = {name: pd.DataFrame(found) for name, found in rows.items() if found}
    return {n: one[sorted(one, key=lambda column: column != "slice")] for n, one in made.items()}


def unmet(card: Mapping[str, Estimate], chosen: Choices) -> list[str]:
    """The requirements that the lower end of an interval does not reach; unknown is not met."""
    return [name for name, least in chosen.require.items() if not card[name].low >= least]


def _slices(given: Verdicts) -> Iterator[tuple[str, Mask]]:
    yield WHOLE, np.ones(len(given.items), dtype=np.bool_)
    by = {name: BY + name for name in given.choices.by}
    if "system" in given.items and given.items["system"].nunique() > 1:
        by = {given.choices.system: "system", **by}
    for name, column in by.items():
        for value in sorted({*given.items[column]} - {""}):
            yield f"{name}={value}", (given.items[column] == value).to_numpy(dtype=np.bool_)


_Card = tuple[dict[str, Estimate], dict[str, float]]


def _card(key: list[str], judge: Array, passed: Array, of: Clusters, chosen: Choices) -> _Card:
    """A card with AC1, and the same numbers of a judge that only knows the base rate."""
    sure: Any = {"confidence": chosen.confidence}
    options = MetaOptions(resamples=1, seed=chosen.seed, label_width=chosen.width, **sure)
    found = numbers(Judged(judge, passed, of, 0, None, False), options, key)
    said = judgments(judge)
    both = np.isfinite(said) & np.isfinite(passed)
    cell, rng = shares.cells(said[both], passed[both]), generator(chosen.seed, AC1, *key)
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


def _card_rows(cards: Mapping[str, _Card]) -> Iterator[Row]:
    for part, (found, guesses) in cards.items():
        for name, one in found.items():
            if name not in _RATES and not name.startswith("labels_"):
                row: Row = {"slice": part, "statistic": name, **one._asdict()}
                yield row | {"base_rate": guesses.get(name)}


def _pass_rates(cards: Mapping[str, _Card], *, refused: bool) -> Iterator[Row]:
    for part, (found, _) in cards.items():
        for statistic, method in _RATES.items():
            row, hidden = found[statistic]._asdict(), refused and method.startswith("corrected")
            row |= dict.fromkeys(("value", "low", "high"), np.nan) if hidden else {}
            yield {"slice": part, "method": method, **row, "refused": hidden}


def _labels(card: Mapping[str, Estimate], chosen: Choices) -> Iterator[Row]:
    """Labels for intervals of the width, and for each lower end that is required.

    An interval's reach falls as the root of the labels; no number of them is enough where the value
    itself is below what is required.
    """
    labelled = card["agreement"].n
    needed = {
        (name.removeprefix("labels_"), f"{chosen.width:g} wide"): one.value
        for name, one in card.items()
        if name.startswith("labels_")
    }
    for name, least in chosen.require.items():
        one = card[name]
        ratio = (one.value - one.low) / (one.value - least) if one.value > least else np.nan
        needed[name, f"lower end {least:g}"] = max(float(np.ceil(labelled * ratio**2)), labelled)
    for (name, aim), many in needed.items():
        more = np.nan if np.isnan(many) else max(many - labelled, 0.0)
        yield {"for": name, "aim": aim, "labelled": labelled, "needed": many, "more": more}


def _replacement(test: AnnotatorTest, base: AnnotatorTest, epsilon: float) -> Row:
    row = {"epsilon": epsilon, "n_raters": sum(np.isfinite(one.p) for one in test.contests)}
    row |= {**test._asdict(), "base_rate_passes": base.passes}
    del row["contests"]
    if np.isnan(test.winning_rate_published):
        row["passes_published"] = None
    return row | dict.fromkeys(("passes", "base_rate_passes") * bool(np.isnan(test.winning_rate)))


def _latent_rows(
    name: str, judged: Array, people: People, given: Verdicts, card: Mapping[str, Estimate]
) -> Iterator[Row]:
    """The judge's and raters' rates beside a hidden truth; of the judge also the majority's."""
    by = (BY + name for name in given.choices.by)
    column = "system" if "system" in given.items else next(by, "")
    sure: Any = {"confidence": given.choices.confidence, "cluster": people.cluster}
    sure["population"] = given.items[column].to_numpy() if column else None
    rng = generator(given.choices.seed, "latent", name)
    found = latent_classes(judged, people.table, rng=rng, **sure)
    for statistic in ("sensitivity", "specificity"):
        for observer, one in zip((name, *given.raters), getattr(found, statistic), strict=True):
            majority = card[statistic].value if observer == name else np.nan
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
