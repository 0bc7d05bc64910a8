"""FRANK's own evaluation, from its files by other means, beside what our tables say.

Partial correlations given the system, by all errors and with a kind of them forgiven
(ablation is their difference), and Williams' test of two metrics within systems
(Pagnoni et al. 2021, evaluate.py: one-hot systems, least squares, Pearson of what is
left; Williams' p one-sided).
"""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.scored_texts import FRANK_CRITERIA as CRITERIA
from metassay.datasets.scored_texts import FRANK_HUMAN as HUMAN
from metassay.datasets.scored_texts import FRANK_METRICS as METRICS
from metassay.datasets.scored_texts import FRANK_SCORES as SCORES
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.exact_tests import run_tests
from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Study, studies
from metassay.scoring.catalogue import descriptions
from metassay.statistics.correlation import Coefficient
from metassay.statistics.partials import less_system, partial_given_system
from metassay.statistics.significance import common, williams_of
from tests.support.frank_files import put, records

ROOT = Path(__file__).parents[2]
COMPARED = ["Rouge L", "BertScore P Art", "FactCC", "Dep Entail", "QAGS"]
HUMANS = ["Factuality", "Flip_Semantic_Frame_Errors", "Flip_Discourse_Errors"]
HUMANS += ["Flip_Content_Verifiability_Errors"]
OPTIONS = MetaOptions(
    resamples=20,
    permutations=20,
    confidence=0.95,
    seed=1,
    compared=[METRICS[name] for name in COMPARED],
)


def read(folder: Path) -> Tables:
    tables = ingest("frank", folder, load(ROOT).benchmarks["frank"].criteria)
    ratings, scores = tables.ratings, tables.measurements
    return tables._replace(
        ratings=ratings[ratings["criterion"].isin([CRITERIA[name] for name in HUMANS])],
        measurements=scores[scores["metric"].isin(OPTIONS.compared)],
    )


def studies_of(tables: Tables) -> list[Study]:
    about = zip(tables.sources["doc_id"], tables.sources["attributes"], strict=True)
    strata = {doc_id: json.loads(attributes)["corpus"] for doc_id, attributes in about}
    criteria = load(ROOT).benchmarks["frank"].criteria
    better = {name: metric.better for name, metric in descriptions().items()}
    return studies(
        tables.measurements, tables.ratings, criteria, better, Groups(strata, {}, {})
    )


def partials(
    tables: Tables, coefficient: Coefficient = "pearson", statistic: str = "partial"
) -> pd.Series:
    """Our table's global partials given the system, by criterion and metric."""
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    table = confounds(run_tests(studies_of(tables), options), options)
    table = table[(table["confound"] == "system") & (table["level"] == "global")]
    table = table[table["statistic"] == statistic]
    return table.set_index(["criterion", "metric"])["value"]


def pooled(tables: Tables) -> pd.Series:
    """The same over all texts, whatever their corpus: nobody's strata."""
    return pd.Series(
        {
            (study.criterion, metric.metric): partial_given_system(
                metric.oriented, study.oriented, "global", "pearson"
            )[0].value
            for study in studies_of(tables)
            for metric in study.metrics
        }
    )


def released(folder: Path) -> pd.DataFrame:
    human, scores = (
        pd.DataFrame(json.loads((folder / name).read_text(encoding="utf-8")))
        for name in (HUMAN, SCORES)
    )
    scores = scores.drop(columns=["dataset", "split"])
    return human.merge(scores, on=["hash", "model_name"], validate="one_to_one")


def left(frame: pd.DataFrame, *columns: str) -> list[np.ndarray]:
    """What systems, one-hot, leave of each column by least squares, on rows that have all."""
    there = frame.dropna(subset=list(columns))
    systems = pd.get_dummies(there["model_name"]).to_numpy(dtype=float)
    values = there[list(columns)].to_numpy(dtype=float)
    return list((values - systems @ np.linalg.lstsq(systems, values, rcond=None)[0]).T)


@pytest.fixture(scope="module", params=["invented", "released"])
def folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    if request.param == "released":
        path: Path = request.getfixturevalue("mirror") / "frank"
        return path
    return put(tmp_path_factory.mktemp("frank"), *records(articles=30))


