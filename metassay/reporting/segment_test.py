"""The report about one test of segmentations: a folder of tables, and the page that shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, short, shown, shown_interval
from metassay.labelled.records import NONE
from metassay.reporting.contract import (
    Asked,
    Block,
    CellInfo,
    Document,
    Judgment,
    Line,
    Mark,
    SystemsInfo,
    Text,
    TextsInfo,
)
from metassay.reporting.figures.tests import draw_confusions
from metassay.reporting.page import Drawing, Report, filled, put_figures, write_tables
from metassay.reporting.pages import finish_test
from metassay.reporting.section import Row, best_first, short_estimate
from metassay.reporting.shell import PageFolder
from metassay.reporting.text_index import put_texts, utf16

SEGMENT_FIGURES = {
    "confusions": Drawing(
        draw_confusions,
        "confusions",
        "How many sentences of each label every segmentation gives which label",
    )
}
ALL = "all"
WRONG = "share of wrong labels"
_TEXT = ["doc_id", "author"]
_SENTENCE = [*_TEXT, "position"]
_QUESTION = "Which facet is the sentence of?"
_HEADLINE = ("accuracy", "macro_f1", "weighted_f1", "cohen_kappa")
_OF = ("all", "label", "place", "confidence", "above")  # groups of sentences, as they stand
_PLACES = ("first third", "middle third", "last third", "lower", "higher")
_ORDERED = {
    "segment_scores": ["of", "name", "segmentation"],
    "confusions": ["segmentation", "label", "given"],
}
_BETTER = {"majority_guess": "neither", "failed": "lower"}


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentTestReport(Report):
    """What the report is made from; `segmentations` in the order of params.yaml.

    `tables`: texts, sentences, segmented, segment_scores and confusions.
    """

    segmentations: Sequence[str]


def write_segment_test(report: SegmentTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html and page/; segment_scores, confusions, sentences (a row per sentence with its
    right label and that of each segmentation), language_models (where any model was asked) and
    notes (where there is any), each as .csv (all digits) and .md; figures/confusions.svg and .png.
    Only the page has texts. Raises BadInput if `out` holds anything; then nothing is written.
    """
    tables = report.tables
    labels = _labels(tables["sentences"], tables["segmented"])
    wide = _wide(tables["sentences"], tables["segmented"], report.segmentations)
    files = {
        **filled(
            segment_scores=tables["segment_scores"],
            confusions=tables["confusions"],
            sentences=wide[[*_SENTENCE, "label", "confidence", *report.segmentations]],
        ),
        **report.said(),
    }
    with whole_folder(out, "report") as folder:
        write_tables(files, folder)
        _write_page(report, files, wide, labels, folder)


def _labels(sentences: pd.DataFrame, segmented: pd.DataFrame) -> list[str]:
    """Every label that is right or given, in the order in which texts mostly have them."""
    last = sentences.groupby(_TEXT)["position"].transform("max")
    place = (sentences["position"] + 0.5) / (last + 1)
    right = place.groupby(sentences["label"]).mean().sort_values(kind="stable").index
    others = sorted(set(segmented["label"].dropna()) - set(right))
    every = [str(label) for label in (*right, *others)]
    return [*(label for label in every if label != NONE), *([NONE] if NONE in every else [])]


def _wide(
    sentences: pd.DataFrame, segmented: pd.DataFrame, segmentations: Sequence[str]
) -> pd.DataFrame:
    """The sentences, with a column of labels per segmentation."""
    for name in segmentations:
        labels = segmented.loc[segmented["segmentation"] == name, [*_SENTENCE, "label"]]
        sentences = sentences.merge(labels.rename(columns={"label": name}), on=_SENTENCE)
    return sentences


def _write_page(
    report: SegmentTestReport,
    files: Mapping[str, pd.DataFrame],
    wide: pd.DataFrame,
    labels: Sequence[str],
    folder: Path,
) -> None:
    tables = report.tables
    texts, sentences = tables["texts"], tables["sentences"]
    scores = scores_of(tables["segment_scores"])
    order = {name: place for place, name in enumerate((*_OF, *_PLACES, *scores.best, *labels))}
    ordered = {
        name: files[name].sort_values(columns, key=lambda names: names.map(order), kind="stable")
        for name, columns in _ORDERED.items()
        if name in files
    }
    if "segment_scores" in ordered:
        better = ordered["segment_scores"]["statistic"].map(_BETTER).fillna("higher")
        ordered["segment_scores"] = ordered["segment_scores"].assign(better=better)
    page = PageFolder(folder)
    finish_test(
        page,
        report,
        {**files, **ordered},
        "segmentation test",
        put_figures(SEGMENT_FIGURES, {"confusions": tables["confusions"], **ordered}, folder),
        counts=[
            counted(len(texts), "text"),
            counted(len(sentences), "labelled sentence"),
            counted(sentences["label"].nunique(), "label"),
            counted(len(report.segmentations), "segmentation"),
        ],
        answer=verdict(scores, str(sentences["label"].value_counts().index[0])),
        systems=SystemsInfo(
            noun="segmentation",
            table="segment_scores",
            system="segmentation",
            metric=["statistic"],
            cell=CellInfo("value", "low", "high", "n", "n_failed"),
            better="better",
            groups="",
            headline=_HEADLINE,
        ),
        texts=put_sentences(page, texts, wide, tables["segmented"], report.segmentations, labels),
    )


