"""The sample of counted errors: what was planted comes back through the reader."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry
from tests.support import sample_facts, sample_quality
from tests.support.sampling import near

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/sample_quality"
KEY = ["doc_id", "author"]
WEIGHTS = pd.Series({"critical": 1, "non_critical": 1 / 3, "spelling": 1 / 12})


@pytest.fixture(scope="module")
def made() -> Tables:
    benchmark = load(ROOT).benchmarks["sample_quality"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "planted/errors.csv")


def lines(made: Tables) -> pd.Series:
    """How many lines each text has: a sentence each."""
    return made.texts.set_index(KEY)["text"].str.count("\n") + 1


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    sample_quality.write(tmp_path)
    for path in sorted(one for one in tmp_path.rglob("*") if one.is_file()):
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(made: Tables) -> None:
    assert made.warnings == ()
    assert len(made.sources) == 60
    assert len(made.texts) == 60 * 5
    assert len(made.ratings) == 60 * 4 * 2
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 250_000
    assert load_registry(ROOT / "data/registry.yaml")["sample_quality"].invented


@pytest.mark.parametrize("rater", ["annotator_1", "annotator_2"])
def test_quality_is_that_of_the_planted_errors(
    made: Tables, planted: pd.DataFrame, rater: str
) -> None:
    seen = planted if rater == "annotator_1" else planted[planted["annotator_2"] == 1]
    errors = seen.groupby([*KEY, "severity"]).size().unstack(fill_value=0)
    found = made.ratings[made.ratings["rater"] == rater].set_index(KEY)["value"]
    n = lines(made)
    longest = [max(n[key], n[key[0], "reference"]) for key in found.index]
    weighed = errors.reindex(found.index, fill_value=0).mul(WEIGHTS).sum(axis=1)
    np.testing.assert_allclose(found, 1 - weighed / longest, rtol=1e-12)


def test_errors_come_back_at_their_rates(made: Tables, planted: pd.DataFrame) -> None:
    rates = json.loads((FOLDER / "planted/rates.json").read_text("utf-8"))
    n = lines(made)
    facts = n.xs("reference", level="author").sum()
    for system, chances in rates["systems"].items():
        of = planted.loc[planted["author"] == system, "severity"].value_counts()
        wrong = [chances["incorrect"], chances["hallucinated"]]
        near(of["critical"] + of["non_critical"], pd.Series(np.repeat(wrong, facts)))
        texts = made.texts.loc[made.texts["author"] == system, "text"].str.split("\n").explode()
        can_be_wrong = texts.str.contains(rf"(?<!\S)[A-Za-z]{{{sample_quality.LONG},}}(?!\S)").sum()
        near(of["spelling"], pd.Series([rates["spelling"][system]] * can_be_wrong))
    near(planted["annotator_2"].eq(0).sum(), pd.Series([rates["missed"]] * len(planted)))
    means = made.ratings.groupby("author")["value"].mean()
    assert means.idxmax() == "careful"
    assert means.idxmin() == "careless"


def test_inventions_harm_nobody_and_are_said_in_no_visit(made: Tables) -> None:
    said = "\n".join("\n".join(passages) for passages in made.sources["passages"]).lower()
    material = sample_facts.material(Path(sample_quality.__file__).with_suffix(".txt"))
    assert not [line for line in material["unsaid"] if line.lower() in said]
    assert len(material["unsaid"]) >= sample_quality.FACTS[1]


def test_a_misspelt_word_has_its_letters_in_another_order() -> None:
    draws = sample_quality.Draws(sample_quality.VISITS, "test")
    for sentence in ("Coffee: two cups daily.", "Examination shows no sign of a stroke."):
        wrong = sample_quality.misspelt(draws, sentence)
        changed = [pair for pair in zip(sentence.split(), wrong.split(), strict=True)]
        differ = [(a, b) for a, b in changed if a != b]
        assert len(differ) <= 1
        assert all(sorted(a) == sorted(b) and a[0] == b[0] for a, b in differ)
    assert sample_quality.misspelt(draws, "BP is 120.") == "BP is 120."
