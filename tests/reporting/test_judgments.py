"""What the page says of a judgment, whatever the instrument; rubrics: grades by hand, and forms."""

import json
from typing import Any

import pandas as pd
import pytest

from metassay.format.frames import records
from metassay.meta_evaluation.summaries import rubric_tables
from metassay.reporting.answers import (
    COLUMNS,
    Answer,
    answers_table,
    blocks,
    index_judgments,
    judgment_of,
    unanswered,
)
from metassay.reporting.contract import Block, Judgment
from metassay.reporting.report import write_report
from metassay.scoring.pairing.measures import MEASURES
from metassay.tables.criteria import CRITERIA
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.names import ALL_CITATIONS, REFERENCE
from metassay.tables.pairs import PAIRS
from tests.judges.rubric_setup import ADDED, BACKGROUND, FREE, SYMPTOMS, asks
from tests.reporting import page_data
from tests.reporting.invented_report import DOC, EVIL, SCRIPT, lines

PLACE = {"doc_id": "d", "part": "full", "start": None, "end": None}
CLAIMS = pd.DataFrame(
    {
        **PLACE,
        "author": REFERENCE,
        "kind": "claim",
        "position": n,
        "text": f"c{n}",
        "citations": [],
    }
    for n in range(3)
)
STATEMENT = pd.DataFrame(
    [{**PLACE, "author": "lead", "kind": "statement", "position": 0, "text": "a"}]
).assign(citations=[[4, 2]])
NOBODY = CLAIMS.head(0)


def pairs_of(*questions: tuple[str, int, int], author: str = "lead") -> pd.DataFrame:
    """Questions (measure, position, citation), each with its words as pair_id."""
    shared = {"doc_id": "d", "author": author, "part": "full", "settled": None}
    shared |= {"instrument": "entailment", "context": None}
    return pd.DataFrame(
        lines("measure position citation", *questions, **shared)
    ).assign(pair_id=[f"{m} {p if c == ALL_CITATIONS else c}" for m, p, c in questions])


RECALL = pairs_of(
    *(
        (m, n, ALL_CITATIONS)
        for m in ("claim_recall", "claim_recall_grade")
        for n in range(3)
    )
)
CITED = pairs_of(
    ("citation_recall", 0, ALL_CITATIONS),
    *((f"citation_{of}", 0, n) for of in ("alone", "rest") for n in (4, 2)),
)


def judgment(pair_id: str, **answer: object) -> dict[str, object]:
    blank = dict.fromkeys(("label", "grade", "probability", "explanation"))
    shared = {"judge": "lexical", "status": "ok", "repaired": False, "quotes": ()}
    return {**shared, **blank, "pair_id": pair_id, "quote_starts": (), **answer}


def block_of(
    units: pd.DataFrame,
    pairs: pd.DataFrame,
    *answers: dict[str, Any],
    author: str = "lead",
    **more: Any,
) -> Block:
    known = index_judgments(units, pairs, pd.DataFrame(answers), None, **more)
    (block,) = blocks(known, "d", author, {}, lambda part, start, end: (-1, -1))
    return block


def sides(block: Block, head: int = 0) -> list[tuple[str, str]]:
    """Word and side of each line by one judge."""
    return [
        (line.judgments[head].word, line.judgments[head].side) for line in block.lines
    ]


def test_labels_are_said_as_they_are_and_a_grade_counts_by_its_half_of_the_scale() -> (
    None
):
    block = block_of(
        # of an instrument with three labels
        CLAIMS,
        RECALL,
        judgment("claim_recall 0", label="entailed", probability=0.834),
        judgment("claim_recall 1", label="not_entailed"),
        judgment("claim_recall 2", label="contradicted"),
        judgment("claim_recall_grade 0", grade=2.0, explanation="2 of 3 words"),
        judgment("claim_recall_grade 1", grade=0.0),
        judgment("claim_recall_grade 2", status="refused"),
    )
    assert sides(block) == [
        ("entailed", "for"),
        ("not entailed", "against"),
        ("labelled contradicted", "against"),
    ]
    assert sides(block, 1) == [
        ("graded 2 of 3", "for"),
        ("graded 0 of 3", "against"),
        ("failed: refused", "unknown"),
    ]
    assert block.lines[0].judgments[0].probability == 0.834
    assert block.lines[0].judgments[1].why == "2 of 3 words"
    assert [tuple(head) for head in block.heads] == [
        ("in this text?", "claim_recall", "lexical"),
        ("how far in this text?", "claim_recall_grade", "lexical"),
    ]
    unsure = judgment("claim_recall 1", status="abstained", probability=0.5)
    block = block_of(CLAIMS, RECALL, unsure)
    assert sides(block)[1:] == [("abstained", "unknown"), ("not judged", "unknown")]
    assert (
        block.lines[1].judgments[0].probability,
        block.lines[1].judgments[0].why,
    ) == (0.5, "")


