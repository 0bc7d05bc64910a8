"""The sample of counted facts: what was planted comes back through the reader."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.registry import load_registry
from tests.support import sample_facts

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/sample_facts"
KEY = ["doc_id", "author"]
STATUSES = ["correct", "incorrect", "hallucinated", "omitted"]
SURE = 3.29  # standard errors: one of a thousand numbers lies further away


@pytest.fixture(scope="module")
def made() -> Ingested:
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


def rated(made: Ingested, rater: str) -> pd.DataFrame:
    """A rater's values: a row per text, a column per criterion."""
    its = made.ratings[made.ratings["rater"] == rater]
    return its.pivot_table(index=KEY, columns="criterion", values="value", dropna=False)


def near(found: float, chances: pd.Series) -> None:
    """Whether a sum of draws is as near its expectation as 99.9 % are."""
    error = np.sqrt((chances * (1 - chances)).sum())
    assert abs(found - chances.sum()) <= SURE * error + 0.5


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    sample_facts.write(tmp_path)
    for path in sorted(one for one in tmp_path.rglob("*") if one.is_file()):
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(made: Ingested) -> None:
    assert made.warnings == ()
    assert len(made.sources) == 30
    assert len(made.texts) == 30 * 5
    assert made.texts["status"].eq("ok").all()
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 300_000
    assert load_registry(ROOT / "data/registry.yaml")["sample_facts"].invented


def test_annotator_1_counts_what_was_planted(made: Ingested, planted: pd.DataFrame) -> None:
    counts = planted.groupby([*KEY, "status"]).size().unstack(fill_value=0)
    found = rated(made, "annotator_1")
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


def test_faults_come_back_at_their_rates(made: Ingested, rates: dict[str, Any]) -> None:
    """By system and kind: sums over visits, of annotator_1's ratings and the reference's lines."""
    found = rated(made, "annotator_1")
    references = made.texts[made.texts["author"] == "reference"].set_index("doc_id")["text"]
    facts = references.str.count("\n").sum() + len(references)
    for system, chances in rates["systems"].items():
        its = found.xs(system, level="author")
        for status in ("incorrect", "omitted", "hallucinated"):
            near(its[f"{status}_facts"].sum(), pd.Series([chances[status]] * facts))
    means = found.groupby("author").mean()
    assert means["hallucination_rate"].idxmax() == "wordy"
    assert means["omission_rate"].idxmax() == "brief"
    assert means["factual_precision"].idxmin() == "careless"
    assert means["factual_f1"].idxmax() == "careful"


def test_annotators_differ_at_the_known_rate(
    made: Ingested, planted: pd.DataFrame, rates: dict[str, Any]
) -> None:
    differ = planted["status"] != planted["annotator_2"]
    near(differ.sum(), pd.Series([rates["misread"]] * len(planted)))
    read = planted["annotator_2"]
    for status in STATUSES:
        says = planted.assign(there=read.str.contains(rf"\b{status}\b"))
        expected = says.groupby(KEY)["there"].sum()
        found = rated(made, "annotator_2")[f"{status}_facts"]
        np.testing.assert_array_equal(found, expected.reindex(found.index).to_numpy())


def test_what_no_visit_has_is_in_none(made: Ingested) -> None:
    said = "\n".join("\n".join(passages) for passages in made.sources["passages"]).lower()
    for line in sample_facts.material()["unsaid"]:
        assert line.lower() not in said
