"""A tiny invented benchmark whose every text tries to break out of the page."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.meta_evaluation.facet_weights import FACET_WEIGHTS
from metassay.paper_figures.published import Ours
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
    *("sources", "texts", "parts", "units", "pairs", "judgments", "scores", "leaderboard"),
    *("ratings", "correlations", "criteria", *invented_meta.rows()),
)


def ours_of(leaderboard: pd.DataFrame, correlations: pd.DataFrame) -> Ours:
    """What a comparison takes that needs no text's own scores."""
    return Ours(leaderboard, correlations, empty(SCORES), empty(RATINGS), empty(FACET_WEIGHTS))


def _texts() -> list[dict[str, Any]]:
    found = []
    for doc_id in (DOC, "doc-2"):
        for author in ("reference", EVIL, "plain"):
            failed = (doc_id, author) == ("doc-2", "plain")
            text = None if failed else f"Knee hurts. {SCRIPT} | *{author}*"
            key = {"doc_id": doc_id, "author": author, "part": "full", "recipe": "invented"}
            found.append({**key, "text": text, "status": "truncated" if failed else "ok"})
    return found


def _key(text: dict[str, Any]) -> dict[str, Any]:
    return {name: text[name] for name in ("doc_id", "author", "part")}


def _units(texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two claims and two statements of each text, of which the first cites."""
    return [
        {
            **{**_key(text), "kind": kind, "position": position, "status": "ok"},
            "text": f"{kind} {position} of {text['author']} {SCRIPT}",
            "citations": [0, 7] if (kind, position) == ("statement", 0) else [],
            **{"statement": 0 if kind == "claim" else None, "start": None, "end": None},
        }
        for text in texts
        for kind in ("claim", "statement")
        for position in (range(2) if text["text"] else ())
    ]


def _pairs(units: list[dict[str, Any]]) -> list[dict[str, Any]]:
    asked: list[tuple[dict[str, Any], str, str, int, str | None]] = []
    for unit in units:
        author = unit["author"]
        if unit["kind"] == "claim" and author == "reference":
            for other in (EVIL, "plain"):
                lost = (unit["doc_id"], other) == ("doc-2", "plain")
                asked.append((unit, "claim_recall", other, -1, "no_text" if lost else None))
        elif unit["kind"] == "claim":
            asked.append((unit, "claim_precision", author, -1, None))
        else:
            bare = None if unit["citations"] else "no_evidence"
            asked.append((unit, "citation_recall", author, -1, bare))
            for n in unit["citations"]:
                asked += [(unit, f"citation_{one}", author, n, None) for one in ("alone", "rest")]
            asked.append((unit, "faithfulness", author, -1, None))
    return [
        {
            **{**_key(unit), "pair_id": f"pair{place:03}", "instrument": "entailment"},
            **{"measure": measure, "author": author, "position": unit["position"]},
            **{"citation": citation, "settled": settled, "hypothesis": unit["text"]},
            **{"premise": None if settled else "a premise nobody prints"},
            **{"context": None, "repeats": "d"},
        }
        for place, (unit, measure, author, citation, settled) in enumerate(asked)
    ]


def _judgments(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for place, pair in enumerate(p for p in pairs if not p["settled"]):
        refused = {"status": "refused", "label": None, "explanation": None}
        label = "entailed" if place % 2 else "not_entailed"
        answered = {"status": "ok", "label": label, "explanation": f"missing: {SCRIPT}"}
        found.append(
            {
                **{"pair_id": pair["pair_id"], "judge": "lexical"},
                **(refused if place == 3 else answered),
                **{"probability": None, "grade": None, "quotes": [], "quote_starts": []},
                **{"tokens": None, "attempts": 1, "repaired": place == 4},
                "recipe": "lexical|threshold:0.75",
            }
        )
    return found


METRICS = (
    ("claim_recall", "lexical", "higher"),
    ("rouge1_fmeasure", NO_JUDGE, "higher"),
    ("edit_distance", NO_JUDGE, "lower"),
    ("house_metric", NO_JUDGE, "neither"),
)


def _scores(texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    value = 0.123456789
    known = {"value": value, "low": value, "high": value, "n_judged": 2, "n_failed": 0}
    failed = {"value": None, "low": 0.0, "high": 1.0, "n_judged": 0, "n_failed": 2}
    return [
        {
            **{**_key(text), "metric": metric, "judge": judge, "n_expected": 2, "statistics": []},
            **(failed if text["text"] is None else known),
            "recipe": f"{metric}|metassay:0.1.0",
        }
        for text in texts
        for metric, judge, _ in METRICS
        if text["author"] != "reference"
    ]


def _leaderboard() -> list[dict[str, Any]]:
    found = []
    for place, author in enumerate((EVIL, "plain")):
        for metric, judge, better in METRICS:
            numbers = {"low": 0.5, "high": 0.8, "least": 0.55, "most": 0.75}
            numbers["macro"] = 0.612345678901 + place / 10
            undefined = metric == "house_metric" and author == "plain"
            found.append(
                {
                    **{"part": "full", "metric": metric, "judge": judge, "author": author},
                    **(dict.fromkeys(numbers) if undefined else numbers),
                    **{"micro": 0.25 if judge != NO_JUDGE else None, "n_documents": 2},
                    **{"n_undefined": 2 if undefined else place, "n_expected": 4},
                    **{"n_failed": 2 * place, "better": better},
                    "recipe": f"{metric}|metassay:0.1.0",
                }
            )
    return found


def _correlations() -> list[dict[str, Any]]:
    values = {"claim_recall": 0.31, "rouge1_fmeasure": -0.75, "edit_distance": None}
    aside = {"value": 0, "low": -0.1, "high": 0.1}
    aside |= {"low_these_systems": -0.05, "high_these_systems": 0.05}
    return [
        {
            **{"study": "invented", "criterion": criterion, "part": "full", "metric": metric},
            **{"judge": judge, "level": level, "coefficient": coefficient},
            **{name: None if value is None else value + more for name, more in aside.items()},
            **{"n": 6, "n_undefined": 1 if level == "document" else 0, "n_missing": 2},
            **{"p": None, "recipe": "invented"},
        }
        for criterion in ("completeness", f"odd {SCRIPT}")
        for metric, judge, _ in METRICS[:3]
        for value in [values[metric]]
        for level in ("global", "document", "system")
        for coefficient in ("pearson", "spearman", "kendall")
    ]


def _ratings() -> list[dict[str, Any]]:
    rated = [("text", "completeness", 80.0), ("claim:0", "coverage", 1.0)]
    rated += [(f"statement:{n}", "coverage", 0.5) for n in range(3)]
    rated += [("versus:plain", "preference", None)]
    key = {"study": "invented", "doc_id": DOC, "author": EVIL, "part": "full"}
    key["rater"] = f"rater {SCRIPT}"
    return [{**key, "unit": unit, "criterion": c, "value": value} for unit, c, value in rated]


def _sources() -> list[dict[str, Any]]:
    return [
        {
            **{"doc_id": doc_id, "dataset": "invented", "task": "note", "group": ["", ""]},
            "passages": ["My knee hurts.", f"Since when? {SCRIPT}"],
            "speaker": ["patient", "doctor & co"],
            "attributes": '{"age": 40, "why": "<script>alert(1)</script>"}',
        }
        for doc_id in (DOC, "doc-2")
    ]


def _part(text: dict[str, Any]) -> dict[str, Any]:
    more = {"repeats": ["invented"], "starts": [], "ends": [], "leaf": "yes", "made_up": []}
    return {**text, **more}


def rows() -> dict[str, list[dict[str, Any]]]:
    """Every table's rows, before any check."""
    texts = _texts()
    units = _units(texts)
    pairs = _pairs(units)
    return {
        "sources": _sources(),
        "texts": texts,
        "parts": list(map(_part, texts)),
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


def cells_of(compared):
    """The only table of a comparison."""
    (frame,) = compared.tables.values()
    return frame


def left_out(compared):
    """How many printed numbers a comparison says that it leaves out."""
    says = " ".join(line for block in compared.blocks.values() for line in block["says"])
    counted = re.search(r"([\d,]+) (?:published|printed) (?:cell|value)s? of", says)
    return int(counted[1].replace(",", "")) if counted else 0
