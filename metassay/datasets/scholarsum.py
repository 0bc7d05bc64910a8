"""ScholarSum's arXiv part (Guo et al. 2024): abstracts by 4 systems, rated facet by facet.

The licence of the file is not stated upstream: for checks on one's own machine only.
"""

import math
from pathlib import Path
from typing import Any

from metassay.datasets.decoding import UNREAD, json_lines
from metassay.datasets.rows import Place, RatingRow, Rows, ScoreRow, SourceRow, TextRow
from metassay.errors import shown
from metassay.tables import FULL, REFERENCE

ABSTRACTS = "arxiv.json"
SYSTEMS = {
    "bartlarge": "bart_large",
    "factsum": "factsum",
    "gpt35": "gpt35",
    "llama2_70b": "llama2_70b",
}
METRICS = {
    "newrouge1": "scholarsum_rouge1",
    "newrouge2": "scholarsum_rouge2",
    "newrougel": "scholarsum_rougeL",
    "bert": "scholarsum_bertscore",
    "delta": "scholarsum_delta",
    "questeval": "scholarsum_questeval",
    "acu3": "scholarsum_acu",
    "llama": "scholarsum_fm_llama",
    "gpt35_fm": "scholarsum_fm_gpt35",
    "gpt4_fm": "scholarsum_fm_gpt4",
    "gpt4": "scholarsum_gpt4",
}
FACETS = ("background", "method", "result", "conclusion")
STUDY = "scholarsum_arxiv"
RATER = "released"

_AGAIN = "fetch the file again"


def read(folder: Path) -> Rows:
    """Read the one file; each line is a paper, numbered in the order of the file.

    Passages are the article's lines. Ratings: `overall`, and one criterion per facet, null where
    it is released as 0: a facet that is not in the reference's abstract is not scored, and the
    overall score leaves it out. A fifth system's abstracts, which nobody scored, are not read.
    """
    rows = Rows()
    for number, (at, value) in enumerate(
        json_lines(folder / ABSTRACTS, rows.problems, remedy=_AGAIN)
    ):
        if value is UNREAD:
            continue
        if not isinstance(value, dict):
            rows.problems.add(at, "is not an object with named values", _AGAIN)
            continue
        _add_paper(at, f"arxiv_{number:02d}", value, rows)
    return rows


def _add_paper(at: Place, doc_id: str, paper: dict[str, Any], rows: Rows) -> None:
    article, abstract = (_text(at, paper, name, rows) for name in ("article", "human"))
    passages = [line.strip() for line in article.split("\n") if line.strip()]
    blank = [""] * len(passages)
    rows.sources.append(SourceRow(at, doc_id, "abstract", passages, blank, blank))
    rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, abstract))
    for system, author in SYSTEMS.items():
        rows.texts.append(TextRow(at, doc_id, author, FULL, _text(at, paper, system, rows)))
        _add_ratings(at, doc_id, author, system, paper, rows)
        for name, metric in METRICS.items():
            value = _number(at, paper.get(f"{system}_{name}"), f"{system}_{name}", rows)
            rows.scores.append(ScoreRow(at, doc_id, author, FULL, metric, value))


def _add_ratings(
    at: Place, doc_id: str, author: str, system: str, paper: dict[str, Any], rows: Rows
) -> None:
    name = f"{system}_human"
    values = {"overall": _number(at, paper.get(name), name, rows)}
    facets = paper.get(f"{name}_list")
    if not isinstance(facets, list) or len(facets) != len(FACETS):
        what = f"'{name}_list' is not a list of {len(FACETS)} numbers"
        rows.problems.add(at, what, _AGAIN)
        return
    for facet, value in zip(FACETS, facets, strict=True):
        values[facet] = _number(at, value, f"{name}_list", rows) or None
    for criterion, rating in values.items():
        rows.ratings.append(
            RatingRow(at, STUDY, doc_id, author, FULL, "text", RATER, criterion, rating)
        )


def _text(at: Place, paper: dict[str, Any], name: str, rows: Rows) -> str:
    text = paper.get(name)
    if isinstance(text, str) and text.strip():
        return text
    rows.problems.add(at, f"{shown(name)} is no text", _AGAIN)
    return ""


def _number(at: Place, value: object, name: str, rows: Rows) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    rows.problems.add(at, f"{shown(name)} is no finite number", _AGAIN)
    return None
