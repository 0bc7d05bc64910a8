"""Tables for figures of texts, scorers and raters: by hand, and against numpy and scipy."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from metassay.core.params import load
from metassay.datasets.ingest import ingest
from metassay.reporting.published.scholarsum import PRINTED_PAPERS
from metassay.statistics.agreement import COUNT_COEFFICIENTS
from papers import derived_tables as tables
from papers.estimates import ADDED, ALONE

ROOT = Path(__file__).parents[2]
Rows = list[tuple[str, str, str, float]]


def scores(rows: Rows) -> pd.DataFrame:
    """(doc_id, author, metric, value), of whole texts and no judge."""
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "metric", "value"])
    return frame.assign(part="full", judge="none")


def ratings(rows: Rows) -> pd.DataFrame:
    """(doc_id, author, criterion, value) by one rater of one study."""
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "criterion", "value"])
    return frame.assign(part="full", study="s", unit="text", rater="r")


# ---- texts -----------------------------------------------------------------------------------


def test_every_text_of_every_system_counts_once() -> None:
    """Three texts of two systems: not the mean of the systems' means, and no other part."""
    rows = [
        ("d", "x", "words", 10.0),
        ("d", "y", "words", 40.0),
        ("e", "x", "words", 10.0),
    ]
    frame = scores(
        [*rows, ("d", "reference", "words", 7.0), ("e", "x", "other", np.nan)]
    )
    both = pd.concat([frame, frame.assign(part="plan", value=999.0)])
    table = tables.average_author_kinds({"scores": both}).set_index("author")
    assert table.loc[tables.SYSTEMS, ["value", "n"]].tolist() == [20.0, 3]
    assert table.loc["reference", "value"] == 7.0
    assert table.loc[tables.SYSTEMS, "low"] < 20.0 < table.loc[tables.SYSTEMS, "high"]


def test_statements_without_a_passage_count_as_none_aligned() -> None:
    alignments = pd.DataFrame(
        [
            ("d", "x", [3, 1]),
            ("d", "x", []),
            ("e", "x", [0]),
            ("d", "reference", [1] * 5),
        ],
        columns=["doc_id", "author", "passages"],
    ).assign(method="rouge_topk")
    sources = pd.DataFrame({"doc_id": ["d", "e"], "passages": [["a"] * 4, ["a"] * 10]})
    table = tables.aligned_passages(
        {"alignments": alignments, "sources": sources}
    ).set_index("method")
    assert table["value"].to_dict() == {"rouge_topk": 1.0, tables.WHOLE_SOURCE: 6.0}
    assert set(table["n"]) == {3}


def test_first_documents_are_by_key_and_beside_them_all() -> None:
    """Document i is worth i: the first 44 have the mean 21.5, all 50 have 24.5."""
    rows: Rows = [(f"d{i:02d}", "x", "bleu", float(i)) for i in reversed(range(50))]
    people = ratings(rows).assign(criterion="overall")
    table = tables.means_of_first({"scores": scores(rows), "ratings": people})
    assert PRINTED_PAPERS == 44
    assert table.set_index(["documents", "metric"])["value"].to_dict() == {
        ("first", "bleu"): 21.5,
        ("first", "overall"): 21.5,
        ("all", "bleu"): 24.5,
        ("all", "overall"): 24.5,
    }
    assert set(table["n"]) == {44, 50}


def test_ratings_are_drawn_on_their_own_scale() -> None:
    table = tables.rating_violins(
        {"ratings": ratings([("d", "x", "c", 1.0), ("e", "x", "c", 4.0)])}
    )
    assert table["mean"].tolist() == [2.5]
    assert table["all_ratings"].iloc[0] == [1.0, 4.0]


def test_grades_of_a_facet_are_by_people_and_by_metrics() -> None:
    graded = scores([("d", "x", "fm_result", 0.5), ("d", "x", "fm_method", np.nan)])
    people = ratings([("d", "x", "result", 0.75), ("d", "x", "overall", 1.0)])
    both = pd.concat([people, people.assign(rater="q", value=0.25)])
    table = tables.facet_grades({"scores": graded, "ratings": both})
    assert table.to_dict("split")["data"] == [
        ["d", "x", "result", "fm", 0.5],
        ["d", "x", "result", "people", 0.5],
    ]


