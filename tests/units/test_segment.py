"""segment.py, soap.py: which parts a text has, and DocLens's Table 24 as the oracle of compat."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rouge_score import rouge_scorer

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen, choose
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parquet import empty, round_trip
from metassay.tables.parts import PARTS
from metassay.units import SEGMENTATIONS
from tests.units.dividing import parts_of

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "doclens_table24.csv"


def chosen(**block: str) -> Chosen:
    return choose(SEGMENTATIONS, block, where="params")


WHOLE, SOAP = chosen(kind="whole"), chosen(kind="soap", compat="none")
TABLE24 = chosen(kind="soap", compat="doclens-table24")
NOTE = "HPI: Cough.\nEXAM\nClear.\nPLAN\nRest.\nEXAM\nDry skin.\n"


def sources(**tasks: str) -> pd.DataFrame:
    rows = {"doc_id": list(tasks), "task": list(tasks.values()), "dataset": "data"}
    return pd.DataFrame(rows).reindex(columns=list(SOURCES.columns))


def texts(rows: dict[str, str | None], status: str = "error") -> pd.DataFrame:
    """`doc_id author` or `doc_id author part` -> text; None: it has that status."""
    names = [(*key.split(), "full")[:3] for key in rows]
    frame = pd.DataFrame(names, columns=["doc_id", "author", "part"]).assign(recipe="r")
    frame["text"] = list(rows.values())
    frame["status"] = ["ok" if text is not None else status for text in rows.values()]
    return frame[list(TEXTS.columns)]


def divided(
    rows: dict[str, str | None], by: Chosen = SOAP, status: str = "error", **tasks: str
) -> dict[str, Any]:
    """Text, `leaf`, status and places of each part, of a single text."""
    parts = parts_of(texts(rows, status), sources(**(tasks or {"d": "note"})), by)
    parts = round_trip(PARTS, parts)
    return {
        row.part: (
            row.text if isinstance(row.text, str) else None,
            row.leaf,
            row.status,
        )
        for row in parts.itertuples()
    }


def test_a_note_is_divided_and_its_spans_are_exact() -> None:
    assert divided({"d a": NOTE}) == {
        "full": (NOTE, "no", "ok"),
        "subjective": ("HPI: Cough.", "yes", "ok"),
        "objective_exam": ("EXAM\nClear.\n\nEXAM\nDry skin.", "yes", "ok"),
        "assessment_and_plan": ("PLAN\nRest.", "yes", "ok"),
    }
    both = texts({"d a": NOTE, "c b": NOTE})
    known = sources(c="note", d="note")
    parts = parts_of(both, known, SOAP)
    for row in parts.itertuples():
        pieces = [
            NOTE[start:end] for start, end in zip(row.starts, row.ends, strict=True)
        ]
        assert "\n\n".join(pieces) == row.text
    pd.testing.assert_frame_equal(parts, parts_of(both[::-1], known, SOAP))
    assert parts_of(empty(TEXTS), empty(SOURCES), SOAP).empty
    with pytest.raises(
        BadInput, match=r"texts: 1 .* not in sources, .* doc_id 'c'; add their"
    ):
        parts_of(both, sources(d="note"), SOAP)


@pytest.mark.parametrize(
    ("by", "text", "task"),
    [
        (SOAP, "Rest well.", "note"),
        (SOAP, NOTE, "question"),
        (TABLE24, NOTE, "abstract"),
        (WHOLE, NOTE, "note"),
        (WHOLE, "Rest well.", "note"),
    ],
)
def test_whole_texts_other_tasks_and_notes_without_headings_are_one_part(
    by: Chosen, text: str, task: str
) -> None:
    assert divided({"d a": text}, by, d=task) == {"full": (text, "yes", "ok")}
    parts = parts_of(texts({"d a": text}), sources(d=task), by)
    assert parts["ends"].tolist() == [[len(text)]]


SECTIONS = {
    "objective_exam": "Clear.",
    "assessment_and_plan": "Rest.",
    "subjective": "Cough.",
}


def test_sections_that_were_written_apart_are_joined_in_soap_order() -> None:
    rows: dict[str, str | None] = {
        f"d a {name}": text for name, text in SECTIONS.items()
    }
    whole = "Cough.\n\nClear.\n\nRest."
    assert divided(rows) == {
        "full": (whole, "no", "ok"),
        **{name: (text, "yes", "ok") for name, text in SECTIONS.items()},
    }
    parts = parts_of(texts(rows), sources(d="note"), SOAP)
    assert parts["starts"].tolist() == [[0], [0], [8], [16]]
    assert divided(rows, WHOLE) == {"full": (whole, "yes", "ok")}
    # A whole text beside them is used.
    assert divided({**rows, "d a": "All."})["full"] == ("All.", "no", "ok")


def test_a_failed_section_leaves_no_whole_and_a_failed_text_no_sections() -> None:
    rows = {
        "d a subjective": "Cough.",
        "d a objective_exam": None,
        "d a assessment_and_plan": None,
    }
    frame = texts(rows, "refused")
    frame.loc[2, "status"] = "truncated"
    parts = parts_of(frame, sources(d="note"), SOAP)[["part", "leaf", "status"]]
    assert parts.to_numpy().tolist() == [
        ["full", "no", "refused"],
        ["subjective", "yes", "ok"],
        ["objective_exam", "yes", "refused"],
        ["assessment_and_plan", "yes", "truncated"],
    ]
    table24 = divided(rows, TABLE24, "refused")
    assert table24["objective_exam"] == (None, "yes", "refused")
    # nobody wrote it
    assert table24["objective_results"] == ("#####EMPTY#####", "yes", "ok")
    assert divided({"d b": None}) == {"full": (None, "yes", "error")}
    failed = divided({"d b": None}, TABLE24)
    assert failed.pop("full") == (None, "no", "error")
    assert list(failed.values()) == [(None, "yes", "error")] * 4


def test_table24_has_four_sections_always() -> None:
    assert divided({"d a": NOTE}, TABLE24) == {
        "full": (NOTE, "no", "ok"),
        "subjective": ("HPI: Cough.__lf1__", "yes", "ok"),
        "objective_exam": ("EXAM__lf1__Clear.__lf1__", "yes", "ok"),
        "objective_results": ("#####EMPTY#####", "yes", "ok"),
        "assessment_and_plan": (
            "PLAN__lf1__Rest.__lf1__EXAM__lf1__Dry skin.__lf1__",
            "yes",
            "ok",
        ),
    }
    parts = parts_of(texts({"d a": NOTE}), sources(d="note"), TABLE24)
    assert parts["starts"].tolist() == [[0], [0], [12], [], [24]]
    with pytest.raises(BadInput, match="compat"):
        chosen(kind="soap", compat="table24")
    with pytest.raises(BadInput, match="'soup' is not known"):
        chosen(kind="soup")


@pytest.mark.parametrize(
    ("file", "system", "setting", "section"),
    [
        (
            "BioBART_clinicalnlp_taskB_test1_full.csv",
            "BioBART",
            "full",
            "Objective-Results",
        ),
        ("test1GPT-4_.csv", "Reported GPT-4", "full, 0-shot", "Objective-Results"),
        (
            "test1ChatGPT_.csv",
            "Reported GPT-3.5-turbo",
            "full, 0-shot",
            "Objective-Exam",
        ),
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
    rows: dict[str, str | None] = {}
    for author, name in (
        ("reference", "clinicalnlp_taskB_test1.csv"),
        ("system", file),
    ):
        notes = pd.read_csv(mirror / "aci_bench_test1" / name).set_index(
            "encounter_id"
        )["note"]
        rows |= {f"{key} {author}": note for key, note in notes.items()}
    documents = sources(**dict.fromkeys((row.split()[0] for row in rows), "note"))
    parts = parts_of(texts(rows), documents, TABLE24)
    part = section.lower().replace("-", "_").replace(" ", "_")
    pairs = parts[parts["part"] == part].pivot(
        index="doc_id", columns="author", values="text"
    )
    assert len(pairs) == 40

    keys = {"system_or_metric": system, "setting": setting, "split_or_section": section}
    printed = (
        pd.read_csv(PUBLISHED)
        .set_index(list(keys))
        .sort_index()
        .loc[tuple(keys.values())]
    )
    values = printed.set_index("quantity")["value"]
    names = {"rouge1": "Rouge-1", "rouge2": "Rouge-2", "rougeL": "Rouge-L"}
    scorer = rouge_scorer.RougeScorer(list(names), use_stemmer=False)
    scores = [
        scorer.score(*pair)
        for pair in zip(pairs["reference"], pairs["system"], strict=True)
    ]
    for metric, quantity in names.items():
        mean = 100 * sum(score[metric].fmeasure for score in scores) / 40
        assert mean == pytest.approx(float(values[quantity]), abs=0.005)
