"""The tables `judge_cards` and `calibration`: a judge's pass or fail of texts beside people's."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from metassay.meta_evaluation.cards import Judged, Row, card
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study
from metassay.options import Criterion
from metassay.parquet import Table, empty
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.names import NO_JUDGE

UNIT = "text"  # ratings.unit where a text as a whole was judged


def judge_cards(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    found: Sequence[Study],
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables: one card per study of pass or fail and metric that passes or fails texts.

    People pass or fail where the criterion's ends are 0 and 1, they rated whole texts (not claims
    or pairs), and each rater gave each text 0 or 1. A text passes if more than half of its raters
    pass it; one that half of them pass is left out and counted.

    A metric passes or fails where its scores are 0 and 1 alone. Scores between 0 and 1 are
    probabilities of passing only if they come from a judge that was asked about the text as a whole
    (`n_expected` is 1): a share of claims is none, nor is ROUGE. Such metrics have no card; nor
    have those that do not say which text is better. Where less is better, 1 is a fail.

    All systems of the study are in one card; texts of one document count as alike. As in
    `corrected`, all scored texts of these systems are judged, and the rated ones are taken for a
    random sample of them.
    """
    cards: list[Row] = []
    bins: list[Row] = []
    for study in found:
        if not _pass_or_fail(study, ratings, criteria[study.criterion]):
            continue
        for measured in study.directed:
            texts = _texts(scores, study, measured)
            if texts is None:
                continue
            key: Row = {**study.key, "metric": measured.metric, "judge": measured.judge}
            last: Row = {"recipe": measured.recipe}
            made, reliability = card(texts, options, [str(name) for name in key.values()], {})
            cards += [{**key, **row, **last} for row in made]
            bins += [{**key, **row, **last} for row in reliability]
    return card_frame(cards, JUDGE_CARDS), card_frame(bins, CALIBRATION)


def card_frame(rows: list[Row], table: Table) -> pd.DataFrame:
    """Rows as a frame with the table's columns."""
    return pd.DataFrame(rows, columns=list(table.columns)) if rows else empty(table)


def _pass_or_fail(study: Study, ratings: pd.DataFrame, criterion: Criterion) -> bool:
    if (criterion.low, criterion.high) != (0.0, 1.0):
        return False
    mine = (ratings[list(study.key)] == list(study.key.values())).all(axis=1)
    if not (ratings.loc[mine, "unit"] == UNIT).all():
        return False
    return bool(np.isin(study.raters[np.isfinite(study.raters)], (0.0, 1.0)).all())


def _texts(scores: pd.DataFrame, study: Study, measured: Measured) -> Judged | None:
    mine = scores[
        (scores["part"] == study.part)
        & (scores["metric"] == measured.metric)
        & (scores["judge"] == measured.judge)
        & (scores["recipe"] == measured.recipe)
        & scores["author"].isin(study.systems)
    ]
    by = pd.MultiIndex.from_frame(mine[["doc_id", "author"]].astype(str))
    score = pd.Series(mine["value"].to_numpy(dtype=np.float64), index=by).dropna()
    probable = not score.isin((0.0, 1.0)).all()
    asked_whole = measured.judge != NO_JUDGE and bool((mine["n_expected"] == 1).all())
    if score.empty or not score.between(0.0, 1.0).all() or (probable and not asked_whole):
        return None
    rated = pd.DataFrame(study.human.T, index=study.documents.astype(str), columns=study.systems)
    human = rated.rename_axis(index="doc_id", columns="author").stack().dropna()
    every = score.index.union(human.index, sort=True)
    judge = score.reindex(every).to_numpy()
    people = human.reindex(every).to_numpy()
    split = people == 0.5
    passed = np.where(np.isnan(people) | split, np.nan, people > 0.5)
    document, _ = pd.factorize(every.get_level_values(0))
    passing = 1.0 - judge if measured.better == "lower" else judge
    return Judged(
        passing,
        1.0 - passed if study.better == "lower" else passed,
        document.astype(np.intp),
        int(np.count_nonzero(split)),
        passing if probable else None,
        bool(probable),
    )
