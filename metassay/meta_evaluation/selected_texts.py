"""Whether the texts that people rated were chosen by a metric's scores, in words.

A correlation over chosen texts is not that over all. Where a metric scored texts that
nobody rated, of the same systems, `statistics.selection` compares both.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.format.numbers import counted, short
from metassay.meta_evaluation.study import Study
from metassay.statistics.exact_sums import Mask
from metassay.statistics.selection import compare_rated, is_chosen
from metassay.tables.data_warnings import DataWarning
from metassay.tables.names import metric_label

LEVEL = 0.01  # of both comparisons, of all metrics of a study together
_SHOWN = 3  # metrics that are written out
_REMEDY = (
    "Rate a random sample of the other texts, too. If you know which texts were chosen by"
    " scores, leave them out."
)


class Chosen(NamedTuple):
    """A metric by whose scores rated texts seem to have been chosen."""

    metric: str
    judge: str
    p: float
    extreme: bool  # whether rated texts have more extreme scores than others
    sentence: str


def find_chosen(study: Study, scores: pd.DataFrame) -> list[Chosen]:
    """Return the metrics in whose scores rated texts differ from others, the surest first.

    `scores`: the table. Scores of two values, such as a judge's pass or fail, are left
    to `label_warnings`.
    """
    of_part = scores[scores["part"] == study.part]
    systems = study.systems.get_indexer(pd.Index(of_part["author"]))
    known = of_part[(systems >= 0) & of_part["value"].notna()]
    groups = [*known.groupby(["metric", "judge"], sort=True)]
    level = LEVEL / 2 / max(1, len(groups))
    metrics = []
    for (metric, judge), rows in groups:
        chosen = _chosen_by(str(metric), str(judge), rows, study, level)
        if chosen is not None:
            metrics.append(chosen)
    return sorted(metrics, key=lambda chosen: chosen.p)


def warn_of_selection(study: Study, scores: pd.DataFrame) -> Iterator[DataWarning]:
    """Yield a warning if rated texts differ from others in a metric's scores.

    `scores`: the table.
    """
    metrics = find_chosen(study, scores)
    if not metrics:
        return
    sentences = [chosen.sentence for chosen in metrics[:_SHOWN]]
    if len(metrics) > _SHOWN:
        more = counted(len(metrics) - _SHOWN, "other metric")
        sentences.append(f"The same holds for {more}.")
    consequence = "A correlation over rated texts is not that over all."
    if any(chosen.extreme for chosen in metrics):
        consequence += (
            " Metrics with more extreme scores in rated texts get no verdict but"
            " “cannot tell”."
        )
    finding = (
        "The rated texts seem to be chosen by scores."
        f" {' '.join(sentences)} {consequence}"
    )
    yield DataWarning(kind="selected", finding=finding, remedy=_REMEDY, **study.key)


def _chosen_by(
    metric: str, judge: str, rows: pd.DataFrame, study: Study, level: float
) -> Chosen | None:
    values = rows["value"].to_numpy(dtype=np.float64)
    if np.unique(values).size < 3:
        return None
    system = study.systems.get_indexer(pd.Index(rows["author"]))
    column = study.documents.get_indexer(pd.Index(rows["doc_id"]))
    rated = (column >= 0) & np.isfinite(study.human[system, column])
    document = pd.factorize(rows["doc_id"])[0]
    by_system = np.unique(system, return_inverse=True)[1]
    selection = compare_rated(values, rated, by_system, document)
    if selection is None:
        return None
    moved, spread = is_chosen(selection, level)
    if not (moved or spread):
        return None
    label = metric_label(metric, judge)
    extreme = spread and selection.wider > 0
    if moved and (not spread or selection.p_higher <= selection.p_wider):
        how = "higher" if selection.higher > 0 else "lower"
        sentence = (
            f"They have {how} scores of {label} than the {_rest(rated)}:"
            f" {short(values[rated].mean())} against {short(values[~rated].mean())} on average."
        )
        return Chosen(metric, judge, selection.p_higher, extreme, sentence)
    how = "more" if extreme else "less"
    sentence = (
        f"Their scores of {label} are {how} extreme than those of the {_rest(rated)}:"
        f" the standard deviation is {short(values[rated].std())} against"
        f" {short(values[~rated].std())}."
    )
    return Chosen(metric, judge, selection.p_wider, extreme, sentence)


def _rest(rated: Mask) -> str:
    return f"{np.count_nonzero(~rated):,} other texts of the same systems"
