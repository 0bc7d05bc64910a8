"""A tiny invented benchmark whose every text and name tries to break out of the page."""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from metassay.meta_evaluation.evaluate import RESULT_TABLES
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import Table

Rows = list[dict[str, Any]]

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"metric {SCRIPT}"
KEY = {"study": "invented", "criterion": "completeness", "part": "full"}
ODD = {**KEY, "criterion": f"odd {SCRIPT}"}
SENTENCE = "Use: for any two texts, claim_recall follows completeness."
DOUBLES = "2 of 25 documents have exactly the scores of another one."
LEVELS = ("global", "document", "system")
PEARSON = {"coefficient": "pearson"}


def lines(heads: str, *values: tuple[Any, ...], **shared: Any) -> Rows:
    """Rows of these columns and of what all of them share; what is left out is null."""
    return [{**shared, **dict(zip(heads.split(), row, strict=True))} for row in values]


def certificates() -> Rows:
    """Per criterion three metrics at every level; the hostile one is undefined.

    Of eight systems; two of the 25 documents are equal.
    """
    metrics = lines(
        "metric judge verdict advice trusted sentence",
        ("claim_recall", "lexical", "use", "use it", True, SENTENCE),
        (
            "bleu",
            NO_JUDGE,
            "cannot tell",
            "rate more systems",
            False,
            f"Weak. {SCRIPT}",
        ),
        (
            HOSTILE,
            NO_JUDGE,
            "undefined",
            "nothing to compare",
            False,
            "It is constant.",
        ),
    )
    strong, weak, _ = metrics
    strong |= {
        "value": 0.52,
        "low": 0.31,
        "high": 0.69,
        "p": 0.0001,
        "shown_by": "within",
    }
    strong |= {"low_these_systems": 0.41, "high_these_systems": 0.62, "accuracy": 0.71}
    strong |= {"chance": 0.41, "epsilon": 0.025, "with_raters": 0.5104, "rater": 0.5596}
    strong |= {"corrected": 0.47, "corrected_low": 0.2004, "corrected_high": 0.71}
    strong |= {
        "against_rater": -0.0492,
        "against_rater_low": -0.15,
        "against_rater_high": 0.07,
    }
    weak |= {
        "value": 0.13,
        "low": -0.08,
        "high": 0.33,
        "p": 0.25,
        "shown_by": "between_systems",
    }
    weak |= {"low_these_systems": -0.0002, "high_these_systems": 0.25, "accuracy": 0.44}
    weak |= {
        "chance": 0.4,
        "epsilon": 0.0,
        "needed_systems": 12,
        "needed_documents": 1200,
    }
    weak |= {"corrected": 0.19, "corrected_low": -0.2, "corrected_high": 0.5}
    weak |= {"confound": "words", "given_confound": 0.02, "given_confound_p": 0.8}
    unsure = {
        "verdict": "promising",
        "trusted": False,
        "p": 0.0833,
        "needed_systems": 20,
    }
    unsure |= {"advice": "rate more systems", "needed_documents": 25}
    counts = {
        "n": 97,
        "n_missing": 3,
        "n_systems": 8,
        "n_families": 8,
        "n_documents": 25,
    }
    counts |= {
        "n_clusters": 24,
        "n_strata": 1,
        "n_pairs": 1234,
        "n_raters": 3,
        "n_tied": 0,
    }
    counts |= {
        "n_against_rater": 80,
        "smallest_p": 0.0004,
        "design": "crossed",
        "primary": False,
    }
    counts |= {
        "as_good_as_rater": False,
        "only_between_systems": False,
        "fitted": False,
        "selected": False,
        "n_tried": 1,
        "rests_on_classes": False,
        "recipe": "invented",
    }
    return [
        {
            **key,
            **PEARSON,
            **counts,
            "level": level,
            "n_undefined": 4 if level == "document" else 0,
            **metric,
        }
        | (unsure if level == "system" and metric is strong else {})
        for key in (KEY, ODD)
        for metric in metrics
        for level in LEVELS
    ]


def designs() -> Rows:
    """Both criteria are of one study."""
    counts = {
        "n_systems": 8,
        "n_families": 8,
        "n_documents": 25,
        "n_clusters": 25,
        "n_strata": 1,
    }
    more = {"design": "crossed", "given": ""}
    return [{**key, **counts, **more} for key in (KEY, ODD)]


def warnings() -> Rows:
    """The documents of both criteria have two doubles."""
    row = {"position": 0, "kind": "groups", "finding": DOUBLES, "remedy": ""}
    return [{**key, **row} for key in (KEY, ODD)]


def agreement() -> Rows:
    """All raters together with an interval, and one pair of raters without a value."""
    return lines(
        "rater_a rater_b value low high",
        ("all", "all", 0.654321987654, 0.5, 0.75),
        ("one", f"two {SCRIPT}", None, None, None),
        study="invented",
        criterion="completeness",
        n=6,
        n_missing=1,
        coefficient="krippendorff_alpha_interval",
        n_resamples=100,
    )


