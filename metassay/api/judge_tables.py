"""The tables of `judge_check`: cards, pass rates, labels, raters, disagreements."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from metassay.api.verdict_table import BY, Choices, Verdicts
from metassay.format.numbers import short
from metassay.meta_evaluation.card_numbers import (
    Estimates,
    Judgments,
    Row,
    estimates,
    weigh_labels,
)
from metassay.meta_evaluation.label_warnings import (
    VERBS,
    has_probabilities,
    verdict_factors,
)
from metassay.statistics import shares
from metassay.statistics.classification import PRIOR, gwet_ac1
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.label_weights import Chosen, find_chosen
from metassay.statistics.random_numbers import generator
from metassay.statistics.raters import (
    accuracy_by_agreement,
    annotator_test,
    latent_classes,
)
from metassay.statistics.shares import THRESHOLD, Estimate, judgments
from metassay.statistics.weighted_cards import AC1, constant_card, labels_lacking

WHOLE = "all"
TOO_FEW = "too few labels"  # begins the reason why numbers are blank
_RATES = {
    "judge_pass_rate": "as judged",
    "prediction_powered_pass_rate": "corrected",
    "rogan_gladen_pass_rate": "corrected by sensitivity and specificity",
    "people_pass_rate": "people alone",
}


class _Options(NamedTuple):
    """What a card depends on; the options of benchmarks take longer to import."""

    confidence: float
    threshold: float
    label_width: float
    seed: int


class Sliced(Protocol):
    """Items that can be sliced: of passes and fails, and of other labels."""

    @property
    def items(self) -> pd.DataFrame:
        """id; doc and system, if there are; BY and each column of `by`."""

    @property
    def choices(self) -> Choices:
        """The columns."""


class SliceCard(NamedTuple):
    """A judge's card on a slice of the rows."""

    numbers: Estimates
    base_rate: Mapping[str, float]  # of giving every row the commoner label
    why_undefined: str  # why numbers of the card may be undefined
    why_uncorrected: str  # why there is no corrected pass rate; "" if there is one


def make_tables(verdicts: Verdicts) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the tables that have rows, by name; and a line for each requirement not met."""
    choices, rows, lines = verdicts.choices, dict[str, list[Row]](), []
    precision: Any = {"confidence": choices.confidence, "cluster": verdicts.cluster}
    options: Any = {"epsilon": choices.epsilon, "level": 1 - choices.confidence}
    whole = np.ones(len(verdicts.items), dtype=np.bool_)
    chosen = bool(find_choices(verdicts))
    for name, verdict in verdicts.judges.items():
        judged = judgments(verdict)
        # Raters label the rows that have any label, split ones as well.
        has_label = np.where(verdicts.n > 0, 1.0, np.nan)
        of_raters = judge_on(name, verdicts, whole)._replace(people=has_label)
        weight = weigh_labels(of_raters, THRESHOLD)
        commoner = _commoner(verdicts.passed, weight)
        guess = np.where(np.isnan(judged), np.nan, commoner)
        shared = {"cluster": verdicts.cluster, "weight": weight, **options}
        test, base = (
            annotator_test(values, verdicts.table, **shared)
            for values in (judged, guess)
        )
        cards = {
            part: make_card(name, part, verdicts, rows)
            for part, rows in iterate_slices(verdicts)
        }
        card = cards[WHOLE].numbers
        unmet = [*_unmet(name, card, choices)]
        lines += unmet
        agreement = accuracy_by_agreement(
            judged, verdicts.table, weight=weight, **precision
        )
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
            "pass_rates": _pass_rates(cards, refused=bool(unmet), chosen=chosen),
            "labels": _labels(card, choices),
            "replacement": [{**replacement, "base_rate_passes": base.passes}],
            "contests": [
                {"rater": who, **test._asdict()} for who, test in contests if test.n
            ],
            "by_agreement": [
                {"items": items, "of": total, **rate._asdict()}
                for (items, total), rate in agreement.items()
                if rate.n
            ],
            "latent": _latent_rows(name, judged, weight, verdicts, card),
            "disagreements": _disagreements(verdict, verdicts),
        }.items():
            rows.setdefault(table, []).extend({"judge": name, **row} for row in new)
    return {
        name: pd.DataFrame(of_table) for name, of_table in rows.items() if of_table
    }, lines


def find_choices(verdicts: Verdicts) -> list[Chosen]:
    """Return what labels were chosen by: verdicts, a judge's certainty, systems, slices."""
    is_judged, has_label = _judged(verdicts), verdicts.n > 0
    if not (is_judged & ~has_label).any():
        return []
    cluster = verdicts.cluster[is_judged]
    return find_chosen(has_label[is_judged], _label_factors(verdicts), cluster)


