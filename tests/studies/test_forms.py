"""What each form asks, of which text, and what its answers become; and who gets what, by lot."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.studies import FORM_NAMES, key
from metassay.studies.export import Design, assign, build_study, draw_ids, draw_items
from metassay.studies.forms import FORMS
from metassay.studies.record import Answer, Options, Target
from tests.studies.invented_tables import (
    drafts,
    parts,
    sources,
    study,
    tables,
    write_questions,
)

ROOT = Path(__file__).parents[2]
claims, pairs, rubric, elements, facets, facts, reading = (
    FORMS[name] for name in FORM_NAMES
)


def make(form, read=None, **options):
    return form.make(read or tables(), Options(1, root=ROOT, **options))


def questions(plan, *text):
    """Every question, or those of a text: the texts read, its column, and the target."""
    return [
        ({**dict(draft.texts), **dict(row.texts)}, question.column, target)
        for draft in plan.drafts
        for row in draft.rows
        for question, target in row.questions
        if target[: len(text)] == text
    ]


def test_claims_are_the_references_in_the_order_of_its_text():
    plan = make(claims)
    rows = questions(plan, "d1", "alpha")
    assert [target.unit for _, _, target in rows] == ["claim:0", "claim:1", "claim:2"]
    assert [texts["claim"] for texts, _, _ in rows] == [
        "reference healed in d1.",
        "reference did in d1.",
        "reference did so in d1.",
    ]
    # Without the citation, which would tell systems that cite from those that do not.
    assert {texts["text"] for texts, _, _ in rows} == {"It healed. alpha did d1."}
    assert {target.criterion for _, _, target in rows} == {"claim_recall"}
    assert len(plan.drafts) == 8
    assert plan.notes == ("1 text(s) are left out: the system failed",)
    assert plan.datasets == {"one"}
    both = make(claims, claims="both")
    assert set(both.criteria) == {"claim_recall", "claim_precision"}
    rows = [row for row in questions(both) if row[2].criterion == "claim_precision"]
    texts, _, target = rows[0]
    assert texts["claim"] == "alpha healed in d1."
    assert texts["text"] == "It healed. reference did d1."
    assert target[:4] == ("d1", "alpha", "full", "claim:0")


def test_pairs_and_the_shares_of_each_text():
    plan = make(pairs, shares=True)
    assert len(plan.drafts) == 3 + 3 + 1
    sent = build_study("one", "s", pairs, plan, Design(("a", "b"), 2, None, 1))
    targets = [
        pair.target for row in sent.key.rows.values() for pair in row.questions.values()
    ]
    preferred = [target for target in targets if target.criterion == "preference"]
    assert len(preferred) == 7
    assert {target.doc_id for target in preferred} == {"d1", "d2", "d3"}
    covered = [target for target in targets if target.criterion == "covered"]
    assert len(covered) == len(set(covered)) == 8
    for item in sent.items:
        texts, (row,) = dict(item.texts), item.rows
        target = sent.key.rows[row.id].questions["better"].target
        assert f" {target.author} did" in texts["text A"]
        assert f" {target.unit.removeprefix('versus:')} did" in texts["text B"]
    assert len({target.author for target in preferred}) > 1, (
        "the sides are drawn by lot"
    )
    plan = make(pairs, disagreeing=("long", "near"))
    assert [draft.identity for draft in plan.drafts] == [("d1", "alpha", "beta")]
    with pytest.raises(
        BadInput, match="'short' is not a metric here; known: long, near"
    ):
        make(pairs, disagreeing=("long", "short"))


def test_elements_of_each_sentence_and_their_shares():
    plan = make(elements)
    rows = questions(plan, "d1", "beta")
    assert [(t["sentence"], t["element"], target.unit) for t, _, target in rows] == [
        ("beta result.", "beta healed in d1.", "statement:0"),
        ("beta method.", "beta did in d1.", "statement:1"),
        ("beta method.", "beta did so in d1.", "statement:1"),
    ]
    (question,) = {
        q for draft in plan.drafts for row in draft.rows for q, _ in row.questions
    }
    code = {choice.word: choice.value for choice in question.choices}
    assert len(code) == len(set(code.values())) == 7
    words = [
        "correct",
        "missing (critical)",
        "incorrect (minor)",
        "not in notes (minor)",
    ]
    keys = [("statement:0", f"label {n}") for n in range(4)] + [
        ("statement:1", "label 0")
    ]
    values = [*(code[word] for word in words), None]
    answers = [
        Answer(Target("d", "a", "full", *k), v)
        for k, v in zip(keys, values, strict=True)
    ]
    shares = {(t.unit, t.criterion): value for t, value in elements.rate(answers)}
    # Three of four elements have an error, one of each category; one error is critical.
    assert [shares["statement:0", n] for n in plan.criteria] == [
        0.75,
        0.25,
        0.25,
        0.25,
        0.25,
    ]
    assert [shares["statement:1", name] for name in plan.criteria] == [None] * 5


def test_facts_of_a_text_and_those_that_it_leaves_out():
    plan = make(facts)
    rows = questions(plan, "d1", "beta")
    assert [
        (texts["fact"], column, target.criterion) for texts, column, target in rows
    ] == [
        ("beta healed in d1.", "status", "status 0"),
        ("beta did in d1.", "status", "status 1"),
        ("beta did so in d1.", "status", "status 2"),
        ("whole text", "omitted", "omitted"),
    ]
    texts = rows[0][0]
    assert texts["input"] == "doctor: What is d1?\npatient: A cough."
    assert texts["reference"] == "It healed. reference did d1."
    assert texts["text"] == "It healed. beta did d1."
    code = {
        c.word: c.value for c in plan.drafts[0].rows[0].questions[0].question.choices
    }

    def rated(*values):
        answers = zip((target for *_, target in rows), values, strict=True)
        ratings = facts.rate([Answer(*answer) for answer in answers])
        assert {target[:4] for target, _ in ratings} == {("d1", "beta", "full", "text")}
        assert [target.criterion for target, _ in ratings] == list(plan.criteria)
        return [value for _, value in ratings]

    # One fact of three is right, and one of the reference's two is there.
    status = (code["incorrect"], code["correct"], code["hallucinated"])
    third = pytest.approx(1 / 3)
    assert rated(*status, 1.0) == [
        1,
        1,
        1,
        1,
        third,
        0.5,
        pytest.approx(0.4),
        third,
        0.5,
    ]
    assert rated(*status, None) == [1, 1, 1, None, third, None, None, third, None]
    assert rated(None, *status[1:], 1.0) == [None, None, None, 1, *[None] * 5]
    scales = {name: (c.high, c.better, c.scale) for name, c in plan.criteria.items()}
    assert scales["correct_facts"] == (1000, "higher", "count")
    assert scales["omission_rate"] == (1, "lower", "interval")
    whole = parts()
    without = whole[(whole["author"] != "reference") | (whole["doc_id"] != "d1")]
    plan = make(facts, tables(parts=without.reset_index(drop=True)))
    assert {draft.identity[0] for draft in plan.drafts} == {"d2", "d3"}
    assert (
        plan.notes[-1] == "3 text(s) are left out: no reference or no claims are known"
    )


def test_reading_asks_for_answers_and_seconds_with_and_without_marks(tmp_path):
    plan = make(reading, questions=write_questions(tmp_path))
    # d3 has no question; of its three texts one failed.
    assert plan.notes == (
        "1 text(s) are left out: the system failed",
        "2 text(s) are left out: their document has no question",
    )
    shown = {draft.identity: draft.texts[0].text for draft in plan.drafts}
    assert len(shown) == 6
    marked = {key for key, text in shown.items() if text.startswith("[RESULT]\n")}
    plain = {key for key, text in shown.items() if text.startswith("It healed. ")}
    assert marked | plain == set(shown)
    # By lot half of the 8 texts that systems wrote.
    assert 2 <= len(marked) <= 4
    (doc, author) = min(marked)
    assert (
        shown[doc, author] == f"[RESULT]\nIt healed.\n\n[METHOD]\n{author} did {doc}."
    )
    for doc, author in shown:
        way = "marked" if (doc, author) in marked else "plain"
        rows = questions(plan, doc, author)
        of_rows = [
            (texts["question"], column, target.criterion)
            for texts, column, target in rows
        ]
        expected = [
            ("Who healed?", "answer", f"right_{way} 0"),
            ("Who healed?", "seconds", f"seconds_{way} 0"),
            ("What was it?", "answer", f"right_{way} 1"),
            ("What was it?", "seconds", f"seconds_{way} 1"),
        ]
        if doc == "d2":
            expected = [
                ("Who did it?", "answer", f"right_{way} 0"),
                ("Who did it?", "seconds", f"seconds_{way} 0"),
            ]
        assert of_rows == expected
    again = make(reading, questions=write_questions(tmp_path))
    assert again.drafts == plan.drafts


def test_a_reading_s_ratings_are_means_of_a_text(tmp_path):
    plan = make(reading, questions=write_questions(tmp_path))
    (draft,) = (each for each in plan.drafts if each.identity == ("d1", "alpha"))
    other = draft.rows[1].questions[0]
    offered = {choice.word: choice.value for choice in other.question.choices}
    assert offered == {"a cough": 1, "a knee": 0, "a rash": 0}
    # The rater reads them in the same order, which is by lot.
    read_answers = dict(draft.rows[1].texts)["answers"]
    assert read_answers.split("\n") == list(offered)
    rows = questions(plan, "d1", "alpha")

    def rated(*values):
        answers = zip((target for *_, target in rows), values, strict=True)
        ratings = reading.rate([Answer(*answer) for answer in answers])
        assert {target.unit for target, _ in ratings} == {"text"}
        assert {target.criterion for target, _ in ratings} < set(plan.criteria)
        return [value for _, value in ratings]

    # Right after 40 seconds, wrong after 20.
    assert rated(1.0, 40.0, 0.0, 20.0) == [0.5, 30]
    assert rated(1.0, 40.0, None, 20.0) == [None, 30]
    assert rated(1.0, None, 0.0, 20.0) == [0.5, None]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("doc_id,question,right\nd1,who,it\n", "wrong"),
        ("doc_id,question,right,wrong\nd1,who,it,\n", "a cell is empty"),
        ("doc_id,question,right,wrong\nd1,who,it,it\n", "two answers are the same"),
    ],
)
def test_questions_that_cannot_be_asked(tmp_path, content, problem):
    with pytest.raises(BadInput, match=problem):
        make(reading, questions=write_questions(tmp_path, content))


def test_reading_needs_questions():
    with pytest.raises(BadInput, match=r"--questions: is not given; write a CSV"):
        make(reading)


def test_a_rubric_as_columns_with_its_caps():
    about = {"note_type": "respiratory", "symptoms": {"cough": "yes", "fever": "no"}}
    plan = make(rubric, tables(sources=sources(about)), rubric="note_respiratory")
    row = plan.drafts[0].rows[0]
    lead, by_column = "note_respiratory_", {q.column: q for q, _ in row.questions}
    assert (by_column[f"{lead}1A"].high, by_column[f"{lead}1A"].capped) == (2, True)
    assert f"{lead}1B" not in by_column, (
        "nothing is forbidden here, so nothing is asked"
    )
    assert by_column[f"{lead}realism_hist"].allowed == "1, 2, 3, 4, 5"
    assert plan.criteria[f"{lead}realism_hist"].scale == "ordinal"
    assert plan.criteria[f"{lead}1D"].high == 3
    assert by_column[f"{lead}1D"].asks.endswith(
        " One for each of: No suspected diagnosis; No symptoms beyond those of the prompt"
        " (describing these is allowed); Neither sex nor age of the patient."
    )
    texts = dict(row.texts)
    assert texts["items of note_respiratory_1A"] == "cough: yes\nfever: no"
    assert texts["input"] == "doctor: What is d1?\npatient: A cough."
    assert (
        make(rubric, rubric="note_respiratory")
        .notes[-1]
        .endswith("is not for their document")
    )
    for options, match in (
        ({}, "--rubric: is not given"),
        ({"rubric": "none"}, r"none\.yaml"),
    ):
        with pytest.raises(BadInput, match=match):
            make(rubric, **options)


def test_facets_are_graded_where_the_reference_has_them():
    lacking = [("d1", "alpha", "result"), ("d2", "reference", "result")]
    plan = make(facets, tables(parts=parts(without=lacking)))

    def of(doc, facet):
        rows = [
            row for row in questions(plan, doc, "alpha") if row[0]["facet"] == facet
        ]
        return [(column, target.criterion) for _, column, target in rows]

    assert of("d1", "result") == [("grade", "bmrc_result"), ("found", "result_found")]
    assert of("d2", "result") == [("found", "result_found")]
    assert of("d1", "whole text") == [("vanilla_rating", "vanilla_rating")]
    assert plan.criteria["bmrc_result"].high == 4
    assert plan.criteria["result_found"].scale == "nominal"
    texts = [
        texts
        for texts, *_ in questions(plan, "d1", "alpha")
        if texts["facet"] == "result"
    ]
    assert {of_text["facet of the text"] for of_text in texts} == {"(none was found)"}


OPTIONS = {
    claims: {"claims": "both"},
    pairs: {"shares": True},
    rubric: {"rubric": "vanilla"},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_key_brings_back_every_target(tmp_path, form):
    options = OPTIONS.get(form, {})
    if form is reading:
        options = {"questions": write_questions(tmp_path)}
    plan = make(form, **options)
    sent = build_study("one", "s", form, plan, Design(("a", "b"), 1, 6, 3))
    path = tmp_path / "key.json"
    path.write_bytes(key.encode_key(sent.key))
    back = key.read(path)
    assert (back.rows, back.criteria) == (sent.key.rows, sent.key.criteria)
    every = {q for item in sent.items for row in item.rows for q in row.questions}
    assert {q for row in back.rows.values() for q, _ in row.questions.values()} == every
    secret = json.loads(path.read_text("utf-8"))["keep_secret"]
    assert "Never send it to a rater" in secret
    assert tuple(FORMS) == FORM_NAMES
    if form is not pairs:  # people are not sent further references to grade
        whole = parts()
        further = whole[whole["author"] == "alpha"].assign(author="reference:2")
        more = tables(parts=pd.concat([whole, further], ignore_index=True))
        assert make(form, more, **options).drafts == plan.drafts


# ---- who gets what: balanced, by chance, the same each time, and blinded


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(0, 5),
    st.data(),
)
def test_everybody_gets_as_many_and_of_every_system(counts, n_raters, seed, data):
    per_item = data.draw(st.integers(1, n_raters))
    items = {
        f"{s}-{n}": (f"s{s}",) for s, count in enumerate(counts) for n in range(count)
    }
    raters = [f"r{n}" for n in range(n_raters)]
    assignments = assign(items, raters, per_item, seed)
    assert list(assignments) == raters
    uses = Counter(item for names in assignments.values() for item in names)
    assert uses == dict.fromkeys(items, per_item)
    loads = [len(names) for names in assignments.values()]
    assert max(loads) - min(loads) <= 2
    for system in range(len(counts)):
        each = [
            sum(item.startswith(f"{system}-") for item in names)
            for names in assignments.values()
        ]
        assert max(each) - min(each) <= 1
    assert all(len(set(names)) == len(names) for names in assignments.values())


def test_raters_share_items_in_orders_of_their_own():
    items = {f"i{n}": ("s",) for n in range(30)}
    assignments = assign(items, list("abcd"), 2, 1)
    shared = [
        len({*assignments[a]} & {*assignments[b]}) for a, b in combinations("abcd", 2)
    ]
    assert sum(shared) == 30
    assert max(shared) - min(shared) <= 1
    first, again = (assign(items, ["a", "b"], 2, 7) for _ in range(2))
    assert first == again
    assert first["a"] != first["b"]
    assert assign(items, ["a", "b"], 2, 8) != first
    with pytest.raises(ValueError, match="1 to 2"):
        assign({"i": ("s",)}, ["a", "b"], 3, 1)


def test_some_items_are_of_whole_documents_or_of_all_pairs_of_systems():
    every = drafts(documents=[f"d{n:02}" for n in range(20)])
    for together, documents in ((True, {10}), (False, range(13, 21))):
        some = draw_items(every, 30, 1, together=together)
        sizes = dict.fromkeys({d.systems for d in every}, 10)
        assert Counter(draft.systems for draft in some) == sizes
        assert len({draft.identity[0] for draft in some}) in documents
    for n in range(1, 61):
        counts = Counter(
            item.systems for item in draw_items(every, n, 3, together=True)
        )
        assert (
            max(counts.values()) - min([*counts.values(), *[0] * (len(counts) < 3)])
            <= 1
        )
    assert draw_items(every, None, 1, together=True) == sorted(
        every, key=lambda d: d.identity
    )


def test_sheets_know_no_author_and_ids_say_nothing():
    identities = [
        (f"d{n}", author) for n in range(2000) for author in ("alpha", "beta")
    ]
    ids = draw_ids(identities, 1)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[bcdfghjklmnpqrstvwxz]{8}", name) for name in ids)
    assert not set(ids) & set(draw_ids(identities, 2))
    sent = study()
    for sheet in sent.sheets():
        assert len(sheet.items) == 9
        assert "alpha" not in repr(sheet)
        assert "'d1'" not in repr(sheet)
    rows = sent.key.rows.values()
    authors = {pair.target.author for row in rows for pair in row.questions.values()}
    assert authors == {"alpha", "beta", "gamma"}
