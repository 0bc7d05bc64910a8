"""What `metassay check` tells of passes and fails alone: their cards, pass rates and more.

`label_tables` has the tables that all kinds of labels share.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.api.label_tables import (
    TOO_FEW,
    WHOLE,
    Analysis,
    LabelCard,
    Row,
    find_label_choices,
    judged_items,
    label_factors,
    slice_columns,
    unlabelled_systems,
)
from metassay.api.labels import BY, Labels
from metassay.meta_evaluation.card_numbers import (
    Judgments,
    estimates,
    weigh_labels,
)
from metassay.meta_evaluation.label_warnings import VERBS, has_probabilities
from metassay.statistics import shares
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.random_numbers import generator
from metassay.statistics.raters import accuracy_by_agreement, latent_classes
from metassay.statistics.shares import THRESHOLD, Estimate, judgments
from metassay.statistics.weighted_cards import constant_card, labels_lacking

_RATES = {
    "judge_pass_rate": "as judged",
    "prediction_powered_pass_rate": "corrected",
    "rogan_gladen_pass_rate": "corrected by sensitivity and specificity",
    "people_pass_rate": "people alone",
}


_NEEDED = "labels_"  # begins the names of counts of labels


class _Options(NamedTuple):
    """What a card depends on; the options of benchmarks take longer to import."""

    confidence: float
    threshold: float
    label_width: float
    seed: int


def analyse_passes(labels: Labels) -> Analysis:
    """Return what passes and fails have of their own."""
    chosen = bool(find_label_choices(labels))

    def make(name: str, part: str, here: Mask) -> LabelCard:
        return make_card(name, part, labels, here)

    def guess(name: str) -> Array:
        commoner = _commoner(labels.passed, _weigh(name, labels))
        return np.full(len(labels.items), commoner)

    def tables(
        name: str, cards: Mapping[str, LabelCard], *, refused: bool
    ) -> dict[str, Iterable[Row]]:
        judged, weight = judgments(labels.judges[name]), _weigh(name, labels)
        card = cards[WHOLE].numbers
        return {
            "pass_rates": _pass_rates(cards, refused=refused, chosen=chosen),
            "by_agreement": _agreement_rows(judged, weight, labels),
            "latent": _latent_rows(name, judged, weight, labels, card),
            "disagreements": _disagreements(labels.judges[name], labels),
        }

    return Analysis(
        make=make,
        guess=guess,
        weigh=lambda name: _weigh(name, labels),
        tables=tables,
    )


def _weigh(name: str, labels: Labels) -> Array | None:
    """Return how many rows each label by a rater stands for (items,), split ones as well."""
    everywhere = np.ones(len(labels.items), dtype=np.bool_)
    has_label = np.where(labels.n > 0, 1.0, np.nan)
    judged = judge_on(name, labels, everywhere)._replace(people=has_label)
    return weigh_labels(judged, THRESHOLD)


def _agreement_rows(
    judged: Array, weight: Array | None, labels: Labels
) -> Iterator[Row]:
    """Yield the judge's accuracy on rows by how many raters agree."""
    agreement = accuracy_by_agreement(
        judged,
        labels.table,
        weight=weight,
        confidence=labels.choices.confidence,
        cluster=labels.cluster,
    )
    for (items, total), rate in agreement.items():
        if rate.n:
            yield {"items": items, "of": total, **rate._asdict()}


def judge_on(name: str, labels: Labels, here: Mask) -> Judgments:
    """Return a judge's verdicts on the rows `here`, and what labels may depend on.

    Without the verdicts on systems of which nothing is labelled.
    """
    values = labels.judges[name].copy()
    unlabelled = unlabelled_systems(name, labels, here)
    if unlabelled:
        values[labels.items["system"].isin(unlabelled)] = np.nan
    others = [
        np.nan_to_num(judgments(other)[here], nan=-1.0)
        for judge, other in labels.judges.items()
        if judge != name
    ]
    columns = [column[here] for column in slice_columns(labels).values()]
    return Judgments(
        judge=values[here],
        people=labels.passed[here],
        cluster=labels.cluster[here],
        split=labels.share[here] == 0.5,
        probability=values[here] if has_probabilities(values) else None,
        thresholded=False,
        factors=(*others, *columns),
    )


def make_card(name: str, part: str, labels: Labels, here: Mask) -> LabelCard:
    """Return a judge's card, and the numbers of giving every text the commoner label."""
    choices = labels.choices
    options = _Options(
        confidence=choices.confidence,
        threshold=THRESHOLD,
        label_width=choices.width,
        seed=choices.seed,
    )
    judged = judge_on(name, labels, here)
    numbers = estimates(judged, options, [name, part])
    rate = numbers["prediction_powered_pass_rate"].value
    both = np.isfinite(judged.judge) & np.isfinite(judged.people)
    is_weighted = weigh_labels(judged, THRESHOLD) is not None
    commoner = float(rate >= 0.5) if is_weighted else _commoner(judged.people[both])
    guess = judged._replace(judge=np.where(both, commoner, np.nan))
    base = estimates(guess, options, [name, part])
    base_rate = {statistic: estimate.value for statistic, estimate in base.items()}
    if is_weighted:
        base_rate |= constant_card(rate)
    unlabelled = unlabelled_systems(name, labels, here)
    if unlabelled:
        of_all = judgments(labels.judges[name])[here]
        is_judged = np.isfinite(of_all)
        numbers["judge_pass_rate"] = shares.share(
            of_all[is_judged],
            judged.cluster[is_judged],
            confidence=choices.confidence,
        )
    why = _why_undefined(judged)
    return LabelCard(
        numbers={
            name: number
            for name, number in numbers.items()
            if name not in _RATES and not name.startswith(_NEEDED)
        },
        base_rate=base_rate,
        needed={
            name.removeprefix(_NEEDED): number.value
            for name, number in numbers.items()
            if name.startswith(_NEEDED)
        },
        rates={name: numbers[name] for name in _RATES},
        why_blank=why,
        why_uncorrected=_why_uncorrected(labels, here, unlabelled)
        or ("" if np.isfinite(rate) else why),
    )


