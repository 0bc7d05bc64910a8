"""The committed sample is what its README says."""

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.params import load
from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.registry import load_registry
from metassay.text.citations import parse
from metassay.text.sections import divide
from metassay.text.sentences import sentences

ROOT = Path(__file__).parents[2]
SYSTEMS = ["faithful", "omitting", "hallucinating"]


@pytest.fixture(scope="module")
def sample() -> Ingested:
    benchmark = load(ROOT).benchmarks["sample"]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    return ingest(reader, ROOT / benchmark.raw, benchmark.criteria)


def test_size(sample: Ingested) -> None:
    tasks = sample.sources.groupby("task").size().to_dict()
    assert tasks == {"note": 8, "impression": 6, "question": 6, "abstract": 6}
    turns = sample.sources[sample.sources["task"] == "note"]["passages"].map(len)
    assert turns.between(21, 25).all()
    assert len(sample.texts) == 26 * 4
    assert sorted(set(sample.texts["author"])) == sorted(["reference", *SYSTEMS])


def test_every_task_has_a_failure_or_none_but_one_fails_in_all(sample: Ingested) -> None:
    failed = sample.texts[sample.texts["status"] != "ok"]
    assert failed[["doc_id", "author", "status"]].to_numpy().tolist() == [
        ["note_08", "omitting", "error"]
    ]


def test_systems_cite_every_statement_and_references_none(sample: Ingested) -> None:
    for row in sample.texts[sample.texts["status"] == "ok"].itertuples():
        cited = [parse(row.text[start:end]).citations for start, end in sentences(row.text)]
        if row.author == "reference":
            assert not any(cited), row.doc_id
        else:
            assert all(cited), (row.doc_id, row.author)


def test_two_citations_do_not_exist(sample: Ingested) -> None:
    (warning,) = sample.warnings
    assert warning.startswith(
        "texts.jsonl: 2 lines: a citation names a passage that does not exist"
    )


def test_notes_have_their_sections(sample: Ingested) -> None:
    notes = sample.texts[sample.texts["doc_id"].str.startswith("note")]
    references = notes[notes["author"] == "reference"].set_index("doc_id")["text"]
    absent = [doc for doc, text in references.items() if len(divide(text, compat="none")) < 4]
    assert absent == ["note_03"]
    firsts = {text.split("\n")[0] for text in references}
    assert len(firsts) >= 6  # headings in several forms


def test_each_statement_of_a_reference_is_rated(sample: Ingested) -> None:
    texts = sample.texts.set_index(["doc_id", "author"])["text"]
    coverage = sample.ratings[sample.ratings["criterion"] == "coverage"]
    for (doc, author), rows in coverage.groupby(["doc_id", "author"]):
        expected = [f"claim:{n}" for n in range(len(sentences(texts[doc, "reference"])))]
        for _, units in rows.groupby("rater")["unit"]:
            assert units.tolist() == expected, (doc, author)
    rated = coverage.groupby(["doc_id", "author"]).ngroups
    assert rated == 26 * 3 - 1


def test_systems_differ_plainly_and_raters_a_little(sample: Ingested) -> None:
    ratings = sample.ratings
    for criterion in ("coverage", "completeness"):
        means = ratings[ratings["criterion"] == criterion].groupby("author")["value"].mean()
        assert means["faithful"] > means["omitting"] > means["hallucinating"]
    table = ratings.pivot_table(
        index=["doc_id", "author", "unit"],
        columns=["criterion", "rater"],
        values="value",
    )
    for criterion in ("coverage", "completeness", "preference"):
        for one, other in combinations(["rater_a", "rater_b", "rater_c"], 2):
            pair = pd.concat([table[criterion, one], table[criterion, other]], axis=1).dropna()
            equal = (pair.iloc[:, 0] == pair.iloc[:, 1]).mean()
            assert equal < 1
            assert pair.corr().iloc[0, 1] > 0.6


def test_raters_abstain_now_and_then(sample: Ingested) -> None:
    for criterion, rows in sample.ratings.groupby("criterion"):
        assert 0 < rows["value"].isna().sum() <= 0.05 * len(rows), criterion


def test_it_says_that_it_is_invented() -> None:
    assert "everything in it is invented" in (ROOT / "data/sample/README.md").read_text()
