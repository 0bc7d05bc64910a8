"""The tables of `judge_check`: cards, pass rates, labels, raters, disagreements."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metassay.api.verdict_table import BY, Choices, Verdicts
from metassay.format.numbers import short
from metassay.meta_evaluation.judge_cards import Judgments, Row, estimates
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics import shares
from metassay.statistics.classification import PRIOR, gwet_ac1
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.raters import annotator_test, by_agreement, latent_classes
from metassay.statistics.resampling import generator
from metassay.statistics.shares import Estimate, judgments

WHOLE = "all"
AC1 = "gwet_ac1"
_RATES = {
    "judge_pass_rate": "as judged",
    "prediction_powered_pass_rate": "corrected",
    "rogan_gladen_pass_rate": "corrected by sensitivity and specificity",
    "people_pass_rate": "people alone",
}


def make_tables(verdicts: Verdicts) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the tables that have rows, by name; and a line for each requirement not met."""
    choices, rows, lines = verdicts.choices, dict[str, list[Row]](), []
    precision: Any = {"confidence": choices.confidence, "cluster": verdicts.cluster}
    options: Any = {"epsilon": choices.epsilon, "level": 1 - choices.confidence}
    for name, verdict in verdicts.judges.items():
        judged = judgments(verdict)
        guess = np.where(np.isnan(judged), np.nan, _commoner(verdicts.passed))
        test, base = (
            annotator_test(values, verdicts.table, cluster=verdicts.cluster, **options)
            for values in (judged, guess)
        )
        cards = {
            part: _cards(name, part, verdicts, rows) for part, rows in _slices(verdicts)
        }
        card, unmet = cards[WHOLE][0], [*_unmet(name, cards[WHOLE][0], choices)]
        lines += unmet
        agreement = by_agreement(judged, verdicts.table, **precision).items()
        contests = zip(verdicts.raters, test.contests, strict=True)
        raters = sum(np.isfinite(contest.p) for contest in test.contests)
        replacement: Row = {
            "epsilon": choices.epsilon,
            "n_raters": raters,
            **test._asdict(),
        }
        del replacement["contests"]
        for table, new in {
            "card": _card_rows(cards),
            "pass_rates": _pass_rates(cards, refused=bool(unmet)),
            "labels": _labels(card, choices),
            "replacement": [{**replacement, "base_rate_passes": base.passes}],
            "contests": [
                {"rater": who, **test._asdict()} for who, test in contests if test.n
            ],
            "by_agreement": [
                {"items": items, "of": total, **rate._asdict()}
                for (items, total), rate in agreement
                if rate.n
            ],
            "latent": _latent_rows(name, judged, verdicts, card),
            "disagreements": _disagreements(verdict, verdicts),
        }.items():
            rows.setdefault(table, []).extend({"judge": name, **row} for row in new)
    return {
        name: pd.DataFrame(of_table) for name, of_table in rows.items() if of_table
    }, lines


def _unmet(judge: str, card: Mapping[str, Estimate], choices: Choices) -> Iterator[str]:
    """Yield the requirements that the lower end of an interval does not reach, or is unknown."""
    for name, least in choices.require.items():
        if not card[name].low >= least:
            yield (
                f"NOT MET: {judge}: {name} {short(card[name].value)} has the lower end"
                f" {short(card[name].low) or 'unknown'}, not {short(least)} or more: no corrected"
                " pass rate is given"
            )


def _slices(verdicts: Verdicts) -> Iterator[tuple[str, Mask]]:
    yield WHOLE, np.ones(len(verdicts.items), dtype=np.bool_)
    by = {name: BY + name for name in verdicts.choices.by}
    if "system" in verdicts.items and verdicts.items["system"].nunique() > 1:
        by = {verdicts.choices.system: "system", **by}
    for name, column in by.items():
        for value in sorted({*verdicts.items[column]} - {""}):
            yield (
                f"{name}={value}",
                (verdicts.items[column] == value).to_numpy(dtype=np.bool_),
            )


_Cards = tuple[dict[str, Estimate], dict[str, Estimate]]


def _cards(name: str, part: str, verdicts: Verdicts, here: Mask) -> _Cards:
    """Return a judge's card with AC1, and the card of giving every text the commoner label."""
    choices, passed, cluster = (
        verdicts.choices,
        verdicts.passed[here],
        verdicts.cluster[here],
    )
    precision: Any = {"confidence": choices.confidence}
    options = MetaOptions(
        resamples=1, seed=choices.seed, label_width=choices.width, **precision
    )
    judge = verdicts.judges[name][here]
    both = np.isfinite(judgments(judge)) & np.isfinite(passed)
    clusters = cluster[both]
    precision |= {
        "most": shares.worth_at_most(passed[both], clusters),
        "prior": PRIOR,
        "cells": 4,
    }
    guess, cards = np.where(both, _commoner(passed[both]), np.nan), []
    for values in (judge, guess):
        card = estimates(
            Judgments(values, passed, cluster, 0, None, False), options, [name, part]
        )
        cell = shares.cells(judgments(values)[both], passed[both])
        rng = generator(choices.seed, AC1, name, part)
        cards.append(
            {
                **card,
                AC1: shares.posterior_estimate(
                    gwet_ac1, cell, clusters, rng=rng, **precision
                ),
            }
        )
    return cards[0], cards[1]


