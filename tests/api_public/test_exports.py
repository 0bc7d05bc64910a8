"""What `metassay` exports: lazily, typed, documented, and the same numbers as below it."""

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import metassay
from metassay.api import reference
from metassay.api.scoring import DEFAULTS
from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.statistics import correlation
from metassay.tables.documents import SOURCES
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.parquet import empty, write

ROOT = Path(__file__).parents[2]
RANDOM = np.random.default_rng(3)
HUMAN = np.linspace(-1, 1, 8)[:, None] + RANDOM.normal(size=(8, 20))
GOOD = HUMAN + RANDOM.normal(0, 0.3, HUMAN.shape)
NOISE = RANDOM.normal(size=HUMAN.shape)


def test_importing_it_brings_nothing_else() -> None:
    code = "import sys; old = {*sys.modules}; import metassay; print(*sys.modules.keys() - old)"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)
    modules = {name.split(".")[0] for name in printed.split()} - {
        *sys.stdlib_module_names
    }
    assert modules == {"metassay"}
    assert "metassay." not in printed


def test_every_name_is_there_and_no_other_and_the_page_is_current() -> None:
    assert (ROOT / "docs/api.md").read_text("utf-8") == reference.page(), (
        "stale: make docs"
    )
    assert dir(metassay) == sorted(metassay.__all__)
    assert set(metassay._MODULES) == set(metassay.__all__) - {"__version__"}
    for name, module in metassay._MODULES.items():
        assert getattr(metassay, name) is getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = metassay.nothing


@pytest.mark.parametrize(
    "name", ["agreement", "correlate", "meta_eval", "permutation_test", "score"]
)
def test_docstrings_name_every_parameter_and_their_examples_are_true(name: str) -> None:
    function = getattr(metassay, name)
    text = inspect.getdoc(function) or ""
    for section in ("Parameters", "Returns", "Raises", "Notes"):
        assert f"\n{section}\n---" in text
    listed = text.partition("Parameters\n")[2].partition("Returns\n")[0]
    assert all(
        parameter in listed for parameter in inspect.signature(function).parameters
    )
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_better_metric_is_seen_and_the_seed_decides() -> None:
    for level in ("system", "document", "global"):
        ours = metassay.correlate(GOOD, HUMAN, level=level, coefficient="pearson")
        assert ours == correlation.correlate(GOOD, HUMAN, level, "pearson")
        assert ours.value > 0.8
    tests = [
        metassay.permutation_test(GOOD, NOISE, HUMAN, alternative="greater", seed=seed)
        for seed in (0, 0, 1)
    ]
    assert tests[0] == tests[1]
    assert max(test.p for test in tests) < 0.01
    near = [
        metassay.permutation_test(GOOD, HUMAN + NOISE, HUMAN, seed=seed).p
        for seed in (0, 1)
    ]
    assert near[0] != near[1]
    assert metassay.permutation_test(GOOD, GOOD, HUMAN, permutations=50).p == 1.0


