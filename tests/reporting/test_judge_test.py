"""The page of a test of judges: the verdict first, then every number with what it rests on."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.reporting.judge_numbers import (
    Cards,
    cards_of,
    kinds_section,
    kinds_table,
    kinds_verdict,
    numbers_section,
    verdict,
)
from metassay.reporting.judge_test import (
    JudgeTestReport,
    errors_view,
    with_right_answers,
    write_judge_test,
)
from metassay.reporting.names import ShownAs
from metassay.reporting.published_judges import JUDGE_COMPARISONS, compare_judges
from metassay.tables.notes import NOTES
from tests.reporting import invented_judge_test
from tests.reporting.conftest import changed
from tests.reporting.html_tree import tree_of
from tests.reporting.invented_report import PUBLISHED, SCRIPT

RATERS = frozenset(invented_judge_test.LABELLED)
BALANCED = "balanced_accuracy"


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metassay.statistics.shares.DRAWS", 200)  # intervals needn't be exact here
        return invented_judge_test.tables()


@pytest.fixture(scope="module")
def known(frames) -> Cards:
    return cards_of(frames["judge_cards"], RATERS)


@pytest.fixture(scope="module")
def make(frames) -> Callable[..., JudgeTestReport]:
    def made(**changes: object) -> JudgeTestReport:
        report = JudgeTestReport(
            **{"benchmark": "tiny", "test": "nli", "options": {}, "title": f"Tiny {SCRIPT}"},
            **{
                "licence": "CC0",
                "citation": "",
                "invented": True,
                "seen": ["words: unseen"],
                "responses": {},
                "notes": {},
            },
            **{"models": {}, "published": ["doclens_table4"], "published_folder": PUBLISHED},
            **{"confidence": 0.95, "tables": frames},
        )
        return changed(report, **changes)

    return made


@pytest.fixture(scope="module")
def written(make, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("judges") / "out"
    write_judge_test(make(), out)
    return out


@pytest.fixture(scope="module")
def tree(written):
    return tree_of((written / "index.html").read_text(encoding="utf-8"))


def test_studies_stand_with_all_items_first_and_people_last(known):
    first = ["mean of subsets", "all subsets", "R1_test", "items of released", "mli_test_v1"]
    assert known.studies == first
    assert (known.main, known.pooled) == ("mean of subsets", "all subsets")
    assert known.judges("mli_test_v1") == ["meaning", "released", "words", "anna", "ben", "cleo"]
    assert known.asked["mli_test_v1"] == 4
    assert known.answers_all("mli_test_v1", "words")
    assert known.answers_all("mli_test_v1", "meaning")  # it was asked, and abstained
    assert not known.answers_all("mli_test_v1", "released")


def test_the_verdict_by_hand(known):
    # words: of mli_test_v1 1 of 2 each way, all of R1_test: (.5 + 1) / 2
    # meaning: of mli_test_v1 1 of 2 and 1 of 1
    # and all of R1_test: (.75 + 1) / 2 = .875, by two decimals .88
    best, common, people = verdict(known, BALANCED)
    assert best.startswith("meaning agrees best with the right answers: balanced accuracy (mean of")
    assert "the test sets) .88 [" in best
    assert "(a coin gets .50) on 5 of 6 items." in best
    # of mli_test_v1 2 of 4 at least, 3 at most; of R1_test both
    said = "meaning abstains of 12 %; its accuracy is .83 without them, .75 if all were wrong, .88"
    assert said in best
    assert "Then comes words, .75 [" in best
    assert "the intervals overlap and do not settle the order of the two" in best
    assert common.startswith("On the 2 items that released has verdicts on, balanced accuracy is")
    # cleo differs of m2 from the other two, who each are split there between the other two
    assert people.startswith("The accuracy of one rater against most of the others is from .75 [")
    assert people.endswith("(3 raters), which is what people reach.")


def test_without_a_card_nothing_is_said_to_be_best(frames):
    none = cards_of(frames["judge_cards"].head(0), RATERS)
    (said,) = verdict(none, BALANCED)
    assert said.startswith("No item has both")
    assert numbers_section(none, BALANCED) is None
    assert kinds_section(none, kinds_table(none)) is None


def test_one_judge_is_not_the_best_of_any(frames):
    cards = frames["judge_cards"]
    only = cards_of(cards[(cards["judge"] == "words") & (cards["study"] == "mli_test_v1")], set())
    (said,) = verdict(only, "agreement")
    assert said.startswith("words is the only judge: accuracy .50 [")
    assert said.endswith("] (always the commoner answer gets .50) on 4 items.")


def test_a_row_per_judge_and_a_table_per_test_set(known):
    section = numbers_section(known, BALANCED)
    words = {term.word for term in section.terms[0].terms}
    assert words >= {"accuracy", "AUROC", "ECE"}
    assert "3-way" not in words  # of no column here
    (by_set,) = section.grids
    assert by_set.heads == ["test set", "meaning", "words"]
    assert [name for name, _ in by_set.rows][:3] == ["Mean of subsets", "All subsets", "R1_test"]
    mli_test_v1 = next(group for group in section.groups if group.title == "mli_test_v1")
    assert mli_test_v1.soft == "4 items"
    (grid,) = mli_test_v1.grids
    assert [name for name, _ in grid.rows][:3] == ["meaning", "words", "released"]
    assert [name for name, _ in grid.rows][3:] == ["anna (rater)", "ben (rater)", "cleo (rater)"]
    cells = dict(zip(grid.heads[1:], grid.rows[0][1], strict=True))
    assert cells["verdicts"][:2] == ("3", ("of 4 items",))
    assert cells["accuracy"].text == ".67"
    assert cells["at least, at most"].text == ".50, .75"
    assert cells["missing"].text == "abstained 25 %"
    assert cells["AUROC"].notes[-1] == "n = 4"  # who abstains may have a probability
    released = dict(zip(grid.heads[1:], grid.rows[2][1], strict=True))
    assert released["verdicts"][:2] == ("2", ("of 4 items",))
    anna = dict(zip(grid.heads[1:], grid.rows[3][1], strict=True))
    assert anna["verdicts"][:2] == ("3", ())


def test_kinds_are_shares_detected_and_false_alarms(known):
    table = kinds_table(known)
    mine = table[(table["study"] == "all subsets") & (table["judge"] == "meaning")]
    found = {(kind, measure): row for kind, measure, *row in mine[
        ["kind", "measure", "value", "n", "n_abstained"]
    ].itertuples(index=False)}  # fmt: skip
    assert found == {
        ("negation", "detected"): [pytest.approx(2 / 3), 3, 0],  # not m2
        ("voice", "false alarms"): [0.0, 2, 1],  # m4 is abstained of
        ("all kinds", "detected"): [pytest.approx(2 / 3), 3, 0],
        ("all kinds", "false alarms"): [0.0, 2, 1],
    }
    voice = table[(table["study"] == "all subsets") & (table["judge"] == "words")]
    wrong = voice[(voice["kind"] == "voice")].iloc[0]
    assert wrong["value"] == pytest.approx(1 / 3)  # m3
    assert wrong["low"] < wrong["value"] < wrong["high"]
    said = kinds_verdict(known, table)
    assert said[0].startswith("meaning detects .67 [")
    assert ", and gives false alarms on 0 [" in said[0]
    assert said[0].endswith("] of 2 items without 1 that it abstained of or failed.")
    groups = kinds_section(known, table).groups
    whole = [group for group in groups if group.open]
    assert [group.title for group in whole] == [
        "Share detected of what is not entailed",
        "Share of false alarms on what is entailed",
    ]
    assert groups[:2] == whole
    assert {group.title.rpartition(": ")[2] for group in groups[2:]} == (
        set(table["study"]) - {"all subsets"}
    )


def test_the_surest_errors_come_first_with_what_was_read(frames):
    judged = with_right_answers(frames["verdicts"], frames["gold"])
    wrong = judged[judged["wrong"].fillna(False)]
    pairs = set(zip(wrong["judge"], wrong["item"], strict=True))
    assert pairs == {("words", "m2"), ("words", "m3"), ("meaning", "m2")}
    assert judged["wrong"].isna().sum() == 1  # meaning abstains of m4
    errors = errors_view(judged, frames["pairs"], frames["judgments"])
    assert [(one.title, one.n) for one in errors] == [
        ("meaning says entailed, and is wrong", "1 item"),
        ("words says entailed, and is wrong", "1 item"),
        ("words says not entailed, and is wrong", "1 item"),
    ]
    (example,) = errors[0].examples
    assert example.place == "premise 2 of 2"
    assert example.premise.startswith("Premise 1 of m2")
    assert example.why.startswith("meaning on m2")
    said = "right: not entailed, said: entailed, probability of entailed .90, mli_test_v1, negation"
    assert example.about == said


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        ("neutral", "not_entailed", False),
        ("contradicted", "neutral", True),
        ("entailed", "neutral", True),
        ("not_entailed", "contradicted", False),
        (None, "entailed", None),
    ],
)
def test_three_labels_are_two_where_the_other_side_has_two(said, right, wrong):
    verdicts = pd.DataFrame({"item": ["i"], "label": [said]})
    gold = pd.DataFrame({"item": ["i"], "subset": "s", "kind": "full", "label": [right]})
    (found,) = with_right_answers(verdicts, gold)["wrong"]
    assert (None if pd.isna(found) else bool(found)) == wrong


def test_printed_accuracies_stand_below_ours(known):
    four, five = compare_judges(["doclens_table4", "doclens_table5"], PUBLISHED, known)
    cells = four.cells.set_index(["judge", "source", "column"])
    assert cells.loc[("words", "ours", "MedNLI"), "value"] == 0.5
    assert cells.loc[("meaning", "ours", "ANLI-R1"), ["value", "n"]].tolist() == [1.0, 2]
    assert cells.loc[("anna", "ours, rater", "MedNLI"), "value"] == 1.0
    assert cells.loc[("GPT-4, 2-shot + JSON", "printed", "MedNLI"), "value"] == 0.91
    ours = four.cells[four.cells["source"] != "printed"]
    assert set(ours["column"]) == {"MedNLI", "ANLI-R1"}  # no mean without all four sets
    assert len(four.cells) - len(ours) == 45
    assert set(five.cells["source"]) == {"printed"}  # judges of two labels have no three
    with pytest.raises(BadInput, match="doclens_table5"):
        compare_judges(["doclens_table20"], PUBLISHED, known)
    for one in JUDGE_COMPARISONS.values():
        assert (PUBLISHED / one.file).is_file()


def test_a_mean_of_sets_is_plain_and_other_items_stand_beside_all_of_ours(known):
    renamed = {
        ("mli_test_v1" if study == "mli_test_v1" else f"R{n}_test", judge): card
        for (study, judge), card in known.whole.items()
        if study in ("mli_test_v1", "R1_test")
        for n in (1, 2, 3)
    }
    one, seven = compare_judges(
        ["doclens_table1", "doclens_table7"], PUBLISHED, known._replace(whole=renamed)
    )
    cells = one.cells.set_index(["judge", "source", "column"])
    assert cells.loc[("words", "ours", "average"), "value"] == pytest.approx((0.5 + 3 * 1) / 4)
    assert pd.isna(cells.loc[("words", "ours", "average"), "low"])
    assert set(seven.cells["column"]) == {"accuracy"}


def test_the_page_says_the_verdict_first_and_escapes_every_text(tree, written):
    ids = [section.attributes["id"] for section in tree.all("section")]
    assert ids == [
        *("headline", "numbers", "kinds", "reliability", "published", "errors"),
        *("answers", "judge_cards", "recipes"),
    ]
    links = [a.attributes["href"][1:] for a in tree.all("nav")[0].all("a")]
    assert links == ids
    paragraphs = [p.text() for p in tree.all("section")[0].all("p")]
    assert paragraphs[0].startswith("meaning detects")
    facts = dict(zip(*([e.text() for e in tree.all(tag)] for tag in ("dt", "dd")), strict=True))
    assert facts["Seen by choices"] == "words: unseen"
    assert SCRIPT not in (written / "index.html").read_text(encoding="utf-8")
    assert len(tree.all("script")) == 1
    kinds, reliability = (svg.text() for svg in tree.all("svg"))
    assert all(said in kinds for said in ("share detected", "share of false alarms", "voice"))
    assert "probability of “entailed”" in reliability


def test_files_have_no_texts(written):
    names = {path.name for path in written.iterdir()}
    tables = ("verdicts", "judge_cards", "calibration", "kinds", "answers")
    tables += ("published_doclens_table4",)
    expected = {f"{name}.{kind}" for name in tables for kind in ("csv", "md")}
    assert names == {*expected, "index.html", "figures"}
    assert {path.name for path in (written / "figures").iterdir()} == {
        *("kinds.svg", "kinds.png", "reliability.svg", "reliability.png")
    }
    for path in written.glob("*.*"):
        if path.name != "index.html":
            text = path.read_text(encoding="utf-8")
            assert "Premise" not in text
            assert "Hypothesis" not in text


def test_the_order_of_rows_changes_nothing(make, frames, tmp_path, monkeypatch):
    monkeypatch.setattr("metassay.reporting.judge_test.JUDGE_FIGURES", {})
    turned = {name: frames[name].iloc[::-1] for name in ("judgments", "verdicts", "pairs")}
    for name, changes in (("one", {}), ("other", turned)):
        write_judge_test(make(**changes), tmp_path / name)
    one, other = ((tmp_path / name / "index.html").read_bytes() for name in ("one", "other"))
    assert one == other


def test_judges_are_called_as_shown_and_notes_are_said(make, tmp_path, monkeypatch):
    monkeypatch.setattr("metassay.reporting.judge_test.JUDGE_FIGURES", {})
    note = pd.DataFrame([["judge-words", 0, "2 premises were cut"]], columns=list(NOTES.columns))
    shown = make(shown_as=ShownAs({}, {"words": "Word counter"}), notes={"judge-words": note})
    write_judge_test(shown, tmp_path / "shown")
    page = tree_of((tmp_path / "shown/index.html").read_text(encoding="utf-8"))
    assert "Then comes Word counter, .75" in page.text()
    assert "2 premises were cut" in page.text()
    assert "words" in (tmp_path / "shown/judge_cards.csv").read_text(encoding="utf-8")


def test_a_test_without_verdicts_has_a_page(make, frames, tmp_path):
    empty = {
        name: frame.head(0)
        for name, frame in frames.items()
        if name in ("judgments", "verdicts", "judge_cards", "calibration", "ratings")
    }
    write_judge_test(make(**empty, published=[]), tmp_path / "out")
    page = tree_of((tmp_path / "out/index.html").read_text(encoding="utf-8"))
    assert "no judge can be judged" in page.text()
