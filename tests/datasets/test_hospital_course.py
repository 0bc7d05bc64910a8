"""The invented hospital stays that metrics are tested and trained on, and their tiny models."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from metassay.datasets.ingest import Tables
from metassay.metrics import copying
from metassay.units.statements import statements
from tests.datasets.reading import ROOT, check_files, read_benchmark
from tests.support import hospital_course
from tests.support.sampling import near

STAYS = ("hospital_course", "hospital_course_training")
FOLDER, TRAINING, MODELS = (
    ROOT / "data" / name for name in (*STAYS, "hospital_course_models")
)
CATEGORIES = ["incorrect", "missing", "not_in_notes"]
KEY = ["doc_id", "author", "sentence"]
SYSTEMS = ("copying", "trimming", "rewording", "retelling")


@pytest.fixture(scope="module")
def tables() -> Tables:
    return read_benchmark("hospital_course")


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "planted/elements.csv", keep_default_na=False)


@pytest.fixture(scope="module")
def labels() -> dict[str, pd.Series]:
    """The elements of each sentence as the file has them, by rater."""
    rows = pd.read_json(FOLDER / "labels.jsonl", lines=True).set_index(KEY)
    return {
        name: rows[rows["rater"] == name]["elements"] for name in ("rater_1", "rater_2")
    }


@pytest.fixture(scope="module")
def rates() -> dict[str, Any]:
    return dict(json.loads((FOLDER / "planted/rates.json").read_text("utf-8")))


def counts_of(tables: Tables, planted: pd.DataFrame, rater: str) -> pd.DataFrame:
    """A rater's counts of elements by sentence: shares times the sentence's elements."""
    rated = tables.ratings[tables.ratings["rater"] == rater]
    rated = rated.assign(
        sentence=rated["unit"].str.removeprefix("statement:").astype(int)
    )
    shares = rated.pivot_table(index=KEY, columns="criterion", values="value")
    return shares.mul(planted.groupby(KEY).size(), axis=0)


@pytest.mark.parametrize(("name", "size"), [(STAYS[0], 1e6), (STAYS[1], 7e5)])
def test_the_files_are_those_that_the_script_makes(
    tmp_path: Path, name: str, size: float
) -> None:
    course = hospital_course.COURSES[name]
    write = lambda folder: hospital_course.write(folder, course)  # noqa: E731
    check_files(write, ROOT / "data" / name, tmp_path, size)


def test_size(tables: Tables) -> None:
    assert tables.warnings == ()
    assert len(tables.sources) == 24
    assert tables.sources["passages"].map(len).between(20, 60).all()
    assert tables.sources["group"].map(lambda groups: len(set(groups))).eq(6).all()
    assert tables.texts["author"].value_counts().to_dict() == dict.fromkeys(SYSTEMS, 24)
    units = tables.texts["text"].map(
        lambda text: [unit.text for unit in statements(text)]
    )
    assert units.map(len).between(5, 9).all()
    assert [text.split("\n") for text in tables.texts["text"]] == units.tolist()


def test_raters_have_the_planted_counts(
    tables: Tables,
    planted: pd.DataFrame,
    labels: dict[str, pd.Series],
    rates: dict[str, Any],
) -> None:
    """rater_1 has what was planted, rater_2 what the file says, which differs at a known rate."""
    expected = planted[KEY].copy()
    for name in CATEGORIES:
        expected[name] = planted["label"] == name
    expected["error"] = planted["label"] != "correct"
    expected["critical"] = planted["severity"] == "critical"
    expected = expected.groupby(KEY).sum()
    counts = counts_of(tables, planted, "rater_1")
    np.testing.assert_allclose(counts, expected[counts.columns], atol=1e-9)
    counts = counts_of(tables, planted, "rater_2")
    for name in (*CATEGORIES, "critical"):
        field = "severity" if name == "critical" else "label"
        of_file = labels["rater_2"].map(
            lambda elements, field=field, name=name: sum(
                e.get(field) == name for e in elements
            )
        )
        np.testing.assert_allclose(
            counts[name], of_file.reindex(counts.index), atol=1e-9
        )
    pairs = [[e["label"] for its in labels[name] for e in its] for name in labels]
    differing = sum(a != b for a, b in zip(*pairs, strict=True))
    assert len(pairs[0]) == len(planted)
    near(differing, pd.Series([rates["disagreement"]] * len(planted)))


def test_errors_come_back_at_their_rates(
    tables: Tables, planted: pd.DataFrame, rates: dict[str, Any]
) -> None:
    """By position, by system, by category and by severity, out of rater_1's ratings."""
    counts = counts_of(tables, planted, "rater_1").reset_index()
    chances = pd.Series(
        [
            rates["error_by_position"][author][position]
            for author, position in zip(
                planted["author"], planted["sentence"], strict=True
            )
        ]
    )
    for by in ("sentence", "author"):
        for name, its in planted.groupby(by):
            near(counts.loc[counts[by] == name, "error"].sum(), chances[its.index])
    for name in CATEGORIES:
        near(counts[name].sum(), chances * rates["category"][name])
    near(counts["critical"].sum(), chances * float(rates["critical"]))
    sizes = planted.groupby("sentence").size()  # errors rise with the position
    by_position = counts.groupby("sentence")["error"].sum() / sizes
    assert by_position.loc[5:].mean() - by_position.loc[:2].mean() > 0.1
    slope = np.polyfit(by_position.index, by_position, 1, w=np.sqrt(sizes))[0]
    assert slope == pytest.approx(0.04, abs=0.015)


