"""segment.py, soap.py: which parts a text has, and DocLens's Table 24 as the oracle of compat."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rouge_score import rouge_scorer

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parquet import empty, read, write
from metassay.tables.parts import PARTS
from metassay.units import SEGMENTATIONS
from tests.units.dividing import parts_of

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "doclens_table24.csv"


def chosen(**block: str) -> Chosen:
    return choose(SEGMENTATIONS, block, where="params")


WHOLE = chosen(kind="whole")
SOAP = chosen(kind="soap", compat="none")
TABLE24 = chosen(kind="soap", compat="doclens-table24")
NOTE = "HPI: Cough.\nEXAM\nClear.\nPLAN\nRest.\nEXAM\nDry skin.\n"


def texts(*rows: tuple[str, str, str, str | None, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text", "status"])
    return frame.assign(recipe="r")[list(TEXTS.columns)]


def sources(**tasks: str) -> pd.DataFrame:
    rows = {"doc_id": list(tasks), "task": list(tasks.values()), "dataset": "mine"}
    return pd.DataFrame(rows).reindex(columns=list(SOURCES.columns))


def found(parts: pd.DataFrame) -> dict[str, Any]:
    rows = zip(parts["part"], parts["text"], parts["leaf"], parts["status"], strict=True)
    return {
        part: (text if isinstance(text, str) else None, leaf, s) for part, text, leaf, s in rows
    }


def test_a_note_is_divided_and_its_spans_are_exact(tmp_path: Path) -> None:
    parts = parts_of(texts(("d", "a", "full", NOTE, "ok")), sources(d="note"), SOAP)
    assert found(parts) == {
        "full": (NOTE, "no", "ok"),
        "subjective": ("HPI: Cough.", "yes", "ok"),
        "objective_exam": ("EXAM\nClear.\n\nEXAM\nDry skin.", "yes", "ok"),
        "assessment_and_plan": ("PLAN\nRest.", "yes", "ok"),
    }
    for row in parts.itertuples():
        pieces = [NOTE[start:end] for start, end in zip(row.starts, row.ends, strict=True)]
        assert "\n\n".join(pieces) == row.text
    write(PARTS, parts, tmp_path / "parts.parquet")
    assert len(read(PARTS, tmp_path / "parts.parquet")) == 4


def test_whole_texts_other_tasks_and_notes_without_headings_are_one_part() -> None:
    rows = texts(("d", "a", "full", "Rest well.", "ok"), ("e", "a", "full", NOTE, "ok"))
    one = {"full": ("Rest well.", "yes", "ok")}
    for segmentation in (SOAP, WHOLE):
        parts = parts_of(rows, sources(d="note", e="question"), segmentation)
        assert found(parts[parts["doc_id"] == "d"]) == one
        assert found(parts[parts["doc_id"] == "e"]) == {"full": (NOTE, "yes", "ok")}
        assert parts["ends"].tolist() == [[10], [len(NOTE)]]
    whole = parts_of(rows, sources(d="note", e="note"), WHOLE)
    assert set(whole["part"]) == {"full"}


def test_sections_written_one_by_one_are_joined_in_soap_order() -> None:
    rows = texts(
        ("d", "a", "objective_exam", "Clear.", "ok"),
        ("d", "a", "assessment_and_plan", "Rest.", "ok"),
        ("d", "a", "subjective", "Cough.", "ok"),
    )
    parts = parts_of(rows, sources(d="note"), SOAP)
    assert found(parts) == {
        "full": ("Cough.\n\nClear.\n\nRest.", "no", "ok"),
        "subjective": ("Cough.", "yes", "ok"),
        "objective_exam": ("Clear.", "yes", "ok"),
        "assessment_and_plan": ("Rest.", "yes", "ok"),
    }
    assert parts["starts"].tolist() == [[0], [0], [8], [16]]
    whole = parts_of(rows, sources(d="note"), WHOLE)
    assert found(whole) == {"full": ("Cough.\n\nClear.\n\nRest.", "yes", "ok")}


def test_a_failed_section_leaves_no_whole_and_a_failed_text_no_sections() -> None:
    rows = texts(
        ("d", "a", "subjective", "Cough.", "ok"),
        ("d", "a", "objective_exam", None, "refused"),
        ("d", "a", "assessment_and_plan", None, "truncated"),
        ("d", "b", "full", None, "error"),
    )
    parts = parts_of(rows, sources(d="note"), SOAP)
    assert found(parts[parts["author"] == "a"]) == {
        "full": (None, "no", "refused"),
        "subjective": ("Cough.", "yes", "ok"),
        "objective_exam": (None, "yes", "refused"),
        "assessment_and_plan": (None, "yes", "truncated"),
    }
    assert found(parts[parts["author"] == "b"]) == {"full": (None, "yes", "error")}
    table24 = found(parts_of(rows.head(3), sources(d="note"), TABLE24))
    assert table24["objective_exam"] == (None, "yes", "refused")
    assert table24["objective_results"] == ("#####EMPTY#####", "yes", "ok")  # nobody wrote one
    failed = parts_of(rows.tail(1), sources(d="note"), TABLE24)
    assert found(failed)["full"] == (None, "no", "error")
    assert set(failed["leaf"].iloc[1:]) == {"yes"}
    assert failed["text"].isna().all()
    assert len(failed) == 5


def test_table24_has_four_sections_always() -> None:
    parts = parts_of(texts(("d", "a", "full", NOTE, "ok")), sources(d="note"), TABLE24)
    assert found(parts) == {
        "full": (NOTE, "no", "ok"),
        "subjective": ("HPI: Cough.__lf1__", "yes", "ok"),
        "objective_exam": ("EXAM__lf1__Clear.__lf1__", "yes", "ok"),
        "objective_results": ("#####EMPTY#####", "yes", "ok"),
        "assessment_and_plan": ("PLAN__lf1__Rest.__lf1__EXAM__lf1__Dry skin.__lf1__", "yes", "ok"),
    }
    assert parts["starts"].tolist() == [[0], [0], [12], [], [24]]
    other = parts_of(texts(("d", "a", "full", NOTE, "ok")), sources(d="abstract"), TABLE24)
    assert found(other) == {"full": (NOTE, "yes", "ok")}


def test_order_of_rows_does_not_matter_and_none_give_none(tmp_path: Path) -> None:
    rows = texts(("d", "a", "full", NOTE, "ok"), ("c", "b", "full", NOTE, "ok"))
    known = sources(c="note", d="note")
    pd.testing.assert_frame_equal(parts_of(rows, known, SOAP), parts_of(rows[::-1], known, SOAP))
    nothing = parts_of(empty(TEXTS), empty(SOURCES), SOAP)
    write(PARTS, nothing, tmp_path / "parts.parquet")
    assert read(PARTS, tmp_path / "parts.parquet").empty


def test_a_text_without_its_source_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"texts: 1 .* not in sources, .* doc_id 'e'; add their"):
        parts_of(texts(("e", "a", "full", NOTE, "ok")), sources(d="note"), SOAP)


def test_options_by_kind() -> None:
    with pytest.raises(BadInput, match="compat"):
        chosen(kind="soap", compat="table24")
    with pytest.raises(BadInput, match="'soup' is not known"):
        chosen(kind="soup")


@pytest.mark.parametrize(
    ("file", "system", "setting", "section"),
    [
        ("BioBART_clinicalnlp_taskB_test1_full.csv", "BioBART", "full", "Objective-Results"),
        ("test1GPT-4_.csv", "Reported GPT-4", "full, 0-shot", "Objective-Results"),
        ("test1ChatGPT_.csv", "Reported GPT-3.5-turbo", "full, 0-shot", "Objective-Exam"),
        # Only with IMPRESSION as a prefix does this one come out.
        (
            "bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined.csv",
            "BART + SAMSum FT",
            "section",
            "Assessment and Plan",
        ),
    ],
)
def test_published_rouge_per_section(
    mirror: Path, file: str, system: str, setting: str, section: str
) -> None:
    """DocLens (Xie et al. 2024), Table 24: F1 x 100, mean over 40 notes, stemmer off."""
    folder = mirror / "aci_bench_test1"
    rows = []
    for author, name in (("reference", "clinicalnlp_taskB_test1.csv"), ("system", file)):
        notes = pd.read_csv(folder / name)
        keyed = zip(notes["encounter_id"], notes["note"], strict=True)
        rows += [(key, author, "full", note, "ok") for key, note in keyed]
    documents = sources(**dict.fromkeys({row[0] for row in rows}, "note"))
    parts = parts_of(texts(*rows), documents, TABLE24).set_index(["part", "author", "doc_id"])[
        "text"
    ]
    ours = parts[section.lower().replace("-", "_").replace(" ", "_")]
    assert len(ours["reference"]) == 40

    published = pd.read_csv(PUBLISHED)
    printed = published[
        (published["system_or_metric"] == system)
        & (published["setting"] == setting)
        & (published["split_or_section"] == section)
    ].set_index("quantity")["value"]
    names = {"rouge1": "Rouge-1", "rouge2": "Rouge-2", "rougeL": "Rouge-L"}
    scorer = rouge_scorer.RougeScorer(list(names), use_stemmer=False)
    scores = [scorer.score(ours["reference"][key], ours["system"][key]) for key in documents.doc_id]
    for metric, quantity in names.items():
        mean = 100 * sum(score[metric].fmeasure for score in scores) / 40
        assert mean == pytest.approx(float(printed[quantity]), abs=0.005)
