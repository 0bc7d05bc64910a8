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

import pandas as pd

from metassay.core.errors import shown
from metassay.format.frames import records
from metassay.format.numbers import counted, short, short_interval
from metassay.format.terms import DECISIONS
from metassay.meta_evaluation.analysis import Analysis, Evaluation
from metassay.meta_evaluation.card_numbers import weigh_labels
from metassay.meta_evaluation.judge_cards import find_choices, judged_metrics
from metassay.meta_evaluation.label_warnings import warn_of_choice, warn_of_few_labels
from metassay.meta_evaluation.options import BELOW_OTHERS
from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS, OF_NO_OTHERS, PROMISING
from metassay.statistics import shares
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


def find_outlying_raters(run: Evaluation) -> Iterator[DataWarning]:
    """Yield who agrees less with the other raters than these do with each other."""
    agreement = run.tables["agreement"]
    rows = records(
        agreement[(agreement["coefficient"] == BELOW_OTHERS) & (agreement["low"] > 0)]
    )
    for row in sorted(rows, key=lambda row: -row["value"]):
        gap = f"{short(row['value'])} {short_interval(row['low'], row['high'])}"
        yield DataWarning(
            kind="raters",
            study=row["study"],
            criterion=row["criterion"],
            finding=(
                f"Rater {row['rater_a']} agrees less than the others: the mean Spearman"
                f" correlation with another rater is {gap} below that of the others with each"
                " other."
            ),
            remedy="Look at this rater’s ratings before you use the mean of all.",
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


OF_RATINGS: tuple[Check, ...] = (find_outlying_raters,)  # need no scores
CHECKS: tuple[Check, ...] = (
    find_groups,
    *OF_RATINGS,
    find_chosen_labels,
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
