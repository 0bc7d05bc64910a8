"""Rubrics on the page: grades by hand, levels drawn, forms filled in with quotes marked or lost."""

import json

import pandas as pd
import pytest

from metassay.format.frames import records
from metassay.reporting.figures import drawing
from metassay.reporting.figures.systems import draw_rubric_levels
from metassay.reporting.report import write_report
from metassay.reporting.rubrics import TEXTS, filled_in, rubric_tables
from metassay.tables.criteria import CRITERIA
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from tests.reporting.html_tree import section, tree_of
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


@pytest.mark.parametrize("n", [1, 16])
def test_levels_are_drawn_as_long_as_their_share(n):
    scores = pd.DataFrame(
        [
            score(f"a system of a long name {SCRIPT} {k}", grade / 3, doc_id=f"d{grade}")
            for k in range(n)
            for grade in (1, 2, 3)
        ]
    )
    _, levels = rubric_tables(CRITERIA_ROWS, scores)
    axes = draw_rubric_levels(levels).axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(list(levels["share"]))
    assert axes.get_title(loc="left") == "form: clear\ngpt"
    drawn = drawing.draw(draw_rubric_levels, levels)
    assert drawn == drawing.draw(draw_rubric_levels, levels.copy())
    assert draw_rubric_levels(levels.iloc[:0]) is None


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


PARTS_ROWS = pd.DataFrame(
    [{"doc_id": DOC, "author": "reference", "part": "full", "text": TEXT, "status": "ok"}]
)


def test_what_nobody_was_asked_has_a_line_that_says_why():
    lacks = {"missing": "null where the reference lacks the part; level 1 where the text lacks it"}
    rubric = [criterion(name, place, **lacks) for place, name in enumerate(("aim", "end"))]
    rubric += [criterion("if_any", 2), criterion("never", 3)]
    rubric.append(criterion("slips", 4, "penalties", low=0.0, high=3.0, better="lower"))
    asked = [
        {**pair("p1", "aim", 0), "part": "aim"},
        {**pair("p2", "aim", 0, doc_id="d2", settled="no_evidence"), "part": "aim"},
        {**pair("p3", "end", 1, doc_id="d2"), "part": "end"},
        pair("p4", "if_any", 2, doc_id="d2"),
        pair("p5", "slips", 4, settled="not_applicable", kind="penalties"),
        pair("p6", "slips", 4, doc_id="d2", settled="no_evidence", kind="penalties"),
    ]
    answers = pd.DataFrame([answer(f"p{n}", 2.0) for n in (1, 3, 4)])
    made = filled_in(pd.DataFrame(rubric), pd.DataFrame(asked), answers, PARTS_ROWS)
    said = {one.doc_id: [(line.criterion, line.said) for line in one.lines] for one in made.rubrics}
    assert said[DOC] == [
        *(("aim", "2 on 1 to 3"), ("end", "not scored: the reference has no end")),
        *(("if_any", "not scored: not applicable"), ("never", "not scored: asked of no text")),
        ("slips", "no penalty, not asked: not applicable"),
    ]
    assert said["d2"] == [
        *(("aim", "level 1 without asking: the text has no aim"), ("end", "2 on 1 to 3")),
        *(("if_any", "2 on 1 to 3"), ("never", "not scored: asked of no text")),
        ("slips", "the highest penalty without asking: the text has no words"),
    ]


def test_a_form_has_grade_anchor_reason_and_marks_quotes_where_they_are():
    made = filled_in(CRITERIA_ROWS, PAIRS_ROWS, ANSWERS, PARTS_ROWS)
    assert made.rule == "All 2 filled-in forms (1 rubric, 2 texts)."
    failed, good = made.rubrics
    clear, slips = good.lines
    assert (clear.said, clear.anchor, clear.failed) == ("1 on 1 to 3", f"bad {SCRIPT}", False)
    assert clear.reason == f"because {SCRIPT}"
    assert clear.not_in_text == ["a lost <b>quote</b>"]
    assert (slips.said, slips.anchor) == ("penalties: 2, 4 at most", "")
    ((part, text),) = good.read
    assert part == ""
    said = [(run.text, [mark.name for mark in run.marks]) for run in text.runs]
    assert said == [
        *(("A ", []), ("knee ", ["clear"]), ("hurts", ["clear", "slips"]), (". ", ["slips"])),
        (f"{SCRIPT} It heals.", []),
    ]
    assert [(line.said, line.failed) for line in failed.lines] == [
        ("not asked: there is no text", True),
        ("no grade: refused", True),
    ]


def test_of_many_texts_some_are_shown_one_author_of_each_document_in_turn():
    many = [
        pair(f"p{d}{a}", "clear", 0, doc_id=f"d{d:02}", author=a) for d in range(40) for a in "ab"
    ]
    answers = pd.DataFrame([answer(f"p{d}{a}", 2.0) for d in range(40) for a in "ab"])
    made = filled_in(CRITERIA_ROWS, pd.DataFrame(many), answers, PARTS_ROWS)
    assert len(made.rubrics) == TEXTS
    assert [(one.doc_id, one.author) for one in made.rubrics][:3] == [
        *(("d00", "a"), ("d03", "b"), ("d06", "a")),
    ]
    assert made.rule.startswith("12 of 80 filled-in forms (1 rubric, 80 texts): ")


def test_a_page_with_a_rubric_says_all_of_it_and_escapes_it(make_report, frames, tmp_path):
    scores = pd.concat(
        [
            frames["scores"],
            pd.DataFrame([{**score(EVIL, 1 / 3), "n_expected": 1, "n_judged": 1, "recipe": "x"}]),
        ]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metassay.reporting.meta_page.FIGURES", {})
        report = make_report(
            criteria=CRITERIA_ROWS, pairs=PAIRS_ROWS, judgments=ANSWERS, scores=scores
        )
        write_report(report, tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert SCRIPT not in html
    assert "<b>quote" not in html
    text = section(tree_of(html), "rubrics").text()
    assert "asks of clear" in text
    assert "quoted, but not in the text: “a lost <b>quote</b>”" in text
    for name in ("criteria", "rubric_grades", "rubric_levels"):
        assert (tmp_path / "out" / f"{name}.csv").is_file()
    again = pd.read_csv(tmp_path / "out" / "rubric_grades.csv")
    assert list(again["mean"]) == [1.0]


def test_without_a_rubric_the_page_says_nothing_of_them(written):
    html = (written / "index.html").read_text(encoding="utf-8")
    assert 'id="rubrics"' not in html
    assert filled_in(CRITERIA_ROWS.iloc[:0], PAIRS_ROWS, ANSWERS, PARTS_ROWS) is None