class Scores(NamedTuple):
    """Rows of table `segment_scores` by segmentation, then by (of, name, statistic)."""

    rows: dict[str, dict[tuple[str, str, str], Row]]

    @property
    def best(self) -> list[str]:
        """Segmentations, the most accurate first."""
        return sorted(self.rows, key=lambda name: (best_first(self.value(name, "accuracy")), name))

    def of_all(self, segmentation: str, statistic: str) -> Row:
        """The row of one number of all sentences."""
        return self.rows[segmentation][ALL, ALL, statistic]

    def value(self, segmentation: str, statistic: str) -> float | None:
        """Its value; None if it is undefined."""
        value: float | None = self.of_all(segmentation, statistic)["value"]
        return value


def scores_of(frame: pd.DataFrame) -> Scores:
    """The rows of table `segment_scores`, found by where they belong."""
    by_name: dict[str, dict[tuple[str, str, str], Row]] = {}
    for row in records(frame):
        key = (row["of"], row["name"], row["statistic"])
        by_name.setdefault(row["segmentation"], {})[key] = row
    return Scores(by_name)


def verdict(scores: Scores, majority: str) -> list[str]:
    """Sentences: the most accurate segmentation, and a guess; then each of the others."""
    sentences: list[str] = []
    for name in scores.best:
        accuracy = scores.of_all(name, "accuracy")
        if accuracy["value"] is None:
            sentences.append(f"{name} failed on every sentence.")
            continue
        right = (
            f"{name} gives {short_estimate(accuracy)} of {counted(accuracy['n'], 'sentence')} the"
            f" right label; its macro-F1 is {short_estimate(scores.of_all(name, 'macro_f1'))}"
        )
        if accuracy["n_failed"]:
            low, high = (short(scores.value(name, f"accuracy_at_{e}")) for e in ("least", "most"))
            right += (
                f". It failed on {accuracy['n_failed']:,} more, with which its accuracy is between"
                f" {low} and {high}"
            )
        guess = short(scores.value(name, "majority_guess"))
        lead = f"Calling every sentence “{majority}” would be right for {guess}"
        if sentences:
            best = scores.best[0]
            row = scores.rows[best]["above", name, "accuracy"]
            ends = shown_interval(row["low"], row["high"])
            lead = f"{best} is right for {shown(row['value'])} {ends}".strip() + " more"
            chance = row["low"] is not None and row["low"] <= 0
            lead += ", which may be chance" if chance else ""
        sentences.append(f"{right}. {lead}.")
    return sentences


# Texts, sentence by sentence: the right label beside what each segmentation says.


def put_sentences(
    page: PageFolder,
    texts: pd.DataFrame,
    wide: pd.DataFrame,
    segmented: pd.DataFrame,
    segmentations: Sequence[str],
    labels: Sequence[str],
) -> TextsInfo:
    """Write a document per document, with its texts, those with most wrong labels first.

    Right labels are marked in the text; a line per sentence has the label of each segmentation. A
    label that is missing because the segmentation failed is not wrong.
    """
    wide = wide.sort_values(_SENTENCE).assign(wrong=0)
    for name in segmentations:
        wide["wrong"] += ((wide[name] != wide["label"]) & wide[name].notna()).astype(int)
    share = wide.groupby("doc_id")["wrong"].mean().sort_values(ascending=False, kind="stable")
    written = {(doc_id, author): text for doc_id, author, text in rows(texts, *_TEXT, "text")}
    failed = segmented[segmented["label"].isna()]
    why = {
        tuple(key): status for *key, status in rows(failed, "segmentation", *_SENTENCE, "status")
    }
    heads = [Asked(_QUESTION, "", name) for name in segmentations]
    by_document: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in records(wide):
        by_document.setdefault(row["doc_id"], {}).setdefault(row["author"], []).append(row)

    def documents() -> Iterator[tuple[Document, list[int]]]:
        for doc_id in share.index:
            of_texts = by_document[doc_id]
            bodies = [
                _text(author, written[doc_id, author], sentences, heads, why)
                for author, sentences in of_texts.items()
            ]
            splits = [sum(row["wrong"] > 0 for row in of) for of in of_texts.values()]
            yield Document(doc_id, "", [], [], bodies), splits

    return put_texts(
        page,
        documents(),
        noun="document",
        judges=segmentations,
        metrics={f"{WRONG} ({name})": "lower" for name in segmentations},
        parts=labels,
    )


def _text(
    author: str,
    text: str,
    sentences: Sequence[Mapping[str, Any]],
    heads: Sequence[Asked],
    why: Mapping[tuple[Any, ...], str],
) -> Text:
    lines, marks = [], []
    for number, row in enumerate(sentences, 1):
        start, end = utf16(text, row["start"]), utf16(text, row["end"])
        key = (row["doc_id"], author, row["position"])
        judgments = [_judgment(row, head.judge, why.get((head.judge, *key), "")) for head in heads]
        sentence = text[row["start"] : row["end"]]
        lines.append(Line(number, row["label"], sentence, start, end, [], [], judgments))
        if row["label"] != NONE:
            marks.append(Mark(start, end, row["label"]))
    scores = []
    for head in heads:
        labels = [(row["label"], row[head.judge]) for row in sentences if row[head.judge]]
        wrong = sum(right != label for right, label in labels)
        share = wrong / len(labels) if labels else None
        scores.append((f"{WRONG} ({head.judge})", share))
    block = Block("sentences", _QUESTION, "statement", heads, lines)
    return Text(author, [], text, marks, scores=scores, blocks=[block])


def _judgment(row: Mapping[str, Any], name: str, why: str) -> Judgment:
    label = row[name]
    if label is None:
        return Judgment(f"failed: {why}", "unknown")
    return Judgment(label, "for" if label == row["label"] else "against")