def _commoner(passed: Array) -> float:
    return float(np.nanmean(passed) >= 0.5) if np.isfinite(passed).any() else np.nan


def _card_rows(cards: Mapping[str, _Cards]) -> Iterator[Row]:
    for part, (card, guesses) in cards.items():
        for name, estimate in card.items():
            if name not in _RATES and not name.startswith("labels_"):
                row: Row = {"slice": part, "statistic": name, **estimate._asdict()}
                yield row | {"base_rate": guesses[name].value}


def _pass_rates(cards: Mapping[str, _Cards], *, refused: bool) -> Iterator[Row]:
    for part, (card, _) in cards.items():
        for statistic, method in _RATES.items():
            row, hidden = (
                card[statistic]._asdict(),
                refused and method.startswith("corrected"),
            )
            row |= dict.fromkeys(("value", "low", "high"), np.nan) if hidden else {}
            yield {"slice": part, "method": method, **row, "refused": hidden}


def _labels(card: Mapping[str, Estimate], choices: Choices) -> Iterator[Row]:
    """Yield the labels needed for intervals of the width, and for each required lower end.

    An interval's half-width falls as the root of the number of labels. No number is
    enough where the value itself is below what is required.
    """
    labelled, wide = card["agreement"].n, f"{choices.width:g} wide"
    numbers = (
        (name.partition("labels_"), estimate.value) for name, estimate in card.items()
    )
    needed = {(name, wide): value for (_, labels, name), value in numbers if labels}
    for name, least in choices.require.items():
        value, low = card[name].value, card[name].low
        ratio = (value - low) / (value - least) if value > least else np.nan
        needed[name, f"lower end {least:g}"] = max(
            float(np.ceil(labelled * ratio**2)), labelled
        )
    for (name, aim), n in needed.items():
        more = np.nan if np.isnan(n) else max(n - labelled, 0.0)
        yield {"for": name, "aim": aim, "labelled": labelled, "needed": n, "more": more}


def _latent_rows(
    name: str, judged: Array, verdicts: Verdicts, card: Mapping[str, Estimate]
) -> Iterator[Row]:
    """Yield the judge's and raters' rates beside a latent truth; of the judge also by majority."""
    names = ("system", *(BY + name for name in verdicts.choices.by))
    populations = (verdicts.items.get(name) for name in names)
    population = next(
        (column.to_numpy() for column in populations if column is not None), None
    )
    precision: Any = {
        "confidence": verdicts.choices.confidence,
        "cluster": verdicts.cluster,
    }
    rng = generator(verdicts.choices.seed, "latent", name)
    latent = latent_classes(
        judged, verdicts.table, rng=rng, population=population, **precision
    )
    for statistic in ("sensitivity", "specificity"):
        rates = zip((name, *verdicts.raters), getattr(latent, statistic), strict=True)
        for observer, rate in rates:
            majority = card[statistic].value if observer == name else np.nan
            key: Row = {
                "observer": observer,
                "statistic": statistic,
                "by_majority": majority,
            }
            yield {**key, **rate._asdict(), "identified": latent.why}


def _disagreements(verdict: Array, verdicts: Verdicts) -> Iterator[Row]:
    """Yield items on which judge and majority differ, those farthest from undecided first."""
    judged, items, n = judgments(verdict), verdicts.items, verdicts.n
    against = (
        np.isfinite(verdicts.passed) & np.isfinite(judged) & (judged != verdicts.passed)
    )
    alike = np.sum(
        [judgments(other) == judged for other in verdicts.judges.values()], axis=0
    )
    sureness = 4 * np.abs(verdict - 0.5) * np.abs(verdicts.share - 0.5)
    for i in sorted(
        np.flatnonzero(against), key=lambda i: (-sureness[i], -n[i], -alike[i], i)
    ):
        yield {
            **{
                key: items[key].iloc[i]
                for key in ("id", "doc", "system")
                if key in items
            },
            "verdict": int(judged[i]),
            "probability": verdict[i] if verdict[i] not in (0.0, 1.0) else np.nan,
            "people_pass": verdicts.share[i],
            "n_raters": int(n[i]),
            "sureness": sureness[i],
            "judges_alike": int(alike[i]),
        }
