"""What a study says before its verdicts: who differs, and what it is too small for."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.study_warnings import (
    find_convenient_choices,
    find_doubted_raters,
    find_selected_texts,
    find_small_sizes,
)
from metassay.tables.data_warnings import DataWarning, warnings_table
from metassay.tables.evidence import EVIDENCE
from metassay.tables.parquet import empty
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    HIGHER,
    OPTIONS,
    ratings_of,
    table_of,
)
from tests.meta_evaluation.test_agreement import agreed, rated

WHERE = {"study": "s", "criterion": "grade", "part": "full"}
PLAIN = {
    "n_systems": 8,
    "n_families": 8,
    "n_documents": 25,
    "n_clusters": 25,
    "design": "crossed",
    "smallest_p": 0.0004,
}


def run_of(confidence=0.95, **tables):
    return Evaluation(
        scores=pd.DataFrame(),
        ratings=pd.DataFrame(),
        criteria=CRITERIA,
        better={},
        options=OPTIONS.model_copy(update={"confidence": confidence}),
        tables={**tables},
    )


def test_equal_warnings_stand_once_in_order_of_their_kinds():
    few = DataWarning(kind="size", finding="Few.", **WHERE)
    alike = DataWarning(
        kind="groups", finding="Alike.", remedy="Name a column.", **WHERE
    )
    table = warnings_table([few, alike, few])
    assert table["finding"].tolist() == ["Alike.", "Few."]
    assert table["position"].tolist() == [0, 1]
    assert alike.sentence == "Alike. Name a column."
    assert dataclasses.replace(few, study="t").study == "t"


def test_a_primary_metric_that_is_also_the_best_invites_a_doubt():
    rows = [
        {**WHERE, "metric": name, "judge": "none", "level": level, "value": value}
        | {"primary": name == "bleu"}
        for name, value in (("bleu", 0.5), ("rouge", 0.4), ("none", np.nan))
        for level in ("global", "system")
    ]
    (line,) = find_convenient_choices(run_of(evidence=pd.DataFrame(rows)))
    assert (line.kind, line.criterion) == ("chosen", "grade")
    assert line.sentence == (
        "The primary metric 'bleu' also has the highest correlation of the 2 metrics in this"
        " study. Its p and interval hold only if it was named before anybody saw these ratings."
        " If it was not, remove `primary`."
    )
    # Another is better; or it is alone; or none was named.
    better = [
        {**row, "value": row["value"] + (row["metric"] == "rouge")} for row in rows
    ]
    alone = [row for row in rows if row["metric"] == "bleu"]
    unnamed = [{**row, "primary": False} for row in rows]
    for others in (better, alone, unnamed):
        assert not [*find_convenient_choices(run_of(evidence=pd.DataFrame(others)))]


def test_a_careless_rater_is_named_and_a_lenient_one_is_not():
    rng = np.random.default_rng(5)
    quality = rng.integers(1, 5, 40)
    careful, lenient, other = (
        np.clip(quality + more + rng.choice([0, 0, 0, 1, -1], 40), 1, 6)
        for more in (0, 1, 0)
    )
    careless = rng.integers(1, 6, 40)
    (warning,) = of_raters(amy=careful, bob=lenient, cat=careless)
    assert warning.finding.startswith("Rater cat agrees less with the other raters")
    assert (warning.criterion, warning.part) == ("grade", "full")
    assert of_raters(amy=careful, bob=lenient, cat=other) == []


def of_raters(**grades):
    rows = rated("grade", **grades)
    run = run_of(agreement=agreed(*rows))
    run = dataclasses.replace(run, ratings=ratings_of(*rows), scores=empty(SCORES))
    return list(find_doubted_raters(run))


# ---- what a study is too small for -----------------------------------------------------------


def small(rows, confidence=0.95):
    """The sentences about evidence that has these levels, or rows."""
    lines = [
        dict.fromkeys(EVIDENCE.columns) | WHERE | PLAIN | {"level": level} | row
        for level, row in rows
    ]
    evidence = pd.DataFrame(lines)
    evidence["smallest_p"] = (
        evidence["smallest_p"]
        .astype(object)
        .where(evidence["smallest_p"].notna(), None)
    )
    return [w.finding for w in find_small_sizes(run_of(confidence, evidence=evidence))]


@pytest.mark.parametrize(
    ("systems", "smallest", "confidence", "text"),
    [
        (3, 1 / 3, 0.95, "People rated 3 systems; ranking systems needs at least 5."),
        (4, 1 / 12, 0.99, "People rated 4 systems; ranking systems needs at least 6."),
        (2, 1.0, 0.8, "People rated 2 systems; ranking systems needs at least 4."),
        (1, 1.0, 0.95, "All texts are by one system, so there are no two to rank."),
    ],
)
def test_fewest_systems_by_hand(systems, smallest, confidence, text):
    """2 / 4! = .083, 2 / 5! = .017, 2 / 6! = .003."""
    row = {"n_systems": 9, "n_families": systems, "smallest_p": smallest}
    line, few = small([("system", row)], confidence)
    assert line == text
    assert few.startswith(
        f"With {systems} system{'s' if systems > 1 else ''} the best verdict"
    )


def test_at_the_threshold_nothing_is_shown_below_it_something_may_be():
    row = {"n_families": 7, "smallest_p": 0.25}
    assert small([("system", row)], 0.75)
    assert small([("system", row)], 0.7) == []


def test_few_permutations_nested_documents_and_few_documents_are_told_apart():
    """2 / (3! x 3!) = .056; and of one system and three clusters 2 / (1 x 2**3) = .25."""
    few_orders = [("global", {"smallest_p": 0.1}), ("document", {}), ("system", {})]
    assert small(few_orders) == [
        "Too few orders were drawn at random for any two texts; set more permutations."
    ]
    nested = {"smallest_p": None, "design": "nested"}
    assert small([("document", nested)]) == [
        "Each document has one system’s text, so there are no two to compare."
    ]
    texts = {"n_families": 3, "n_documents": 3, "n_clusters": 3, "smallest_p": 1 / 18}
    assert small([("global", texts)])[0] == (
        "People rated 3 systems and 3 documents, too few to test a metric on any two texts."
    )
    alone = {"n_families": 1, "n_documents": 30, "n_clusters": 3}
    alone |= {"design": "one system", "smallest_p": 0.25}
    assert small([("global", alone)]) == [
        "People rated 1 system and 3 clusters of documents, too few to test a metric on any two"
        " texts."
    ]


# ---- texts that were chosen to be rated ------------------------------------------------------


def found_selections(choose, criteria=("grade",)):
    """The warnings where `choose` picks the texts by bleu that people rate; rouge is noise."""
    rng = np.random.default_rng(4)
    texts = [(f"d{d:02d}", f"s{s}") for d in range(60) for s in range(8)]
    bleu, rouge = rng.normal(size=(2, len(texts)))
    by_metric = {"bleu": bleu, "rouge": rouge}
    scores = table_of(
        {
            name: dict(zip(texts, values, strict=True))
            for name, values in by_metric.items()
        }
    )
    ratings = [
        {
            "study": "s",
            "doc_id": doc,
            "author": author,
            "part": "full",
            "unit": "text",
            "criterion": criterion,
            "rater": "ann",
            "value": float(np.clip(np.rint(score + 3), 1, 5)),
        }
        for criterion in criteria
        for (doc, author), score, is_rated in zip(
            texts, bleu, choose(bleu, rng), strict=True
        )
        if is_rated
    ]
    frame = pd.DataFrame(ratings).reindex(columns=list(RATINGS.columns))
    run = dataclasses.replace(run_of(), scores=scores, ratings=frame, better=HIGHER)
    return [*find_selected_texts(run)]


def test_it_is_said_by_which_scores_rated_texts_were_chosen():
    (line,) = found_selections(lambda bleu, _: bleu > 0.5)
    assert (line.kind, line.study, line.criterion) == ("selected", "s", "")
    assert "They have higher scores of bleu than the 3" in line.finding
    assert "rouge" not in line.finding
    (line,) = found_selections(lambda bleu, _: np.abs(bleu) > 1.2)
    assert "Their scores of bleu are more extreme than those of the" in line.finding
    (line,) = found_selections(lambda bleu, _: np.abs(bleu) < 0.5)
    assert "are less extreme" in line.finding


def test_a_random_sample_and_all_texts_are_no_choice():
    assert not found_selections(lambda bleu, rng: rng.random(bleu.size) < 0.3)
    assert not found_selections(lambda bleu, _: bleu > -np.inf)


def test_criteria_of_the_same_texts_have_one_warning():
    (line,) = found_selections(lambda bleu, _: bleu > 0.5, ("grade", "errors"))
    assert line.criterion == ""
