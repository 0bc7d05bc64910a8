"""The committed sample of abstracts is what its README says."""

from pathlib import Path

import pytest
import yaml

from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry
from metassay.text.sentences import sentences

ROOT = Path(__file__).parents[2]
FACETS = ["background", "method", "result", "conclusion"]
SYSTEMS = ["careful", "numberless", "copying"]
LACKING = {
    ("study_03", "conclusion"),
    ("study_05", "background"),
    ("study_08", "conclusion"),
    ("study_09", "background"),
    ("study_11", "method"),
}


@pytest.fixture(scope="module")
def sample() -> Tables:
    benchmark = load(ROOT).benchmarks["sample_abstracts"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


def test_size(sample: Tables) -> None:
    assert sample.warnings == ()
    assert set(sample.sources["task"]) == {"abstract"}
    assert sample.sources["passages"].map(len).between(9, 12).all()
    assert sample.texts["author"].value_counts().to_dict() == {
        author: 12 for author in ("reference", *SYSTEMS)
    }
    failed = sample.texts[sample.texts["status"] != "ok"]
    assert failed[["doc_id", "author", "status"]].to_numpy().tolist() == [
        ["study_09", "numberless", "truncated"]
    ]


def test_the_references_are_their_facets(sample: Tables) -> None:
    texts = sample.texts[sample.texts["author"] == "reference"].set_index("doc_id")["text"]
    facets = sample.segments.set_index(["doc_id", "part"])["text"]
    assert set(sample.segments["author"]) == {"reference"}
    for doc, text in texts.items():
        mine = [facet for facet in FACETS if (doc, facet) not in LACKING]
        assert set(facets[doc].index) == set(mine)
        assert " ".join(facets[doc][facet] for facet in mine) == text
        assert 4 <= len(sentences(text)) <= 6


def test_systems_are_what_they_are_called(sample: Tables) -> None:
    texts = sample.texts[sample.texts["status"] == "ok"].set_index(["doc_id", "author"])["text"]
    passages = sample.sources.set_index("doc_id")["passages"]
    for (doc, author), text in texts.items():
        if author == "numberless":
            assert not any(one.isdigit() for one in text)
        if author == "copying":
            assert text.startswith(" ".join(passages[doc][:2])), doc


def test_grades_are_shares_of_the_rubrics_levels(sample: Tables) -> None:
    rubric = yaml.safe_load((ROOT / "rubrics/bmrc.yaml").read_text(encoding="utf-8"))
    rated = sample.ratings[sample.ratings["criterion"].isin(FACETS)]
    for criterion, values in rated.groupby("criterion")["value"]:
        top = len(rubric["criteria"][criterion]["levels"])
        levels = values.dropna() * top
        assert (levels - levels.round()).abs().max() < 0.001
        assert set(levels.round()) == set(range(1, top + 1))
    empty = rated[rated["value"].isna()]
    assert set(zip(empty["doc_id"], empty["criterion"], strict=True)) == LACKING
    whole = sample.ratings[sample.ratings["criterion"] == "overall"]
    assert len(whole) == 35 * 3
    assert whole["value"].notna().all()


def test_systems_differ_and_one_rater_is_careless(sample: Tables) -> None:
    overall = sample.ratings[sample.ratings["criterion"] == "overall"]
    table = overall.pivot_table(index=["doc_id", "author"], columns="rater", values="value")
    means = table[["rater_a", "rater_b"]].mean(axis=1).groupby("author").mean()
    assert means["careful"] - means["numberless"] > 0.3
    assert means["careful"] - means["copying"] > 0.3
    pairs = {
        (one, other): table[[one, other]].corr(method="spearman").iloc[0, 1]
        for one, other in (("rater_a", "rater_b"), ("rater_a", "rater_c"), ("rater_b", "rater_c"))
    }
    assert pairs.pop(("rater_a", "rater_b")) > 0.8
    assert max(pairs.values()) < 0.3


def test_it_says_that_it_is_invented() -> None:
    readme = (ROOT / "data/sample_abstracts/README.md").read_text(encoding="utf-8")
    assert "everything in it is invented" in readme
    assert load_registry(ROOT / "data/registry.yaml")["sample_abstracts"].invented
