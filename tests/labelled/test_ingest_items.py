"""What becomes of items: questions, right answers, samples; labelled claims and minimal pairs."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.datasets.readers import ITEM_READERS, READERS, reader_of
from metassay.labelled.examine import examine
from metassay.labelled.ingest import INSTRUMENTS, IngestedItems, ingest_items, majority
from metassay.labelled.records import ItemRow, Items, LabelRow, VerdictRow
from metassay.labelled.results import cards_of, kinds_table
from metassay.labelled.types import (
    ClaimLabelsOptions,
    MinimalPairsOptions,
    Sample,
    choose_items,
    chosen_test,
    minimal_pairs,
    reader_problem,
)
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting import judge_test
from metassay.reporting.judge_test import kinds_verdict
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty, round_trip
from metassay.tables.ratings import RATINGS
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.edits.make import FLIPS

TWO = {"ways": 2, "subsets": [], "sample": None}
SECRET = "the patient's own words"
ROOT = Path(__file__).parents[2]


def at(line):
    return Place("items.jsonl", line)


def row(
    line, item="i1", label="entailed", *, premises=("A.",), hypothesis="B.", **more
):
    return ItemRow(
        at(line), item, [*premises], hypothesis, label, **{"subset": "dev", **more}
    )


@pytest.fixture
def ingested(monkeypatch, tmp_path):
    """Ingest these items, as if a reader of the name `wice` had read them."""

    def run(items, *, options=TWO, judges=()):
        monkeypatch.setattr(
            "metassay.labelled.ingest.reader_of", lambda *_: lambda _: items
        )
        test = chosen_test("nli", options, where="benchmarks/x/params.yaml")
        return ingest_items(test, "wice", tmp_path, dataset="set", judges=judges)

    return run


def problems(ingest, *args, **more):
    with pytest.raises(BadInput) as caught:
        ingest(*args, **more)
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
    tables = ingested(items)
    pairs = round_trip(PAIRS, tables.pairs)
    first = pairs[pairs["doc_id"] == "a"].sort_values("position")
    assert first["pair_id"].tolist() == [
        pair_id("entailment", p, "B.") for p in ("A.", "C.")
    ]
    assert set(pairs["repeats"]) == {"set"}
    gold = round_trip(GOLD, tables.gold).set_index("item")
    # The data's own label stands, whatever a rater says.
    labels = {"a": "entailed", "b": "entailed", "c": "-", "d": "-"}
    assert gold["label"].fillna("-").to_dict() == labels
    assert gold["unlabelled"].fillna("-").tolist() == ["-", "-", "split", "no_label"]
    assert gold["cluster"].tolist() == ["t", "b", "c", "d"]
    assert gold.loc["a", "kind"] == "time"
    ratings = round_trip(RATINGS, tables.ratings)["value"]
    assert ratings.fillna(-1).tolist() == [0, 1, 1, 1, 1, 0, -1]
    verdict = round_trip(GIVEN_VERDICTS, tables.verdicts).iloc[0]
    assert (verdict["item"], verdict["judge"], verdict["probability"]) == (
        "a",
        "paper",
        0.25,
    )
    assert verdict["recipe"] == "given|reader:wice"
    assert tables.warnings == (
        "1 of 4 items have no gold label: no card counts them",
        "1 of 4 items have no gold label, because half of the people who labelled them say"
        " entailed: no card counts them",
    )
    votes = ([], [True], [True, False], [True, True, False])
    assert [majority(of_item) for of_item in votes] == [None, True, None, True]


def test_three_ways_ask_for_a_choice_of_three_labels(ingested):
    three = TWO | {"ways": 3}
    tables = ingested(Items([row(1, label="contradicted")]), options=three)
    assert set(tables.pairs["instrument"]) == {"three_way"} == {INSTRUMENTS[3]}
    assert problems(ingested, Items([row(1, label="not_entailed")]), options=three) == [
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
        [
            LabelRow(at(21), "g", "paper", entailed=True),
            LabelRow(at(22), "zz", "x", entailed=True),
        ],
    )
    lines = problems(ingested, items, judges=["lexical"])
    assert len(lines) == 14
    for start in (
        "line 2: the same item occurs twice (item 'i1'); give each its own",
        "line 3: has no premise for judges to read (item 'e'); add it, or write judges: []",
        "line 4: a premise is blank (item 'f')",
        "line 5: has no hypothesis for judges to read (item 'g')",
        "line 6: 'item' is empty, has blanks at an end, or characters that do not print",
        "line 7: the subset's name is taken ('all subsets'); choose another",
        "line 8: 'subset' is empty",
        "2 lines: there is no such item (first: line 11, item 'nobody')",
        "line 12: a verdict has neither label nor probability (item 'e', judge 'paper')",
        "line 13: the probability is not within 0 to 1",
        "line 14: a verdict that failed has a label",
        "line 16: the same item and judge occurs twice (item 'g', judge 'lexical')",
        "line 15: the name of a judge with verdicts in the data is that of a judge in params.yaml",
        "line 21: the name of a rater is that of a judge with verdicts in the data ('paper')",
    ):
        assert any(line.startswith(f"items.jsonl: {start}") for line in lines), start
    assert problems(ingested, Items()) == [
        "the dataset: has no items for this test; choose other options"
    ]


def test_subsets_and_samples():
    items = Items(
        [row(n, f"i{n}", subset="R1" if n < 60 else "R2") for n in range(80)],
        [VerdictRow(at(1), f"i{n}", "paper", "entailed") for n in (3, 70, 99)],
        [LabelRow(at(1), "i3", "x", entailed=True)],
    )

    def chosen(subsets, **sample):
        options = ClaimLabelsOptions(
            subsets=subsets, sample=Sample(**sample) if sample else None
        )
        return choose_items(items, options)

    def names(*subsets, **sample):
        return [row.item for row in chosen([*subsets], **sample).items]

    assert names() == [f"i{n}" for n in range(80)]
    only = chosen(["R2"])
    assert [row.item for row in only.items] == [f"i{n}" for n in range(60, 80)]
    # What is about no item at all is not lost among what was left out.
    assert [row.item for row in only.verdicts] == ["i70", "i99"]
    assert not only.labels
    some = names(items=25, seed=1)
    assert [sum(int(i[1:]) < 60 for i in some), len(some)] == [25, 45]
    assert some == sorted(some, key=lambda item: int(item[1:]))
    assert set(some) < set(names(items=30, seed=1))
    assert some != names(items=25, seed=2)
    items.items.reverse()
    assert set(names(items=25, seed=1)) == set(some)
    (line,) = chosen(["R3"]).problems.lines()
    assert line.endswith("is not in the data ('R3'); there are: 'R1', 'R2'")


def test_readers_and_types_of_tests():
    assert not set(READERS) & set(ITEM_READERS)
    for index, type_ in ((ITEM_READERS, Items), (READERS, Rows)):
        for name in index:
            read = reader_of(name, index)
            assert getattr(read, "func", read).__annotations__["return"] is type_
    assert reader_problem("nli", "wice") is None
    assert reader_problem("nli", "unheard_of") is None  # a problem of the registry
    line = reader_problem("nli", "aci_bench")
    assert line.startswith(
        "reader 'aci_bench' does not suit test 'nli'; it takes one of "
    )
    for name, options, match in (
        ("nil", {}, r"x > test: 'nil' is not known; choose from \["),
        (
            "nli",
            {"subsets": [], "sample": None},
            r"x > options > ways: missing; add it",
        ),
        (
            "minimal_pairs",
            PAIRS_OF | {"kinds": ["speling"]},
            "is not known; choose from negation, ",
        ),
    ):
        with pytest.raises(BadInput, match=match):
            chosen_test(name, options, where="x")


# ---- labelled claims: the three files, and what is wrong with them

CLAIMS = """item,premise,hypothesis,cluster
c1,Lungs are clear.,The lungs are clear.,note-1
c2,Lungs are clear.,He has pneumonia.,note-1
"""
LABELS = "item,rater,label\nc1,ann,entailed\nc2,ann,not_entailed\n"


def put(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in ({"claims": CLAIMS, "labels": LABELS} | files).items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return folder


def claims(
    folder: Path, *judges: str, reader="claim_labels", **options: object
) -> IngestedItems:
    test = chosen_test(
        "claim_labels", {"subsets": [], "sample": None, **options}, where="x"
    )
    return ingest_items(test, reader, folder, dataset="mine", judges=judges)


def test_texts_and_kinds_may_be_left_out(tmp_path):
    verdicts = "item,judge,probability\nc1,mini,0.9\nc2,mini,0.2\n"
    put(tmp_path / "a", claims="item,subset\nc1,easy\nc2,hard\n", verdicts=verdicts)
    tables = claims(tmp_path / "a")
    assert len(tables.pairs) == 0
    assert tables.gold["subset"].tolist() == ["easy", "hard"]
    assert tables.verdicts["probability"].tolist() == [0.9, 0.2]
    assert tables.verdicts["label"].isna().all()
    fix = "add it, or write judges: [] to examine given verdicts alone"
    assert problems(claims, tmp_path / "a", "lexical") == [
        f"claims.csv: 2 lines: has no {what} for judges to read (first: line 2, item 'c1'); {fix}"
        for what in ("premise", "hypothesis")
    ]
    assert set(claims(put(tmp_path / "b")).gold["kind"]) == {"full"}
    rows = (
        "item,premise,hypothesis,kind\nc1,Clear.,Clear.,synonym\nc2,Clear.,Wheeze.,{}\n"
    )
    tables = claims(put(tmp_path / "b", claims=rows.format("negation")))
    assert tables.gold["kind"].tolist() == ["synonym", "negation"]
    for kind in ("", "full"):
        assert problems(claims, put(tmp_path / "b", claims=rows.format(kind))) == [
            "claims.csv: line 3: has no kind, and other claims have one (item 'c2');"
            " give each claim a kind, such as 'other', or none"
        ]
    (line,) = problems(claims, put(tmp_path / "b", claims=rows.format("all kinds")))
    assert "line 3: the kind's name is taken ('all kinds')" in line


def test_kinds_of_a_single_answer_have_a_share_detected_or_false_alarms(
    tmp_path, monkeypatch
):
    """Of kind `drug` all claims are not entailed, of `synonym` all are, of `mixed` half are."""
    rows = [  # item, kind, right answer, verdict
        "c1 drug not_entailed not_entailed,ok",
        "c2 drug not_entailed entailed,ok",
        "c3 drug not_entailed not_entailed,ok",
        "c4 drug not_entailed ,abstained",
        "c5 synonym entailed not_entailed,ok",
        "c6 synonym entailed entailed,ok",
        "c7 mixed entailed entailed,ok",
        "c8 mixed not_entailed not_entailed,ok",
    ]
    files = {
        "claims": ("item,kind", "{0},{1}"),
        "labels": ("item,rater,label", "{0},me,{2}"),
        "verdicts": ("item,judge,label,status", "{0},mine,{3}"),
    }
    contents = {
        name: "\n".join([header, *(line.format(*row.split()) for row in rows)])
        for name, (header, line) in files.items()
    }
    tables = claims(put(tmp_path / "a", **contents))
    options = MetaOptions(resamples=20, confidence=0.95, seed=1)
    data = tables.pairs, empty(JUDGMENTS), tables.gold, tables.ratings, tables.verdicts
    cards = cards_of(examine(*data, options).cards, {"me"})
    table = kinds_table(cards)
    columns = ["value", "n", "n_abstained"]
    values = table[table["judge"] == "mine"].set_index(["kind", "measure"])[columns]
    assert {key: tuple(row) for key, row in values.iterrows()} == {
        ("drug", "detected"): (pytest.approx(2 / 3), 3, 1),
        ("synonym", "false alarms"): (0.5, 2, 0),
        ("mixed", "detected"): (1.0, 1, 0),
        ("mixed", "false alarms"): (0.0, 1, 0),
        ("all kinds", "detected"): (0.75, 4, 1),
        ("all kinds", "false alarms"): (pytest.approx(1 / 3), 3, 0),
    }
    (line,) = kinds_verdict(cards, table, ["mine"])
    # no kind has five items
    assert "of 4 items (1 more without an answer), and" in line
    monkeypatch.setattr(judge_test, "FEWEST_OF_KIND", 1)
    (line,) = kinds_verdict(cards, table, ["mine"])
    assert "of 4 items (1 more without an answer; least: drug, .67 of 3)" in line
    assert line.endswith("of 3 items (most: synonym, .50 of 2).")


def test_what_is_wrong_in_files_of_claims(tmp_path):
    folder = put(
        tmp_path / "a",
        claims=CLAIMS + " c3,Again.,B.,\n",
        labels=LABELS + "C2,ben,entailed\nc1,ben,yes\n",
        verdicts="item,judge,label,probability\nc1,mini,maybe,\nc2,maxi,,high\n",
    )
    lines = problems(claims, folder, "lexical")
    for start in (
        "claims.csv: line 4: 'item' has blanks at an end",
        "labels.csv: line 4: there is no such item (item 'C2', which looks like 'c2')",
        "labels.csv: line 5: 'label' is wrong: input should be 'entailed', 'not_entailed' or ''",
        "verdicts.csv: line 2: 'label' is wrong",
        "verdicts.csv: line 3: 'probability' is not a finite number; write a number from 0 to 1",
    ):
        assert any(line.startswith(start) for line in lines), start
    assert not {"Lungs", "Again"} & set("".join(lines).split())
    put(folder, verdict="", verdicts="item,judge,label\nc1,mini,entailed\n")
    unread, absent = claims(folder).warnings
    assert unread.startswith(
        "verdict.csv: is not read; rename it if it is one of claims.csv"
    )
    assert "'mini' has no verdict on 1 of 2 claims (first: item 'c2')" in absent
    (folder / "labels.csv").unlink()
    (line,) = problems(claims, folder)
    assert line.startswith("labels.csv: is not in")
    assert "docs/benchmarks.md" in line
    assert "is not a folder" in problems(claims, tmp_path / "nowhere")[0]


def test_a_sample_takes_its_labels_and_verdicts_along():
    options = {"subsets": ["invented"], "sample": {"items": 5, "seed": 3}}
    tables = claims(ROOT / "data/sample_claims", **options)
    items = set(tables.gold["item"])
    assert len(items) == 5
    assert set(tables.ratings["doc_id"]) == items == set(tables.verdicts["item"])


def test_xsum_factuality(mirror):
    """The released score on what people were asked about; articles are not there."""
    tables = claims(mirror / "xsum_hallucination", reader="xsum_factuality")
    assert [len(table) for table in tables[:4]] == [0, 1869, 5597, 1862]
    systems = {"trans2s": 475, "tconvs2s": 475, "berts2s": 460, "ptgen": 459}
    assert tables.gold["subset"].value_counts().to_dict() == systems
    assert tables.gold["label"].value_counts().to_dict() == {
        "not_entailed": 1672,
        "entailed": 185,
    }
    assert set(tables.verdicts["judge"]) == {"released_entailment"}
    assert tables.verdicts["probability"].between(0, 1).all()


# ---- minimal pairs of references

NOTE = (
    "EXAM\nPain in the left knee. Left hip pain. Tender.\n\n"
    "PLAN\nTake 20 mg of lisinopril daily."
)
OTHER = "Pain in the left knee.\nThe right knee hurts, and there is pain in it.\nIs it the ankle?"
PAIRS_OF = {"sentences": 10, "seed": 1, "premise": "sentence", "kinds": []}


def edited(*texts: tuple[str, ...] | str, **changes: object) -> Items:
    """Items of texts: document, author, text and perhaps part; a text alone is a reference."""
    keyed = [
        ("b", "reference", text) if isinstance(text, str) else text for text in texts
    ]
    rows = [
        TextRow(Place("texts.jsonl", 1), doc, author, "".join(part) or "full", text)
        for doc, author, text, *part in keyed
    ]
    return minimal_pairs(
        Rows(texts=rows), MinimalPairsOptions.model_validate(PAIRS_OF | changes)
    )


def test_sentences_of_references_are_edited_and_read_against_themselves():
    texts = (
        NOTE,
        ("b", "system", "Pain in the left elbow today."),
        ("c", "reference", None),
    )
    items = {
        r.item: r
        for r in edited(*texts, kinds=["laterality", "dose", "identity"]).items
    }
    assert list(items) == [
        "b:0:laterality",
        "b:0:identity",
        "b:1:laterality",
        "b:1:identity",
        "b:3:dose",
        "b:3:identity",
    ]
    hip = items["b:1:laterality"]
    assert (hip.premises, hip.hypothesis) == (["Left hip pain."], "Right hip pain.")
    assert (hip.label, hip.kind, hip.subset) == (
        "not_entailed",
        "laterality",
        "sentence",
    )
    assert (hip.cluster, items["b:1:identity"].label) == ("b", "entailed")
    doses = [f"Take {dose} mg of lisinopril daily." for dose in (10, 40)]
    assert items["b:3:dose"].hypothesis in doses


def test_a_whole_text_as_premise_drops_what_it_states_elsewhere():
    assert [r.hypothesis for r in edited(OTHER, kinds=["laterality"]).items] == [
        "Pain in the right knee.",
        "The left knee hurts, and there is pain in it.",
    ]
    assert edited(OTHER, kinds=["laterality"], premise="text").items == []
    (item,) = edited(NOTE, kinds=["dose"], premise="text").items
    assert (item.premises, item.subset) == ([NOTE], "text")
    # Equal sentences count once, and parts go on counting.
    parts = [("a", "reference", "He denies fever.", "subjective")]
    parts += [
        ("a", "reference", "Pain in the left knee.", "exam"),
        ("c", "reference", NOTE),
    ]
    items = edited(*parts, kinds=["laterality"]).items
    assert [r.item for r in items] == ["a:1:laterality", "c:1:laterality"]
    # A sentence is drawn for what changes its truth.
    text = "Thank you so much.\nPain in the left knee."
    for kinds, numbers in ((["laterality", "form"], {"1"}), (["form"], {"0", "1"})):
        assert {
            r.item.split(":")[1] for r in edited(text, kinds=kinds).items
        } == numbers


def test_the_sample_is_the_seeds_and_grows():
    parts = ("knee", "hip", "ankle", "foot", "arm", "leg")
    texts = [
        (f"d{n}", "reference", f"Pain in the left {part}.")
        for n, part in enumerate(parts)
    ]

    def names(n, texts=texts, seed=1):
        return {
            r.item
            for r in edited(*texts, kinds=["laterality"], sentences=n, seed=seed).items
        }

    assert names(2) < names(4)
    assert len(names(2)) == 2
    assert names(2, texts[::-1]) == names(2)
    assert len({frozenset(names(2, seed=seed)) for seed in range(6)}) > 1
    assert not edited(*texts, kinds=["laterality"], sentences=4).warnings
    assert edited(*texts, kinds=["laterality"], sentences=7).warnings.lines() == [
        "params.yaml > options > sentences: only 6 of 7 sentences are there;"
        " all of them are used; ask for fewer, or for more kinds"
    ]


def test_aci_bench(mirror):
    """Counts of 200 sentences; every item's premise is there, and only truth-changing ones fail."""
    test = chosen_test("minimal_pairs", PAIRS_OF | {"sentences": 200}, where="x")
    raw = mirror / "aci_bench_test1"
    tables = ingest_items(
        test, "aci_bench", raw, dataset="aci_bench", judges=["lexical"]
    )
    assert tables.warnings == ()
    gold = tables.gold
    of_sentence = gold["item"].str.rsplit(":", n=1).str[0]
    changed = gold[gold["label"] == "not_entailed"]
    assert of_sentence.nunique() == of_sentence[changed.index].nunique() == 200
    assert set(changed["kind"]) == set(FLIPS)
    assert (gold["kind"] == "identity").sum() == 200
    pairs = tables.pairs.set_index("doc_id")
    same = pairs["premise"] == pairs["hypothesis"]
    assert set(gold.loc[gold["item"].isin(same.index[same]), "kind"]) <= {
        "identity",
        "form",
    }
    assert gold["cluster"].nunique() <= 40
