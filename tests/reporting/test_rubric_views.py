"""Rubrics: grades by hand, forms with what a level says, and quotes or lost ones."""

import json

import pandas as pd
import pytest

from metassay.format.frames import records
from metassay.meta_evaluation.summaries import rubric_tables
from metassay.reporting.report import write_report
from metassay.tables.criteria import CRITERIA
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from tests.reporting import page_data
from tests.reporting.invented_meta import SCRIPT
from tests.reporting.invented_report import DOC, EVIL

TEXT = f"A knee hurts. {SCRIPT} It heals."
LEVELS = {"1": f"bad {SCRIPT}", "2": "fair", "3": "good"}


def criterion(name, position, kind="scale", **changes):
    made = {
        **{"rubric": "form", "criterion": name, "metric": f"form_{name}", "kind": kind},
        **{"position": position, "low": 1.0, "high": 3.0, "weight": 0.5, "value": "share"},
        **{"combines": "best", "better": "higher", "meaning": f"asks of {name}"},
        **{"missing": "null", "source": "invented", "recipe": "abc"},
    }
    assert set(made) == set(CRITERIA.columns)
    return {**made, **changes}


CRITERIA_ROWS = pd.DataFrame(
    [
        criterion("clear", 0),
        criterion("slips", 1, "penalties", low=0.0, high=None, value="grade", better="lower"),
        criterion("overall", 2, "overall", value="grade", weight=None, low=1 / 3, high=1.0),
    ]
).astype({"high": "float64", "weight": "float64"})


def score(author, value, metric="form_clear", doc_id=DOC, *, judge="gpt", failed=0):
    return {
        **{"doc_id": doc_id, "author": author, "part": "full", "metric": metric, "judge": judge},
        **{"value": value, "n_failed": failed},
    }


def test_grades_are_turned_back_from_shares_and_counted_by_hand():
    scores = pd.DataFrame(
        [
            *(
                score("a", value, doc_id=f"d{n}")
                for n, value in enumerate((1 / 3, 1.0, 2 / 3, 1.0))
            ),
            score("a", None, doc_id="d4", failed=1),
            score("a", None, doc_id="d5"),
            score("a", 4.0, "form_slips"),
            score("b", 0.5, "form_overall"),
        ]
    )
    grades, levels = rubric_tables(CRITERIA_ROWS, scores)
    clear, slips, overall = records(grades)
    assert (clear["mean"], clear["n"], clear["n_missing"], clear["n_unscored"]) == (2.25, 4, 1, 1)
    assert clear["sd"] == pytest.approx((11 / 16) ** 0.5)  # 1, 3, 2, 3: ddof 0
    assert (slips["mean"], slips["sd"], slips["n"]) == (4, 0, 1)
    assert (overall["author"], overall["mean"]) == ("b", 0.5)
    found = [(row["criterion"], row["grade"], row["n"], row["share"]) for row in records(levels)]
    assert found == [
        *(("clear", 1, 1, 0.25), ("clear", 2, 1, 0.25), ("clear", 3, 2, 0.5), ("slips", 4, 1, 1)),
    ]


def pair(pair_id, name, position, *, author=EVIL, settled=None, doc_id=DOC, kind="scale"):
    context = {"kind": kind, "criterion": name, "asks": "?"}
    context |= {"levels": LEVELS} if kind == "scale" else {"items": None, "cap": 4}
    blank = dict.fromkeys(PAIRS.columns)
    return blank | {
        **{"pair_id": pair_id, "instrument": kind, "measure": f"form_{name}", "doc_id": doc_id},
        **{"author": author, "part": "full", "position": position, "citation": -1},
        **{"premise": None if settled else "", "hypothesis": TEXT, "settled": settled},
        **{"context": json.dumps(context, sort_keys=True), "repeats": "invented"},
    }


def answer(pair_id, grade, quotes=(), starts=(), *, status="ok"):
    return dict.fromkeys(JUDGMENTS.columns) | {
        **{"pair_id": pair_id, "judge": "gpt", "status": status, "grade": grade},
        **{
            "explanation": f"because {SCRIPT}",
            "quotes": list(quotes),
            "quote_starts": list(starts),
        },
        **{"attempts": 1, "repaired": False, "recipe": "gpt"},
    }


PAIRS_ROWS = pd.DataFrame(
    [
        pair("p1", "clear", 0),
        pair("p2", "slips", 1, kind="penalties"),
        pair("p3", "clear", 0, author="plain", settled="no_text"),
        pair("p4", "slips", 1, author="plain", kind="penalties"),
    ]
)
ANSWERS = pd.DataFrame(
    [
        answer("p1", 1.0, ["knee hurts", "a lost <b>quote</b>"], [2, -1]),
        answer("p2", 2.0, ["hurts. "], [7]),
        answer("p4", None, status="refused"),
    ]
)


@pytest.mark.usefixtures("no_figures")
def test_a_page_with_a_rubric_has_its_tables_and_every_form_with_anchor_reason_and_quotes(
    make_report, frames, tmp_path
):
    graded = {**score(EVIL, 1 / 3), "n_expected": 1, "n_judged": 1, "recipe": "x"}
    scores = pd.concat([frames["scores"], pd.DataFrame([graded])])
    report = make_report(criteria=CRITERIA_ROWS, pairs=PAIRS_ROWS, judgments=ANSWERS, scores=scores)
    write_report(report, tmp_path / "out")
    for name in ("criteria", "rubric_grades", "rubric_levels"):
        assert (tmp_path / "out" / f"{name}.csv").is_file()
    assert page_data.table(tmp_path / "out", "rubric_grades")["mean"].tolist() == [1.0]
    document, _ = page_data.documents(tmp_path / "out")
    of = {text["author"]: text["blocks"] for text in document["texts"]}
    evil, plain = ({b["id"]: b for b in of[name]}["rubric form"] for name in (EVIL, "plain"))
    clear, slips = (line["judgments"][0] for line in evil["lines"])
    assert clear == {
        **{"word": "graded 1 on 1 to 3", "side": "against", "probability": None},
        **{"why": f"bad {SCRIPT}; because {SCRIPT}"},
        "quotes": ["knee hurts", "a lost <b>quote</b> (not in the text)"],
    }
    assert (slips["word"], slips["side"]) == ("graded 2 of at most 4", "against")
    said = [(line["judgments"][0]["word"], line["judgments"][0]["side"]) for line in plain["lines"]]
    assert said == [("failed: no text", "unknown"), ("failed: refused", "unknown")]


def test_without_a_rubric_the_page_says_nothing_of_them(head):
    assert not {table["name"] for table in head["tables"]} & {"criteria", "rubric_grades"}
