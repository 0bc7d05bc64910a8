"""Items to tables: what is in them, and what is refused, all at once and without any text."""

import pytest

from metassay.core.errors import BadInput
from metassay.datasets import readers
from metassay.datasets.readers import ITEM_READERS, READERS, reader_of
from metassay.labelled.ingest import INSTRUMENTS, ingest_items, majority
from metassay.labelled.records import ItemRow, Items, LabelRow, VerdictRow
from metassay.labelled.types import (
    TESTS,
    ClaimLabelsOptions,
    Sample,
    choose_items,
    chosen_test,
    reader_problem,
)
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import round_trip
from metassay.tables.ratings import RATINGS
from metassay.tabular.rows import Place, Rows

TWO = {"ways": 2, "subsets": [], "sample": None}
SECRET = "the patient's own words"


def at(line):
    return Place("items.jsonl", line)


def row(line, item="i1", label="entailed", **more):
    fields = {"premises": ["A."], "hypothesis": "B.", "subset": "dev", **more}
    return ItemRow(
        at(line), item, fields.pop("premises"), fields.pop("hypothesis"), label, **fields
    )


@pytest.fixture
def ingested(monkeypatch, tmp_path):
    """Ingest these items, as a reader of the name `wice` would have given them."""

    def run(items, *, options=TWO, judges=()):
        monkeypatch.setattr("metassay.labelled.ingest.reader_of", lambda *_: lambda _: items)
        test = chosen_test("nli", options, where="benchmarks/x/params.yaml")
        return ingest_items(test, "wice", tmp_path, dataset="set", judges=judges)

    return run


def problems(ingested, items, **more):
    with pytest.raises(BadInput) as caught:
        ingested(items, **more)
    assert SECRET not in str(caught.value)
    return list(caught.value.problems)


def test_every_premise_is_a_question_and_gold_may_be_peoples(ingested):
    items = Items(
        [
            row(1, "a", premises=["A.", "C."], cluster="t", kind="time"),
            *(row(n, name, label=None) for n, name in enumerate("bcd", start=2)),
        ],
        [VerdictRow(at(9), "a", "paper", probability=0.25)],
        [
            *(LabelRow(at(5), "b", rater, entailed=True) for rater in "xyz"),
            *(LabelRow(at(6), "c", rater, entailed=rater == "x") for rater in "xy"),
            LabelRow(at(6), "c", "z", entailed=None),
            LabelRow(at(7), "a", "x", entailed=False),
        ],
    )
    made = ingested(items)
    pairs = round_trip(PAIRS, made.pairs)
    first = pairs[pairs["doc_id"] == "a"].sort_values("position")
    assert first["pair_id"].tolist() == [pair_id("entailment", p, "B.") for p in ("A.", "C.")]
    assert set(pairs["repeats"]) == {"set"}
    gold = round_trip(GOLD, made.gold).set_index("item")
    assert gold["label"].fillna("-").to_dict() == {
        **{"a": "entailed", "b": "entailed"},  # the data's own label stands, whatever a rater says
        **{"c": "-", "d": "-"},
    }
    assert gold["unlabelled"].fillna("-").tolist() == ["-", "-", "split", "no_label"]
    assert gold["cluster"].tolist() == ["t", "b", "c", "d"]
    assert gold.loc["a", "kind"] == "time"
    ratings = round_trip(RATINGS, made.ratings)
    assert ratings["value"].tolist() == [0, 1, 1, 1, 1, 0, pytest.approx(float("nan"), nan_ok=True)]
    given = round_trip(GIVEN_VERDICTS, made.verdicts).iloc[0]
    assert (given["item"], given["judge"], given["probability"]) == ("a", "paper", 0.25)
    assert given["recipe"] == "given|reader:wice"
    assert made.warnings == (
        "1 of 4 items have no gold label: no card counts them",
        "1 of 4 items have no gold label, because half of the people who labelled them say"
        " entailed: no card counts them",
    )
    assert [majority(said) for said in ([], [True], [True, False], [True, True, False])] == [
        *(None, True, None, True),
    ]


def test_three_ways_ask_for_one_of_three_labels(ingested):
    items = Items([row(1, label="contradicted")])
    made = ingested(items, options=TWO | {"ways": 3})
    assert set(made.pairs["instrument"]) == {"three_way"} == {INSTRUMENTS[3]}
    found = problems(ingested, Items([row(1, label="not_entailed")]), options=TWO | {"ways": 3})
    assert found == [
        "items.jsonl: line 1: the gold label 'not_entailed' does not fit judges that give one of"
        " three (item 'i1'); set options > ways to 2"
    ]


