"""The report about one test of segmentations: a folder of tables, and the page that shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, short, shown, shown_interval
from metassay.labelled.records import NONE
from metassay.reporting import contract as c
from metassay.reporting.names import Row, grouped, short_estimate
from metassay.reporting.page import Report, filled, sort_rows, write_tables
from metassay.reporting.shell import PageFolder, utf16
from metassay.reporting.texts import put_texts

WRONG = "share of wrong labels"
_TEXT = ["doc_id", "author"]
_SENTENCE = [*_TEXT, "position"]
_QUESTION = "Which facet is the sentence of?"
_HEADLINE = ("accuracy", "macro_f1", "weighted_f1", "cohen_kappa")
# groups of sentences, as they stand
_OF = ("all", "label", "place", "confidence", "above")
_PLACES = ("first third", "middle third", "last third", "lower", "higher")
_BETTER = {"majority_baseline": "neither", "failed": "lower"}


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentTestReport(Report):
    """What the report is made from; `segmentations` in the order of params.yaml.

    `tables`: texts, sentences, segmented, segment_scores and confusions.
    """

    segmentations: Sequence[str]


def write_segment_test(report: SegmentTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Only the page has texts. Raises BadInput if `out` holds anything; then nothing is
    written.
    """
    tables, sentences = report.tables, report.tables["sentences"]
    wide = sentences
    for name, segmented in tables["segmented"].groupby("segmentation"):
        column = segmented[[*_SENTENCE, "label"]].rename(columns={"label": name})
        wide = wide.merge(column, on=_SENTENCE)
    files = {
        **filled(
            segment_scores=tables["segment_scores"],
            confusions=tables["confusions"],
            sentences=wide[[*_SENTENCE, "label", "confidence", *report.segmentations]],
        ),
        **report.run_tables(),
    }
    labels, best = (
        _labels(sentences, tables["segmented"]),
        ranked(tables["segment_scores"]),
    )
    counts = [
        counted(len(tables["texts"]), "text"),
        counted(len(sentences), "labelled sentence"),
        counted(sentences["label"].nunique(), "label"),
        counted(len(report.segmentations), "segmentation"),
    ]
    order: dict[str, Sequence[str]] = {
        "of": _OF,
        "name": [*_PLACES, *labels, *best],
        "segmentation": best,
        "statistic": _HEADLINE,
        "label": labels,
        "given": labels,
    }
    with whole_folder(out, "report") as folder:
        write_tables(files, folder)
        for name in {"segment_scores", "confusions"} & set(files):
            files[name] = sort_rows(files[name], order)
        if "segment_scores" in files:
            better = files["segment_scores"]["statistic"].map(_BETTER).fillna("higher")
            files["segment_scores"] = files["segment_scores"].assign(better=better)
        page, majority = (
            PageFolder(folder),
            str(sentences["label"].value_counts().index[0]),
        )
        texts = put_sentences(page, tables, wide, report.segmentations, labels)
        answer = verdict(tables["segment_scores"], majority)
        systems = {"headline": _HEADLINE}
        more = {"answer": answer, "texts": texts}
        report.write_page(
            page, "segmentation test", files, counts, systems=systems, **more
        )


def _labels(sentences: pd.DataFrame, segmented: pd.DataFrame) -> list[str]:
    """Return every label that is right or given, in the order in which texts mostly have them."""
    last = sentences.groupby(_TEXT)["position"].transform("max")
    place = (sentences["position"] + 0.5) / (last + 1)
    right = place.groupby(sentences["label"]).mean().sort_values(kind="stable").index
    others = sorted(set(segmented["label"].dropna()) - set(right))
    return sorted(map(str, (*right, *others)), key=NONE.__eq__)  # NONE is last


def ranked(scores: pd.DataFrame) -> list[str]:
    """Sort segmentations of table `segment_scores`, the most accurate first."""
    accuracy = scores[(scores["of"] == "all") & (scores["statistic"] == "accuracy")]
    by_name = accuracy.sort_values(["value", "segmentation"], ascending=[False, True])
    return [str(name) for name in by_name["segmentation"]]


