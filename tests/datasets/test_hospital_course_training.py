"""The invented stays that metrics are trained on: none of the others, and true references."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry
from tests.support import hospital_course

ROOT = Path(__file__).parents[2]
FOLDER, TESTED = ROOT / "data/hospital_course_training", ROOT / "data/hospital_course"
KEY = ["doc_id", "author", "sentence"]


@pytest.fixture(scope="module")
def made() -> Tables:
    benchmark = load(ROOT).benchmarks["hospital_course_training"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    hospital_course.write(tmp_path, hospital_course.COURSES["hospital_course_training"])
    for path in sorted(one for one in tmp_path.rglob("*") if one.is_file()):
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(made: Tables) -> None:
    assert made.warnings == ()
    assert len(made.sources) == 40
    assert made.texts["author"].value_counts().to_dict() == dict.fromkeys(
        ("copying", "trimming", "rewording", "retelling", "reference"), 40
    )
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 7e5


def test_no_stay_and_no_sentence_is_one_that_metrics_are_tested_on() -> None:
    stays, sentences = [], []
    for folder in (FOLDER, TESTED):
        sources = lines(folder / "sources.jsonl")
        stays.append({tuple(one["text"] for one in stay["passages"]) for stay in sources})
        summaries = lines(folder / "summaries.jsonl")
        sentences.append({text for one in summaries for text in one["sentences"]})
    assert len(stays[0]) == 40
    assert not stays[0] & stays[1]
    assert not sentences[0] & sentences[1]


@pytest.mark.parametrize("name", ["hospital_bartscore", "hospital_ctc", "hospital_distilled"])
def test_trainings_read_these_stays_alone(name: str) -> None:
    params = yaml.safe_load((ROOT / f"benchmarks/{name}/params.yaml").read_text("utf-8"))
    assert params["from"] == "hospital_course_training"
    stages = yaml.safe_load((ROOT / f"benchmarks/{name}/dvc.yaml").read_text("utf-8"))["stages"]
    read = [dep for stage in stages.values() for dep in stage.get("do", stage).get("deps", [])]
    tables = [path for path in read if "data/tables/" in str(path)]
    assert tables
    assert not [path for path in tables if "/hospital_course/" in str(path)]


def test_the_rater_has_the_planted_shares(made: Tables) -> None:
    planted = pd.read_csv(FOLDER / "planted/elements.csv", keep_default_na=False)
    expected = (planted["label"] != "correct").groupby([planted[name] for name in KEY]).mean()
    errors = made.ratings[made.ratings["criterion"] == "error"]
    assert set(errors["rater"]) == {"rater_1"}
    number = errors["unit"].str.removeprefix("statement:").astype(int)
    found = errors.assign(sentence=number).set_index(KEY)["value"]
    pd.testing.assert_series_equal(
        found.sort_index(), expected.sort_index(), check_names=False, check_index_type=False
    )


def test_the_reference_says_what_is_so_and_nobody_rated_it(made: Tables) -> None:
    """Each sentence is one of the words that were drawn for its stay, copied or not."""
    course = hospital_course.COURSES["hospital_course_training"]
    material = hospital_course.material()
    texts = made.texts[made.texts["author"] == "reference"].set_index("doc_id")["text"]
    for number, doc_id in enumerate(sorted(texts.index)):
        stay, _ = hospital_course.make_stay(course, number, material)
        true = [
            hospital_course.said(text, values, stay.words)
            for fact, values in stay.facts
            for text in (fact.source, fact.reworded)
        ]
        for line in texts[doc_id].split("\n"):
            for clause in line.removesuffix(".").split(", and "):
                assert any(clause.lower() in one.lower() for one in true), (doc_id, clause)
    assert "reference" not in set(made.ratings["author"])
