"""Raw files to checked tables: labels that count as others, samples, facets of a benchmark."""

import json
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.labelled.records import DocumentRow
from metassay.labelled.segmentations import IngestedSentences, ingest_sentences, of_rows
from metassay.labelled.types import reader_problem, segment_options
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import write
from metassay.tables.sentences import SENTENCES
from metassay.tabular.rows import Place, Rows, SegmentRow, TextRow

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/sample_facets"


def ingested(raw: Path = SAMPLE, **options: object) -> IngestedSentences:
    every = {"labels": {}, "sample": None} | options
    return ingest_sentences("sentences", raw, segment_options(every, where="params.yaml"))


def problems(raw: Path, **options: object) -> list[str]:
    with pytest.raises(BadInput) as caught:
        ingested(raw, **options)
    return list(caught.value.problems)


def line(doc_id: str, *labels: str) -> str:
    words = [f"Sentence {place}." for place, _ in enumerate(labels)]
    return json.dumps({"doc_id": doc_id, "sentences": words, "labels": labels}) + "\n"


def test_the_sample_is_read_whole(tmp_path: Path) -> None:
    made = ingested()
    write(TEXTS, made.texts, tmp_path / "texts.parquet")
    write(SENTENCES, made.sentences, tmp_path / "sentences.parquet")
    assert (len(made.texts), len(made.sentences), made.warnings) == (14, 93, ())
    roles = {"background", "objective", "method", "result", "conclusion", "other"}
    assert set(made.sentences["label"]) == roles
    texts = dict(zip(made.texts["doc_id"], made.texts["text"], strict=True))
    first = made.sentences.iloc[1]
    said = texts[first["doc_id"]][first["start"] : first["end"]]
    assert said == "Whether an invitation by a pharmacist changes this is unknown."


def test_labels_count_as_others_or_as_none() -> None:
    whole = ingested().sentences["label"].value_counts()
    made = ingested(labels={"objective": "background", "other": "none"}).sentences
    counts = made["label"].value_counts()
    assert counts["background"] == whole["background"] + whole["objective"]
    assert counts["none"] == whole["other"]
    assert "objective" not in counts


def test_a_sample_is_the_same_in_any_order_and_part_of_a_larger_one(tmp_path: Path) -> None:
    lines = [line(f"d{number}", "method") for number in range(20)]
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    chosen = {"sample": {"items": 5, "seed": 3}}
    few = set(ingested(tmp_path, **chosen).texts["doc_id"])
    (tmp_path / "a.jsonl").write_text("".join(reversed(lines)), encoding="utf-8")
    assert set(ingested(tmp_path, **chosen).texts["doc_id"]) == few
    more = set(ingested(tmp_path, sample={"items": 8, "seed": 3}).texts["doc_id"])
    assert len(few) == 5 < len(more) == 8
    assert few < more
    assert set(ingested(tmp_path, sample={"items": 5, "seed": 4}).texts["doc_id"]) != few


def test_every_problem_comes_at_once(tmp_path: Path) -> None:
    lines = [line("d1", "method"), line("d1", "a b"), line("d2", "no")]
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    twice, spaced, yaml = problems(tmp_path)
    assert "a.jsonl: line 2: the same document is there twice (document 'd1')" in twice
    assert "a label cannot be a facet's name ('a b')" in spaced
    assert "a label cannot be a facet's name ('no')" in yaml


def test_labels_of_options_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line("d1", "method", "result"), encoding="utf-8")
    (one,) = problems(tmp_path, labels={"aim": "method"})
    assert one == (
        "params.yaml > options > labels: names a label that is not in the data ('aim');"
        " there are: method, result"
    )
    (one,) = problems(tmp_path, labels={"method": "none", "result": "none"})
    assert "no sentence has a facet" in one
    with pytest.raises(BadInput, match="options > labels"):
        ingested(labels={"a b": "method"})
    with pytest.raises(BadInput, match="options > labels > method"):
        ingested(labels={"method": "a b"})


def test_readers_that_suit() -> None:
    assert reader_problem("segmentation", "pubmed_rct") is None
    assert reader_problem("segmentation", "scholarsum") is None  # its rows bring facets
    assert "does not suit test 'segmentation'; it takes one of" in str(
        reader_problem("segmentation", "wice")
    )


# ---- facets that come with a benchmark's dataset ---------------------------------------------

TEXT = "Salt harms many. We gave spoons to 40 adults. Intake fell by a fifth. Data are open."


def rows(*segments: tuple[str, str, str]) -> Rows:
    at = Place("file.json", 1)
    texts = [TextRow(at, "d1", author, "full", TEXT) for author in ("reference", "system")]
    return Rows(texts=texts, segments=[SegmentRow(at, "d1", *one) for one in segments])


def labels(one: DocumentRow) -> list[str]:
    return [said.label for said in one.sentences]


def test_sentences_have_the_facet_that_they_lie_in() -> None:
    found = of_rows(
        rows(
            ("reference", "background", "salt harms many"),
            ("reference", "method", "We gave spoons to 40 adults."),
            ("reference", "result", "Intake fell by a fifth. And more was found."),
        )
    )
    (one,) = found.documents  # the system's text has no facets
    assert (one.author, labels(one)) == ("reference", ["background", "method", "result", "none"])
    assert found.notes == [
        "facets of the dataset that are not, or not wholly, in their texts: result 1 of 1",
        "1 of 4 sentences are in no facet of the dataset; of 0 of 1 texts every sentence is in one",
    ]


def test_a_dataset_without_facets_cannot_be_such_a_test(tmp_path: Path) -> None:
    for name in ("sources", "texts"):
        content = (ROOT / f"data/sample/{name}.jsonl").read_bytes()
        (tmp_path / f"{name}.jsonl").write_bytes(content)
    options = segment_options({"labels": {}, "sample": None}, where="params.yaml")
    with pytest.raises(BadInput, match="has no labelled text"):
        ingest_sentences("files", tmp_path, options)
