"""A benchmark's `design` through the stage: attributes of sources are what columns are to files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import metassay
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import SOURCES
from metassay.tables.evidence import DESIGNS, STRATA
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tables.statement_scores import STATEMENT_SCORES
from stages.doorway import BAD_INPUT
from tests.meta_evaluation.invented_study import rate, ratings_of, scores_of
from tests.stage_setup import OWN, run_stage, sources, tiny_project

SYSTEMS, N, TABLES = "abcdef", 24, Path("data/tables/one")
FEW = {"resamples": 20, "permutations": 200, "seed": 20261121}
DESIGN = {
    **{"strata": "clinic", "cluster": "patient", "primary": "good"},
    "families": {"a": "house", "b": "house"},
}


def clinic(number: int) -> str:
    return "north" if number < N // 2 else "south"


@pytest.fixture(scope="module")
def texts() -> pd.DataFrame:
    """What a file for meta-eval has: a row per text, with the columns that belong together."""
    rng = np.random.default_rng(4)
    keys = [(number, system) for number in range(N) for system in SYSTEMS]
    quality = rng.normal(size=len(keys))
    return pd.DataFrame(
        {
            "doc_id": [f"d{number:03}" for number, _ in keys],
            "system": [system for _, system in keys],
            "good": quality + rng.normal(size=len(keys)),
            "noise": rng.normal(size=len(keys)),
            "grade": np.clip(3 + quality + 0.5 * rng.normal(size=len(keys)), 1, 5),
            "clinic": [clinic(number) for number, _ in keys],
            "patient": [f"p{number // 2}" for number, _ in keys],
            "family": ["house" if system in "ab" else system for _, system in keys],
        }
    )


@pytest.fixture
def project(tmp_path: Path, texts: pd.DataFrame) -> Path:
    """A project whose tables are those of the file."""
    tiny_project(tmp_path, "http://127.0.0.1:9/v1", ["Read."] * N)
    attributes = [
        json.dumps({"clinic": clinic(number), "patient": f"p{number // 2}"}) for number in range(N)
    ]
    values = {
        name: {(r.doc_id, r.system): getattr(r, name) for r in texts.itertuples()}
        for name in ("good", "noise")
    }
    scores = pd.concat([scores_of(found, metric=name) for name, found in values.items()])
    board = pd.DataFrame(
        [{"part": "full", "metric": name, "judge": "none", "author": "a", "n_documents": N,
          "n_undefined": 0, "n_expected": N, "n_failed": 0, "better": "higher", "recipe": name}
         for name in values]
    ).reindex(columns=list(LEADERBOARD.columns))  # fmt: skip
    ratings = ratings_of(
        *(rate("grade", r.system, r.doc_id, "ann", r.grade) for r in texts.itertuples())
    )
    there = sources(["Read."] * N).assign(attributes=attributes)
    for table, frame, name in (
        (SOURCES, there, "sources"),
        (SCORES, scores, "scores"),
        (STATEMENT_SCORES, empty(STATEMENT_SCORES), "statement_scores/judged"),
        (LEADERBOARD, board, "leaderboard"),
        (RATINGS, ratings.assign(study="ratings"), "ratings/given"),
    ):
        write(table, frame, tmp_path / TABLES / f"{name}.parquet")
    rubrics = yaml.safe_load((tmp_path / OWN).read_text("utf-8"))["rubrics"]
    for name in ("given", *rubrics):
        write(CRITERIA, empty(CRITERIA), tmp_path / TABLES / f"criteria/{name}.parquet")
    return tmp_path


def set_design(root: Path, design: dict[str, object]) -> None:
    own = yaml.safe_load((root / OWN).read_text("utf-8"))
    own |= {"design": design, "criteria": {"grade": {"low": 1, "high": 5, "better": "higher"}}}
    (root / OWN).write_text(yaml.safe_dump(own), encoding="utf-8")
    shared = yaml.safe_load((root / "params.yaml").read_text("utf-8"))
    shared["meta_evaluation"] |= FEW
    (root / "params.yaml").write_text(yaml.safe_dump(shared), encoding="utf-8")


def test_a_benchmark_and_a_file_say_the_same(project, texts, monkeypatch) -> None:
    set_design(project, DESIGN)
    assert run_stage(monkeypatch, project, "meta_evaluate") == 0
    assert run_stage(monkeypatch, project, "certify") == 0
    found = metassay.meta_eval(
        texts[["doc_id", "system", "good", "noise"]],
        texts[["doc_id", "system", "grade", "clinic", "patient", "family"]],
        **{"strata": "clinic", "cluster": "patient", "family": "family", "primary": "good"},
        **FEW, higher=("noise",),  # as the benchmark has it; by its name less of it is better
    )  # fmt: skip
    for table, mine in ((DESIGNS, found.designs), (STRATA, found.strata),
                        (CERTIFICATES, found.certificates)):  # fmt: skip
        made = read(table, TABLES / f"{table.name}.parquet")
        assert len(made) == len(mine) > 0
        for column in set(made.columns) & set(mine.columns) - {"recipe", "source"}:
            one, other = made[column], mine[column]
            if pd.api.types.is_numeric_dtype(one):
                np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=1e-9)
            else:
                assert one.astype(str).tolist() == other.astype(str).tolist(), column
    row = read(DESIGNS, TABLES / "designs.parquet").iloc[0]
    counted = {"n_systems": 6, "n_families": 5, "n_documents": 24, "n_clusters": 12, "n_strata": 2}
    assert {name: row[name] for name in counted} == counted
    first = read(CERTIFICATES, TABLES / "certificates.parquet").query("metric == 'good'")
    assert first["primary"].all()


def test_what_no_source_or_rating_has_is_told_at_once(project, monkeypatch, capfd) -> None:
    set_design(project, DESIGN | {"cluster": "ward", "families": {"gpt": "x"}})
    assert run_stage(monkeypatch, project, "meta_evaluate") == BAD_INPUT
    said = capfd.readouterr().err
    assert (
        "design > cluster: no source has the attribute 'ward'; there are: 'clinic', 'patient'"
        in said
    )
    assert "design > families: 'gpt' is not a rated system" in said
