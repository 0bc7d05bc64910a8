"""The sample from its file to scores by the doorways' functions, and the page made of them."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.labelled.ingest_texts import ingest_sentences
from metassay.labelled.segmentation_scores import examine
from metassay.labelled.types import segment_options
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting.segment_test import SegmentTestReport, write_segment_test
from metassay.tables.notes import NOTES
from tests.reporting.conftest import changed
from tests.reporting.html_tree import tree_of
from tests.reporting.invented_report import SCRIPT

SAMPLE = Path(__file__).parents[2] / "data/sample_facets"
NAMES = ["careful", "always_method", "fails"]


def labels_of(sentences: pd.DataFrame) -> pd.DataFrame:
    """careful is right but for objectives, always_method is what it says, fails half the time."""
    right = sentences["label"]
    said: Mapping[str, pd.Series] = {
        "careful": right.mask(right == "objective", "background"),
        "always_method": right.where(right == "method", "method"),
        "fails": right.where(sentences["doc_id"] < "m"),
    }
    frames = []
    for name, label in said.items():
        mine = sentences[["doc_id", "author", "position"]].assign(
            segmentation=name, label=label, recipe=f"{name},x=1"
        )
        frames.append(mine.assign(status=mine["label"].isna().map({True: "refused", False: "ok"})))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def make() -> Callable[..., SegmentTestReport]:
    options = segment_options({"labels": {}, "sample": None}, where="params.yaml")
    given = ingest_sentences("sentences", SAMPLE, options)
    segmented = labels_of(given.sentences)
    few = MetaOptions(resamples=50, confidence=0.95, seed=7)
    found = examine(given.sentences, segmented, few)
    notes = pd.DataFrame(
        [("examine_segmentations", n, note) for n, note in enumerate(found.notes)],
        columns=list(NOTES.columns),
    )
    report = SegmentTestReport(
        **{"benchmark": "tiny", "segmentations": NAMES, "title": f"Tiny {SCRIPT}"},
        **{
            "licence": "CC0",
            "citation": "",
            "invented": True,
            "seen": ["words: unseen"],
            "responses": {},
            "models": {},
        },
        notes={"examine_segmentations": notes},
        tables={
            **{"texts": given.texts, "sentences": given.sentences, "segmented": segmented},
            **{"segment_scores": found.scores, "confusions": found.confusions},
        },
    )
    return lambda **changes: changed(report, **changes)


@pytest.fixture(scope="module")
def written(make, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("segments") / "out"
    write_segment_test(make(), out)
    return out


@pytest.fixture(scope="module")
def tree(written):
    return tree_of((written / "index.html").read_text(encoding="utf-8"))


def test_the_folder_has_tables_without_texts(written) -> None:
    names = {path.name for path in written.iterdir()}
    tables = ("segment_scores", "confusions", "sentences", "notes")
    assert names == {"index.html", "figures"} | {f"{t}.{e}" for t in tables for e in ("csv", "md")}
    sentences = pd.read_csv(written / "sentences.csv")
    assert list(sentences.columns[3:]) == ["label", "confidence", *NAMES]
    assert len(sentences) == 93
    assert sentences["fails"].isna().sum() == (sentences["doc_id"] >= "m").sum() > 0
    said = "".join(file.read_text("utf-8") for file in written.glob("*.[cm]*"))
    assert "walking group" not in said
    assert "Infusion pumps" in (written / "index.html").read_text("utf-8")


def test_the_headline_says_how_many_are_right_and_what_failed(make, tree) -> None:
    (headline,) = (e for e in tree.all("section") if e.attributes.get("id") == "headline")
    first, careful, always = (" ".join(p.text().split()) for p in headline.all("p"))
    # careful is wrong of the objectives alone: 9 of 93.
    right = make().tables["sentences"]["label"].value_counts()
    assert f"careful gives .{round(100 * (93 - right['objective']) / 93)}" in careful
    assert first.startswith("fails gives 1.00 [1.00, 1.00] of")
    assert "It failed on" in first
    assert "with which its accuracy is between" in first
    assert "Calling every sentence “result” would be right for" in first
    assert f"always_method gives .{round(100 * right['method'] / 93)}" in always


def test_sections_and_their_order(tree) -> None:
    assert "words: unseen" in [fact.text() for fact in tree.all("dd")]
    ids = [e.attributes["id"] for e in tree.all("section")]
    assert ids == [
        *("headline", "numbers", "labels", "confusions", "places", "texts"),
        *("notes", "recipes"),
    ]
    linked = {e.attributes["href"] for e in tree.all("a") if e.attributes["href"][0] == "#"}
    assert linked == {f"#{one}" for one in ids}
    (places,) = (e for e in tree.all("section") if e.attributes["id"] == "places")
    rows = [e.text().strip() for e in places.all("th") if e.attributes.get("scope") == "row"]
    assert rows == [
        *("first third", "middle third", "last third"),
        *("labels that people were less sure of", "labels that people were surer of"),
    ]


def test_texts_stand_with_labels_and_what_failed_is_not_wrong(tree) -> None:
    (texts,) = (e for e in tree.all("section") if e.attributes["id"] == "texts")
    chips = [e for e in texts.all("span") if "facet" in e.attributes["class"].split()]
    assert len(texts.all("details")) == 12
    assert {e.text().strip() for e in chips} >= {"objective", "other", "failed"}
    failed = [e for e in chips if e.text().strip() == "failed"]
    assert failed
    assert all("wrong" not in e.attributes["class"] for e in failed)
    rows = [e for e in texts.all("tr") if e.all("td")]
    for row in rows:
        right, careful, always, _ = row.all("span")
        assert ("wrong" in careful.attributes["class"]) == (right.text() == "objective")
        assert ("wrong" in always.attributes["class"]) == (right.text() != "method")


def test_names_do_no_harm(written) -> None:
    page = (written / "index.html").read_text(encoding="utf-8")
    assert SCRIPT not in page
    assert "&lt;" in page


def test_equal_input_gives_equal_bytes_and_nothing_is_overwritten(make, written, tmp_path) -> None:
    write_segment_test(make(), tmp_path / "again")
    for file in written.rglob("*.*"):
        if file.is_file():
            other = tmp_path / "again" / file.relative_to(written)
            assert other.read_bytes() == file.read_bytes()
    with pytest.raises(BadInput):
        write_segment_test(make(), tmp_path)
    shutil.rmtree(tmp_path / "again")


def test_where_every_sentence_failed_the_page_says_so(make, tmp_path) -> None:
    tables = make().tables
    nothing = tables["segmented"].assign(label=None, status="refused")
    few = MetaOptions(resamples=20, confidence=0.95, seed=7)
    found = examine(tables["sentences"], nothing, few)
    out = tmp_path / "out"
    write_segment_test(
        make(segmented=nothing, segment_scores=found.scores, confusions=found.confusions), out
    )
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "careful failed on every sentence." in page
    assert not (out / "figures").exists()
