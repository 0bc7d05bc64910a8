"""Unrelated passages raise SummaC-Conv by construction, and the table of confounds says so."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.confounds import confounds
from metassay.metrics.faithfulness.summac_conv import histogram, read_head, value
from metassay.tables.ratings import RATINGS
from metassay.tables.statement_scores import STATEMENT_SCORES
from tests.meta_evaluation.invented_study import OPTIONS, scores_of
from tests.meta_evaluation.test_statements import CRITERIA

FEW, MANY = 5, 100  # passages of a source, and with 95 more that say nothing of the statement


def evaluation(head, passages_of) -> tuple[Evaluation, pd.DataFrame]:
    """12 texts of 10 statements; `passages_of`: how many passages each document's source has."""
    rng = np.random.default_rng(5)
    rows = [
        {"doc_id": f"d{doc:02d}", "author": "ab"[doc % 2], "number": number,
         "wrong": wrong, "passages": passages_of(doc),
         "conv": value(head, [histogram([p, *[0.0] * (passages_of(doc) - 1)])])}
        for doc in range(12)
        for number in range(10)
        for wrong in [float(rng.integers(0, 2))]
        for p in [np.clip(0.97 - 0.3 * wrong + rng.normal(scale=0.05), 0, 1)]
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    about = frame[["doc_id", "author", "number"]].assign(
        part="full", position=frame["number"], failed=False, unread=0.0, cut=False
    )
    scores = pd.concat(
        [
            about.assign(metric="summac_conv", judge="vitc", better="higher", recipe="r",
                         value=frame["conv"]),
            about.assign(metric="aligned_passages", judge="none", better="neither", recipe="r",
                         value=frame["passages"].astype(float)),
        ]
    )  # fmt: skip
    ratings = pd.DataFrame(
        [
            ("s", row.doc_id, row.author, "full", f"statement:{row.number}", "ann", "error",
             row.wrong)
            for row in frame.itertuples()
        ],
        columns=list(RATINGS.columns),
    )  # fmt: skip
    texts = {(row.doc_id, row.author): 1.0 for row in frame.itertuples()}
    return Evaluation(
        scores_of(texts, metric="m"), ratings, CRITERIA, {"m": "higher"},
        OPTIONS.model_copy(update={"permutations": 100}),
        statement_scores=scores[list(STATEMENT_SCORES.columns)],
    ), frame  # fmt: skip


def test_sources_of_different_lengths_are_named_as_a_confound(mirror: Path) -> None:
    head = read_head(mirror / "summac_conv/summac_conv_vitc_sent_perc_e.bin")
    same, few = evaluation(head, lambda _: FEW)
    _, more = evaluation(head, lambda _: MANY)
    assert (more["conv"] > few["conv"]).all()  # nothing else is different
    assert (more["conv"] - few["conv"]).mean() > 0.1
    mixed, frame = evaluation(head, lambda doc: MANY if doc % 4 < 2 else FEW)
    table = confounds(mixed.tests, mixed.options).query("part == 'statement'")
    rows = table.query("confound == 'aligned_passages' and level == 'global'")
    found = rows.set_index("statistic")["value"]
    of_metric = scipy.stats.pearsonr(frame["conv"], frame["passages"])[0]
    people = scipy.stats.pearsonr(-frame["wrong"], frame["passages"])[0]
    plain = scipy.stats.pearsonr(-frame["wrong"], frame["conv"])[0]
    assert found["metric"] == pytest.approx(of_metric)
    assert found["metric"] > 0.3
    assert found["people"] == pytest.approx(people)
    assert abs(found["people"]) < 0.25
    # Among sources of one length people and metric agree more than they seem to.
    partial = (plain - of_metric * people) / np.sqrt((1 - of_metric**2) * (1 - people**2))
    assert found["partial"] == pytest.approx(partial)
    assert found["partial"] > plain
    alike = confounds(same.tests, same.options).query("part == 'statement'")
    of_confound = alike.query(
        "confound == 'aligned_passages' and statistic in ('metric', 'people')"
    )
    assert len(of_confound) > 0
    assert of_confound["value"].isna().all()


def test_the_head_counts_passages(mirror: Path) -> None:
    head = read_head(mirror / "summac_conv/summac_conv_vitc_sent_perc_e.bin")
    found = [value(head, [histogram([0.97, *[0.0] * more])]) for more in (4, 99)]
    assert found == pytest.approx([0.599372, 0.749865], abs=1e-6)