def verdict(scores: pd.DataFrame, majority: str) -> list[str]:
    """Write sentences: the most accurate segmentation, and a guess; then each of the others."""
    key = ("segmentation", "of", "name", "statistic")
    row_of = {tuple(row[name] for name in key): row for row in records(scores)}
    sentences: list[str] = []
    for name in (names := ranked(scores)):
        row = {
            key[3]: row
            for key, row in row_of.items()
            if key[:3] == (name, "all", "all")
        }
        accuracy = row["accuracy"]
        if accuracy["value"] is None:
            sentences.append(f"{name} failed on every sentence.")
            continue
        text = (
            f"{name} gives {short_estimate(accuracy)} of {counted(accuracy['n'], 'sentence')} the"
            f" right label; its macro-F1 is {short_estimate(row['macro_f1'])}"
        )
        if accuracy["n_failed"]:
            low, high = (
                short(row[f"accuracy_at_{end}"]["value"]) for end in ("least", "most")
            )
            text += (
                f". It failed on {accuracy['n_failed']:,} more, with which its accuracy is between"
                f" {low} and {high}"
            )
        if name == names[0]:
            guess = short(row["majority_baseline"]["value"])
            text += f". Calling every sentence “{majority}” would be right for {guess}."
        else:
            above = row_of[names[0], "above", name, "accuracy"]
            ends = shown_interval(above["low"], above["high"])
            chance = above["low"] is not None and above["low"] <= 0
            text += (
                f". {names[0]} is right for {shown(above['value'])} {ends}".rstrip()
                + " more"
            )
            text += ", which may be chance." if chance else "."
        sentences.append(text)
    return sentences


# Texts, sentence by sentence: the right label beside what each segmentation says.


def put_sentences(
    page: PageFolder,
    tables: Mapping[str, pd.DataFrame],
    wide: pd.DataFrame,
    segmentations: Sequence[str],
    labels: Sequence[str],
) -> c.TextsInfo:
    """Write a document per document, with its texts, those with most wrong labels first.

    `wide`: a row per sentence, with a column of labels per segmentation. Right labels
    are marked in the text; a line per sentence has the label of each segmentation. A
    label that is missing because the segmentation failed is not wrong.
    """
    segmented = rows(tables["segmented"], "segmentation", *_SENTENCE, "status")
    status = {tuple(key): why for *key, why in segmented}
    by_text = grouped(records(wide.sort_values(_SENTENCE)), itemgetter(*_TEXT))
    texts: dict[str, list[c.Text]] = {}
    for doc_id, author, text in sorted(rows(tables["texts"], *_TEXT, "text")):
        if sentences := by_text.get((doc_id, author)):
            of_document = texts.setdefault(doc_id, [])
            of_document.append(_text(author, text, sentences, segmentations, status))
    wrong = {
        doc_id: [*map(_n_wrong, of_document)] for doc_id, of_document in texts.items()
    }
    share = {
        doc_id: sum(map(sum, ns)) / sum(map(len, ns)) for doc_id, ns in wrong.items()
    }
    order = sorted(texts, key=lambda doc_id: (-share[doc_id], doc_id))
    documents = [c.Document(doc_id, "", [], [], texts[doc_id]) for doc_id in order]
    splits = [
        [sum(map(bool, of_text)) for of_text in wrong[doc_id]] for doc_id in order
    ]
    return put_texts(
        page,
        zip(documents, splits, strict=True),
        noun="document",
        judges=segmentations,
        metrics={f"{WRONG} ({name})": "lower" for name in segmentations},
        parts=labels,
    )


def _text(
    author: str,
    text: str,
    sentences: Sequence[Row],
    segmentations: Sequence[str],
    status: Mapping[tuple[Any, ...], str],
) -> c.Text:
    lines = []
    for number, row in enumerate(sentences, 1):
        start, end, right = row["start"], row["end"], row["label"]
        key = (row["doc_id"], author, row["position"])
        judgments = []
        for name in segmentations:
            label = row[name]
            if label is None:
                why = status[(name, *key)]
                judgments.append(c.Judgment(f"failed: {why}", "unknown"))
            else:
                side = "for" if label == right else "against"
                judgments.append(c.Judgment(label, side))
        ends = (utf16(text, start), utf16(text, end))
        lines.append(c.Line(number, right, text[start:end], *ends, [], [], judgments))
    scores = []
    for place, name in enumerate(segmentations):
        sides = [line.judgments[place].side for line in lines]
        n, wrong = len(sides) - sides.count("unknown"), sides.count("against")
        scores.append((f"{WRONG} ({name})", wrong / n if n else None))
    heads = [c.BlockHead(_QUESTION, "", name) for name in segmentations]
    marks = [
        c.Mark(line.start, line.end, line.part) for line in lines if line.part != NONE
    ]
    block = c.Block("sentences", _QUESTION, "statement", heads, lines)
    return c.Text(author, [], text, marks, scores=scores, blocks=[block])


def _n_wrong(text: c.Text) -> list[int]:
    """Count the segmentations that are wrong of each sentence."""
    lines = text.blocks[0].lines
    return [
        sum(judgment.side == "against" for judgment in line.judgments) for line in lines
    ]