def _judged(verdicts: Verdicts) -> Mask:
    """Return which rows any judge has a verdict on."""
    values = np.array([*verdicts.judges.values()])
    return np.asarray(np.isfinite(values).any(axis=0), dtype=np.bool_)


def _label_factors(verdicts: Verdicts) -> dict[str, Any]:
    """Return what labels may have been chosen by, in words, of the judged rows."""
    is_judged = _judged(verdicts)
    factors: dict[str, Any] = {}
    for name, values in verdicts.judges.items():
        factors |= verdict_factors(values[is_judged], "rows", name)
    for column, labels in slice_columns(verdicts).items():
        phrases = [f"rows of {column} {value}" for value in labels[is_judged]]
        factors[column] = np.array(phrases)
    return factors


def slice_columns(verdicts: Sliced) -> dict[str, Any]:
    """Return the columns by which rows are sliced, by the user's names; systems last."""
    columns = {
        name: verdicts.items[BY + name].to_numpy() for name in verdicts.choices.by
    }
    if "system" in verdicts.items:
        columns[verdicts.choices.system] = verdicts.items["system"].to_numpy()
    return columns


def judge_on(name: str, verdicts: Verdicts, here: Mask) -> Judgments:
    """Return a judge's verdicts on the rows `here`, and what labels may depend on.

    Without the verdicts on systems of which nothing is labelled.
    """
    values = verdicts.judges[name].copy()
    unlabelled = unlabelled_systems(name, verdicts, here)
    if unlabelled:
        values[verdicts.items["system"].isin(unlabelled)] = np.nan
    others = [
        np.nan_to_num(judgments(other)[here], nan=-1.0)
        for judge, other in verdicts.judges.items()
        if judge != name
    ]
    columns = [column[here] for column in slice_columns(verdicts).values()]
    return Judgments(
        judge=values[here],
        people=verdicts.passed[here],
        cluster=verdicts.cluster[here],
        split=verdicts.share[here] == 0.5,
        probability=values[here] if has_probabilities(values) else None,
        thresholded=False,
        factors=(*others, *columns),
    )


def unlabelled_systems(name: str, verdicts: Verdicts, here: Mask) -> list[str]:
    """Return the systems of which the judge has verdicts on rows `here`, and nobody labels.

    None where nothing at all is labelled.
    """
    if "system" not in verdicts.items or not (verdicts.n[here] > 0).any():
        return []
    system = verdicts.items["system"].to_numpy()
    judged = {*system[here & np.isfinite(verdicts.judges[name])]}
    return sorted(judged - {*system[here & (verdicts.n > 0)]})


def _unmet(judge: str, card: Mapping[str, Estimate], choices: Choices) -> Iterator[str]:
    """Yield the requirements that the lower end of an interval does not reach, or is unknown."""
    for name, least in choices.require.items():
        if not card[name].low >= least:
            number = f"{name} {short(card[name].value)}".strip()
            low = short(card[name].low) or "unknown"
            yield (
                f"NOT MET: {judge}: {number} has the lower end {low}, not {short(least)} or"
                " more: no corrected pass rate is given"
            )


def iterate_slices(verdicts: Sliced) -> Iterator[tuple[str, Mask]]:
    """Yield the name of each slice and its items (items,), all items first."""
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


