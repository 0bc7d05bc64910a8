"""The tables of `judge_check`: cards, pass rates, labels, raters, disagreements; rows of each."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metassay.api.verdict_table import BY, Choices, Verdicts
from metassay.format.numbers import short
from metassay.meta_evaluation.judge_cards import Judgments, Row, estimates
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics import shares
from metassay.statistics.annotator_test import annotator_test
from metassay.statistics.classification import PRIOR, gwet_ac1
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.hidden_truth import by_agreement, latent_classes
from metassay.statistics.shares import Estimate, judgments

WHOLE = "all"
AC1 = "gwet_ac1"
_RATES = {
    "judge_pass_rate": "as judged",
    "prediction_powered_pass_rate": "corrected",
    "rogan_gladen_pass_rate": "corrected by sensitivity and specificity",
    "people_pass_rate": "people alone",
}


def tables(given: Verdicts) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Every table that has a row, by name; and the requirements that are not met, a line each."""
    chosen, rows, lines = given.choices, dict[str, list[Row]](), []
    sure: Any = {"confidence": chosen.confidence, "cluster": given.cluster}
    options: Any = {"epsilon": chosen.epsilon, "level": 1 - chosen.confidence}
    for name, verdict in given.judges.items():
        judged = judgments(verdict)
        guess = np.where(np.isnan(judged), np.nan, _commoner(given.passed))
        test, base = (
            annotator_test(one, given.table, cluster=given.cluster, **options)
            for one in (judged, guess)
        )
        cards = {part: _card(name, part, given, here) for part, here in _slices(given)}
        card, unmet = cards[WHOLE][0], [*_unmet(name, cards[WHOLE][0], chosen)]
        lines += unmet
        agreement = by_agreement(judged, given.table, **sure).items()
        contests = zip(given.raters, test.contests, strict=True)
        raters = sum(np.isfinite(one.p) for one in test.contests)
        replacement: Row = {"epsilon": chosen.epsilon, "n_raters": raters, **test._asdict()}
        del replacement["contests"]
        for table, more in {
            "card": _card_rows(cards),
            "pass_rates": _pass_rates(cards, refused=bool(unmet)),
            "labels": _labels(card, chosen),
            "replacement": [{**replacement, "base_rate_passes": base.passes}],
            "contests": [{"rater": who, **one._asdict()} for who, one in contests if one.n],
            "by_agreement": [
                {"items": items, "of": of, **one._asdict()}
                for (items, of), one in agreement
                if one.n
            ],
            "latent": _latent_rows(name, judged, given, card),
            "disagreements": _disagreements(verdict, given),
        }.items():
            rows.setdefault(table, []).extend({"judge": name, **row} for row in more)
    return {name: pd.DataFrame(found) for name, found in rows.items() if found}, lines


def _unmet(judge: str, card: Mapping[str, Estimate], chosen: Choices) -> Iterator[str]:
    """The requirements that the lower end of an interval does not reach; unknown is not met."""
    for name, least in chosen.require.items():
        if not card[name].low >= least:
            yield (
                f"NOT MET: {judge}: {name} {short(card[name].value)} has the lower end"
                f" {short(card[name].low) or 'unknown'}, not {short(least)} or more: no corrected"
                " pass rate is given"
            )


def _slices(given: Verdicts) -> Iterator[tuple[str, Mask]]:
    yield WHOLE, np.ones(len(given.items), dtype=np.bool_)
    by = {name: BY + name for name in given.choices.by}
    if "system" in given.items and given.items["system"].nunique() > 1:
        by = {given.choices.system: "system", **by}
    for name, column in by.items():
        for value in sorted({*given.items[column]} - {""}):
            yield f"{name}={value}", (given.items[column] == value).to_numpy(dtype=np.bool_)


_Card = tuple[dict[str, Estimate], dict[str, Estimate]]


