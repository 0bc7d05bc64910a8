"""What each form asks, of which text, and what its answers become."""

import json
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.studies import FORM_NAMES, key
from metassay.studies.export import Design, build_study
from metassay.studies.forms import FORMS
from metassay.studies.record import Answer, Options, Target
from tests.studies.invented_tables import parts, sources, tables

ROOT = Path(__file__).parents[2]
claims, pairs, rubric, elements, facets, facts = (FORMS[name] for name in FORM_NAMES)
SEED = Options(1, root=ROOT)


def made(form, read=None, **options):
    return form.make(read or tables(), Options(1, root=ROOT, **options))


def asked(found):
    """Every question: the texts read, its column, and the target."""
    return [
        ({**dict(draft.texts), **dict(row.texts)}, question.column, target)
        for draft in found.drafts
        for row in draft.rows
        for question, target in row.questions
    ]


def test_claims_are_the_references_in_the_order_of_its_text():
    plan = made(claims)
    of = [one for one in asked(plan) if one[2][:2] == ("d1", "alpha")]
    assert [target.unit for _, _, target in of] == ["claim:0", "claim:1", "claim:2"]
    assert [texts["claim"] for texts, _, _ in of] == [
        "reference healed in d1.",
        "reference did in d1.",
        "reference did so in d1.",
    ]
    # Without the citation, which would tell systems that cite from those that do not.
    assert {texts["text"] for texts, _, _ in of} == {"It healed. alpha did d1."}
    assert {target.criterion for _, _, target in of} == {"claim_recall"}
    assert len(plan.drafts) == 8
    assert plan.notes == ("1 text(s) are left out: the system failed",)
    assert plan.datasets == {"one"}


def test_claims_of_the_system_are_held_against_the_reference():
    both = made(claims, claims="both")
    assert set(both.criteria) == {"claim_recall", "claim_precision"}
    of = [one for one in asked(both) if one[2].criterion == "claim_precision"]
    texts, _, target = of[0]
    assert (texts["claim"], texts["text"]) == (
        "alpha healed in d1.",
        "It healed. reference did d1.",
    )
    assert target[:4] == ("d1", "alpha", "full", "claim:0")


def test_pairs_and_the_shares_that_are_asked_once_a_text():
    plan = made(pairs, shares=True)
    assert len(plan.drafts) == 3 + 3 + 1
    design = Design(("a", "b"), 2, None, 1)
    study = build_study("one", "s", pairs, plan, design)
    targets = [asked.target for row in study.key.rows.values() for asked in row.questions.values()]
    preferred = [one for one in targets if one.criterion == "preference"]
    assert len(preferred) == 7
    assert {one.doc_id for one in preferred} == {"d1", "d2", "d3"}
    covered = [one for one in targets if one.criterion == "covered"]
    assert len(covered) == len(set(covered)) == 8
    for row in (row for item in study.items for row in item.rows):
        target = study.key.rows[row.id].questions["better"].target
        item = next(item for item in study.items if row in item.rows)
        texts = {text.heading: text.text for text in item.texts}
        assert f" {target.author} did" in texts["text A"]
        assert f" {target.unit.removeprefix('versus:')} did" in texts["text B"]
    first = {
        study.key.rows[row.id].questions["better"].target.author
        for i in study.items
        for row in i.rows
    }
    assert len(first) > 1, "the sides are drawn by lot"


def test_only_pairs_on_which_two_metrics_disagree():
    plan = made(pairs, disagreeing=("long", "near"))
    assert [draft.identity for draft in plan.drafts] == [("d1", "alpha", "beta")]
    with pytest.raises(BadInput, match="'short' is not a metric here; known: long, near"):
        made(pairs, disagreeing=("long", "short"))


def test_elements_of_each_sentence_and_their_shares():
    plan = made(elements)
    of = [one for one in asked(plan) if one[2][:2] == ("d1", "beta")]
    assert [(t["sentence"], t["element"], target.unit) for t, _, target in of] == [
        ("beta result.", "beta healed in d1.", "statement:0"),
        ("beta method.", "beta did in d1.", "statement:1"),
        ("beta method.", "beta did so in d1.", "statement:1"),
    ]
    (question,) = {
        one.question for draft in plan.drafts for row in draft.rows for one in row.questions
    }
    code = {choice.word: choice.value for choice in question.choices}
    assert len(code) == len(set(code.values())) == 7
    said = ["correct", "missing (critical)", "incorrect (minor)", "not in notes (minor)"]
    answers = [
        Answer(Target("d", "a", "full", "statement:0", f"label {n}"), code[word])
        for n, word in enumerate(said)
    ]
    answers.append(Answer(Target("d", "a", "full", "statement:1", "label 0"), None))
    got = {(one.target.unit, one.target.criterion): one.value for one in elements.rate(answers)}
    # Three of four elements have an error, one of each category; one error is critical.
    assert [got["statement:0", name] for name in plan.criteria] == [0.75, 0.25, 0.25, 0.25, 0.25]
    assert [got["statement:1", name] for name in plan.criteria] == [None] * 5