def make_card(name: str, part: str, verdicts: Verdicts, here: Mask) -> SliceCard:
    """Return a judge's card with AC1, and the card of giving every text the commoner label."""
    choices = verdicts.choices
    precision: Any = {"confidence": choices.confidence}
    options = _Options(
        confidence=choices.confidence,
        threshold=THRESHOLD,
        label_width=choices.width,
        seed=choices.seed,
    )
    judged = judge_on(name, verdicts, here)
    numbers = estimates(judged, options, [name, part])
    is_weighted = AC1 in numbers
    rate = numbers["prediction_powered_pass_rate"].value
    judge, people, clusters = judged.judge, judged.people, judged.cluster
    both = np.isfinite(judge) & np.isfinite(people)
    commoner = float(rate >= 0.5) if is_weighted else _commoner(people[both])
    guess = judged._replace(judge=np.where(both, commoner, np.nan))
    base = estimates(guess, options, [name, part])
    base_rate = {statistic: estimate.value for statistic, estimate in base.items()}
    if is_weighted:
        base_rate |= constant_card(rate)
    else:
        most = shares.worth_at_most(people[both], clusters[both])
        for values, card in ((judge, numbers), (guess.judge, base)):
            cell = shares.cells(judgments(values)[both], people[both])
            card[AC1] = shares.posterior_estimate(
                gwet_ac1,
                cell,
                clusters[both],
                cells=4,
                prior=PRIOR,
                most=most,
                rng=generator(choices.seed, AC1, name, part),
                **precision,
            )
        base_rate[AC1] = base[AC1].value
    unlabelled = unlabelled_systems(name, verdicts, here)
    if unlabelled:
        of_all = judgments(verdicts.judges[name])[here]
        is_judged = np.isfinite(of_all)
        numbers["judge_pass_rate"] = shares.share(
            of_all[is_judged], clusters[is_judged], **precision
        )
    why = _why_undefined(judged)
    return SliceCard(
        numbers=numbers,
        base_rate=base_rate,
        why_undefined=why,
        why_uncorrected=_why_uncorrected(verdicts, here, unlabelled)
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


def _why_uncorrected(verdicts: Verdicts, here: Mask, unlabelled: Sequence[str]) -> str:
    """Return why no corrected pass rate is told; "" if it is."""
    if unlabelled:
        return (
            f"no row of {verdicts.choices.system} {', '.join(unlabelled)} is labelled"
        )
    if here.all():
        has_label = verdicts.n[_judged(verdicts)] > 0
        factors = _label_factors(verdicts)
        for factor in dict.fromkeys(test.factor for test in find_choices(verdicts)):
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


def _card_rows(cards: Mapping[str, SliceCard]) -> Iterator[Row]:
    for part, card in cards.items():
        for name, estimate in card.numbers.items():
            if name not in _RATES and not name.startswith("labels_"):
                why = card.why_undefined if np.isnan(estimate.value) else ""
                row: Row = {"slice": part, "statistic": name, **estimate._asdict()}
                yield {**row, "base_rate": card.base_rate[name], "why_blank": why}


def _pass_rates(
    cards: Mapping[str, SliceCard], *, refused: bool, chosen: bool
) -> Iterator[Row]:
    """Yield the pass rates of each slice; `chosen`: whether labels were chosen."""
    for part, card in cards.items():
        for statistic, method in _RATES.items():
            row: Row = card.numbers[statistic]._asdict()
            corrected, why = method.startswith("corrected"), ""
            if corrected:
                why = "a requirement is not met" if refused else card.why_uncorrected
            elif statistic == "people_pass_rate" and chosen:
                why = "labels were chosen: the labelled rows are not like the others"
            row |= dict.fromkeys(("value", "low", "high"), np.nan) if why else {}
            key: Row = {"slice": part, "method": method}
            yield {**key, **row, "refused": corrected and refused, "why_blank": why}


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
    name: str,
    judged: Array,
    weight: Array | None,
    verdicts: Verdicts,
    card: Mapping[str, Estimate],
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
        judged,
        verdicts.table,
        rng=rng,
        population=population,
        weight=weight,
        **precision,
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
