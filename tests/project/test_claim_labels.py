"""Labelled claims as people keep them: columns, words of labels, and what is asked about."""

import pandas as pd
import pytest

from metassay.api.labels import Choices
from metassay.core.errors import BadInput
from metassay.project.claim_labels import read_claim_labels
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import frame_sheet

CHOICES = Choices(caller=Caller.TERMINAL)


def read(frame, question="entailment", columns=None, choices=CHOICES):
    sheet = frame_sheet(frame, "claims.csv", Findings())
    assert sheet is not None
    return read_claim_labels(sheet, question, columns or {}, choices)


def claims(labels, **columns):
    n = len(labels)
    return pd.DataFrame(
        {
            "source": [f"Source {place // 2}." for place in range(n)],
            "claim": [f"Claim {place}." for place in range(n)],
            "label": labels,
            **columns,
        }
    )


def test_rows_of_one_premise_are_a_document_and_rows_without_a_label_are_counted():
    labelled = read(claims(["entailed", "not_entailed", "", "Entailed"]))
    assert [*labelled.frame["label"]] == ["entailed", "not_entailed", "entailed"]
    assert [*labelled.cluster] in ([0, 0, 1], [1, 1, 0])
    assert [*labelled.passed] == [1.0, 0.0, 1.0]
    assert "1 row without a label, a text or a document left out" in labelled.notes


def test_a_document_and_a_key_are_read_where_columns_name_them():
    frame = claims(["pass", "fail", "pass"], doc_id=["a", "a", "b"], id=[7, 8, 9])
    labelled = read(frame)
    assert [*labelled.frame["doc"]] == ["a", "a", "b"]
    assert [*labelled.frame["key"]] == ["7", "8", "9"]
    assert [*labelled.frame["label"]] == ["entailed", "not_entailed", "entailed"]


def test_documents_with_the_same_question_are_one_and_counted():
    frame = claims(["pass", "fail", "pass", "fail"], doc_id=["a", "b", "c", "d"])
    frame.loc[3, ["source", "claim"]] = frame.loc[0, ["source", "claim"]]
    labelled = read(frame)
    assert [*labelled.frame["doc"]] == ["a", "b", "c", "a"]
    assert any(note.startswith("1 document with a claim") for note in labelled.notes)
    # The same premise with another claim is another question.
    assert "Source 0." == frame.loc[1, "source"] == frame.loc[0, "source"]


@pytest.mark.parametrize("question", ["three_way", "support_grade"])
def test_options_of_passes_are_refused_where_nothing_passes(question):
    frame = claims(["entailed", "neutral"] if question == "three_way" else [0, 3])
    with pytest.raises(BadInput, match="--pass: passes answer --question entailment"):
        read(frame, question, choices=CHOICES._replace(passes=("entailed",)))
    with pytest.raises(BadInput, match="--pass-from"):
        read(frame, question, choices=CHOICES._replace(pass_from=2.0))
    assert len(read(frame, question).frame) == 2


def test_words_of_a_pass_are_asked_for_and_the_remedy_reads_them():
    frame = claims(["grounded", "made up", "grounded"])
    with pytest.raises(BadInput, match="--pass"):
        read(frame)
    labelled = read(frame, choices=CHOICES._replace(passes=("grounded",)))
    assert [*labelled.frame["label"]] == ["entailed", "not_entailed", "entailed"]


def test_a_word_for_no_answer_is_asked_for_and_left_out():
    frame = claims(["pass", "unsure", "fail"])
    with pytest.raises(BadInput, match="--missing unsure"):
        read(frame)
    labelled = read(frame, choices=CHOICES._replace(missing=("unsure",)))
    assert [*labelled.frame["label"]] == ["entailed", "not_entailed"]


def test_three_labels_are_read_as_data_sets_write_them():
    labels = ["entailment", "neutral", "contradiction"]
    labelled = read(claims(labels), "three_way")
    assert [*labelled.frame["label"]] == ["entailed", "neutral", "contradicted"]
    with pytest.raises(BadInput, match="not an answer to three_way"):
        read(claims(["entailment", "maybe"]), "three_way")


def test_grades_are_whole_numbers_of_the_scale():
    labelled = read(claims([0, 3, 2]), "support_grade")
    assert [*labelled.frame["label"]] == ["0", "3", "2"]
    with pytest.raises(BadInput, match="whole numbers from 0 to 3"):
        read(claims([0, 5]), "support_grade")


def test_columns_that_are_unclear_are_named_and_so_is_the_option():
    frame = claims(["pass", "fail"], context=["x", "y"])
    with pytest.raises(BadInput, match="columns premise=COLUMN"):
        read(frame)
    labelled = read(frame, columns={"premise": "context"})
    assert [*labelled.frame["premise"]] == ["x", "y"]
    with pytest.raises(BadInput, match="no column 'text'"):
        read(frame, columns={"premise": "text"})
    with pytest.raises(BadInput, match="did you mean 'three_way'"):
        read(frame, "threeway")
