"""A benchmark's `design` through the stage: attributes of sources are what columns are to files."""

import json
from itertools import product
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
from tests.meta_evaluation.invented_study import rate, ratings_of, table_of
from tests.stage_setup import SETTINGS, run_stage, sources, tiny_project

N, TABLES = 24, Path("data/tables/one")
FEW = {"resamples": 20, "permutations": 200, "seed": 20261121}
DESIGN = {
    "strata": "clinic",
    "cluster": "patient",
    "primary": "good",
    "primary_criterion": "grade",
    "fitted": ["noise"],
    "families": {"a": "house", "b": "house"},
}


@pytest.fixture(scope="module")
def texts() -> pd.DataFrame:
    """What a file for meta-eval has: a row per text, with the columns that belong together."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(product(range(N), "abcdef"), columns=["number", "system"])
    quality, good, noise, rater = rng.normal(size=(4, len(frame)))
    return frame.assign(
        doc_id=[f"d{number:03}" for number in frame["number"]],
        good=quality + good,
        noise=noise,
        grade=np.clip(3 + quality + 0.5 * rater, 1, 5),
        clinic=np.where(frame["number"] < N // 2, "north", "south"),
        patient=[f"p{number // 2}" for number in frame["number"]],
        family=["house" if system in "ab" else system for system in frame["system"]],
    )


@pytest.fixture
def project(tmp_path: Path, texts: pd.DataFrame) -> Path:
    """A project whose tables are those of the file."""
    tiny_project(tmp_path, "http://127.0.0.1:9/v1", ["Read."] * N)
    attributes = texts.drop_duplicates("doc_id")[["clinic", "patient"]].to_dict(
        "records"
    )
    by_text = texts.set_index(["doc_id", "system"])
    scores = table_of({name: by_text[name].to_dict() for name in ("good", "noise")})
    counts = {"n_documents": N, "n_undefined": 0, "n_expected": N, "n_failed": 0}
    named = {"part": "full", "judge": "none", "author": "a", "better": "higher"}
    board = pd.DataFrame(
        [{"metric": m, "recipe": m, **named, **counts} for m in ("good", "noise")]
    )
    ratings = ratings_of(
        *(rate("grade", r.system, r.doc_id, "ann", r.grade) for r in texts.itertuples())
    )
    there = sources(["Read."] * N).assign(
        attributes=[json.dumps(row) for row in attributes]
    )
    for table, frame, name in (
        (SOURCES, there, "sources"),
        (SCORES, scores, "scores"),
        (STATEMENT_SCORES, empty(STATEMENT_SCORES), "statement_scores/judged"),
        (LEADERBOARD, board.reindex(columns=list(LEADERBOARD.columns)), "leaderboard"),
        (RATINGS, ratings.assign(study="ratings"), "ratings/given"),
    ):
        write(table, frame, tmp_path / TABLES / f"{name}.parquet")
    rubrics = yaml.safe_load((tmp_path / SETTINGS).read_text("utf-8"))["rubrics"]
    for name in ("given", *rubrics):
        write(CRITERIA, empty(CRITERIA), tmp_path / TABLES / f"criteria/{name}.parquet")
    return tmp_path


def set_design(root: Path, design: dict[str, object]) -> None:
    criteria = {"grade": {"low": 1, "high": 5, "better": "higher"}}
    for name, change in (
        (SETTINGS, {"design": design, "criteria": criteria}),
        ("params.yaml", {"meta_evaluation": FEW}),
    ):
        block = yaml.safe_load((root / name).read_text("utf-8"))
        for key, value in change.items():
            block[key] = block.get(key, {}) | value
        (root / name).write_text(yaml.safe_dump(block), encoding="utf-8")


def test_a_benchmark_and_a_file_say_the_same(project, texts, monkeypatch) -> None:
    set_design(project, DESIGN)
    assert run_stage(monkeypatch, project, "meta_evaluate") == 0
    assert run_stage(monkeypatch, project, "certify") == 0
    results = metassay.meta_eval(
        # as the benchmark has it; by its name less of it is better
        texts[["doc_id", "system", "good", "noise"]],
        texts[["doc_id", "system", "grade", "clinic", "patient", "family"]],
        strata="clinic",
        cluster="patient",
        family="family",
        primary="good",
        primary_criterion="grade",
        fitted="noise",
        **FEW,
        higher=("noise",),
    )
    for table in (DESIGNS, STRATA, CERTIFICATES):
        ours = results.table(table.name)
        theirs = read(table, TABLES / f"{table.name}.parquet")
        shared = [
            name for name in theirs.columns if name in set(ours) - {"recipe", "source"}
        ]
        assert len(theirs) > 0
        pd.testing.assert_frame_equal(
            ours[shared], theirs[shared], check_dtype=False, rtol=1e-9, atol=0
        )
    row = read(DESIGNS, TABLES / "designs.parquet").iloc[0]
    counts = {
        "n_systems": 6,
        "n_families": 5,
        "n_documents": 24,
        "n_clusters": 12,
        "n_strata": 2,
    }
    assert {name: row[name] for name in counts} == counts
    first = read(CERTIFICATES, TABLES / "certificates.parquet").query(
        "metric == 'good'"
    )
    assert first["primary"].all()
    assert (first["n_tried"] == 1).all()
    every = read(CERTIFICATES, TABLES / "certificates.parquet")
    assert set(every.query("metric == 'noise'")["verdict"]) == {"fitted"}


def test_what_no_source_or_rating_has_is_told_at_once(
    project, monkeypatch, capfd
) -> None:
    set_design(project, DESIGN | {"cluster": "ward", "families": {"gpt": "x"}})
    assert run_stage(monkeypatch, project, "meta_evaluate") == BAD_INPUT
    lines = capfd.readouterr().err
    known = "there are: 'clinic', 'patient'"
    assert f"design > cluster: no source has the attribute 'ward'; {known}" in lines
    assert "design > families: 'gpt' is not a rated system" in lines