def test_the_spread_over_texts_keeps_every_text() -> None:
    texts = list(product("de", "xy"))
    frame = scores([(d, a, "numbers", float(n)) for n, (d, a) in enumerate(texts)])
    sources = pd.DataFrame(
        {"doc_id": ["d", "e"], "passages": [["fever cough"], ["fever"]]}
    )
    rows = [(d, a, "full", "fever") for d, a in texts]
    parts = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text"])
    table = tables.text_numbers({"scores": frame, "sources": sources, "parts": parts})
    table = table.set_index(["quantity", "author"])
    assert table.loc[("numbers", "x"), "draws"] == [0.0, 2.0]
    assert table.loc[("numbers", "y"), "value"] == 2.0
    # "fever" is 1 of the 1 word of the other source for d, 1 of 2 for e; one more is
    # counted.
    fever = [np.log10(1e6 * 2 / 1), np.log10(1e6 * 2 / 2)]
    assert table.loc[("popularity", "x"), "draws"] == pytest.approx(fever)


# ---- metrics among themselves ----------------------------------------------------------------

# Of documents d and e by systems x, y and z; the reference's own scores don't count.
RECALL = {
    ("x", "d"): 0.1,
    ("y", "d"): 0.2,
    ("z", "d"): 0.3,
    ("x", "e"): 0.4,
    ("y", "e"): 0.5,
}
ROUGE = {
    ("x", "d"): 0.2,
    ("y", "d"): 0.1,
    ("z", "d"): 0.3,
    ("x", "e"): 0.4,
    ("y", "e"): 0.4,
}


def test_tau_is_over_all_texts_that_both_score_and_conflicts_within_a_document_without_ties() -> (
    None
):
    """Of 10 pairs 8 are in the same order, 1 in the other and 1 tied on one side."""
    rows: Rows = [
        (doc_id, author, metric, of.get((author, doc_id), np.nan))
        for metric, of in (("claim_recall", RECALL), ("rouge1_recall", ROUGE))
        for author, doc_id in product("xyz", "de")
    ]
    frame = scores([*rows, ("d", "reference", "claim_recall", 1.0)])
    frame.loc[frame["metric"] == "claim_recall", "judge"] = "j"
    table = tables.recall_precision({"scores": frame})
    assert list(table["tau"]) == pytest.approx([7 / np.sqrt(10 * 9)] * 2)
    assert list(table["n"]) == [5, 5]
    assert list(table["group"]) == ["recall", "recall"]
    table = tables.recall_conflicts({"scores": frame})
    assert list(table["first"]) == ["claim_recall (j)", "rouge1_recall"]
    assert list(table["n_pairs"]) == [4, 4]
    assert list(table["n_conflicts"]) == [1, 1]


def test_each_pair_of_scorers_is_there_in_both_orders() -> None:
    pair = {
        "study": "s",
        "part": "full",
        "coefficient": "pearson",
        "first": "a",
        "second": "b",
    }
    pairs = pd.DataFrame([{**pair, "value": 0.5, "n": 7}])
    table = tables.pairs_of_scorers({"metric_correlations": pairs})
    assert table[["row", "column", "value"]].to_numpy().tolist() == [
        ["a", "b", 0.5],
        ["b", "a", 0.5],
    ]


def test_members_stand_alone_and_in_ensembles_and_the_best_twice() -> None:
    rows = [
        ("subset", "a", 1, 0.1),
        ("subset", "a + b", 2, 0.2),
        # Larger than what cross-validation chose: what papers print as the best.
        ("subset", "a + c", 2, 0.3),
        ("subset", "b + c", 2, np.nan),
        ("containing", "a", 1, 0.15),
        ("best", "a + b", 2, 0.12),
    ]
    frame = pd.DataFrame(rows, columns=["kind", "members", "size", "value"])
    frame = frame.assign(low=0.0, high=1.0, n=9, study="s", criterion="c", part="full")
    frame["coefficient"] = "pearson"
    table = tables.average_ensembles({"ensembles": frame}).set_index(
        ["members", "what"]
    )
    assert table["value"].to_dict() == {
        ("a", ALONE): 0.1,
        ("a", tables.WITHIN): 0.15,
        (tables.BEST, tables.TOGETHER): 0.12,
        (tables.LARGEST, tables.TOGETHER): 0.3,
    }
    assert np.isnan(table["low"][tables.LARGEST, tables.TOGETHER])


# ---- copying ---------------------------------------------------------------------------------

TEXTS = list(product("abcdefghij", "xy"))
random = np.random.default_rng(5)
METRIC, PEOPLE = random.normal(size=20), random.normal(size=20)
COVERAGE = np.repeat(np.linspace(0, 1, 10), 2)  # every value twice: shares have ties


def copying() -> dict[str, pd.DataFrame]:
    rows: Rows = [
        (*text, metric, value)
        for metric, values in (("bleu", METRIC), ("coverage", COVERAGE))
        for text, value in zip(TEXTS, values, strict=True)
    ]
    people = [
        (*text, "errors", value) for text, value in zip(TEXTS, PEOPLE, strict=True)
    ]
    aside = ("a", "reference", "bleu", 9.0)
    return {"scores": scores([*rows, aside]), "ratings": ratings(people)}