def _card(name: str, part: str, given: Verdicts, here: Mask) -> _Card:
    """A card with AC1; and that of a judge who gives all texts the verdict that most have."""
    chosen, passed, of = given.choices, given.passed[here], given.cluster[here]
    sure: Any = {"confidence": chosen.confidence}
    options = MetaOptions(resamples=1, seed=chosen.seed, label_width=chosen.width, **sure)
    said = judgments(given.judges[name][here])
    both = np.isfinite(said) & np.isfinite(passed)
    sure |= {"most": shares.worth_at_most(passed[both], of[both]), "prior": PRIOR, "cells": 4}
    guess, cards = np.where(both, _commoner(passed[both]), np.nan), []
    for judge in (given.judges[name][here], guess):
        found = estimates(Judgments(judge, passed, of, 0, None, False), options, [name, part])
        cell = shares.cells(judgments(judge)[both], passed[both])
        rng = generator(chosen.seed, AC1, name, part)
        cards.append({**found, AC1: shares.drawn(gwet_ac1, cell, of[both], rng=rng, **sure)})
    return cards[0], cards[1]


def _commoner(passed: Array) -> float:
    return float(np.nanmean(passed) >= 0.5) if np.isfinite(passed).any() else np.nan


def _card_rows(cards: Mapping[str, _Card]) -> Iterator[Row]:
    for part, (found, guesses) in cards.items():
        for name, one in found.items():
            if name not in _RATES and not name.startswith("labels_"):
                row: Row = {"slice": part, "statistic": name, **one._asdict()}
                yield row | {"base_rate": guesses[name].value}


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
    labelled, wide = card["agreement"].n, f"{chosen.width:g} wide"
    numbers = ((name.partition("labels_"), one.value) for name, one in card.items())
    needed = {(name, wide): value for (_, labels, name), value in numbers if labels}
    for name, least in chosen.require.items():
        one = card[name]
        ratio = (one.value - one.low) / (one.value - least) if one.value > least else np.nan
        needed[name, f"lower end {least:g}"] = max(float(np.ceil(labelled * ratio**2)), labelled)
    for (name, aim), many in needed.items():
        more = np.nan if np.isnan(many) else max(many - labelled, 0.0)
        yield {"for": name, "aim": aim, "labelled": labelled, "needed": many, "more": more}


def _latent_rows(
    name: str, judged: Array, given: Verdicts, card: Mapping[str, Estimate]
) -> Iterator[Row]:
    """The judge's and raters' rates beside a hidden truth; of the judge also the majority's."""
    populations = (given.items.get(c) for c in ("system", *(BY + by for by in given.choices.by)))
    of = next((one.to_numpy() for one in populations if one is not None), None)
    sure: Any = {"confidence": given.choices.confidence, "cluster": given.cluster}
    rng = generator(given.choices.seed, "latent", name)
    found = latent_classes(judged, given.table, rng=rng, population=of, **sure)
    for statistic in ("sensitivity", "specificity"):
        for observer, one in zip((name, *given.raters), getattr(found, statistic), strict=True):
            majority = card[statistic].value if observer == name else np.nan
            key: Row = {"observer": observer, "statistic": statistic, "by_majority": majority}
            yield {**key, **one._asdict(), "identified": found.why}


def _disagreements(verdict: Array, given: Verdicts) -> Iterator[Row]:
    """Where the judge says what most people do not, surest first: both are far from undecided."""
    judged, items, n = judgments(verdict), given.items, given.n
    against = np.isfinite(given.passed) & np.isfinite(judged) & (judged != given.passed)
    alike = np.sum([judgments(other) == judged for other in given.judges.values()], axis=0)
    sure = 4 * np.abs(verdict - 0.5) * np.abs(given.share - 0.5)
    for at in sorted(np.flatnonzero(against), key=lambda at: (-sure[at], -n[at], -alike[at], at)):
        yield {
            **{key: items[key].iloc[at] for key in ("id", "doc", "system") if key in items},
            "verdict": int(judged[at]),
            "probability": verdict[at] if verdict[at] not in (0.0, 1.0) else np.nan,
            "people_pass": given.share[at],
            "n_raters": int(n[at]),
            "sureness": sure[at],
            "judges_alike": int(alike[at]),
        }
