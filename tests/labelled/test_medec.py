"""MEDEC's reader: invented texts worked out by hand, and the counts of the released set."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from metassay.labelled.readers import medec
from metassay.labelled.records import ItemRow, Items
from tests.support.labelled import SECRET, ingested, problems, sound

HEAD = (
    *("Text ID", "Text", "Sentences", "Error Flag", "Error Type", "Error Sentence ID"),
    *("Error Sentence", "Corrected Sentence", "Corrected Text"),
)
RIGHT = ["The man coughs.", "His pulse is", "90/min and he is well.", "He has gout."]


def row(
    name: str, sentences: list[str], error: int = -1, kind: str = "", corrected: str = ""
) -> dict[str, str]:
    """A row as MEDEC has it; `corrected` is what the sentence number `error` should say."""
    wrong = error >= 0
    right = [corrected if n == error else one for n, one in enumerate(sentences)]
    listed = "\n".join(f"{n} {one}" for n, one in enumerate(sentences))
    said = [name, "  ".join(sentences) + " ", listed, str(int(wrong)), kind, str(error)]
    said += [sentences[error], corrected, " ".join(right)] if wrong else ["", "", ""]
    return dict(zip(HEAD, said, strict=True))


def put(folder: Path, *rows: dict[str, str]) -> Path:
    with (folder / "set-with-types.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEAD)
        writer.writeheader()
        writer.writerows(rows)
    return folder


def found(read: Items) -> dict[str, ItemRow]:
    return {one.item: one for one in sound(read).items}


def test_errors_their_corrections_and_what_nobody_changed(tmp_path: Path) -> None:
    wrong = [*RIGHT[:3], "He has lupus."]
    said = found(medec.read(put(tmp_path, row("t1", wrong, 3, "causalOrganism", "He has gout."))))
    assert set(said) == {"t1:corrected:error", "t1:corrected:corrected", "t1:unchanged"}
    error, correction = said["t1:corrected:error"], said["t1:corrected:corrected"]
    premise = "The man coughs. His pulse is 90/min and he is well. He has gout."
    assert {tuple(one.premises) for one in said.values()} == {(premise,)}
    assert (error.hypothesis, error.label) == ("He has lupus.", "not_entailed")
    assert (correction.hypothesis, correction.label) == ("He has gout.", "entailed")
    assert error.kind == correction.kind == "causal_organism"
    # Sentences 1 and 2 are cut in the middle, and 3 is the error: one is left.
    assert said["t1:unchanged"].hypothesis == "The man coughs."
    assert said["t1:unchanged"].kind == "unchanged"
    assert {one.subset for one in said.values()} == {"corrected"}


def test_a_case_s_other_text_is_a_premise_where_it_has_other_words(tmp_path: Path) -> None:
    """t1 has the error, t2 is its case in other words; t3 and t4 are another case, t4 a copy."""
    wrong = [*RIGHT[:3], "He has lupus."]
    other = [*RIGHT[:3], "Gout was found in him."]
    lone = ["A girl fell here.", "Her arm is sore."]
    made = put(
        tmp_path,
        row("t1", wrong, 3, "diagnosis", "He has gout."),
        row("t2", other),
        row("t3", [*lone, "It was splinted."], 2, "management", "It was put in plaster."),
        row("t4", [*lone, "It was put in plaster."]),
    )
    said = found(medec.read(made))
    reworded = {key: one for key, one in said.items() if one.subset == "reworded"}
    assert {key: one.label for key, one in reworded.items()} == {
        "t1:reworded:error": "not_entailed",
        "t1:reworded:corrected": "entailed",
    }
    premise = "The man coughs. His pulse is 90/min and he is well. Gout was found in him."
    assert {tuple(one.premises) for one in reworded.values()} == {(premise,)}
    clusters = {key.partition(":")[0]: one.cluster for key, one in said.items()}
    assert clusters == {"t1": "t1", "t2": "t1", "t3": "t3", "t4": "t3"}
    assert {"t2:unchanged", "t4:unchanged"} < set(said)


def test_a_line_without_the_next_number_goes_on_with_its_sentence(tmp_path: Path) -> None:
    one = row("t1", ["Labs:\n7 sodium 140\npotassium is 4.", "Fine."])
    (kept,) = found(medec.read(put(tmp_path, one))).values()
    assert kept.hypothesis == "Labs: 7 sodium 140 potassium is 4."  # and not the word "Fine."


def test_what_is_wrong_is_told_by_line_without_texts(tmp_path: Path) -> None:
    bad = row("t1", [SECRET + " is so."], 0, "diagnosis", "He is well.")
    rows = [
        bad | {"Error Flag": "2"},
        bad | {"Sentences": SECRET},
        bad | {"Error Sentence ID": "1"},
        bad | {"Error Sentence ID": "x"},
        bad | {"Corrected Text": ""},
        bad | {"Corrected Text": SECRET + " is so. He is well."},
        bad | {"Corrected Text": "He is ill."},
    ]
    lines = problems(medec.read(put(tmp_path, *rows)))
    start, end = "set-with-types.csv: ", " (Text ID 't1'); fetch the file again"
    assert lines == [
        f"{start}line 2: 'Error Flag' is neither 0 nor 1{end}",
        f"{start}line 3: has no text, or its sentences are not numbered from 0{end}",
        f"{start}2 lines: the erroneous sentence is not the one that 'Error Sentence ID' names"
        " (first: line 4, Text ID 't1'); fetch the file again",
        f"{start}line 6: has an error, but some of its columns are empty{end}",
        f"{start}line 7: the erroneous sentence is in the corrected text{end}",
        f"{start}line 8: the corrected sentence is not in the corrected text{end}",
    ]


def test_medec_as_released(mirror: Path) -> None:
    made = ingested("medec", mirror / "medec_ms_validation", "medec_validation")
    assert not made.warnings
    gold = made.gold
    counts = Counter(zip(gold["subset"], gold["label"], strict=True))
    assert counts == {
        ("corrected", "not_entailed"): 319,
        ("corrected", "entailed"): 319 + 574,
        ("reworded", "not_entailed"): 164,
        ("reworded", "entailed"): 164,
    }
    types = Counter(gold.loc[gold["item"].str.endswith(":corrected:error"), "kind"])
    assert types == {
        **{"management": 168, "diagnosis": 86, "pharmacotherapy": 27, "treatment": 25},
        "causal_organism": 13,
    }
    assert gold["cluster"].nunique() == 319
    both = made.pairs.merge(gold, left_on="doc_id", right_on="item")
    copies = [h in p for h, p in zip(both["hypothesis"], both["premise"], strict=True)]
    wanted = (both["subset"] == "corrected") & (both["label"] == "entailed")
    assert copies == wanted.tolist()


@pytest.mark.parametrize("shared", [0, 1])
def test_texts_of_one_case_share_a_quarter_of_their_sentences(tmp_path: Path, shared: int) -> None:
    first = [f"This is number {n}." for n in range(4)]
    second = [*first[:shared], *(f"That was number {n}." for n in range(4 - shared))]
    said = found(medec.read(put(tmp_path, row("t1", first), row("t2", second))))
    assert len({one.cluster for one in said.values()}) == 2 - shared
