"""A tiny invented benchmark whose every text tries to break out of the page."""

from pathlib import Path
from typing import Any

import pandas as pd

from metassay.meta_evaluation.facet_weights import FACET_WEIGHTS
from metassay.reporting.cells import Ours
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import empty
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.reporting import invented_meta
from tests.reporting.invented_meta import SCRIPT

Frames = dict[str, pd.DataFrame]

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"
EVIL = "sys\"><b>'& $x_1$"  # an author's name
DOC = f'doc-1"{SCRIPT}'
NAMES = (
    "sources",
    "texts",
    "parts",
    "units",
    "pairs",
    "judgments",
    "scores",
    "leaderboard",
    "ratings",
    "correlations",
    "criteria",
    *invented_meta.rows(),
)


def ours_of(leaderboard: pd.DataFrame, correlations: pd.DataFrame) -> Ours:
    """What a comparison takes that needs no text's own scores."""
    return Ours(leaderboard, correlations, empty(SCORES), empty(RATINGS), empty(FACET_WEIGHTS))


def _texts() -> list[dict[str, Any]]:
    made = []
    for doc_id in (DOC, "doc-2"):
        for author in ("reference", EVIL, "plain"):
            failed = (doc_id, author) == ("doc-2", "plain")
            made.append(
                {
                    "doc_id": doc_id,
                    "author": author,
                    "part": "full",
                    "text": None if failed else f"Knee hurts. {SCRIPT} | *{author}*",
                    "status": "truncated" if failed else "ok",
                    "recipe": "invented",
                }
            )
    return made