def conflicts() -> Rows:
    """Two documents: bleu and the hostile metric disagree on 3 of 9 pairs; another never meets."""
    return lines(
        "metric_a metric_b doc_id n_pairs n_disagreements",
        ("bleu", HOSTILE, "doc-1", 6, 3),
        ("bleu", HOSTILE, "doc-2", 3, 0),
        ("bleu", "rouge1_fmeasure", "doc-1", 0, 0),
        part="full",
    )


USUAL = {
    "study": "invented",
    "criterion": "completeness",
    "part": "full",
    "metric": "bleu",
    "judge": NO_JUDGE,
    "coefficient": "pearson",
    "recipe": "invented",
    "level": "global",
    "metric_a": "bleu",
    "metric_b": HOSTILE,
    "author": "plain",
    "of": "author",
}


def any_rows(table: Table) -> Rows:
    """Two rows of a table: usual keys, hostile texts elsewhere; of the second what may is null."""
    kinds = {pa.string(): SCRIPT, pa.int64(): 3, pa.float64(): 0.25, pa.bool_(): False}
    first = {
        name: USUAL.get(
            name, column.choices[0] if column.choices else kinds[column.type]
        )
        for name, column in table.columns.items()
    }
    null = {name: None for name, column in table.columns.items() if column.null}
    last = next(name for name in table.key[::-1] if not table.columns[name].choices)
    other = 4 if table.columns[last].type == pa.int64() else f"other {SCRIPT}"
    return [first, {**first, **null, last: other}]


def meta_rows() -> dict[str, Rows]:
    """Every table's rows, before any check."""
    by_hand = {
        of.__name__: of()
        for of in (certificates, designs, warnings, agreement, conflicts)
    }
    every = {
        name: any_rows(table)
        for name, table in RESULT_TABLES.items()
        if name != "evidence"
    }
    return every | by_hand


# ---- texts and what was said of them ---------------------------------------------------------

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
    "criteria",
    *meta_rows(),
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
            "kind": kind,
            "position": position,
            "status": "ok",
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
                questions += [
                    (unit, f"citation_{of}", author, n, None)
                    for of in ("alone", "rest")
                ]
            questions.append((unit, "faithfulness", author, -1, None))
    return [
        {
            "doc_id": unit["doc_id"],
            "author": author,
            "part": "full",
            "measure": measure,
            "pair_id": f"pair{place:03}",
            "instrument": "entailment",
            "repeats": "d",
            "position": unit["position"],
            "citation": citation,
            "settled": settled,
            "premise": None if settled else "a premise nobody prints",
            "hypothesis": unit["text"],
        }
        for place, (unit, measure, author, citation, settled) in enumerate(questions)
    ]


def _judgments(pairs: Rows) -> Rows:
    rows = [
        {
            "pair_id": pair["pair_id"],
            "judge": "lexical",
            "attempts": 1,
            "status": "ok",
            "label": "entailed" if place % 2 else "not_entailed",
            "explanation": f"missing: {SCRIPT}",
            "quotes": [],
            "quote_starts": [],
            "repaired": place == 4,
            "recipe": "lexical|threshold:0.75",
        }
        for place, pair in enumerate(p for p in pairs if not p["settled"])
    ]
    rows[3] |= {"status": "refused", "label": None, "explanation": None}
    return rows


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
            **known[text["text"] is None],
            "doc_id": text["doc_id"],
            "author": text["author"],
            "metric": metric,
            "judge": judge,
            "recipe": f"{metric}|metassay:0.1.0",
        }
        for text in texts
        for metric, judge, _ in METRICS
        if text["author"] != "reference"
    ]


def _leaderboard() -> Rows:
    numbers = {"low": 0.5, "high": 0.8, "least": 0.55, "most": 0.75}
    return [
        {
            "part": "full",
            "metric": metric,
            "judge": judge,
            "author": author,
            "micro": 0.25 if judge != NO_JUDGE else None,
            "n_documents": 2,
            "better": better,
            "n_undefined": 2 if undefined else place,
            "n_expected": 4,
            "n_failed": 2 * place,
            "recipe": f"{metric}|metassay:0.1.0",
        }
        | ({} if undefined else numbers | {"macro": 0.612345678901 + place / 10})
        for place, author in enumerate((EVIL, "plain"))
        for metric, judge, better in METRICS
        for undefined in [metric == "house_metric" and author == "plain"]
    ]


def _ratings() -> Rows:
    return lines(
        "unit criterion value",
        ("text", "completeness", 80.0),
        ("claim:0", "coverage", 1.0),
        *((f"statement:{n}", "coverage", 0.5) for n in range(3)),
        ("versus:plain", "preference", None),
        study="invented",
        doc_id=DOC,
        author=EVIL,
        part="full",
        rater=f"rater {SCRIPT}",
    )


def _sources() -> Rows:
    return [
        {
            "doc_id": doc_id,
            "dataset": "invented",
            "task": "note",
            "group": ["", ""],
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
    more = {
        "repeats": ["invented"],
        "starts": [],
        "ends": [],
        "leaf": "yes",
        "made_up": [],
    }
    return {
        "sources": _sources(),
        "texts": texts,
        "parts": [text | more for text in texts],
        "units": units,
        "pairs": pairs,
        "judgments": _judgments(pairs),
        "scores": _scores(texts),
        "leaderboard": _leaderboard(),
        "ratings": _ratings(),
        "criteria": [],
        **meta_rows(),
    }