@pytest.mark.parametrize(
    ("label", "side"),
    [("entailed", "for"), ("neutral", "neutral"), ("contradicted", "against")],
)
def test_what_contradicts_is_against_the_text_and_what_says_nothing_is_neither(
    label: str, side: str
) -> None:
    answer = Answer("ok", label, None, None, None, [], [])
    assert judgment_of(answer, MEASURES["claim_contradiction"].counted).side == side


def test_what_no_judge_needed_to_say_is_not_called_missing() -> None:
    (line,) = block_of(
        STATEMENT,
        CITED,
        judgment("citation_recall 0", label="entailed"),
        judgment("citation_alone 4", label="entailed"),
        judgment("citation_alone 2", status="truncated"),
    ).lines
    four, two = line.each
    assert (four.head, four.passage, two.passage) == (0, 4, 2)
    assert four.alone == Judgment("entailed", "for", quotes=[])
    assert two.alone == Judgment("failed: truncated", "unknown", quotes=[])
    assert four.rest == two.rest == Judgment("not needed", "neutral")


def test_what_the_other_citations_entail_speaks_against_this_one() -> None:
    answers = [("citation_rest 4", "entailed"), ("citation_rest 2", "not_entailed")]
    block = block_of(
        STATEMENT, CITED, *(judgment(of, label=label) for of, label in answers)
    )
    assert [each.rest and each.rest.side for each in block.lines[0].each] == [
        "against",
        "for",
    ]


def test_every_place_is_counted_by_what_came_of_it() -> None:
    # the same questions
    twice = RECALL.assign(position=RECALL["position"] + 3, author="other")
    settled = RECALL.head(1).assign(
        position=9, pair_id="settled", settled="no_evidence"
    )
    answers = [
        judgment("claim_recall 0", label="entailed", repaired=True),
        judgment("claim_recall 1", status="abstained"),
        judgment("claim_recall 2", status="refused"),
        judgment("citation_alone 4", label="entailed"),
        *(
            judgment(f"claim_recall {n}", label="entailed", judge="words")
            for n in (0, 1)
        ),
    ]
    table = answers_table(
        pd.concat([RECALL, twice, settled, CITED]), pd.DataFrame(answers)
    )
    by = table.set_index(["judge", "measure"])
    recall = by.loc["lexical", "claim_recall"]
    assert dict(recall[recall > 0]) == {
        "places": 7,
        "questions": 3,
        "answered": 2,
        "repaired": 2,
        "abstained": 2,
        "refused": 2,
        "no_evidence": 1,
    }
    alone = by.loc["lexical", "citation_alone"]
    assert (alone["answered"], alone["not_needed"], alone["not_judged"]) == (1, 1, 0)
    assert by.loc["words", "claim_recall"]["not_judged"] == 2
    outcomes = [name for name in COLUMNS[4:] if name != "repaired"]
    assert (by[outcomes].sum(axis=1) == by["places"]).all()
    assert unanswered(table[table["measure"] == "claim_recall"]) == [
        "lexical has no answer in 2 of 7 places: 2 refused.",
        "words has no answer in 2 of 7 places: 2 not judged.",
    ]
    assert unanswered(table.head(0)) == []


def test_a_preference_names_the_other_text_and_what_is_better() -> None:
    """A place is that of the other author among all, by the names that pairs were made with."""
    authors = ("alpha", "lead", "zero")
    pairs = [
        pairs_of(
            ("preference_first", n, -1), ("preference_second", n, -1), author=author
        ).assign(pair_id=[f"{author} {other} {of}" for of in ("first", "second")])
        for author in authors
        for n, other in enumerate(authors)
        if author != other
    ]
    rivals = pd.concat(pairs)
    answers = [
        judgment("lead zero first", label="second"),
        judgment("lead zero second", label="second"),
        judgment("lead alpha first", label="neither"),
    ]
    block = block_of(NOBODY, rivals, *answers)
    assert "the reference, or the source where there is none" in block.title
    assert [line.text for line in block.lines] == ["beside alpha", "beside zero"]
    other, this = "labelled the other text", "labelled this text"
    assert sides(block) == [("labelled neither", "neutral"), (other, "against")]
    assert sides(block, 1) == [("not judged", "unknown"), (this, "for")]
    renamed = rivals.replace({"author": {"alpha": "Ω", "zero": "A"}})
    block = block_of(NOBODY, renamed, *answers, names={"Ω": "alpha", "A": "zero"})
    assert [line.text for line in block.lines] == ["beside Ω", "beside A"]
    assert sides(block) == [("labelled neither", "neutral"), (other, "against")]