def _units(texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = []
    for text in texts:
        for kind in ("claim", "statement"):
            for position in range(2) if text["text"] else ():
                cites = [0, 7] if kind == "statement" and position == 0 else []
                made.append(
                    {
                        **{name: text[name] for name in ("doc_id", "author", "part")},
                        "kind": kind,
                        "position": position,
                        "text": f"{kind} {position} of {text['author']} {SCRIPT}",
                        "status": "ok",
                        "citations": cites,
                        "statement": 0 if kind == "claim" else None,
                        "start": None,
                        "end": None,
                    }
                )
    return made


def _pairs(units: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []

    def ask(
        unit: dict[str, Any],
        measure: str,
        author: str,
        *,
        citation: int = -1,
        settled: str | None = None,
    ) -> None:
        made.append(
            {
                "pair_id": f"pair{len(made):03}",
                "instrument": "entailment",
                "measure": measure,
                "doc_id": unit["doc_id"],
                "author": author,
                "part": unit["part"],
                "position": unit["position"],
                "citation": citation,
                "premise": None if settled else "a premise nobody prints",
                "hypothesis": unit["text"],
                "context": None,
                "repeats": "d",
                "settled": settled,
            }
        )

    for unit in units:
        if unit["kind"] == "claim" and unit["author"] == "reference":
            for author in (EVIL, "plain"):
                lost = (unit["doc_id"], author) == ("doc-2", "plain")
                ask(unit, "claim_recall", author, settled="no_text" if lost else None)
        elif unit["kind"] == "claim":
            ask(unit, "claim_precision", unit["author"])
        else:
            bare = None if unit["citations"] else "no_evidence"
            ask(unit, "citation_recall", unit["author"], settled=bare)
            for citation in unit["citations"]:
                ask(unit, "citation_alone", unit["author"], citation=citation)
                ask(unit, "citation_rest", unit["author"], citation=citation)
            ask(unit, "faithfulness", unit["author"])
    return made


def _judgments(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = []
    for place, pair in enumerate(p for p in pairs if not p["settled"]):
        status = "refused" if place == 3 else "ok"
        label = "entailed" if place % 2 else "not_entailed"
        made.append(
            {
                "pair_id": pair["pair_id"],
                "judge": "lexical",
                "status": status,
                "label": label if status == "ok" else None,
                "probability": None,
                "grade": None,
                "explanation": f"missing: {SCRIPT}" if status == "ok" else None,
                "quotes": [],
                "quote_starts": [],
                "tokens": None,
                "attempts": 1,
                "repaired": place == 4,
                "recipe": "lexical|threshold:0.75",
            }
        )
    return made


METRICS = (
    ("claim_recall", "lexical", "higher"),
    ("rouge1_fmeasure", NO_JUDGE, "higher"),
    ("edit_distance", NO_JUDGE, "lower"),
    ("house_metric", NO_JUDGE, "neither"),
)


def _scores(texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **{name: text[name] for name in ("doc_id", "author", "part")},
            "metric": metric,
            "judge": judge,
            "value": None if text["text"] is None else 0.123456789,
            "n_expected": 2,
            "n_judged": 0 if text["text"] is None else 2,
            "n_failed": 2 if text["text"] is None else 0,
            "low": 0.0 if text["text"] is None else 0.123456789,
            "high": 1.0 if text["text"] is None else 0.123456789,
            "statistics": [],
            "recipe": f"{metric}|metassay:0.1.0",
        }
        for text in texts
        for metric, judge, _ in METRICS
        if text["author"] != "reference"
    ]


def _leaderboard() -> list[dict[str, Any]]:
    made = []
    for place, author in enumerate((EVIL, "plain")):
        for metric, judge, better in METRICS:
            undefined = metric == "house_metric" and author == "plain"
            made.append(
                {
                    "part": "full",
                    "metric": metric,
                    "judge": judge,
                    "author": author,
                    "macro": None if undefined else 0.612345678901 + place / 10,
                    "low": None if undefined else 0.5,
                    "high": None if undefined else 0.8,
                    "micro": 0.25 if judge != NO_JUDGE else None,
                    "least": None if undefined else 0.55,
                    "most": None if undefined else 0.75,
                    "n_documents": 2,
                    "n_undefined": 2 if undefined else place,
                    "n_expected": 4,
                    "n_failed": 2 * place,
                    "better": better,
                    "recipe": f"{metric}|metassay:0.1.0",
                }
            )
    return made


def _correlations() -> list[dict[str, Any]]:
    values = {"claim_recall": 0.31, "rouge1_fmeasure": -0.75, "edit_distance": None}
    return [
        {
            "study": "invented",
            "criterion": criterion,
            "part": "full",
            "metric": metric,
            "judge": judge,
            "level": level,
            "coefficient": coefficient,
            "value": values[metric],
            "low": None if values[metric] is None else values[metric] - 0.1,
            "high": None if values[metric] is None else values[metric] + 0.1,
            "low_these_systems": None if values[metric] is None else values[metric] - 0.05,
            "high_these_systems": None if values[metric] is None else values[metric] + 0.05,
            "n": 6,
            "n_undefined": 1 if level == "document" else 0,
            "n_missing": 2,
            "p": None,
            "recipe": "invented",
        }
        for criterion in ("completeness", f"odd {SCRIPT}")
        for metric, judge, _ in METRICS[:3]
        for level in ("global", "document", "system")
        for coefficient in ("pearson", "spearman", "kendall")
    ]


def _ratings() -> list[dict[str, Any]]:
    rated = [("text", "completeness", 80.0), ("claim:0", "coverage", 1.0)]
    rated += [("versus:plain", "preference", None)]
    return [
        {
            "study": "invented",
            "doc_id": DOC,
            "author": EVIL,
            "part": "full",
            "unit": unit,
            "rater": f"rater {SCRIPT}",
            "criterion": criterion,
            "value": value,
        }
        for unit, criterion, value in rated
    ]


def _sources() -> list[dict[str, Any]]:
    return [
        {
            "doc_id": doc_id,
            "dataset": "invented",
            "task": "note",
            "passages": ["My knee hurts.", f"Since when? {SCRIPT}"],
            "speaker": ["patient", "doctor & co"],
            "group": ["", ""],
            "attributes": '{"age": 40, "why": "<script>alert(1)</script>"}',
        }
        for doc_id in (DOC, "doc-2")
    ]


def rows() -> dict[str, list[dict[str, Any]]]:
    """Every table's rows, before any check."""
    texts = _texts()
    units = _units(texts)
    pairs = _pairs(units)
    return {
        "sources": _sources(),
        "texts": texts,
        "parts": [
            {
                **{k: v for k, v in t.items() if k != "recipe"},
                "repeats": ["invented"],
                "starts": [],
                "ends": [],
                "leaf": "yes",
                "made_up": [],
            }
            for t in texts
        ],
        "units": units,
        "pairs": pairs,
        "judgments": _judgments(pairs),
        "scores": _scores(texts),
        "leaderboard": _leaderboard(),
        "ratings": _ratings(),
        "correlations": _correlations(),
        "criteria": [],
        **invented_meta.rows(),
    }