def test_systems_copy_as_much_as_their_rates(
    tables: Tables, planted: pd.DataFrame, rates: dict[str, Any]
) -> None:
    for author, its in planted[planted["label"] != "not_in_notes"].groupby("author"):
        near(its["copied"].sum(), pd.Series([rates["copied"][str(author)]] * len(its)))
    passages = tables.sources.set_index("doc_id")["passages"]
    evidence = ["\n".join(passages[doc]) for doc in tables.texts["doc_id"]]
    texts, options = list(tables.texts["text"]), copying.Options()
    coverage = [m.value for m in copying.measure(texts, evidence, options)["coverage"]]
    means = pd.Series(coverage).groupby(tables.texts["author"]).mean()[[*SYSTEMS]]
    assert means.is_monotonic_decreasing
    assert means["copying"] - means["retelling"] > 0.2


def test_nobody_could_be_meant_and_what_is_not_in_the_notes_is_in_none(
    tables: Tables,
) -> None:
    notes = "\n".join("\n".join(passages) for passages in tables.sources["passages"])
    assert not [
        s for s in hospital_course.material()["unsaid"] if s.lower() in notes.lower()
    ]
    assert not re.search(r"\b(?:Mr|Mrs|Ms|Dr)\b|\d{4}-\d\d|\bMRN\b|@", notes)
    assert "everything in it is invented" in (FOLDER / "README.md").read_text(
        encoding="utf-8"
    )


# ---- the stays that metrics are trained on: none of the others, and true references


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_no_stay_and_no_sentence_is_one_that_metrics_are_tested_on() -> None:
    stays, sentences = [], []
    for folder in (TRAINING, FOLDER):
        sources, summaries = (
            lines(folder / "sources.jsonl"),
            lines(folder / "summaries.jsonl"),
        )
        stays.append({tuple(p["text"] for p in stay["passages"]) for stay in sources})
        sentences.append(
            {text for summary in summaries for text in summary["sentences"]}
        )
    assert len(stays[0]) == 40
    assert not stays[0] & stays[1]
    assert not sentences[0] & sentences[1]


@pytest.mark.parametrize(
    "name",
    [
        "hospital_bartscore",
        "hospital_bartscore_double",
        "hospital_ctc",
        "hospital_ctc_double",
        "hospital_distilled",
    ],
)
def test_trainings_read_these_stays_alone(name: str) -> None:
    params, dvc = (
        yaml.safe_load((ROOT / f"benchmarks/{name}" / file).read_text("utf-8"))
        for file in ("params.yaml", "dvc.yaml")
    )
    assert params["from"] == "hospital_course_training"
    stages = dvc["stages"].values()
    read = [
        str(dep) for stage in stages for dep in stage.get("do", stage).get("deps", [])
    ]
    assert any("data/tables/" in path for path in read)
    assert not [
        path for path in read if "data/tables/" in path and "/hospital_course/" in path
    ]


def test_the_training_has_planted_shares_and_true_references() -> None:
    """Each sentence of a reference is one of the words that were drawn for its stay."""
    tables = read_benchmark("hospital_course_training")
    assert tables.warnings == ()
    authors = dict.fromkeys((*SYSTEMS, "reference"), 40)
    assert tables.texts["author"].value_counts().to_dict() == authors
    planted = pd.read_csv(TRAINING / "planted/elements.csv", keep_default_na=False)
    expected = (
        (planted["label"] != "correct").groupby([planted[name] for name in KEY]).mean()
    )
    errors = tables.ratings[tables.ratings["criterion"] == "error"]
    assert set(errors["rater"]) == {"rater_1"}
    number = errors["unit"].str.removeprefix("statement:").astype(int)
    shares = errors.assign(sentence=number).set_index(KEY)["value"].sort_index()
    assert list(shares.index) == list(expected.index)
    np.testing.assert_array_equal(shares, expected)
    assert "reference" not in set(tables.ratings["author"])
    course = hospital_course.COURSES["hospital_course_training"]
    material = hospital_course.material()
    texts = tables.texts[tables.texts["author"] == "reference"].set_index("doc_id")[
        "text"
    ]
    for number, doc_id in enumerate(sorted(texts.index)):
        stay, _ = hospital_course.make_stay(course, number, material)
        true = "\n".join(
            hospital_course.fill_in(text, values, stay.words)
            for fact, values in stay.facts
            for text in (fact.source, fact.reworded)
        ).lower()
        for line in texts[doc_id].split("\n"):
            for clause in line.removesuffix(".").split(", and "):
                assert clause.lower() in true, (doc_id, clause)


# ---- their tiny models: the same bytes anywhere, and what each can do


def texts() -> list[str]:
    pieces = []
    for name in STAYS:
        summaries, sources = (
            lines(ROOT / f"data/{name}" / file)
            for file in ("summaries.jsonl", "sources.jsonl")
        )
        pieces += [text for summary in summaries for text in summary["sentences"]]
        pieces += [
            passage["text"] for source in sources for passage in source["passages"]
        ]
    return pieces


@pytest.fixture(scope="module")
def transformers() -> Any:
    pytest.importorskip("torch", reason="needs metassay[models]")
    return pytest.importorskip("transformers", reason="needs metassay[models]")


@pytest.mark.usefixtures("transformers")
def test_the_models_are_those_that_the_script_makes(tmp_path: Path) -> None:
    from tests.support import hospital_models

    check_files(hospital_models.write, MODELS, tmp_path, 8.2e5)
    names, there = (
        {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path, MODELS)
    )
    assert there - names == {Path("README.md")}


def test_every_text_is_read_word_by_word_and_can_be_written_again(
    transformers: Any,
) -> None:
    words = transformers.AutoTokenizer.from_pretrained(MODELS / "bart")
    for text in set(texts()):
        tokens = words(text)["input_ids"]
        assert words.unk_token_id not in tokens, text
        assert words.decode(tokens, skip_special_tokens=True) == text