def test_everything_that_is_wrong_comes_at_once(ingested):
    items = Items(
        [
            row(1),
            row(2),
            row(3, "e", premises=[]),
            row(4, "f", premises=["A.", " "]),
            row(5, "g", hypothesis=""),
            row(6, " h"),
            row(7, "k", subset="all subsets"),
            row(8, "l", subset="", hypothesis=SECRET),
        ],
        [
            VerdictRow(at(11), "nobody", "paper", "entailed"),
            VerdictRow(at(12), "e", "paper"),
            VerdictRow(at(13), "f", "paper", probability=1.5),
            VerdictRow(at(14), "g", "paper", "entailed", status="refused"),
            VerdictRow(at(15), "g", "lexical", "entailed"),
            VerdictRow(at(16), "g", "lexical", "entailed"),
        ],
        [LabelRow(at(21), "g", "paper", entailed=True), LabelRow(at(22), "zz", "x", entailed=True)],
    )
    found = problems(ingested, items, judges=["lexical"])
    said = "\n".join(found)
    for one in (
        "line 2: the same item is there twice (item 'i1'); give each its own",
        "line 3: has no premise for judges to read (item 'e'); add it, or write judges: []",
        "line 4: a premise is blank (item 'f')",
        "line 5: has no hypothesis for judges to read (item 'g')",
        "line 6: 'item' is empty, has blanks at an end, or characters that do not print",
        "line 7: the subset's name is taken ('all subsets'); choose another",
        "line 8: 'subset' is empty",
        "2 lines: the item is not there (first: line 11, item 'nobody')",
        "line 12: a verdict has neither label nor probability (item 'e', judge 'paper')",
        "line 13: the probability is not within 0 to 1",
        "line 14: a verdict that failed has a label",
        "line 16: the same item and judge is there twice (item 'g', judge 'lexical')",
        "line 15: the name of a judge with verdicts in the data is that of a judge in params.yaml",
        "line 21: the name of a rater is that of a judge with verdicts in the data ('paper')",
    ):
        assert f"items.jsonl: {one}" in said
    assert len(found) == 14


def test_no_items_is_a_problem(ingested):
    assert problems(ingested, Items()) == [
        "the dataset: has no items for this test; choose other options"
    ]


def test_subsets_and_samples():
    items = Items(
        [row(n, f"i{n}", subset="R1" if n < 60 else "R2") for n in range(80)],
        [VerdictRow(at(1), f"i{n}", "paper", "entailed") for n in (3, 70, 99)],
        [LabelRow(at(1), "i3", "x", entailed=True)],
    )

    def chosen(subsets, sample):
        return choose_items(items, ClaimLabelsOptions(subsets=subsets, sample=sample))

    def kept(subsets, sample):
        return [one.item for one in chosen(subsets, sample).items]

    assert kept([], None) == [f"i{n}" for n in range(80)]
    only = chosen(["R2"], None)
    assert [one.item for one in only.items] == [f"i{n}" for n in range(60, 80)]
    # What is about no item at all is not lost among what was left out.
    assert [one.item for one in only.verdicts] == ["i70", "i99"]
    assert not only.labels
    some = kept([], Sample(items=25, seed=1))
    assert [sum(int(i[1:]) < 60 for i in some), len(some)] == [25, 45]
    assert some == sorted(some, key=lambda item: int(item[1:]))
    assert set(some) < set(kept([], Sample(items=30, seed=1)))
    assert some != kept([], Sample(items=25, seed=2))
    items.items.reverse()
    assert set(kept([], Sample(items=25, seed=1))) == set(some)
    (line,) = chosen(["R3"], None).problems.lines()
    assert line.endswith("is not in the data ('R3'); there are: 'R1', 'R2'")


def test_readers_give_what_their_index_says():
    assert not set(READERS) & set(ITEM_READERS)
    for name in ITEM_READERS:
        assert reader_of(name, ITEM_READERS).__annotations__["return"] is Items
    for name in READERS:
        read = reader_of(name)
        assert getattr(read, "func", read).__annotations__["return"] is Rows
    assert readers.__doc__


def test_types_take_readers_that_suit_them():
    assert reader_problem("nli", "wice") is None
    assert reader_problem("nli", "unheard_of") is None  # told already
    said = reader_problem("nli", "aci_bench")
    assert said.startswith("reader 'aci_bench' does not suit test 'nli'; it takes one of ")
    assert "nli" in TESTS
    with pytest.raises(BadInput, match=r"x > test: 'nil' is not known; choose from \["):
        chosen_test("nil", {}, where="x")
    with pytest.raises(BadInput, match=r"x > options > ways: missing; add it"):
        chosen_test("nli", {"subsets": [], "sample": None}, where="x")
