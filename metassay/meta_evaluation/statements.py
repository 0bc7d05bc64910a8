"""Turn scores and people's marks of single statements into a study.

A statement takes the place of a document with a text of one system. The statements of a document
form a cluster, across systems.
"""

from typing import NamedTuple

import pandas as pd

from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.study import Better
from metassay.tables.names import STATEMENT, base_metric, suffix_of
from metassay.tables.ratings import statement_ratings

UNREAD = "unread"  # the confound: the share of its passages that a model did not read


class ByStatement(NamedTuple):
    """Arguments of `study.studies`, with statements as documents."""

    scores: pd.DataFrame
    ratings: pd.DataFrame
    better: dict[str, Better]
    groups: Groups


def by_statement(scores: pd.DataFrame, ratings: pd.DataFrame, groups: Groups) -> ByStatement | None:
    """Turn `statement_scores` and ratings of units `statement:N` into a study of part statement.

    Statements that people did not mark are left out. Returns None if none is marked or scored.
    """
    marked = statement_ratings(ratings)
    if marked.empty or scores.empty:
        return None
    document, statement = marked["doc_id"], _names(marked)
    marked = marked.assign(doc_id=statement, unit="text", part=STATEMENT)
    scores = scores.assign(doc_id=_names(scores), part=STATEMENT)
    scores = scores[scores["doc_id"].isin(statement)]
    scores = pd.concat([scores, _unread(scores)], ignore_index=True)
    pairs = list(zip(statement, document, strict=True))
    return ByStatement(
        scores,
        marked.drop(columns="number"),
        dict(zip(scores["metric"], scores["better"], strict=True)),
        Groups(
            {name: groups.strata[doc_id] for name, doc_id in pairs if doc_id in groups.strata},
            {name: groups.clusters.get(doc_id, doc_id) for name, doc_id in pairs},
            groups.families,
        ),
    )


def _names(rows: pd.DataFrame) -> pd.Series:
    return rows["doc_id"] + " " + rows["author"] + " " + rows["number"].astype(str).str.zfill(4)


def _unread(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a confound for each model that left passages unread: the share that it did not read.

    Metrics of one model read the same passages, and share the confound.
    """
    unread = []
    for (metric, judge), rows in scores.groupby(["metric", "judge"], sort=True):
        if (rows["unread"] > 0).any():
            name = UNREAD + suffix_of(str(metric))
            unread.append(rows.assign(metric=name, value=rows["unread"], better="neither"))
            unread[-1]["recipe"] = f"{name} of {base_metric(str(metric))} ({judge})"
    rows = pd.concat(unread, ignore_index=True) if unread else scores[:0]
    return rows.drop_duplicates(["doc_id", "author", "metric", "judge"])