def test_facts_of_a_text_and_those_that_it_leaves_out():
    plan = made(facts)
    of = [one for one in asked(plan) if one[2][:2] == ("d1", "beta")]
    assert [(texts["fact"], column, target.criterion) for texts, column, target in of] == [
        ("beta healed in d1.", "status", "status 0"),
        ("beta did in d1.", "status", "status 1"),
        ("beta did so in d1.", "status", "status 2"),
        ("whole text", "omitted", "omitted"),
    ]
    texts = of[0][0]
    assert texts["input"] == "doctor: What is d1?\npatient: A cough."
    assert (texts["reference"], texts["text"]) == (
        "It healed. reference did d1.",
        "It healed. beta did d1.",
    )
    code = {c.word: c.value for c in plan.drafts[0].rows[0].questions[0].question.choices}
    targets = [target for _, _, target in of]

    def rated(*answers):
        got = facts.rate([Answer(*one) for one in zip(targets, answers, strict=True)])
        assert {one.target[:4] for one in got} == {("d1", "beta", "full", "text")}
        assert [one.target.criterion for one in got] == list(plan.criteria)
        return [one.value for one in got]

    # One fact of three is right, and one of the reference's two is there.
    said = (code["incorrect"], code["correct"], code["hallucinated"])
    third = pytest.approx(1 / 3)
    assert rated(*said, 1.0) == [1, 1, 1, 1, third, 0.5, pytest.approx(0.4), third, 0.5]
    assert rated(*said, None) == [1, 1, 1, None, third, None, None, third, None]
    assert rated(None, *said[1:], 1.0) == [None, None, None, 1, *[None] * 5]
    scales = {name: (one.high, one.better, one.scale) for name, one in plan.criteria.items()}
    assert scales["correct_facts"] == (1000, "higher", "count")
    assert scales["omission_rate"] == (1, "lower", "interval")


def test_texts_without_a_reference_have_no_facts_to_be_rated():
    own = parts()
    without = own[(own["author"] != "reference") | (own["doc_id"] != "d1")]
    plan = made(facts, tables(parts=without.reset_index(drop=True)))
    assert {draft.identity[0] for draft in plan.drafts} == {"d2", "d3"}
    assert plan.notes[-1] == "3 text(s) are left out: no reference or no claims are known"


def test_a_rubric_as_columns_with_its_caps():
    about = {"note_type": "respiratory", "symptoms": {"cough": "yes", "fever": "no"}}
    read = tables(sources=sources(about))
    plan = made(rubric, read, rubric="note_respiratory")
    by_column = {
        question.question.column: question.question for question in plan.drafts[0].rows[0].questions
    }
    assert by_column["note_respiratory_1A"].high == 2
    assert by_column["note_respiratory_1A"].capped
    assert "note_respiratory_1B" not in by_column, "nothing is forbidden here, so nothing is asked"
    assert by_column["note_respiratory_realism_hist"].allowed == "1, 2, 3, 4, 5"
    assert plan.criteria["note_respiratory_realism_hist"].scale == "ordinal"
    assert plan.criteria["note_respiratory_1D"].high == 3
    assert by_column["note_respiratory_1D"].asks.endswith(
        " One for each of: No suspected diagnosis; No symptoms beyond those of the prompt"
        " (describing these is allowed); Neither sex nor age of the patient."
    )
    shown = dict(plan.drafts[0].rows[0].texts)
    assert shown["items of note_respiratory_1A"] == "cough: yes\nfever: no"
    assert shown["input"] == "doctor: What is d1?\npatient: A cough."
    assert made(rubric, rubric="note_respiratory").notes[-1].endswith("is not for their document")


def test_a_rubric_that_is_not_there():
    with pytest.raises(BadInput, match="--rubric: is not given"):
        made(rubric)
    with pytest.raises(BadInput, match=r"none\.yaml"):
        made(rubric, rubric="none")


def test_facets_are_graded_where_the_reference_has_them():
    lacking = [("d1", "alpha", "result"), ("d2", "reference", "result")]
    plan = made(facets, tables(parts=parts(without=lacking)))
    of = {(target.doc_id, target.author, texts["facet"]): [] for texts, _, target in asked(plan)}
    for texts, column, target in asked(plan):
        of[target.doc_id, target.author, texts["facet"]].append((column, target.criterion))
    grade = ("grade", "bmrc_result")
    assert of["d1", "alpha", "result"] == [grade, ("found", "result_found")]
    assert of["d2", "alpha", "result"] == [("found", "result_found")]
    assert of["d1", "alpha", "whole text"] == [("vanilla_rating", "vanilla_rating")]
    assert plan.criteria["bmrc_result"].high == 4
    assert plan.criteria["result_found"].scale == "nominal"
    shown = [t for t, _, target in asked(plan) if target[:2] == ("d1", "alpha")]
    (of_text,) = {t["facet of the text"] for t in shown if t["facet"] == "result"}
    assert of_text == "(none was found)"


@pytest.mark.parametrize(
    ("form", "options"),
    [
        (claims, {"claims": "both"}),
        (pairs, {"shares": True}),
        (elements, {}),
        (facets, {}),
        (facts, {}),
        (rubric, {"rubric": "vanilla"}),
    ],
)
def test_a_key_brings_back_every_target(tmp_path, form, options):
    plan = made(form, **options)
    study = build_study("one", "s", form, plan, Design(("a", "b"), 1, 6, 3))
    (tmp_path / "key.json").write_bytes(key.to_bytes(study.key))
    back = key.read(tmp_path / "key.json")
    assert back.rows == study.key.rows
    assert back.criteria == study.key.criteria
    questions = {q for item in study.items for row in item.rows for q in row.questions}
    assert {a.question for row in back.rows.values() for a in row.questions.values()} == questions
    content = json.loads((tmp_path / "key.json").read_text("utf-8"))
    assert "Never send it to a rater" in content["keep_secret"]


def test_further_references_are_nobody_s_system():
    """People are not sent them to grade, in whatever form."""
    own = parts()
    further = own[own["author"] == "alpha"].assign(author="reference:2")
    more = tables(parts=pd.concat([own, further], ignore_index=True))
    for form, options in (
        (claims, {}),
        (elements, {}),
        (facets, {}),
        (facts, {}),
        (rubric, {"rubric": "vanilla"}),
    ):
        assert made(form, more, **options).drafts == made(form, **options).drafts


def test_the_command_line_offers_every_form():
    assert tuple(FORMS) == FORM_NAMES
