"""The sample from its file to scores by the doorways' functions, and the page made of them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.labelled.segmentation_scores import examine
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import segment_options
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting.segment_test import SegmentTestReport, write_segment_test
from metassay.tables.notes import NOTES
from tests.reporting import page_data
from tests.reporting.conftest import changed
from tests.reporting.invented_report import SCRIPT

SAMPLE = Path(__file__).parents[2] / "data/sample_facets"
NAMES = ["careful", "always_method", "fails"]


def labels_of(sentences: pd.DataFrame) -> pd.DataFrame:
    """careful is right but for objectives, always_method is what it says, fails half the time."""
    right = sentences["label"]
    labels: Mapping[str, pd.Series] = {
        "careful": right.mask(right == "objective", "background"),
        "always_method": right.where(right == "method", "method"),
        "fails": right.where(sentences["doc_id"] < "m"),
    }
    key = sentences[["doc_id", "author", "position"]]
    frames = [
        key.assign(segmentation=n, label=of, recipe=f"{n},x=1")
        for n, of in labels.items()
    ]
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(
        status=frame["label"].isna().map({True: "refused", False: "ok"})
    )


@pytest.fixture(scope="module")
def make() -> Callable[..., SegmentTestReport]:
    options = segment_options({"labels": {}, "sample": None}, where="params.yaml")
    data = ingest_sentences("sentences", SAMPLE, options)
    segmented, few = (
        labels_of(data.sentences),
        MetaOptions(resamples=50, confidence=0.95, seed=7),
    )
    results = examine(data.sentences, segmented, few)
    notes = [("examine_segmentations", n, note) for n, note in enumerate(results.notes)]
    report = SegmentTestReport(
        benchmark="tiny",
        segmentations=NAMES,
        title=f"Tiny {SCRIPT}",
        licence="CC0",
        citation="",
        invented=True,
        seen=["words: unseen"],
        responses={},
        models={},
        notes={
            "examine_segmentations": pd.DataFrame(notes, columns=list(NOTES.columns))
        },
        tables={
            "texts": data.texts,
            "sentences": data.sentences,
            "segmented": segmented,
            "segment_scores": results.scores,
            "confusions": results.confusions,
        },
    )
    return lambda **changes: changed(report, **changes)


@pytest.fixture(scope="module")
def written(make, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("segments") / "out"
    write_segment_test(make(), out)
    return out


def test_the_folder_has_tables_without_texts_and_equal_bytes(
    make, written, tmp_path
) -> None:
    names = {path.name for path in written.iterdir()}
    tables = ("segment_scores", "confusions", "sentences", "notes")
    assert names == {"index.html", "page"} | {f"{t}.csv" for t in tables}
    sentences = pd.read_csv(written / "sentences.csv")
    assert list(sentences.columns[3:]) == ["label", "confidence", *NAMES]
    assert len(sentences) == 93
    assert sentences["fails"].isna().sum() == (sentences["doc_id"] >= "m").sum() > 0
    assert "walking group" not in "".join(
        f.read_text("utf-8") for f in written.glob("*.csv")
    )
    shards = page_data.head(written)["texts"]["documents_in"]
    assert any(
        "Infusion pumps" in str(page_data.value(written, shard)) for shard in shards
    )
    assert SCRIPT not in (written / "index.html").read_text(encoding="utf-8")
    assert page_data.head(written)["dataset"]["title"] == f"Tiny {SCRIPT}"
    write_segment_test(make(), tmp_path / "again")
    for file in filter(Path.is_file, written.rglob("*.*")):
        other = tmp_path / "again" / file.relative_to(written)
        assert other.read_bytes() == file.read_bytes()
    with pytest.raises(BadInput):
        write_segment_test(make(), tmp_path)


def test_the_answer_says_how_many_are_right_and_what_failed(make, written) -> None:
    head = page_data.head(written)
    first, careful, always = head["answer"]
    # careful is wrong of the objectives alone: 9 of 93.
    right = make().tables["sentences"]["label"].value_counts()
    assert f"careful gives .{round(100 * (93 - right['objective']) / 93)}" in careful
    assert first.startswith("fails gives 1.00 [.56, 1.00] of")
    assert "It failed on" in first
    assert "with which its accuracy is between" in first
    assert "Calling every sentence “result” would be right for" in first
    assert f"always_method gives .{round(100 * right['method'] / 93)}" in always
    assert head["kind"] == "segmentation test"
    assert head["dataset"]["seen"] == ["words: unseen"]
    assert head["dataset"]["counts"][1:] == [
        "93 labelled sentences",
        "6 labels",
        "3 segmentations",
    ]
    assert page_data.figures(head) == []
    assert {problem["kind"] for problem in head["problems"]} == {"warning"}


def test_shards_have_every_number_of_the_tables(make, written) -> None:
    tables = make().tables
    names = [info["name"] for info in page_data.head(written)["tables"]]
    assert names == ["segment_scores", "confusions", "sentences", "notes"]
    keys = {"segment_scores": ["segmentation", "of", "name", "statistic"]}
    keys["confusions"] = ["segmentation", "label", "given"]
    for name, key in keys.items():
        expected = tables[name]
        shard = page_data.table(written, name)[list(expected)]
        both = [
            frame.sort_values(key, ignore_index=True) for frame in (shard, expected)
        ]
        pd.testing.assert_frame_equal(*both, check_dtype=False, check_exact=True)
    first = page_data.table(written, "segment_scores")
    assert list(first["of"].unique()) == [
        "all",
        "label",
        "place",
        "confidence",
        "above",
    ]
    best_first = ["fails", "careful", "always_method"]
    assert list(first["segmentation"].unique()) == best_first


def test_every_sentence_stands_with_its_labels_and_what_failed_is_not_wrong(
    make, written
) -> None:
    texts = page_data.head(written)["texts"]
    index = page_data.frame(written, texts["table"])
    documents = page_data.documents(written)
    assert list(index["document"]) == [document["id"] for document in documents]
    wrong = []
    sentences = 0
    for document, (_, row) in zip(documents, index.iterrows(), strict=True):
        (text,) = document["texts"]
        (block,) = text["blocks"]
        assert [head["judge"] for head in block["heads"]] == NAMES
        sides = {name: [] for name in NAMES}
        for line in block["lines"]:
            assert text["text"][line["start"] : line["end"]] == line["text"]
            careful, always, fails = line["judgments"]
            assert (careful["side"] == "against") == (line["part"] == "objective")
            assert (always["side"] == "against") == (line["part"] != "method")
            is_late = document["id"] >= "m"
            assert (fails["side"], fails["word"]) == (
                ("unknown", "failed: refused") if is_late else ("for", line["part"])
            )
            for name, judgment in zip(NAMES, line["judgments"], strict=True):
                sides[name].append(judgment["side"])
        for place, name in enumerate(NAMES):
            for side in ("for", "against", "unknown"):
                assert row[f"{side}_{place}"] == sides[name].count(side)
        assert row["split"] == len(block["lines"]) - sides["always_method"].count("for")
        marked = {(m["start"], m["part"]) for m in text["marks"]}
        labelled = {
            (of["start"], of["part"]) for of in block["lines"] if of["part"] != "none"
        }
        assert marked == labelled
        wrong.append(
            sum(sum(s == "against" for s in of) for of in sides.values())
            / len(block["lines"])
        )
        sentences += len(block["lines"])
    assert sentences == 93
    assert wrong == sorted(wrong, reverse=True)


def test_where_every_sentence_failed_the_page_says_so(make, tmp_path) -> None:
    tables = make().tables
    nothing = tables["segmented"].assign(label=None, status="refused")
    few = MetaOptions(resamples=20, confidence=0.95, seed=7)
    results, out = examine(tables["sentences"], nothing, few), tmp_path / "out"
    scores = {"segment_scores": results.scores, "confusions": results.confusions}
    write_segment_test(make(segmented=nothing, **scores), out)
    assert "careful failed on every sentence." in page_data.head(out)["answer"]
