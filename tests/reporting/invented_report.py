"""A tiny invented benchmark whose every text tries to break out of the page."""

from itertools import product
from pathlib import Path

import pandas as pd

from metassay.tables.names import NO_JUDGE
from tests.reporting import invented_meta
from tests.reporting.invented_meta import SCRIPT, Rows, lines

Frames = dict[str, pd.DataFrame]

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"
EVIL = "sys\"><b>'& $x_1$"  # an author's name
DOC = f'doc-1"{SCRIPT}'
NAMES = (
    *("sources", "texts", "parts", "units", "pairs", "judgments", "scores", "leaderboard"),
    *("ratings", "criteria", *invented_meta.rows()),
)
LOST = ("doc-2", "plain")  # whose answer was truncated


def _texts() -> Rows:
    return lines(
        "doc_id author text status",
        *(
            (*key, None, "truncated")
            if key == LOST
            else (*key, f"Knee hurts. {SCRIPT} | *{key[1]}*", "ok")
            for key in product((DOC, "doc-2"), ("reference", EVIL, "plain"))
        ),
        part="full",
        recipe="invented",
    )


def _units(texts: Rows) -> Rows:
    """Two claims and two statements of each text, of which the first cites."""
    return [
        {
            **{name: text[name] for name in ("doc_id", "author", "part")},
            **{"kind": kind, "position": position, "status": "ok"},
            "text": f"{kind} {position} of {text['author']} {SCRIPT}",
            "citations": [0, 7] if (kind, position) == ("statement", 0) else [],
            "statement": 0 if kind == "claim" else None,
        }
        for text in texts
        if text["text"]
        for kind in ("claim", "statement")
        for position in range(2)
    ]


def _pairs(units: Rows) -> Rows:
    questions = []  # unit, measure, author, citation, why it is settled
    for unit in units:
        author = unit["author"]
        if unit["kind"] == "claim" and author == "reference":
            for other in (EVIL, "plain"):
                why = "no_text" if (unit["doc_id"], other) == LOST else None
                questions.append((unit, "claim_recall", other, -1, why))
        elif unit["kind"] == "claim":
            questions.append((unit, "claim_precision", author, -1, None))
        else:
            bare = None if unit["citations"] else "no_evidence"
            questions.append((unit, "citation_recall", author, -1, bare))
            for n in unit["citations"]:
                questions += [(unit, f"citation_{of}", author, n, None) for of in ("alone", "rest")]
            questions.append((unit, "faithfulness", author, -1, None))
    return [
        {
            **{"doc_id": unit["doc_id"], "author": author, "part": "full", "measure": measure},
            **{"pair_id": f"pair{place:03}", "instrument": "entailment", "repeats": "d"},
            **{"position": unit["position"], "citation": citation, "settled": settled},
            "premise": None if settled else "a premise nobody prints",
            "hypothesis": unit["text"],
        }
        for place, (unit, measure, author, citation, settled) in enumerate(questions)
    ]


def _judgments(pairs: Rows) -> Rows:
    return [
        {
            **{"pair_id": pair["pair_id"], "judge": "lexical", "attempts": 1},
            **{"status": "ok", "label": "entailed" if place % 2 else "not_entailed"},
            **{"explanation": f"missing: {SCRIPT}", "quotes": [], "quote_starts": []},
            **{"repaired": place == 4, "recipe": "lexical|threshold:0.75"},
            **({"status": "refused", "label": None, "explanation": None} if place == 3 else {}),
        }
        for place, pair in enumerate(p for p in pairs if not p["settled"])
    ]


METRICS = (
    ("claim_recall", "lexical", "higher"),
    ("rouge1_fmeasure", NO_JUDGE, "higher"),
    ("edit_distance", NO_JUDGE, "lower"),
    ("house_metric", NO_JUDGE, "neither"),
)


def _scores(texts: Rows) -> Rows:
    shared = {"part": "full", "n_expected": 2, "statistics": []}
    heads = "value low high n_judged n_failed"
    known = lines(heads, (*[0.123456789] * 3, 2, 0), (None, 0.0, 1.0, 0, 2), **shared)
    return [
        {
            **{**known[text["text"] is None], "doc_id": text["doc_id"], "author": text["author"]},
            **{"metric": metric, "judge": judge, "recipe": f"{metric}|metassay:0.1.0"},
        }
        for text in texts
        for metric, judge, _ in METRICS
        if text["author"] != "reference"
    ]


def _leaderboard() -> Rows:
    numbers = {"low": 0.5, "high": 0.8, "least": 0.55, "most": 0.75}
    return [
        {
            **{"part": "full", "metric": metric, "judge": judge, "author": author},
            **({} if undefined else numbers | {"macro": 0.612345678901 + place / 10}),
            **{"micro": 0.25 if judge != NO_JUDGE else None, "n_documents": 2, "better": better},
            **{"n_undefined": 2 if undefined else place, "n_expected": 4, "n_failed": 2 * place},
            "recipe": f"{metric}|metassay:0.1.0",
        }
        for place, author in enumerate((EVIL, "plain"))
        for metric, judge, better in METRICS
        for undefined in [metric == "house_metric" and author == "plain"]
    ]


def _ratings() -> Rows:
    return lines(
        "unit criterion value",
        *(("text", "completeness", 80.0), ("claim:0", "coverage", 1.0)),
        *((f"statement:{n}", "coverage", 0.5) for n in range(3)),
        ("versus:plain", "preference", None),
        **{"study": "invented", "doc_id": DOC, "author": EVIL, "part": "full"},
        rater=f"rater {SCRIPT}",
    )


def _sources() -> Rows:
    return [
        {
            **{"doc_id": doc_id, "dataset": "invented", "task": "note", "group": ["", ""]},
            "passages": ["My knee hurts.", f"Since when? {SCRIPT}"],
            "speaker": ["patient", "doctor & co"],
            "attributes": '{"age": 40, "why": "<script>alert(1)</script>"}',
        }
        for doc_id in (DOC, "doc-2")
    ]


def rows() -> dict[str, Rows]:
    """Every table's rows, before any check."""
    texts = _texts()
    units = _units(texts)
    pairs = _pairs(units)
    more = {"repeats": ["invented"], "starts": [], "ends": [], "leaf": "yes", "made_up": []}
    return {
        **{"sources": _sources(), "texts": texts, "parts": [text | more for text in texts]},
        **{"units": units, "pairs": pairs, "judgments": _judgments(pairs)},
        **{"scores": _scores(texts), "leaderboard": _leaderboard(), "ratings": _ratings()},
        **{"criteria": [], **invented_meta.rows()},
    }
