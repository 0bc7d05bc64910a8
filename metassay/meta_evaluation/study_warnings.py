"""Say what users should know before they trust the verdicts on a study: the table `warnings`.

CHECKS has all of them. Each takes an evaluation whose other tables are made, and yields
a `DataWarning` per study, criterion and part where it finds something. Nothing here
changes a number.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import factorial
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.errors import shown
from metassay.format.frames import records
from metassay.format.numbers import counted, short, short_interval
from metassay.format.terms import DECISIONS
from metassay.meta_evaluation.analysis import Analysis, Evaluation
from metassay.meta_evaluation.card_numbers import weigh_labels
from metassay.meta_evaluation.classes import apart_of, units_of
from metassay.meta_evaluation.judge_cards import find_choices, judged_metrics
from metassay.meta_evaluation.label_warnings import warn_of_choice, warn_of_few_labels
from metassay.meta_evaluation.layouts import listed
from metassay.meta_evaluation.options import BELOW_OTHERS
from metassay.meta_evaluation.selected_texts import warn_of_selection
from metassay.meta_evaluation.study import Study
from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS, OF_NO_OTHERS, PROMISING
from metassay.statistics import shares
from metassay.statistics.copies import count_copied, equal_pairs
from metassay.statistics.exact_sums import Array
from metassay.tables.data_warnings import WARNINGS, DataWarning, warnings_table
from metassay.tables.names import STATEMENT, metric_label

Check = Callable[[Evaluation], Iterator[DataWarning]]
Row = Mapping[str, Any]

_LARGEST = 20  # beyond it a factorial is large enough for any p


def find_groups(run: Evaluation) -> Iterator[DataWarning]:
    """Yield what `layouts` found, or suspects, to belong together."""
    for study in run.studies:
        for finding in study.grouping.findings:
            yield replace(finding, **study.key)


def find_doubted_raters(run: Evaluation) -> Iterator[DataWarning]:
    """Yield raters whose scale seems reversed, and those who agree less than the others."""
    for study in run.studies:
        if study.doubted.turned:
            yield _reversed_scale(study)
        for place in study.doubted.apart:
            yield _disagreeing_rater(study.rater_names[place], study.key)
    agreement = run.tables["agreement"]
    rows = agreement[
        (agreement["coefficient"] == BELOW_OTHERS) & (agreement["low"] > 0)
    ]
    known = {
        (study.study, study.criterion, study.rater_names[place])
        for study in run.studies
        for place in study.doubted.turned + study.doubted.apart
    }
    for row in sorted(records(rows), key=lambda row: -row["value"]):
        if (row["study"], row["criterion"], row["rater_a"]) in known:
            continue
        gap = f"{short(row['value'])} {short_interval(row['low'], row['high'])}"
        finding = (
            f"Rater {row['rater_a']} agrees less than the others: the mean Spearman"
            f" correlation with another rater is {gap} below that of the others with each"
            " other."
        )
        yield DataWarning(
            kind="raters",
            finding=finding,
            remedy="Look at this rater’s ratings before you use the mean of all.",
            study=row["study"],
            criterion=row["criterion"],
        )


def _reversed_scale(study: Study) -> DataWarning:
    names = [study.rater_names[place] for place in study.doubted.turned]
    others = [name for name in study.rater_names if name not in names]
    r = short(study.doubted.agreement)
    if len(study.rater_names) == 2:
        who = f"Raters {' and '.join(study.rater_names)} disagree (Spearman {r})"
        question = "is the scale of one of them reversed?"
    elif len(names) == 1:
        who = f"Rater {names[0]} disagrees with everyone (mean Spearman {r})"
        question = "reversed scale?"
    else:
        who = (
            f"Raters {listed(names)} disagree with {listed(others)} (mean Spearman {r}),"
            " and agree with each other"
        )
        question = "are their scales reversed, or those of the others?"
    finding = (
        f"{who}: {question} Their ratings cancel out in the mean of all raters. No metric"
        " is compared with raters until this is resolved."
    )
    remedy = (
        "If a scale is reversed, turn these ratings round: on a scale of 1 to 5, 6 less"
        " the rating. Otherwise leave them out."
    )
    return DataWarning(kind="raters", finding=finding, remedy=remedy, **study.key)


def _disagreeing_rater(name: str, key: Mapping[str, str]) -> DataWarning:
    finding = (
        f"Rater {name} agrees less with the other raters than they do with each other."
        " The comparison of metrics with raters leaves this rater out; the mean of all"
        " raters does not."
    )
    remedy = "Look at this rater’s ratings before you use the mean of all."
    return DataWarning(kind="raters", finding=finding, remedy=remedy, **key)


def find_copies(run: Evaluation) -> Iterator[DataWarning]:
    """Yield raters whose ratings equal another's, and metrics that equal a rater's."""
    for study in run.studies:
        tables = study.raters.reshape(len(study.raters), -1)
        names = study.rater_names
        for a, b, n in equal_pairs(tables):
            finding = (
                f"Raters {names[a]} and {names[b]} gave the same rating in all"
                f" {n:,} texts that both rated: is one a copy of the other? A copy makes"
                " raters look as if they agreed."
            )
            remedy = "If it is a copy, leave it out."
            yield DataWarning(
                kind="copies", finding=finding, remedy=remedy, **study.key
            )
        for metric in study.directed:
            n, who = _copied_ratings(metric.values, study)
            if n:
                finding = (
                    f"Metric {metric.label} equals {who} in all {n:,} texts, or follows"
                    " from it on another scale: it is compared with itself."
                )
                remedy = "Leave the metric out, or that rater."
                yield DataWarning(
                    kind="copies", finding=finding, remedy=remedy, **study.key
                )


def _copied_ratings(values: Array, study: Study) -> tuple[int, str]:
    """Return how many texts a metric shares with the ratings that it equals, and whose."""
    sides = [
        (f"the ratings of {name}", study.raters[i])
        for i, name in enumerate(study.rater_names)
    ]
    sides.append(("the mean of all raters", study.human))
    for who, ratings in sides:
        n = count_copied(values.ravel(), ratings.ravel())
        if n:
            return n, who
    return 0, ""


def find_classes(run: Evaluation) -> Iterator[DataWarning]:
    """Yield which systems or documents raters set apart."""
    for study in run.studies:
        for units in units_of(study, "global"):
            apart = apart_of(study, units)
            if apart is None:
                continue
            labels = study.systems if units.axis == -2 else study.documents
            names = listed([str(label) for label in labels[apart.which]])
            finding = (
                f"Ratings set {apart.which.sum():,} of {len(labels):,} {units.name} apart"
                f" ({names}). A metric that only notices these correlates with people,"
                " though it may know nothing of the others."
            )
            remedy = (
                f"Certificates say what is left without them; to trust a metric among the"
                f" others, rate more {units.name} like those."
            )
            yield DataWarning(
                kind="classes", finding=finding, remedy=remedy, **study.key
            )


def find_small_sizes(run: Evaluation) -> Iterator[DataWarning]:
    """Yield for which decisions a study is too small, whatever the metrics."""
    evidence = run.tables["evidence"]
    for key, of_study in evidence.groupby(["study", "criterion", "part"], sort=True):
        where = dict(zip(("study", "criterion", "part"), map(str, key), strict=True))
        rows = records(of_study)
        for level in DECISIONS:
            of_level = [row for row in rows if row["level"] == level]
            finding = too_small(of_level, run.options.confidence)
            if finding:
                yield DataWarning(kind="size", finding=_capitalized(finding), **where)
        finding = _few_systems(rows)
        if finding:
            yield DataWarning(kind="size", finding=_capitalized(finding), **where)


def _capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def too_small(rows: Sequence[Row], confidence: float) -> str:
    """Say, without a capital, why no metric of one level can be shown to follow people.

    Empty where one can be.

    `rows`: those of `evidence` or `certificates` of one study, criterion, part and
    level. Nothing can be shown where no p can be below 1 - `confidence` (`smallest_p`).
    """
    smallest = rows[0]["smallest_p"] if rows else 0.0
    if smallest is None:
        nested = rows[0]["level"] == "document" and rows[0]["design"] == "nested"
        # which nobody compares by document
        nested = nested and rows[0]["part"] != STATEMENT
        alone = "each document has one system’s text, so there are no two to compare."
        return alone if nested else ""
    alpha = 1.0 - confidence
    if smallest < alpha:
        return ""
    level = rows[0]["level"]
    systems = max(row["n_families"] for row in rows)
    documents = 1 if level == "system" else max(row["n_clusters"] for row in rows)
    clustered = any(row["n_clusters"] < row["n_documents"] for row in rows)
    if systems < 2 and level == "system":
        return "all texts are by one system, so there are no two to rank."
    orders = 2.0**documents if clustered and level != "system" else _orders(documents)
    if 2.0 / (_orders(systems) * orders) < alpha:
        return f"too few orders were drawn at random for {DECISIONS[level]}; set more permutations."
    if level != "system":
        unit = "cluster of documents" if clustered else "document"
        texts = f"{counted(systems, 'system')} and {counted(documents, unit)}"
        few = f"people rated {texts}, too few to test a metric on {DECISIONS[level]}."
        return few.replace("cluster of documentss", "clusters of documents")
    enough = next(n for n in range(2, _LARGEST) if 2.0 / _orders(n) < alpha)
    return f"people rated {systems} systems; ranking systems needs at least {enough}."


def _orders(n: int) -> int:
    return factorial(min(n, _LARGEST))


def _few_systems(rows: Sequence[Row]) -> str:
    """Say why no metric can be one to use with other systems; empty where one can."""
    n = max(row["n_families"] for row in rows)
    if n >= FEWEST_SYSTEMS or all(row["design"] in OF_NO_OTHERS for row in rows):
        return ""
    return (
        f"with {counted(n, 'system')} the best verdict is “{PROMISING}”; trusting a metric with"
        f" other systems needs at least {FEWEST_SYSTEMS}."
    )


def find_chosen_labels(run: Evaluation) -> Iterator[DataWarning]:
    """Yield by what rated texts were chosen, and verdicts with too few ratings."""
    judged = judged_metrics(run.scores, run.ratings, run.studies, run.criteria)
    for key, of_study in groupby(judged, lambda metric: metric.study.key):
        metrics = [*of_study]
        threshold = run.options.threshold
        warnings = [*warn_of_choice(find_choices(metrics, threshold))]
        for metric in metrics:
            if weigh_labels(metric.judgments, threshold) is None:
                continue
            verdict = shares.judgments(metric.judgments.judge, threshold)
            people, label = metric.judgments.people, metric.metric.label
            warnings += warn_of_few_labels(verdict, people, "texts", label)
        yield from (replace(warning, **key) for warning in warnings)


def find_selected_texts(run: Evaluation) -> Iterator[DataWarning]:
    """Yield by which metrics' scores rated texts were chosen.

    Once for all criteria of a study and part that have the same rated texts.
    """
    texts_of: dict[tuple[str, str], set[bytes]] = {}
    for study in run.studies:
        texts_of.setdefault((study.study, study.part), set()).add(_texts(study))
    for study in run.studies:
        texts = texts_of[study.study, study.part]
        if _texts(study) not in texts:
            continue  # of another criterion, which had the same
        alone = len(texts) == 1
        for warning in warn_of_selection(study, run.scores):
            yield replace(warning, criterion="") if alone else warning
        if alone:
            texts.clear()


def _texts(study: Study) -> bytes:
    """Return the same bytes for studies with the same rated texts."""
    names = "\n".join([*map(str, study.systems), "", *map(str, study.documents)])
    return names.encode() + np.isfinite(study.human).tobytes()


def find_convenient_choices(run: Evaluation) -> Iterator[DataWarning]:
    """Yield primary metrics that are also the best of the metrics, which invites a doubt."""
    evidence = run.tables["evidence"]
    keys = ["study", "criterion", "part"]
    for key, of_study in evidence[evidence["level"] == "global"].groupby(keys):
        known = records(of_study[of_study["value"].notna()])
        best = max(known, key=lambda row: float(row["value"]), default=None)
        if best is not None and best["primary"] and len(known) > 1:
            label = metric_label(best["metric"], best["judge"])
            yield DataWarning(
                kind="chosen",
                finding=(
                    f"The primary metric {shown(label)} also has the highest correlation of the"
                    f" {counted(len(known), 'metric')} in this study. Its p and interval hold"
                    " only if it was named before anybody saw these ratings."
                ),
                remedy="If it was not, remove `primary`.",
                **dict(zip(keys, map(str, key), strict=True)),
            )


OF_RATINGS: tuple[Check, ...] = (find_doubted_raters, find_copies)  # need no scores
CHECKS: tuple[Check, ...] = (
    find_groups,
    find_doubted_raters,
    find_copies,
    find_classes,
    find_chosen_labels,
    find_selected_texts,
    find_convenient_choices,
    find_small_sizes,
)


def find_warnings(run: Evaluation, checks: Sequence[Check] = CHECKS) -> pd.DataFrame:
    """Return the table `warnings`: what the reader of the files knew, then what the checks find."""
    warnings = list(run.known_warnings)
    for check in checks:
        warnings += check(run)
    return warnings_table(warnings)


ANALYSIS = Analysis(
    (WARNINGS,),
    lambda run: [find_warnings(run)],
    "Warnings",
    """
    What these data are not as verdicts suppose, and what to do about it.
    """,
)
