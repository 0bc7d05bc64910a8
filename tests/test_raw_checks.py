"""`validate` reads raw files as ingest does, where they are there."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from metassay.core.options import Criterion, Design
from metassay.datasets.registry import Dataset
from metassay.project.raw_files import not_fetched, raw_problems

GRADE = Criterion(low=1, high=5, better="higher")
FILE = {
    "name": "a.csv",
    "url": "https://example.org/a.csv",
    "sha256": "0" * 64,
    "bytes": 3,
}


def dataset(**changed: object) -> Dataset:
    plain = {"reader": "files", "title": "t", "licence": "l", "access": "public"}
    return Dataset.model_validate(plain | changed)


def benchmark(raw: Path, **changed: Any) -> Any:
    """As much of a benchmark as is needed to read its raw files."""
    fields = {"dataset": "mine", "raw": str(raw), "criteria": {"grade": GRADE}}
    fields |= {"studies": {}, "writers": [], "design": Design()}
    return SimpleNamespace(**(fields | changed))


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Two documents, a text of each, and a rating of each."""
    source = (
        '{{"doc_id": "{0}", "task": "note", "passages": ["Hello.", "It hurts."]}}\n'
    )
    text = '{{"doc_id": "{0}", "author": "alpha", "text": "Pain."}}\n'
    for name, line in (("sources.jsonl", source), ("texts.jsonl", text)):
        (tmp_path / name).write_text("".join(line.format(d) for d in ("d1", "d2")))
    header = "study,doc_id,author,rater,criterion,value\n"
    rated = "".join(f"s,{d},alpha,ann,grade,4\n" for d in ("d1", "d2"))
    (tmp_path / "ratings.csv").write_text(header + rated)
    return tmp_path


def test_raw_files_as_they_should_be(raw: Path) -> None:
    assert raw_problems({"mine": benchmark(raw)}, {"mine": dataset()}) == []
    assert not_fetched({"mine": benchmark(raw)}, {"mine": dataset()}) == []


def test_a_missing_rater_column_and_a_bad_line_come_at_once(raw: Path) -> None:
    ratings = (raw / "ratings.csv").read_text()
    (raw / "ratings.csv").write_text(ratings.replace("rater,", "").replace("ann,", ""))
    with (raw / "texts.jsonl").open("a") as file:
        file.write(
            '{"doc_id": "d3", "author": "alpha", "text": "Somebody\'s words."}\n'
        )
    (column, unknown) = raw_problems({"mine": benchmark(raw)}, {"mine": dataset()})
    assert column.startswith("mine: ratings.csv: ")
    assert "'rater' is missing" in column
    assert unknown.startswith("mine: texts.jsonl: line 3: ")
    assert "Somebody" not in unknown


def test_ratings_are_held_against_the_benchmark_s_own_criteria(raw: Path) -> None:
    ratings = (raw / "ratings.csv").read_text()
    (raw / "ratings.csv").write_text(ratings.replace(",4\n", ",9\n"))
    wide = benchmark(raw, criteria={"grade": GRADE.model_copy(update={"high": 9.0})})
    (problem,) = raw_problems(
        {"mine": benchmark(raw), "wide": wide}, {"mine": dataset()}
    )
    assert problem.startswith("mine: ratings.csv: ")


def test_ratings_that_came_back_are_read_too(raw: Path) -> None:
    header = "study,doc_id,author,rater,criterion,value\n"
    (raw / "pilot.csv").write_text(
        f"{header}pilot,d1,lead,ann,grade,4\npilot,d1,tail,ann,grade,9\n"
    )
    studies = {"pilot": str(raw / "pilot.csv"), "gone": str(raw / "gone.csv")}
    problems = raw_problems(
        {"mine": benchmark(raw, studies=studies, writers=["lead"])}, {"mine": dataset()}
    )
    assert ["pilot.csv: line 3" in line for line in problems] == [True, True, False]
    assert "gone.csv: is not in" in problems[2]


def test_one_problem_of_two_benchmarks_is_one_line(raw: Path) -> None:
    (raw / "texts.jsonl").write_text("{\n")
    two = {"mine": benchmark(raw), "other": benchmark(raw)}
    problems = raw_problems(two, {"mine": dataset()})
    assert problems
    assert len(set(problems)) == len(problems)
    assert all(problem.startswith("mine, other: ") for problem in problems)


def test_files_that_are_not_fetched_are_named_and_are_no_problem(raw: Path) -> None:
    fetched = dataset(files=[FILE, FILE | {"name": "ratings.csv"}])
    for folder, absent in ((raw, 1), (raw / "nowhere", 2)):
        benchmarks = {"mine": benchmark(folder)}
        assert raw_problems(benchmarks, {"mine": fetched}) == []
        assert not_fetched(benchmarks, {"mine": fetched}) == [
            f"mine: raw files were not checked, {absent} of 2 are not in {folder};"
            " metassay run mine --only fetch brings them"
        ]


def test_what_the_params_and_the_registry_are_told_is_not_told_twice(raw: Path) -> None:
    registry = {
        "mine": dataset(reader="nobody"),
        "none": dataset(reader=None),
        "ok": dataset(),
    }
    benchmarks = {
        "a": benchmark(raw),
        "b": benchmark(raw, dataset="none"),
        "c": benchmark(raw, dataset="nowhere"),
        "d": benchmark(raw / "nowhere", dataset="ok"),
    }
    assert raw_problems(benchmarks, registry) == []
    assert not_fetched(benchmarks, registry) == []
