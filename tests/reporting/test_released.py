"""Comparisons that rest on scores which a dataset brings."""

from pathlib import Path

import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.datasets.ingest import ingest
from metassay.datasets.scored_texts import FACETS
from metassay.meta_evaluation.correlations import CORRELATIONS
from metassay.meta_evaluation.facet_weights import FACET_WEIGHTS
from metassay.paper_figures.published import Ours, compare_all
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import empty
from tests.reporting.invented_report import PUBLISHED, cells_of, left_out, ours_of


def correlations(study: str, *values: tuple[str, str, str, float]) -> pd.DataFrame:
    columns = ["study", "criterion", "part", "metric", "judge", "level", "coefficient", "value"]
    rows = [
        [study, criterion, "full", metric, NO_JUDGE, "global", coefficient, value]
        for metric, criterion, coefficient, value in values
    ]
    return pd.DataFrame(rows, columns=columns)


def test_maynez_takes_spearman_with_the_released_means() -> None:
    ours = correlations(
        "xsum_hallucination",
        ("xsum_rouge1", "faithful_released", "spearman", 0.1968),
        ("xsum_rouge1", "faithful_released", "pearson", 0.5),
        ("xsum_rouge1", "faithfulness", "spearman", 0.5),
        ("xsum_entailment", "factual_released", "spearman", 0.2646),
    )
    found = compare_all(["maynez_spearman"], PUBLISHED, ours_of(empty(LEADERBOARD), ours))
    first, last = cells_of(found).to_dict("records")
    assert (first["row"], first["column"], first["published"]) == ("ROUGE-1", "Faithful", 0.197)
    assert first["note"] == ""  # .1968 is printed .197
    assert last["note"].startswith("Unexpected")  # .2646 would be .265, not .264
    assert left_out(found) == 8
    (block,) = found.blocks.values()
    assert block["says"][1].startswith("1 of ")


@pytest.mark.parametrize(("study", "printed"), [("topical_chat", 18), ("sfres", 9)])
def test_unieval_takes_each_dimension_with_itself(study: str, printed: int) -> None:
    ours = correlations(
        study,
        ("unieval_overall", "overall", "kendall", 0.25),
        ("unieval_overall", "naturalness", "kendall", 0.5),
        ("unieval_naturalness", "naturalness", "pearson", 0.5),
    )
    found = compare_all([f"unieval_{study}"], PUBLISHED, ours_of(empty(LEADERBOARD), ours))
    assert cells_of(found)[["row", "column", "ours"]].to_numpy().tolist() == [
        ["naturalness", "Pearson", 0.5],
        ["overall", "Kendall", 0.25],
    ]
    assert left_out(found) == printed - 2


def released(document: int, metric: str, author: str, value: float) -> dict[str, object]:
    key = {"doc_id": f"arxiv_{document:02d}", "author": author, "part": "full"}
    return {**key, "metric": metric, "judge": NO_JUDGE, "value": value}


def test_scholarsum_takes_means_of_the_first_44_papers_and_shows_those_of_all() -> None:
    """FM(GPT-4) is .6193 on average in 44 papers, and 0 in the six that the print lacks."""
    fm = "scholarsum_fm_gpt4"
    scores = [released(d, fm, "gpt35", 0.61925 * (d < 44)) for d in range(50)]
    scores += [released(d, "scholarsum_acu", "llama2_70b", 0.0) for d in range(50)]
    scores += [released(d, "scholarsum_gpt4", "gpt35", 0.5) for d in range(50)]
    people = [released(d, "overall", "factsum", 0.7) for d in range(50)]
    ratings = pd.DataFrame(people).rename(columns={"metric": "criterion"})
    tables = Ours(
        *(empty(LEADERBOARD), empty(CORRELATIONS)),
        *(pd.DataFrame(scores), ratings.assign(study="scholarsum_arxiv"), empty(FACET_WEIGHTS)),
    )
    found = compare_all(["fm_table4"], PUBLISHED, tables)
    gpt4, acu, human = cells_of(found).to_dict("records")
    assert (gpt4["row"], gpt4["column"], gpt4["published"]) == ("GPT-3.5", "FM GPT-4", 0.6193)
    assert gpt4["note"] == ""  # .61925 is half a unit of the fourth decimal away
    assert gpt4["ours_all"] == pytest.approx(0.61925 * 44 / 50)
    assert (acu["row"], acu["published"], acu["difference"]) == ("Llama2", 0, 0)
    assert human["note"].startswith("Expected")  # .7, not .7002
    assert left_out(found) == 29


def test_the_real_scores_give_26_of_32_means(mirror: Path) -> None:
    scale = Criterion(low=0, high=1, better="higher")
    criteria = {name: scale for name in ("overall", *FACETS)}
    real = ingest("scholarsum", mirror / "scholarsum_arxiv", criteria)
    tables = Ours(
        *(empty(LEADERBOARD), empty(CORRELATIONS)),
        *(real.measurements, real.ratings, empty(FACET_WEIGHTS)),
    )
    found = compare_all(["fm_table4"], PUBLISHED, tables)
    assert left_out(found) == 0
    differing = cells_of(found)[cells_of(found)["note"] != ""]
    assert differing[["row", "column"]].to_numpy().tolist() == [
        ["GPT-3.5", "Human (facet-aware overall score) human"],
        ["Llama2", "FM GPT-3.5"],
        ["Llama2", "FM GPT-4"],
        ["Llama2", "Human (facet-aware overall score) human"],
        ["FactSum", "FM GPT-3.5"],
        ["BART-Large", "Human (facet-aware overall score) human"],
    ]
    assert differing["ours"].round(4).tolist() == [0.6573, 0.6761, 0.7069, 0.7385, 0.6527, 0.6371]
    human = cells_of(found).set_index(["row", "column"])["ours_all"]
    assert round(human["GPT-3.5", "Human (facet-aware overall score) human"], 4) == 0.6385


def test_weights_stand_beside_those_of_the_paper() -> None:
    weights = {"background": 0.1, "method": 0.35, "result": 0.3, "conclusion": 0.3}
    fitted = pd.DataFrame(
        {"study": "scholarsum_arxiv", "method": method, "criterion": name, "weight": weight}
        for method in ("complete", "renormalised")
        for name, weight in weights.items()
    ).assign(mse=0.0)
    tables = ours_of(empty(LEADERBOARD), empty(CORRELATIONS))._replace(facet_weights=fitted)
    found = compare_all(["fm_weights"], PUBLISHED, tables)
    assert cells_of(found)["row"].tolist() == [*weights, "error"]
    assert cells_of(found)["difference"].tolist() == pytest.approx([0, 0.05, 0, 0, -0.005])
    assert (cells_of(found)["note"] != "").tolist() == [False, True, False, False, True]