def over_corpora(frame: pd.DataFrame, metric: str, human: str) -> float:
    each = [left(part, metric, human) for _, part in frame.groupby("dataset")]
    values = [stats.pearsonr(*sides).statistic for sides in each]
    return float(np.average(values, weights=[len(sides[0]) for sides in each]))


def test_partials_given_the_system(folder: Path) -> None:
    """Pooled as FRANK has them; in the table the corpora's mean, by texts: no system is in both."""
    tables, frame = read(folder), released(folder)
    table, all_texts = partials(tables), pooled(tables)
    assert len(table) == len(all_texts) == len(HUMANS) * len(COMPARED)
    for human in HUMANS:
        for metric in COMPARED:
            key = CRITERIA[human], METRICS[metric]
            expected = stats.pearsonr(*left(frame, metric, human)).statistic
            assert all_texts[key] == pytest.approx(expected, abs=1e-9)
            assert table[key] == pytest.approx(
                over_corpora(frame, metric, human), abs=1e-9
            )


def test_spearman_is_of_what_the_system_leaves(folder: Path) -> None:
    ours = partials(read(folder), "spearman", "partial_residuals_first")
    corpora = [corpus for _, corpus in released(folder).groupby("dataset")]
    for metric in COMPARED:
        # What differs by rounding alone is tied, as it is here after 9 digits.
        sides = [
            [s.round(9) for s in left(corpus, metric, "Factuality")]
            for corpus in corpora
        ]
        each = [stats.spearmanr(*of_corpus).statistic for of_corpus in sides]
        expected = np.average(each, weights=[len(of_corpus[0]) for of_corpus in sides])
        assert ours["factuality", METRICS[metric]] == pytest.approx(expected, abs=1e-9)


def by_hand(r12: float, r13: float, r23: float, n: int) -> float:
    """Williams' one-sided p that r12 is larger than r13, as it is."""
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    under = np.sqrt(2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3)
    return float(
        stats.t.sf((r12 - r13) * np.sqrt((n - 1) * (1 + r23)) / under, df=n - 3)
    )


def test_williams_within_systems(folder: Path) -> None:
    study = next(s for s in studies_of(read(folder)) if s.criterion == "factuality")
    values = {metric.metric: metric.values for metric in study.metrics}
    frame = released(folder)
    for a, b in permutations(COMPARED, 2):
        x, y, z = left(frame, a, b, "Factuality")
        rs = [stats.pearsonr(*two).statistic for two in ((x, z), (y, z), (x, y))]
        if rs[0] < rs[1]:
            continue
        trio = common(values[METRICS[a]], values[METRICS[b]], study.human).select(0)
        sides = map(less_system, (trio.a, trio.b, trio.human))
        ours = williams_of(
            common(*sides).select(0), "global", "pearson", alternative="greater"
        )
        assert ours.n == len(x)
        assert ours.p == pytest.approx(by_hand(*rs, len(x)), abs=1e-9)


def test_the_papers_partials(mirror: Path) -> None:
    """FRANK's printed table, Pearson given the system: all data, CNN/DM, XSum."""
    tables = read(mirror / "frank")
    corpus = tables.sources.set_index("doc_id")["attributes"].map(json.loads)
    ours = []
    for name in (None, "cnndm", "xsum"):
        documents = {
            doc for doc, about in corpus.items() if name in (None, about["corpus"])
        }
        part = tables._replace(
            ratings=tables.ratings[tables.ratings["doc_id"].isin(documents)],
            measurements=tables.measurements[
                tables.measurements["doc_id"].isin(documents)
            ],
        )
        ours.append(pooled(part)["factuality"])
    table = pd.DataFrame(ours).T.round(2)
    printed = {
        "frank_bertscore_article_precision": [0.27, 0.35, 0.18],
        "frank_factcc": [0.20, 0.36, 0.07],
        "frank_dep_entail": [0.16, 0.25, 0.04],
    }
    for metric, values in printed.items():
        assert table.loc[metric].tolist() == values