def test_agreement_is_that_of_scikit_learn() -> None:
    ratings = np.array([[1, 2, 3, 3, 2, 1, 1], [1, 2, 2, 3, 3, 1, 2]])
    for weights, theirs in (
        ("none", None),
        ("linear", "linear"),
        ("quadratic", "quadratic"),
    ):
        ours = metassay.agreement(ratings, coefficient="cohen_kappa", weights=weights)
        assert ours.value == pytest.approx(cohen_kappa_score(*ratings, weights=theirs))
    assert metassay.agreement(ratings, coefficient="percent").value == pytest.approx(
        4 / 7
    )
    gaps = np.vstack([ratings, [np.nan] * 6 + [2]])
    assert metassay.agreement(gaps, scale="nominal").n == 7


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: metassay.correlate(GOOD, HUMAN, level="text"),
            "level='text' is not known",
        ),
        (lambda: metassay.correlate(GOOD, HUMAN[0]), "expected one shape"),
        (
            lambda: metassay.correlate(GOOD, HUMAN, coefficient="tau"),
            "coefficient='tau'",
        ),
        (
            lambda: metassay.permutation_test(GOOD, NOISE, HUMAN, resample="all"),
            "resample='all'",
        ),
        (
            lambda: metassay.agreement(HUMAN, coefficient="cohen_kappa"),
            r"two raters .* \(8, 20\)",
        ),
        (
            lambda: metassay.agreement(HUMAN, scale="ratio"),
            "scale='ratio' is not known",
        ),
        (lambda: metassay.agreement(HUMAN[0]), "raters x items"),
    ],
)
def test_what_is_not_known_is_refused(call, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        call()


def test_scores_are_one_row_per_text_and_missing_texts_have_none() -> None:
    texts = pd.Series(["the cat sat", None, ""], index=["a", "b", "c"])
    scores = metassay.score(
        texts, ["the cat sat", "a", "b"], metrics=["rouge", "bleu", "lengths"]
    )
    assert list(scores.index) == ["a", "b", "c"]
    assert scores.loc["a", ["rouge1_fmeasure", "words"]].tolist() == [1.0, 3]
    assert scores.loc["b"].isna().all()
    assert scores.loc["c", "words"] == 0
    block = {"kind": "rouge", "stemmer": True, "split": "newline"}
    stemmed = metassay.score(["cats running"], ["cat run"], metrics=[block])
    assert stemmed["rouge1_fmeasure"].item() == 1.0
    assert metassay.score([], [], metrics=["rouge"]).shape[0] == 0


def test_the_defaults_are_those_of_a_new_project() -> None:
    params = load(ROOT)
    blocks = {**params.metrics, **params.costly_metrics}
    for kind, options in DEFAULTS.items():
        assert blocks[kind] == {"kind": kind, **options}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"texts": "one"}, "texts: is one text; give a list"),
        (
            {"texts": ["a"], "metrics": ["rouge"]},
            "metrics: 'rouge' needs references; give them",
        ),
        ({"texts": ["a"], "metrics": "rouge"}, "is one metric; give a list"),
        ({"texts": ["a"], "references": []}, "there are 1 texts, 0 references"),
        ({"texts": [1], "references": ["a"]}, "texts: has int; give text"),
        (
            {"texts": ["a"], "metrics": ["rogue"]},
            "metrics > kind: 'rogue' is not known",
        ),
        ({"texts": ["a"], "metrics": ["extractiveness"]}, "needs sources; give them"),
        ({"texts": ["a"], "metrics": ["lengths", "lengths"]}, "is measured twice"),
        (
            {"texts": ["a"], "metrics": [{"kind": "lengths", "x": 1}]},
            "metrics > x: unknown key",
        ),
    ],
)
def test_scoring_says_what_is_wrong(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        metassay.score(**arguments)  # type: ignore[arg-type]


def test_tables_of_a_benchmark(tmp_path: Path) -> None:
    params = tmp_path / "benchmarks/one/params.yaml"
    params.parent.mkdir(parents=True)
    params.touch()
    benchmark = metassay.Benchmark("one", tmp_path)
    assert benchmark.tables == []
    tables = tmp_path / "data/tables/one"
    write(SOURCES, empty(SOURCES), tables / "sources.parquet")
    write(JUDGMENTS, empty(JUDGMENTS), tables / "judgments/lexical.parquet")
    assert benchmark.tables == ["judgments", "sources"]
    assert list(benchmark.table("judgments").columns) == list(JUDGMENTS.columns)
    for call, message in (
        (
            lambda: benchmark.table("texts"),
            r"table 'texts' of 'one' does not exist; run: metassay",
        ),
        (lambda: benchmark.table("score"), "no table is called 'score'; choose from"),
        (
            lambda: metassay.Benchmark("two", tmp_path),
            "has no benchmark 'two'; there are: one",
        ),
        (lambda: metassay.Benchmark("../one", tmp_path), r"benchmark '\.\./one'"),
    ):
        with pytest.raises(BadInput, match=message):
            call()
