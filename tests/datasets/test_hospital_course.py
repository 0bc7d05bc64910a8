"""The invented hospital stays: what was planted comes back through reader and ratings."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry
from metassay.metrics import copying
from metassay.units.statements import statements
from tests.support import hospital_course
from tests.support.sampling import near

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/hospital_course"
CATEGORIES = ["incorrect", "missing", "not_in_notes"]
KEY = ["doc_id", "author", "sentence"]


@pytest.fixture(scope="module")
def made() -> Tables:
    benchmark = load(ROOT).benchmarks["hospital_course"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "planted/elements.csv", keep_default_na=False)


@pytest.fixture(scope="module")
def rates() -> dict[str, object]:
    found: dict[str, object] = json.loads((FOLDER / "planted/rates.json").read_text("utf-8"))
    return found


def counts_of(made: Tables, planted: pd.DataFrame, rater: str) -> pd.DataFrame:
    """A rater's counts of elements by sentence: shares times the sentence's elements."""
    rated = made.ratings[made.ratings["rater"] == rater]
    rated = rated.assign(sentence=rated["unit"].str.removeprefix("statement:").astype(int))
    shares = rated.pivot_table(index=KEY, columns="criterion", values="value")
    return shares.mul(planted.groupby(KEY).size(), axis=0)


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    hospital_course.write(tmp_path, hospital_course.COURSES["hospital_course"])
    for path in sorted(one for one in tmp_path.rglob("*") if one.is_file()):
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(made: Tables) -> None:
    assert made.warnings == ()
    assert len(made.sources) == 24
    assert made.sources["passages"].map(len).between(20, 60).all()
    assert made.sources["group"].map(lambda groups: len(set(groups))).eq(6).all()
    assert made.texts["author"].value_counts().to_dict() == dict.fromkeys(
        ("copying", "trimming", "rewording", "retelling"), 24
    )
    found = made.texts["text"].map(lambda text: [one.text for one in statements(text)])
    assert found.map(len).between(5, 9).all()
    assert [text.split("\n") for text in made.texts["text"]] == found.tolist()
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 1e6


def test_rater_1_has_the_planted_counts(made: Tables, planted: pd.DataFrame) -> None:
    counts = counts_of(made, planted, "rater_1")
    expected = planted[KEY].copy()
    for name in CATEGORIES:
        expected[name] = planted["label"] == name
    expected["error"] = planted["label"] != "correct"
    expected["critical"] = planted["severity"] == "critical"
    expected = expected.groupby(KEY).sum()
    np.testing.assert_allclose(counts, expected[counts.columns], atol=1e-9)


def test_rater_2_has_the_counts_of_the_file(made: Tables, planted: pd.DataFrame) -> None:
    lines = pd.read_json(FOLDER / "labels.jsonl", lines=True)
    second = lines[lines["rater"] == "rater_2"].set_index(KEY)["elements"]
    counts = counts_of(made, planted, "rater_2")
    for name in CATEGORIES:
        of_file = second.map(lambda its, name=name: sum(one["label"] == name for one in its))
        np.testing.assert_allclose(counts[name], of_file.reindex(counts.index), atol=1e-9)
    grave = second.map(lambda its: sum(one.get("severity") == "critical" for one in its))
    np.testing.assert_allclose(counts["critical"], grave.reindex(counts.index), atol=1e-9)


def test_errors_come_back_at_their_rates(
    made: Tables, planted: pd.DataFrame, rates: dict[str, dict[str, list[float]]]
) -> None:
    """By position, by system, by category and by severity, out of rater_1's ratings."""
    counts = counts_of(made, planted, "rater_1").reset_index()
    chances = pd.Series(
        [
            rates["error_by_position"][author][position]
            for author, position in zip(planted["author"], planted["sentence"], strict=True)
        ]
    )
    for by in ("sentence", "author"):
        for name, its in planted.groupby(by):
            near(counts.loc[counts[by] == name, "error"].sum(), chances[its.index])
    for name in CATEGORIES:
        near(counts[name].sum(), chances * rates["category"][name])
    near(counts["critical"].sum(), chances * float(rates["critical"]))  # type: ignore[arg-type]


def test_errors_rise_with_the_position(made: Tables, planted: pd.DataFrame) -> None:
    counts = counts_of(made, planted, "rater_1").reset_index()
    sizes = planted.groupby("sentence").size()
    by_position = counts.groupby("sentence")["error"].sum() / sizes
    assert by_position.loc[5:].mean() - by_position.loc[:2].mean() > 0.1
    slope = np.polyfit(by_position.index, by_position, 1, w=np.sqrt(sizes))[0]
    assert slope == pytest.approx(0.04, abs=0.015)


def test_raters_disagree_at_the_known_rate(planted: pd.DataFrame, rates: dict[str, float]) -> None:
    lines = pd.read_json(FOLDER / "labels.jsonl", lines=True)
    labels = [
        [one["label"] for its in lines[lines["rater"] == rater]["elements"] for one in its]
        for rater in ("rater_1", "rater_2")
    ]
    differing = sum(a != b for a, b in zip(*labels, strict=True))
    assert len(labels[0]) == len(planted)
    near(differing, pd.Series([rates["disagreement"]] * len(planted)))


def test_systems_copy_as_much_as_they_are_said_to(
    made: Tables, planted: pd.DataFrame, rates: dict[str, dict[str, float]]
) -> None:
    drawn = planted[planted["label"] != "not_in_notes"]
    for author, its in drawn.groupby("author"):
        near(its["copied"].sum(), pd.Series([rates["copied"][str(author)]] * len(its)))
    passages = made.sources.set_index("doc_id")["passages"]
    evidence = ["\n".join(passages[doc]) for doc in made.texts["doc_id"]]
    found = copying.measure(list(made.texts["text"]), evidence, copying.Options())
    coverage = pd.Series([one.value for one in found["coverage"]]).groupby(made.texts["author"])
    means = coverage.mean()[["copying", "trimming", "rewording", "retelling"]]
    assert means.is_monotonic_decreasing
    assert means["copying"] - means["retelling"] > 0.2


def test_what_is_not_in_the_notes_is_in_none(made: Tables) -> None:
    notes = "\n".join("\n".join(passages) for passages in made.sources["passages"]).lower()
    for line in hospital_course.material()["unsaid"]:
        assert line.lower() not in notes


def test_nobody_could_be_meant(made: Tables) -> None:
    every = "\n".join("\n".join(passages) for passages in made.sources["passages"])
    assert not re.search(r"\b(?:Mr|Mrs|Ms|Dr)\b|\d{4}-\d\d|\bMRN\b|@", every)
    assert "everything in it is invented" in (FOLDER / "README.md").read_text(encoding="utf-8")
    assert load_registry(ROOT / "data/registry.yaml")["hospital_course"].invented
