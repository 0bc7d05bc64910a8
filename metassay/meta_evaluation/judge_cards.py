"""The tables `judge_cards` and `calibration`: a judge's pass or fail of texts beside people's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.options import Criterion
from metassay.parquet import Table, empty
from metassay.statistics.arithmetic import Array
from metassay.statistics.calibration import Calibration, calibration
from metassay.statistics.judge_card import judge_card
from metassay.statistics.labels import labels_needed
from metassay.statistics.pass_rate import pass_rates
from metassay.statistics.shares import Clusters, Estimate
from metassay.tables import CALIBRATION, CARD_STATISTICS, JUDGE_CARDS, NO_JUDGE

UNIT = "text"  # ratings.unit where a text as a whole was judged

Row = dict[str, object]


class _Texts(NamedTuple):
    """Every text of the rated systems that has a score or a rating."""

    judge: Array  # 0 to 1, 1 is a pass; NaN without a score
    people: Array  # 0 or 1; NaN where nobody rated, or raters are split
    document: Clusters
    n_split: int
    probable: bool  # scores between 0 and 1, not only 0 and 1


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
            made, reliability = _card(texts, options, [str(name) for name in key.values()])
            cards += [{**key, **row, **last} for row in made]
            bins += [{**key, **row, **last} for row in reliability]
    return _frame(cards, JUDGE_CARDS), _frame(bins, CALIBRATION)


def _frame(rows: list[Row], table: Table) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(table.columns)) if rows else empty(table)


def _pass_or_fail(study: Study, ratings: pd.DataFrame, criterion: Criterion) -> bool:
    if (criterion.low, criterion.high) != (0.0, 1.0):
        return False
    mine = (ratings[list(study.key)] == list(study.key.values())).all(axis=1)
    if not (ratings.loc[mine, "unit"] == UNIT).all():
        return False
    return bool(np.isin(study.raters[np.isfinite(study.raters)], (0.0, 1.0)).all())


def _texts(scores: pd.DataFrame, study: Study, measured: Measured) -> _Texts | None:
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
    return _Texts(
        1.0 - judge if measured.better == "lower" else judge,
        1.0 - passed if study.better == "lower" else passed,
        document.astype(np.intp),
        int(np.count_nonzero(split)),
        probable,
    )


def _card(texts: _Texts, options: MetaOptions, key: list[str]) -> tuple[list[Row], list[Row]]:
    rows, found = dict(_numbers(texts, options, key)), None
    if texts.probable:
        found = calibration(
            texts.judge,
            texts.people,
            confidence=options.confidence,
            rng=generator(options.seed, "calibration", *key),
            cluster=texts.document,
        )
        rows |= {name: getattr(found, name) for name in ("brier", "bias", "ece", "ece_by_chance")}
    shared = {
        "n_judged": int(np.count_nonzero(np.isfinite(texts.judge))),
        "n_missing": int(np.count_nonzero(np.isnan(texts.judge) & np.isfinite(texts.people))),
        "n_split": texts.n_split,
        "threshold": options.threshold if texts.probable else np.nan,
    }
    cards: list[Row] = [
        {
            "statistic": name,
            **rows[name]._asdict(),
            **shared,
            "width": options.label_width if name.startswith("labels_") else np.nan,
        }
        for name in CARD_STATISTICS
        if name in rows
    ]
    return cards, _bins(found) if found is not None else []


def _numbers(texts: _Texts, options: MetaOptions, key: list[str]) -> Iterator[tuple[str, Estimate]]:
    judge, people, cluster = texts.judge, texts.people, texts.document
    asked = {"confidence": options.confidence, "threshold": options.threshold}
    card = judge_card(
        judge, people, rng=generator(options.seed, "judge_card", *key), cluster=cluster, **asked
    )
    counts = card[:4]
    n, worth = sum(counts), card.estimates["agreement"].n_effective
    for name, count in zip(CARD_STATISTICS[:4], counts, strict=True):
        yield name, Estimate(float(count), np.nan, np.nan, n, worth)
    yield from card.estimates.items()
    rates = pass_rates(
        judge, people, rng=generator(options.seed, "pass_rates", *key), cluster=cluster, **asked
    )
    for name, rate in rates._asdict().items():
        yield f"{name}_pass_rate", rate
    needed = labels_needed(judge, people, width=options.label_width, cluster=cluster, **asked)
    for name, labels in needed._asdict().items():
        yield f"labels_{name}", Estimate(labels, np.nan, np.nan, n, worth)


def _bins(found: Calibration) -> list[Row]:
    return [
        {
            "bin": place,
            "lowest": one.lowest,
            "highest": one.highest,
            "mean": one.mean,
            "passed": one.passed.value,
            "low": one.passed.low,
            "high": one.passed.high,
            "n": one.passed.n,
        }
        for place, one in enumerate(found.bins)
    ]