def test_the_whole_text_has_a_line_where_a_question_is_about_it() -> None:
    pairs = RECALL.head(1).assign(measure="same_question", pair_id="same")
    block = block_of(NOBODY, pairs, judgment("same", label="different"))
    assert (block.noun, block.lines[0].text) == ("text", "this text")
    assert sides(block) == [("labelled different", "against")]


# ---- grades by rubrics -----------------------------------------------------------------------


def asked_of(*criteria: tuple[dict[str, Any], str | None]) -> pd.DataFrame:
    """Criteria of the rubric `note` in their order, and why each is settled."""
    pairs = [asks(of) for of, _ in criteria]
    return pd.DataFrame(
        {
            "doc_id": "d",
            "author": "sys",
            "part": "history",
            "citation": ALL_CITATIONS,
            "measure": [f"note_{of['criterion']}" for of, _ in criteria],
            "position": range(len(pairs)),
            "pair_id": [pair.pair_id for pair in pairs],
            "instrument": [pair.instrument for pair in pairs],
            "context": [pair.context for pair in pairs],
            "settled": [why for _, why in criteria],
        }
    )


def grade(criterion: dict[str, Any], judge: str = "j", **answer: Any) -> dict[str, Any]:
    return judgment(asks(criterion).pair_id, judge=judge, **answer)


def test_grades_stand_with_their_scale_reason_and_quotes() -> None:
    quotes = {"quotes": ["no fever", "made up"], "quote_starts": [3, -1]}
    block = block_of(
        NOBODY,
        asked_of((BACKGROUND, None), (SYMPTOMS, None), (FREE, None), (ADDED, None)),
        grade(BACKGROUND, grade=2.0, explanation="Half of it.", **quotes),
        grade(BACKGROUND, "words", status="abstained"),
        grade(SYMPTOMS, grade=1.0),
        grade(FREE, grade=7.0),
        grade(ADDED, status="refused"),
        author="sys",
    )
    assert block.title == "Rubric note: what grade does each criterion give?"
    assert [head[1:] for head in block.heads] == [("note", "j"), ("note", "words")]
    assert {line.part for line in block.lines} == {"history"}
    assert [line.text for line in block.lines][:2] == [
        "background: Does it say why?",
        "1A: Which of these does it get wrong?",
    ]
    assert sides(block) == [
        ("graded 2 on 1 to 3", "neutral"),
        ("graded 1 of at most 2", "against"),
        ("graded 7", "against"),
        ("failed: refused", "unknown"),
    ]
    first = block.lines[0].judgments[0]
    assert first.why.endswith("; Half of it.")  # after what the level says
    assert first.quotes == ["no fever", "made up (not in the text)"]
    assert sides(block, 1) == [
        ("abstained", "unknown"),
        *[("not judged", "unknown")] * 3,
    ]


def test_what_was_settled_says_how_and_is_counted() -> None:
    why = ["no_evidence", "not_applicable", "no_text", "no_claims", "no_reference"]
    criteria = [BACKGROUND | {"criterion": reason} for reason in why]
    pairs = asked_of(*zip(criteria, why, strict=True), (BACKGROUND, None))
    answer = grade(BACKGROUND, grade=3.0)
    assert sides(block_of(NOBODY, pairs, answer, author="sys")) == [
        ("no evidence", "against"),
        ("not applicable", "neutral"),
        ("failed: no text", "unknown"),
        ("failed: parts unknown", "unknown"),
        ("failed: no reference", "unknown"),
        ("graded 3 on 1 to 3", "for"),
    ]
    table = answers_table(pairs, pd.DataFrame([answer])).drop(
        columns=["judge", "measure"]
    )
    counts = table.drop(columns=["places", "questions", "repaired"]).sum(axis=1)
    assert counts.tolist() == table["places"].tolist() == [1] * 6


FORM = pd.DataFrame(
    lines(
        "criterion kind position low high weight value better",
        ("clear", "scale", 0, 1.0, 3.0, 0.5, "share", "higher"),
        ("slips", "penalties", 1, 0.0, None, 0.5, "grade", "lower"),
        ("overall", "overall", 2, 1 / 3, 1.0, None, "grade", "higher"),
        rubric="form",
        combines="best",
        meaning="asks",
        missing="null",
        source="invented",
        recipe="abc",
    )
)
FORM["metric"] = "form_" + FORM["criterion"]
FORM = FORM[list(CRITERIA.columns)]