def _why_undefined(judged: Judgments) -> str:
    """Return the most likely reason for an undefined number of a card."""
    has_both = np.isfinite(judged.judge) & np.isfinite(judged.people)
    labels = judged.people[has_both]
    if not labels.size:
        return "no row is labelled"
    verdict = judgments(judged.judge)
    if weigh_labels(judged, THRESHOLD) is not None:
        for side in (1.0, 0.0):
            if labels_lacking(verdict, judged.people, side):
                return f"{TOO_FEW} for what the judge {VERBS[side]}"
    if np.all(labels == labels[0]):
        verb = "fail" if labels[0] == 1.0 else "pass"
        return f"people {verb} no labelled row"
    return ""


def _why_uncorrected(labels: Labels, here: Mask, unlabelled: Sequence[str]) -> str:
    """Return why no corrected pass rate is told; "" if it is."""
    if unlabelled:
        return f"no row of {labels.choices.system} {', '.join(unlabelled)} is labelled"
    if here.all():
        has_label = labels.n[judged_items(labels)] > 0
        factors = label_factors(labels)
        for factor in dict.fromkeys(test.factor for test in find_label_choices(labels)):
            values = {*factors[factor]} - {*factors[factor][has_label]}
            if values:
                return f"none of the {', '.join(sorted(values))} is labelled"
    return ""


def _commoner(passed: Array, weight: Array | None = None) -> float:
    labelled = np.isfinite(passed)
    if not labelled.any():
        return np.nan
    if weight is None:
        return float(np.mean(passed[labelled]) >= 0.5)
    return float(np.sum((weight * (passed - 0.5))[labelled]) >= 0.0)


def _pass_rates(
    cards: Mapping[str, LabelCard], *, refused: bool, chosen: bool
) -> Iterator[Row]:
    """Yield the pass rates of each slice; `chosen`: whether labels were chosen."""
    for part, card in cards.items():
        for statistic, method in _RATES.items():
            row: Row = card.rates[statistic]._asdict()
            corrected, why = method.startswith("corrected"), ""
            if corrected:
                why = "a requirement is not met" if refused else card.why_uncorrected
            elif statistic == "people_pass_rate" and chosen:
                why = "labels were chosen: the labelled rows are not like the others"
            row |= dict.fromkeys(("value", "low", "high"), np.nan) if why else {}
            key: Row = {"slice": part, "method": method}
            yield {**key, **row, "refused": corrected and refused, "why_blank": why}


def _latent_rows(
    name: str,
    judged: Array,
    weight: Array | None,
    labels: Labels,
    card: Mapping[str, Estimate],
) -> Iterator[Row]:
    """Yield the judge's and raters' rates beside a latent truth; of the judge also by majority."""
    names = ("system", *(BY + name for name in labels.choices.by))
    populations = (labels.items.get(name) for name in names)
    population = next(
        (column.to_numpy() for column in populations if column is not None), None
    )
    precision: Any = {
        "confidence": labels.choices.confidence,
        "cluster": labels.cluster,
    }
    rng = generator(labels.choices.seed, "latent", name)
    latent = latent_classes(
        judged,
        labels.table,
        rng=rng,
        population=population,
        weight=weight,
        **precision,
    )
    for statistic in ("sensitivity", "specificity"):
        rates = zip((name, *labels.raters), getattr(latent, statistic), strict=True)
        for observer, rate in rates:
            majority = card[statistic].value if observer == name else np.nan
            key: Row = {
                "observer": observer,
                "statistic": statistic,
                "by_majority": majority,
            }
            yield {**key, **rate._asdict(), "identified": latent.why}


def _disagreements(verdict: Array, labels: Labels) -> Iterator[Row]:
    """Yield items on which judge and majority differ, those farthest from undecided first."""
    judged, items, n = judgments(verdict), labels.items, labels.n
    against = (
        np.isfinite(labels.passed) & np.isfinite(judged) & (judged != labels.passed)
    )
    alike = np.sum(
        [judgments(other) == judged for other in labels.judges.values()], axis=0
    )
    sureness = 4 * np.abs(verdict - 0.5) * np.abs(labels.share - 0.5)
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
            "people_pass": labels.share[i],
            "n_raters": int(n[i]),
            "sureness": sureness[i],
            "judges_alike": int(alike[i]),
        }
