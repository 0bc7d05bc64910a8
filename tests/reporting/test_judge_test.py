"""The page of a test of judges: the verdict first, then every number with what it rests on.

Of the invented judges `words` always has a verdict and no probability; `meaning` has
one, and abstains of m4; `released` has given verdicts on two items only; `anna`, `ben`
and `cleo` labelled the items of mli_test_v1.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.format.frames import rows
from metassay.labelled.examine import examine
from metassay.labelled.results import Cards, add_right_answers, cards_of, kinds_table
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting.judge_test import (
    JudgeTestReport,
    kinds_verdict,
    verdict,
    write_judge_test,
)
from metassay.reporting.names import ShownAs
from metassay.reporting.page import NO_MORE
from metassay.reporting.published.index import compare_judges
from metassay.reporting.single_file import single_file
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.notes import NOTES
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import Table
from metassay.tables.ratings import RATINGS
from tests.page.test_single_file import read_blocks
from tests.reporting import page_data
from tests.reporting.conftest import changed
from tests.reporting.invented_report import PUBLISHED, SCRIPT, Rows, lines

YES, NO = "entailed", "not_entailed"
# item: subset, kind, right answer, what words says, meaning's probability
ITEMS = {
    "m1": ("mli_test_v1", "negation", NO, NO, 0.1),
    "m2": ("mli_test_v1", "negation", NO, YES, 0.9),
    "m3": ("mli_test_v1", "voice", YES, NO, 0.8),
    "m4": ("mli_test_v1", "voice", YES, YES, 0.5),
    "a1": ("R1_test", "negation", NO, NO, 0.2),
    "a2": ("R1_test", "voice", YES, YES, 0.7),
}
LABELLED = {"anna": (0, 0, 1, 1), "ben": (0, 0, 1, 1), "cleo": (0, 1, 1, 1)}


def _frame(table: Table, of: Rows) -> pd.DataFrame:
    return pd.DataFrame([dict.fromkeys(table.columns) | row for row in of])


def _judgments() -> Rows:
    """m2 has two premises, of which the second one decides."""
    answered: Rows = []
    for item, (_, _, _, word, p) in ITEMS.items():
        last = "m2-1" if item == "m2" else f"{item}-0"
        status = "abstained" if p == 0.5 else "ok"
        sure = YES if p > 0.5 else NO
        if status == "abstained":
            sure = None
        heads = "judge status label probability"
        answers = (("words", "ok", word, np.nan), ("meaning", status, sure, p))
        for row in lines(heads, *answers, attempts=1, repaired=False):
            judge = row["judge"]
            row |= {
                "recipe": f"recipe of {judge}",
                "explanation": f"{judge} on {item} {SCRIPT}",
            }
            answered.append({**row, "pair_id": last})
            if item == "m2":
                low = np.nan if judge == "words" else 0.05
                row |= {"explanation": None, "label": NO, "probability": low}
                answered.append({**row, "pair_id": "m2-0"})
    return answered


def invented_tables() -> dict[str, pd.DataFrame]:
    """The tables of the test, by the names that its report takes."""
    pairs = [
        {
            "pair_id": f"{item}-{position}",
            "instrument": "entailment",
            "measure": "verdict",
            "doc_id": item,
            "author": "item",
            "part": "full",
            "position": position,
            "citation": -1,
            "repeats": "invented",
            "premise": f"Premise {position} of {item}. {SCRIPT}",
            "hypothesis": f"Hypothesis of {item} {SCRIPT}",
        }
        for item in ITEMS
        for position in range(2 if item == "m2" else 1)
    ]
    gold = [
        {"item": item, "subset": subset, "kind": kind, "cluster": item, "label": right}
        for item, (subset, kind, right, *_) in ITEMS.items()
    ]
    shared = {"judge": "released", "status": "ok", "recipe": "given"}
    brought = lines("item probability", ("m1", 0.3), ("m2", 0.4), **shared)
    shared = {"study": "invented", "author": "item", "part": "full", "unit": "claim:0"}
    labels = [
        {
            **shared,
            "doc_id": f"m{n}",
            "rater": rater,
            "criterion": YES,
            "value": float(value),
        }
        for rater, values in LABELLED.items()
        for n, value in enumerate(values, start=1)
    ]
    frames = {
        "pairs": _frame(PAIRS, pairs),
        "gold": _frame(GOLD, gold),
        "judgments": _frame(JUDGMENTS, _judgments()).astype({"probability": "float64"}),
        "ratings": _frame(RATINGS, labels),
    }
    results = examine(
        *(frames[name] for name in ("pairs", "judgments", "gold", "ratings")),
        _frame(GIVEN_VERDICTS, brought),
        MetaOptions(resamples=100, confidence=0.95, seed=1),
    )
    return {
        **frames,
        "verdicts": results.verdicts,
        "judge_cards": results.cards,
        "calibration": results.bins,
    }


RATERS = frozenset(LABELLED)
BALANCED = "balanced_accuracy"
TABLES = [
    "judge_cards",
    "kinds",
    "calibration",
    "verdicts",
    "answers",
    "published_doclens_table4",
]


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        # intervals needn't be exact here
        patch.setattr("metassay.statistics.shares.DRAWS", 200)
        return invented_tables()


@pytest.fixture(scope="module")
def known(frames) -> Cards:
    return cards_of(frames["judge_cards"], RATERS)


@pytest.fixture(scope="module")
def make(frames, known) -> Callable[..., JudgeTestReport]:
    report = JudgeTestReport(
        benchmark="tiny",
        test="nli",
        title=f"Tiny {SCRIPT}",
        licence="CC0",
        citation="",
        invented=True,
        seen=["words: unseen"],
        tables=frames,
        published=compare_judges(["doclens_table4"], PUBLISHED, known),
    )
    return lambda **changes: changed(report, **changes)


@pytest.fixture(scope="module")
def written(make, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("judges") / "out"
    write_judge_test(make(), out)
    return out


def test_studies_stand_with_all_items_first_and_people_last(known):
    first = [
        "mean of subsets",
        "all subsets",
        "R1_test",
        "items of released",
        "mli_test_v1",
    ]
    assert known.studies == first
    assert (known.main, known.pooled) == ("mean of subsets", "all subsets")
    # released is right of both of its items, meaning of 2 of 3, words of 2 of 4
    ranked = known.ranked("mli_test_v1", "agreement")
    assert ranked == ["released", "meaning", "words", "anna", "ben", "cleo"]
    assert known.n_asked["mli_test_v1"] == 4
    # meaning was asked, and abstained; released has verdicts on two of the items
    assert known.comparable("mli_test_v1", "agreement") == ["meaning", "words"]


def test_the_verdict_by_hand(known, frames):
    # words: of mli_test_v1 1 of 2 each way, all of R1_test: (.5 + 1) / 2
    # meaning: of mli_test_v1 1 of 2 and 1 of 1
    # and all of R1_test: (.75 + 1) / 2 = .875, by two decimals .88
    best, second, people = verdict(known, BALANCED)
    assert best.startswith(
        "meaning agrees best with the right answers: balanced accuracy (mean of"
    )
    assert "the test sets) .88 [" in best
    # of mli_test_v1 2 of 4 at least, 3 at most; of R1_test both
    ends = "with the items without a verdict its accuracy is between .75 and .88."
    assert best.endswith(f"on 5 of 6 items (a coin gets .50); {ends}")
    assert second.startswith("words: .75 [")
    overlap = "its interval overlaps that of meaning, so their order is open."
    assert second.endswith(f"] on 6 items; {overlap}")
    # of the two items of released none is entailed, so that balanced accuracy is
    # undefined there
    common = verdict(known, "agreement")[2]
    assert common.startswith(
        "On the 2 items that released has verdicts on, accuracy is: released"
    )
    # cleo differs of m2 from the other two, who each are split there between the other
    # two
    assert people.startswith(
        "The accuracy of a rater against most of the others is from .75 ["
    )
    assert people.endswith("(3 raters), which is what people reach.")
    cards = frames["judge_cards"]
    alone = cards[(cards["judge"] == "words") & (cards["study"] == "mli_test_v1")]
    (sentence,) = verdict(cards_of(alone, set()), "agreement")
    assert sentence.startswith("words is the only judge: accuracy .50 [")
    assert sentence.endswith("] on 4 items (always the commoner answer gets .50).")
    none = cards_of(cards.head(0), RATERS)
    (sentence,) = verdict(none, BALANCED)
    assert sentence.startswith("No item has both")
    assert kinds_table(none).empty


def test_kinds_are_shares_detected_and_false_alarms(known):
    table = kinds_table(known)
    of_meaning = table[
        (table["study"] == "all subsets") & (table["judge"] == "meaning")
    ]
    columns = ("kind", "measure", "value", "n", "n_abstained")
    assert {
        (kind, measure): row for kind, measure, *row in rows(of_meaning, *columns)
    } == {
        ("negation", "detected"): [pytest.approx(2 / 3), 3, 0],  # not m2
        ("voice", "false alarms"): [0.0, 2, 1],  # m4 is abstained of
        ("all kinds", "detected"): [pytest.approx(2 / 3), 3, 0],
        ("all kinds", "false alarms"): [0.0, 2, 1],
    }
    voice = table[(table["study"] == "all subsets") & (table["judge"] == "words")]
    wrong = voice[(voice["kind"] == "voice")].iloc[0]
    assert wrong["value"] == pytest.approx(1 / 3)  # m3
    assert wrong["low"] < wrong["value"] < wrong["high"]
    first, second, *_ = kinds_verdict(known, table, ["words", "meaning"])
    assert first.startswith("words ")
    assert second.startswith("meaning detects .67 [")
    assert ", and gives false alarms on 0 [" in second
    assert second.endswith("] of 2 items (1 more without an answer).")


@pytest.mark.parametrize(
    ("label", "right", "wrong"),
    [
        ("neutral", "not_entailed", False),
        ("contradicted", "neutral", True),
        ("entailed", "neutral", True),
        ("not_entailed", "contradicted", False),
        (None, "entailed", None),
    ],
)
def test_three_labels_are_two_where_the_other_side_has_two(label, right, wrong):
    verdicts = pd.DataFrame({"item": ["i"], "label": [label], "probability": [0.5]})
    gold = pd.DataFrame(
        {"item": ["i"], "subset": "s", "kind": "full", "label": [right]}
    )
    ((value,),) = rows(add_right_answers(verdicts, gold), "wrong")
    assert value is wrong


def test_printed_accuracies_stand_below_ours(known):
    compared = compare_judges(["doclens_table4", "doclens_table5"], PUBLISHED, known)
    four, five = compared.tables.values()
    cells = four.set_index(["judge", "source", "column"])
    assert cells.loc[("words", "ours", "MedNLI"), "value"] == 0.5
    assert cells.loc[("meaning", "ours", "ANLI-R1"), ["value", "n"]].tolist() == [
        1.0,
        2,
    ]
    assert cells.loc[("anna", "ours, rater", "MedNLI"), "value"] == 1.0
    assert cells.loc[("GPT-4, 2-shot + JSON", "printed", "MedNLI"), "value"] == 0.91
    ours = four[four["source"] != "printed"]
    assert set(ours["column"]) == {"MedNLI", "ANLI-R1"}  # no mean without all four sets
    assert len(four) - len(ours) == 45
    assert set(five["source"]) == {"printed"}  # judges of two labels have no three
    with pytest.raises(BadInput, match="doclens_table5"):
        compare_judges(["doclens_table20"], PUBLISHED, known)
    # A mean of sets is plain, and other items stand beside all of ours.
    renamed = {
        ("mli_test_v1" if study == "mli_test_v1" else f"R{n}_test", judge): card
        for (study, judge), card in known.whole.items()
        if study in ("mli_test_v1", "R1_test")
        for n in (1, 2, 3)
    }
    names = ["doclens_table1", "doclens_table7"]
    compared = compare_judges(names, PUBLISHED, known._replace(whole=renamed))
    first, seven = compared.tables.values()
    cells = first.set_index(["judge", "source", "column"])
    assert cells.loc[("words", "ours", "average"), "value"] == pytest.approx(
        (0.5 + 3 * 1) / 4
    )
    assert pd.isna(cells.loc[("words", "ours", "average"), "low"])
    assert set(seven["column"]) == {"accuracy"}


def test_the_head_says_the_verdict_and_what_was_read(written, known):
    head = page_data.head(written)
    assert (head["kind"], head["name"], head["grid"]) == ("judge test", "tiny", [])
    kinds = kinds_verdict(known, kinds_table(known), known.ranked(known.main, BALANCED))
    # who agrees best comes first
    assert head["answer"] == [*verdict(known, BALANCED), *kinds]
    assert head["dataset"] == {
        "title": f"Tiny {SCRIPT}",
        "licence": "CC0",
        "citation": "",
        "seen": ["words: unseen"],
        "counts": [
            "6 items",
            "2 subsets",
            "7 questions",
            "14 judgments",
            "12 labels by 3 raters",
        ],
    }
    assert len(head["banners"]) == 1
    assert [table["name"] for table in head["tables"]] == TABLES
    systems = head["systems"]
    assert (systems["noun"], systems["table"]) == ("judge", "judge_cards")
    assert systems["headline"] == [
        "balanced_accuracy",
        "agreement",
        "f1",
        "auroc",
        "ece",
    ]
    assert set(head["terms"]) >= {"accuracy", "AUROC", "ECE"}
    assert SCRIPT not in (written / "index.html").read_text(encoding="utf-8")


def test_shards_have_every_number_of_the_tables(written, frames, known):
    right = add_right_answers(frames["verdicts"], frames["gold"])
    tables = [
        ("judge_cards", frames["judge_cards"]),
        ("calibration", frames["calibration"]),
    ]
    for name, expected in (*tables, ("verdicts", right), ("kinds", kinds_table(known))):
        shown = page_data.table(written, name)[list(expected)]
        names = (
            "study",
            "part",
            "kind",
            "item",
            "judge",
            "statistic",
            "measure",
            "bin",
        )
        keys = [key for key in names if key in expected]
        both = [
            frame.sort_values(keys, ignore_index=True) for frame in (shown, expected)
        ]
        assert [*rows(both[0], *expected)] == [*rows(both[1], *expected)], name
    cards = page_data.table(written, "judge_cards")
    # what a reader sees first: all test sets, all kinds, the best judge, its main
    # number
    first = cards.iloc[0][["study", "part", "judge", "statistic"]].tolist()
    assert first == ["mean of subsets", "full", "meaning", BALANCED]
    assert page_data.table(written, "kinds")["study"].iloc[0] == "all subsets"
    cards = cards.set_index("statistic")["better"]
    assert set(cards["ece"]) == set(cards["failed"]) == {"lower"}
    assert set(cards["auroc"]) == {"higher"}
    assert set(cards["bias"]) == {"neither"}


def test_the_surest_wrong_verdicts_come_first(written, frames):
    judged = add_right_answers(frames["verdicts"], frames["gold"])
    wrong = {
        (judge, item): of for judge, item, of in rows(judged, "judge", "item", "wrong")
    }
    assert [of for of in wrong if wrong[of]] == [
        ("meaning", "m2"),
        ("words", "m2"),
        ("words", "m3"),
    ]
    # it abstains
    assert [of for of in wrong if wrong[of] is None] == [("meaning", "m4")]
    texts = page_data.head(written)["texts"]
    assert (texts["noun"], texts["judges"]) == (
        "item",
        ["meaning", "released", "words"],
    )
    index = page_data.frame(written, texts["table"])
    # m2: meaning is wrong with .9; m3: words is, without a probability; then the others
    assert list(index["document"]) == ["m2", "m3", "a1", "a2", "m1", "m4"]
    assert list(index["split"]) == [2, 1, 0, 0, 0, 0]
    columns = {of["key"]: of["column"] for of in texts["measures"]}
    surest = index[columns["surest wrong verdict"]]
    assert (surest[0], surest.count()) == (0.9, 1)
    first, last = index.iloc[0], index.iloc[-1]
    # of m2 meaning and words are wrong, released is right; of m4 meaning abstains,
    # words is right
    sides = [
        f"{side}_{judge}"
        for judge in range(3)
        for side in ("for", "against", "unknown")
    ]
    assert first[sides].tolist() == [
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        1,
        0,
    ]
    assert last[sides].tolist() == [
        0,
        0,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
    ]
    assert [texts["parts"][int(part)] for part in index["parts"][:2]] == [
        "negation",
        "voice",
    ]
    assert first[columns["people: right answer"]] == 0
    # cleo alone says so
    assert first[columns["people: entailed"]] == pytest.approx(1 / 3)
    assert list(index["home"]) == [0] * 6
    search = page_data.value(written, texts["search"][0])["texts"]
    assert search[0] == f"Hypothesis of m2 {SCRIPT}"


def test_an_item_has_what_was_read_and_what_everybody_says(written):
    first, *_, last = page_data.documents(written)
    assert first["attributes"] == ["right answer: not entailed", "kind: negation"]
    assert first["task"] == "mli_test_v1"
    read = [passage["text"] for passage in first["passages"]]
    assert read == [f"Premise {n} of m2. {SCRIPT}" for n in (0, 1)]
    (text,) = first["texts"]
    (block,) = text["blocks"]
    (line,) = block["lines"]
    meaning, released, words = line["judgments"]
    assert (meaning["word"], meaning["side"]) == ("entailed", "against")  # and is wrong
    assert meaning["probability"] == 0.9
    # of the second premise, which decides
    assert meaning["why"] == f"meaning on m2 {SCRIPT}"
    assert (released["word"], released["side"]) == ("not entailed", "for")
    assert (words["probability"], words["why"]) == (None, f"words on m2 {SCRIPT}")
    people = [(r["criterion"], r["rater"], r["value"]) for r in line["people"]]
    assert people == [
        ("right answer", "the data", 0.0),
        ("entailed", "anna", 0.0),
        ("entailed", "ben", 0.0),
        ("entailed", "cleo", 1.0),
    ]
    alone = {(e["head"], e["passage"]): e["alone"]["word"] for e in line["each"]}
    assert {e["alone"]["side"] for e in line["each"]} == {"neutral"}
    assert alone == {
        (0, 0): "not entailed",
        (0, 1): "entailed",
        (2, 0): "not entailed",
        (2, 1): "entailed",
    }
    (abstained, *_) = last["texts"][0]["blocks"][0]["lines"][0]["judgments"]
    assert (abstained["word"], abstained["side"]) == ("abstained", "unknown")


def test_files_have_no_texts(written):
    expected = {f"{name}.csv" for name in TABLES}
    names = {path.name for path in written.iterdir()}
    assert names == {*expected, "index.html", "page", "figures"}
    figures = {path.name for path in (written / "figures").iterdir()}
    assert figures == {"reliability.svg", "reliability.png"}
    for path in written.glob("*.*"):
        assert not re.search("Premise|Hypothesis", path.read_text(encoding="utf-8"))


def test_one_file_without_texts_has_no_premise_hypothesis_or_explanation(written):
    texts = re.compile(r"Premise \d|Hypothesis of|words on m")
    sent = read_blocks(single_file(written, texts=True))
    assert len(set(texts.findall("".join(sent.values())))) == 4
    sent = read_blocks(single_file(written, texts=False))
    assert "tables/verdicts/0" in sent
    assert not texts.search("".join(sent.values()))


@pytest.mark.usefixtures("no_figures")
def test_the_order_of_rows_changes_nothing(make, frames, tmp_path):
    turned = {
        name: frames[name].iloc[::-1] for name in ("judgments", "verdicts", "pairs")
    }
    for name, changes in (("first", {}), ("other", turned)):
        write_judge_test(make(**changes), tmp_path / name)
    first, other = ((tmp_path / name / "page/data") for name in ("first", "other"))
    for file in ("head.js", "documents/0.js", "tables/index/0.js"):
        assert (first / file).read_bytes() == (other / file).read_bytes()


@pytest.mark.usefixtures("no_figures")
def test_judges_are_called_as_shown_and_notes_and_hostile_texts_are_handed_over(
    make, frames, tmp_path
):
    note = pd.DataFrame(
        [["judge-words", 0, "2 premises were cut"]], columns=list(NOTES.columns)
    )
    hostile = "</script> \u2028 \U0001f600 {}"
    pairs = frames["pairs"].assign(hypothesis=hostile)
    shown = make(
        shown_as=ShownAs({}, {"words": "Word counter"}),
        notes={"judge-words": note},
        pairs=pairs[pairs["doc_id"] != "a1"],
    )
    write_judge_test(shown, tmp_path / "shown")
    head = page_data.head(tmp_path / "shown")
    assert any(
        sentence.startswith("Word counter: .75 [") for sentence in head["answer"]
    )
    assert head["problems"] == [
        {"kind": "warning", "text": "judge-words: 2 premises were cut"}
    ]
    assert head["texts"]["judges"] == ["Word counter", "meaning", "released"]
    assert "words" in (tmp_path / "shown/judge_cards.csv").read_text(encoding="utf-8")
    first, *others = page_data.documents(tmp_path / "shown")
    assert first["texts"][0]["text"] == hostile
    # UTF-16
    assert first["texts"][0]["blocks"][0]["lines"][0]["end"] == len(hostile) + 1
    (lost,) = (of["texts"][0] for of in others if of["id"] == "a1")
    assert lost["problems"] == ["its texts are not among the data"]


def test_a_test_without_verdicts_has_a_page(make, frames, tmp_path):
    names = ("judgments", "verdicts", "judge_cards", "calibration", "ratings")
    empty = {name: frames[name].head(0) for name in names}
    write_judge_test(make(**empty, published=NO_MORE), tmp_path / "out")
    head = page_data.head(tmp_path / "out")
    assert "no judge can be judged" in head["answer"][0]
    assert (head["systems"], head["texts"]["texts"]) == (None, 6)