def test_grades_are_turned_back_from_shares_and_counted_by_hand() -> None:
    rows = [
        ("a", f"d{n}", v, 0, "form_clear")
        for n, v in enumerate((1 / 3, 1.0, 2 / 3, 1.0))
    ]
    rows += [("a", "d4", None, 1, "form_clear"), ("a", "d5", None, 0, "form_clear")]
    rows += [("a", DOC, 4.0, 0, "form_slips"), ("b", DOC, 0.5, 0, "form_overall")]
    heads = "author doc_id value n_failed metric"
    scores = pd.DataFrame(lines(heads, *rows, part="full", judge="gpt"))
    grades, levels = rubric_tables(FORM, scores)
    clear, slips, overall = records(grades)
    assert (clear["mean"], clear["n"], clear["n_missing"], clear["n_unscored"]) == (
        2.25,
        4,
        1,
        1,
    )
    assert clear["sd"] == pytest.approx((11 / 16) ** 0.5)  # 1, 3, 2, 3: ddof 0
    assert (slips["mean"], slips["sd"], slips["n"]) == (4, 0, 1)
    assert (overall["author"], overall["mean"]) == ("b", 0.5)
    counts = [
        (row["criterion"], row["grade"], row["n"], row["share"])
        for row in records(levels)
    ]
    assert counts == [
        ("clear", 1, 1, 0.25),
        ("clear", 2, 1, 0.25),
        ("clear", 3, 2, 0.5),
        ("slips", 4, 1, 1),
    ]


@pytest.mark.usefixtures("no_figures")
def test_a_page_with_a_rubric_has_its_tables_and_every_form_with_anchor_reason_and_quotes(
    make_report, frames, head, tmp_path
):
    scale = {"kind": "scale", "criterion": "clear", "asks": "?"}
    scale["levels"] = {"1": f"bad {SCRIPT}", "2": "fair", "3": "good"}
    penalties = {
        "kind": "penalties",
        "criterion": "slips",
        "asks": "?",
        "items": None,
        "cap": 4,
    }
    pairs = [
        dict.fromkeys(PAIRS.columns)
        | {
            "pair_id": f"p{n}",
            "instrument": of["kind"],
            "measure": f"form_{of['criterion']}",
        }
        | {
            "doc_id": DOC,
            "author": author,
            "part": "full",
            "position": position,
            "citation": -1,
        }
        | {
            "premise": None if settled else "",
            "hypothesis": "A knee hurts.",
            "settled": settled,
        }
        | {"context": json.dumps(of, sort_keys=True), "repeats": "invented"}
        for n, (of, position, author, settled) in enumerate(
            [
                (scale, 0, EVIL, None),
                (penalties, 1, EVIL, None),
                (scale, 0, "plain", "no_text"),
                (penalties, 1, "plain", None),
            ]
        )
    ]
    answers = [
        dict.fromkeys(JUDGMENTS.columns)
        | {"judge": "gpt", "attempts": 1, "repaired": False, "recipe": "gpt", **row}
        for row in lines(
            "pair_id status grade quotes quote_starts",
            ("p0", "ok", 1.0, ["knee hurts", "a lost <b>quote</b>"], [2, -1]),
            ("p1", "ok", 2.0, ["hurts. "], [7]),
            ("p3", "refused", None, [], []),
            explanation=f"because {SCRIPT}",
        )
    ]
    score = {
        "doc_id": DOC,
        "author": EVIL,
        "part": "full",
        "metric": "form_clear",
        "judge": "gpt",
    }
    score |= {
        "value": 1 / 3,
        "n_failed": 0,
        "n_expected": 1,
        "n_judged": 1,
        "recipe": "x",
    }
    report = make_report(
        criteria=FORM,
        pairs=pd.DataFrame(pairs),
        judgments=pd.DataFrame(answers),
        scores=pd.concat([frames["scores"], pd.DataFrame([score])]),
    )
    out = tmp_path / "out"
    write_report(report, out)
    for name in ("criteria", "rubric_grades", "rubric_levels"):
        assert (out / f"{name}.csv").is_file()
        # without a rubric
        assert name not in {table["name"] for table in head["tables"]}
    assert page_data.table(out, "rubric_grades")["mean"].tolist() == [1.0]
    shown = {
        author: [line["judgments"][0] for line in block["lines"]]
        for (_, author), text in page_data.texts(out).items()
        for block in text["blocks"]
        if block["id"] == "rubric form"
    }
    clear, slips = shown[EVIL]
    assert clear == {
        "word": "graded 1 on 1 to 3",
        "side": "against",
        "probability": None,
        "why": f"bad {SCRIPT}; because {SCRIPT}",
        "quotes": ["knee hurts", "a lost <b>quote</b> (not in the text)"],
    }
    words = [(of["word"], of["side"]) for of in (slips, *shown["plain"])]
    assert words == [
        ("graded 2 of at most 4", "against"),
        ("failed: no text", "unknown"),
        ("failed: refused", "unknown"),
    ]