def test_shares_are_of_the_texts_that_copy_least_with_their_ties() -> None:
    table = tables.least_copied(copying())
    alone = table[(table["metric"] == "bleu") & (table["what"] == ALONE)].set_index(
        "share"
    )
    # 5 and 15 tie with one more
    for share, n in {"25": 6, "50": 10, "75": 16, "100": 20}.items():
        row, least = alone.loc[share], np.argsort(COVERAGE, kind="stable")[:n]
        expected = stats.pearsonr(METRIC[least], PEOPLE[least]).statistic
        assert row["n"] == n
        assert row["value"] == pytest.approx(expected)
        assert row["low"] < expected < row["high"]
    both = stats.zscore(METRIC) + stats.zscore(COVERAGE)
    added = table[table["what"] == ADDED]
    assert list(added["metric"]) == ["bleu"]  # and not coverage with itself
    assert added["value"].item() == pytest.approx(
        stats.pearsonr(both, PEOPLE).statistic
    )


def test_intervals_draw_documents_and_not_texts() -> None:
    """Every text twice in its document says no more than once: the interval is the same."""
    once = {name: frame[frame["author"] == "x"] for name, frame in copying().items()}
    twice = {name: pd.concat([of, of.assign(author="y")]) for name, of in once.items()}
    keys = ["metric", "share", "what"]
    ends = [
        tables.least_copied(frames)
        .set_index(keys)
        .loc["bleu", "100", ALONE][["value", "low", "high"]]
        for frames in (once, twice)
    ]
    assert ends[0].to_list() == pytest.approx(ends[1].to_list())


# ---- raters who count ------------------------------------------------------------------------

COUNTS = {
    "ann": [3, 0, 1, 2, 5, 4, 0, 2],
    "ben": [3, 1, 1, 4, 5, 2, 0, 3],
    "cem": [2, 1, 1, None, 4, 4, 1, 2],
}


def counted(*raters: str) -> pd.DataFrame:
    rows = [
        (f"d{number // 2}", "xy"[number % 2], rater, value)
        for rater in raters
        for number, value in enumerate(COUNTS[rater])
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "rater", "value"])
    return frame.assign(study="s", criterion="omitted_facts", part="full", unit="text")


def agreement(frame: pd.DataFrame) -> pd.DataFrame:
    return tables.agreement_of_counts({"ratings": frame}).set_index("coefficient")


def test_two_raters_are_the_worked_example_and_three_the_mean_of_pairs_over_what_both_counted() -> (
    None
):
    two = counted("ann", "ben")
    table = agreement(two)
    assert tuple(table.index) == COUNT_COEFFICIENTS
    assert table["value"].tolist() == pytest.approx(
        [0.407407, 0.5, 0.75, 1, 0.7797], abs=5e-7
    )
    assert set(table["n"]) == {8}
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
    three = agreement(counted(*COUNTS))
    pairs = [agreement(counted(*pair))["value"] for pair in combinations(COUNTS, 2)]
    np.testing.assert_allclose(three["value"], np.mean(pairs, axis=0))
    assert set(three["n"]) == {8 + 7 + 7}
    # Parts, units and references are left out, and a lone rater has no row.
    reference = two[two["author"] == "x"].assign(author="reference", value=0.0)
    others = [
        two.assign(part="plan", value=0.0),
        two.assign(unit="statement:0", value=0.0),
    ]
    pd.testing.assert_frame_equal(
        agreement(pd.concat([two, *others, reference])), table
    )
    assert agreement(counted("ann")).empty


def test_the_samples_annotators_agree_as_their_readings_were_planted() -> None:
    """Counts of planted/facts.csv, which the reader has no part in, give the same table."""
    folder = ROOT / "data/sample_facts"
    criteria = load(ROOT).benchmarks["sample_facts"].criteria
    people = ingest("fact_annotations", folder, criteria).ratings
    keys = ["study", "criterion", "coefficient"]
    table = tables.agreement_of_counts({"ratings": people}).set_index(keys)["value"]
    planted = pd.read_csv(folder / "planted/facts.csv")
    statuses = ("correct", "incorrect", "hallucinated", "omitted")
    for study, status in product(("facts", "radiology"), statuses):
        of_study = planted[planted["study"] == study]
        a, b = (
            of_study.assign(n=of_study[rater].str.contains(rf"\b{status}\b"))
            .groupby(["doc_id", "author"])["n"]
            .sum()
            for rater in ("status", "annotator_2")
        )
        of_status = table[study, f"{status}_facts"]
        assert of_status["pearson"] == pytest.approx(np.corrcoef(a, b)[0, 1])
        for name, tolerance in (("equal", 0), ("within_1", 1), ("within_2", 2)):
            assert of_status[name] == pytest.approx(((a - b).abs() <= tolerance).mean())
