"""The sample of counted facts and marked phrases: what was planted comes back by the reader."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry
from tests.support import sample_facts
from tests.support.sampling import near

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/sample_facts"
KEY = ["doc_id", "author"]
STATUSES = ["correct", "incorrect", "hallucinated", "omitted"]
COUNTED, MARKED = ("facts", "radiology"), ("hpi", "assessment", "exam", "results")


@pytest.fixture(scope="module")
def made() -> Tables:
    benchmark = load(ROOT).benchmarks["sample_facts"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "planted/facts.csv")


@pytest.fixture(scope="module")
def rates() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "planted/rates.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def marked() -> pd.DataFrame:
    return pd.read_json(FOLDER / "phrases.jsonl", lines=True)


def rated(made: Tables, rater: str, study: str) -> pd.DataFrame:
    """A rater's values: a row per text, a column per criterion."""
    its = made.ratings[made.ratings["rater"].eq(rater) & made.ratings["study"].eq(study)]
    return its.pivot_table(index=KEY, columns="criterion", values="value", dropna=False)


def written(made: Tables) -> pd.Series:
    return made.texts.set_index(KEY)["text"]


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    sample_facts.write(tmp_path)
    for path in sorted(one for one in tmp_path.rglob("*") if one.is_file()):
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(made: Tables) -> None:
    assert made.warnings == ()
    assert len(made.sources) == 30 + 30 + 4 * 16
    assert len(made.texts) == 124 * 5
    assert made.texts["status"].eq("ok").all()
    assert made.ratings.groupby("study")["doc_id"].nunique().to_dict() == {
        **dict.fromkeys(COUNTED, 30),
        **dict.fromkeys(MARKED, 16),
    }
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 700_000
    assert load_registry(ROOT / "data/registry.yaml")["sample_facts"].invented


@pytest.mark.parametrize("study", COUNTED)
def test_annotator_1_counts_what_was_planted(
    made: Tables, planted: pd.DataFrame, study: str
) -> None:
    its = planted[planted["study"] == study]
    counts = its.groupby([*KEY, "status"]).size().unstack(fill_value=0)
    found = rated(made, "annotator_1", study)
    for status in STATUSES:
        expected = counts[status].reindex(found.index).to_numpy()
        np.testing.assert_array_equal(found[f"{status}_facts"], expected)
    own = counts[["correct", "incorrect", "hallucinated"]].sum(axis=1)
    reference = counts[["correct", "incorrect", "omitted"]].sum(axis=1)
    for name, above, below in (
        ("factual_precision", "correct", own),
        ("factual_recall", "correct", reference),
        ("hallucination_rate", "hallucinated", own),
        ("omission_rate", "omitted", reference),
    ):
        expected = (counts[above] / below).reindex(found.index).to_numpy()
        np.testing.assert_allclose(found[name], expected, rtol=1e-12)


@pytest.mark.parametrize("study", [*COUNTED, *MARKED])
def test_faults_come_back_at_their_rates(
    made: Tables, planted: pd.DataFrame, rates: dict[str, Any], study: str
) -> None:
    """By system and kind, of the facts that the references' lines are."""
    its = planted[planted["study"] == study]
    references = written(made).xs("reference", level="author")[its["doc_id"].unique()]
    facts = references.str.count("\n").sum() + len(references)
    for system, chances in rates["systems"].items():
        of = its[its["author"] == system]
        for status in ("incorrect", "omitted", "hallucinated"):
            near(of["status"].eq(status).sum(), pd.Series([chances[status]] * facts))


@pytest.mark.parametrize("study", COUNTED)
def test_systems_differ_as_they_were_made(made: Tables, study: str) -> None:
    means = rated(made, "annotator_1", study).groupby("author").mean()
    assert means["hallucination_rate"].idxmax() == "wordy"
    assert means["omission_rate"].idxmax() == "brief"
    assert means["factual_precision"].idxmin() == "careless"
    assert means["factual_f1"].idxmax() == "careful"


@pytest.mark.parametrize("study", [*COUNTED, *MARKED])
def test_annotators_differ_at_the_known_rate(
    planted: pd.DataFrame, rates: dict[str, Any], study: str
) -> None:
    its = planted[planted["study"] == study]
    chances = rates["mismarked" if study in MARKED else "misread"]
    near((its["status"] != its["annotator_2"]).sum(), its["status"].map(chances))


@pytest.mark.parametrize("study", COUNTED)
def test_annotator_2_counts_what_it_read(made: Tables, planted: pd.DataFrame, study: str) -> None:
    its = planted[planted["study"] == study]
    found = rated(made, "annotator_2", study)
    for status in STATUSES:
        there = its.assign(there=its["annotator_2"].str.contains(rf"\b{status}\b"))
        expected = there.groupby(KEY)["there"].sum().reindex(found.index)
        np.testing.assert_array_equal(found[f"{status}_facts"], expected.to_numpy())


@pytest.mark.parametrize("study", MARKED)
@pytest.mark.parametrize(
    ("rater", "column"), [("annotator_1", "status"), ("annotator_2", "annotator_2")]
)
def test_phrases_per_word_are_those_of_the_planted_facts(
    made: Tables, planted: pd.DataFrame, study: str, rater: str, column: str
) -> None:
    its = planted[planted["study"] == study]
    texts, found = written(made), rated(made, rater, study)
    for (doc_id, system), row in found.iterrows():
        read = Counter(its.loc[its["doc_id"].eq(doc_id) & its["author"].eq(system), column])
        words, reference = (len(texts[doc_id, author].split()) for author in (system, "reference"))
        wrong = read["incorrect"] + read["hallucinated"]
        assert row["hallucination_count"] == pytest.approx(wrong / words)
        assert row["omission_count"] == pytest.approx(read["omitted"] / reference)


def test_phrases_are_short_and_lie_where_they_should(made: Tables, marked: pd.DataFrame) -> None:
    """What annotator_1 marks is nowhere on the other side; of two annotators, some is apart."""
    texts, seen = written(made), set[tuple[str, int]]()
    for row in marked.itertuples():
        both = texts[row.doc_id, row.author], texts[row.doc_id, "reference"]
        for name, text, other in (
            ("hallucinated", *both),
            ("omitted", *reversed(both)),
        ):
            for span in getattr(row, name):
                start, end, phrase = span["start"], span["end"], span["text"]
                assert text[start:end] == phrase
                assert not text[start - 1 : start].isalnum()
                assert not text[end : end + 1].isalnum()
                assert 2 <= len(phrase.split()) <= 6
                assert row.rater == "annotator_2" or phrase.lower() not in other.lower()
                seen.add((name, len(phrase.split())))
    assert len(seen) >= 8


def test_what_no_source_says_is_in_none(made: Tables) -> None:
    said = "\n".join("\n".join(passages) for passages in made.sources["passages"]).lower()
    for heading, lines in sample_facts.material().items():
        if heading.endswith("unsaid"):
            assert not [line for line in lines if line.strip("[].").lower() in said]


def test_the_pools_are_large_enough() -> None:
    lines = sample_facts.material()
    for study in sample_facts.STUDIES:
        facts = [sample_facts.fact_of(line) for line in lines[study.name]]
        assert len(facts) >= (12 if study.marked else 20)
        assert len(lines[sample_facts.unsaid_of(study)]) >= study.facts[1]
        assert len({wording for one in facts for wording in one[1:]}) == 3 * len(facts)
