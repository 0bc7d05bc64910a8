"""What kinds make of shards is what they make of everything: tables and notes, to the byte."""

import pickle
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import yaml

from metassay.executor.shards import cut
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import evaluate
from metassay.metrics.bertscore import KIND as BERTSCORE
from stages import workers
from tests.executor.test_stages_on_workers import change, tables
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    rate,
    ratings_of,
    scores_of,
)
from tests.stage_setup import ROOT, SETTINGS, refresh_code, run_stage, tiny_project
from tests.test_llm_pipeline import data

pytestmark = pytest.mark.slow

BEFORE = [  # stages whose tables follow, here
    ("ingest", ""),
    ("generate", "lead"),
    ("segment", ""),
    ("decompose", "clauses"),
    *(("align", name) for name in ("rouge_topk", "entity_chain", "bs_topk")),
    ("pair", "all"),
]
CUT = [
    ("generate", "lead"),
    ("segment", ""),
    ("decompose", "clauses"),
    ("align", "rouge_topk"),
    ("align", "entity_chain"),
    ("align", "bs_topk"),
    ("judge", "lexical"),
    ("judge", "semantic"),
    ("measure", ""),
    ("measure", "bertscore"),
    ("score_statements", "bertscore_source"),
]


class Cutting:
    """Answers as a cluster does, in this process: each shard goes and comes as bytes."""

    remote = True

    def __init__(self) -> None:
        self.shards = 0

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),
    ) -> list[Any]:
        assert all(file.is_file() for file in files)
        answers = []
        for shard in cut(pieces):
            there, pieces_, more = pickle.loads(
                cloudpickle.dumps((function, shard, common), 5)
            )
            answers.append(pickle.loads(pickle.dumps(there(pieces_, *more), 5)))
            self.shards += 1
        return answers or [function(pieces, *common)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark whose tables were made in this process, and the models' outputs with them."""
    root = tmp_path_factory.mktemp("kinds") / "project"
    tiny_project(root, "http://127.0.0.1:9", ["Replaced."])
    data(root / "data/raw/one", [f"a{number}" for number in range(5)])
    for folder in ("terms", "judges"):
        shutil.copytree(ROOT / "data" / folder, root / "data" / folder)
    shared = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    metrics = shared["statement_metrics"]
    metrics["bertscore_source"] |= {"alignments": ["rouge_topk"]}
    blocks = {
        "systems": {"lead": {"kind": "lead", "passages": 3}},
        "statement_metrics": metrics,
    }
    change(
        root, "params.yaml", decompositions={"clauses": {"kind": "clauses"}}, **blocks
    )
    lists = {
        "systems": ["lead"],
        "decompositions": ["clauses"],
        "costly_metrics": ["bertscore"],
    }
    lists |= {"alignments": ["rouge_topk", "entity_chain", "bs_topk"]}
    lists |= {
        "judges": ["lexical", "semantic"],
        "statement_metrics": ["bertscore_source"],
    }
    change(root, str(SETTINGS), **lists)
    refresh_code(root)
    with pytest.MonkeyPatch.context() as patch:
        assert [run_stage(patch, root, *stage) for stage in BEFORE] == [0] * len(BEFORE)
    return root


@pytest.mark.parametrize(("stage", "item"), CUT)
def test_a_stage_in_shards_makes_the_same_tables(
    project: Path, monkeypatch: pytest.MonkeyPatch, stage: str, item: str
) -> None:
    assert run_stage(monkeypatch, project, stage, item) == 0
    here = tables(project)
    for store in (project / ".work").glob("models.sqlite*"):
        store.unlink()
    cutting = Cutting()
    monkeypatch.setattr(workers, "open_executor", lambda *_, **__: nullcontext(cutting))
    assert run_stage(monkeypatch, project, stage, item) == 0
    assert tables(project) == here
    assert cutting.shards >= 5


def test_what_hangs_on_all_texts_is_never_cut() -> None:
    for idf in (True, False):
        assert BERTSCORE.whole(BERTSCORE.options.model_construct(idf=idf)) is idf


def test_levels_families_and_ensembles_of_a_study_in_shards() -> None:
    rng = np.random.default_rng(5)
    texts = [(f"d{d}", f"s{s}") for d in range(9) for s in range(5)]
    values = [{text: float(rng.normal()) for text in texts} for _ in "abc"]
    scores = pd.concat(
        [scores_of(of, metric=name) for of, name in zip(values, "abc", strict=True)]
    )
    rated = [
        rate("grade", author, doc, rater, float(rng.integers(1, 5)))
        for rater in ("amy", "bob")
        for doc, author in texts
    ]
    few = {"resamples": 50, "permutations": 50, "compared": ["a", "b", "c"]}
    better = dict.fromkeys("abc", "higher")
    study = (
        scores,
        ratings_of(*rated),
        CRITERIA,
        better,
        OPTIONS.model_copy(update=few),
    )
    cutting, here = Cutting(), evaluate(Evaluation(*study))
    there = evaluate(Evaluation(*study, executor=cutting))
    assert here.keys() == there.keys()
    for name, frame in here.items():
        pd.testing.assert_frame_equal(frame, there[name], check_exact=True)
    assert cutting.shards >= 5  # three levels, the families of tests, the ensembles
