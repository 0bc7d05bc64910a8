"""An invented test of judges, as its stages leave it.

`words` always has a verdict and no probability; `meaning` has one, and abstains of m4; `released`
has given verdicts on two items only; `anna`, `ben` and `cleo` labelled the items of mli_test_v1.
"""

import numpy as np
import pandas as pd

from metassay.labelled.examine import examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import Table
from metassay.tables.ratings import RATINGS
from tests.reporting.invented_meta import SCRIPT, Rows, lines

YES, NO = "entailed", "not_entailed"
# item: subset, kind, right answer, what words says, meaning's probability
ITEMS = {
    "m1": ("mli_test_v1", "negation", NO, NO, 0.1),
    "m2": ("mli_test_v1", "negation", NO, YES, 0.9),
    "m3": ("mli_test_v1", "voice", YES, NO, 0.8),
    "m4": ("mli_test_v1", "voice", YES, YES, 0.5),
    "a1": ("R1_test", "negation", NO, NO, 0.2),
    "a2": ("R1_test", "voice", YES, YES, 0.7),
}
LABELLED = {"anna": (0, 0, 1, 1), "ben": (0, 0, 1, 1), "cleo": (0, 1, 1, 1)}


def _frame(table: Table, rows: Rows) -> pd.DataFrame:
    return pd.DataFrame([dict.fromkeys(table.columns) | row for row in rows])


def _judgments() -> Rows:
    """m2 has two premises, of which the second one decides."""
    rows: Rows = []
    for item, (_, _, _, word, p) in ITEMS.items():
        last = "m2-1" if item == "m2" else f"{item}-0"
        status = "abstained" if p == 0.5 else "ok"
        sure = None if status != "ok" else YES if p > 0.5 else NO
        heads = "judge status label probability"
        answers = (("words", "ok", word, np.nan), ("meaning", status, sure, p))
        for row in lines(heads, *answers, attempts=1, repaired=False):
            judge = row["judge"]
            row |= {"recipe": f"recipe of {judge}", "explanation": f"{judge} on {item} {SCRIPT}"}
            rows.append({**row, "pair_id": last})
            if item == "m2":
                low = np.nan if judge == "words" else 0.05
                row |= {"explanation": None, "label": NO, "probability": low}
                rows.append({**row, "pair_id": "m2-0"})
    return rows


def tables() -> dict[str, pd.DataFrame]:
    """The tables of the test, by the names that its report takes."""
    pairs = [
        {
            **{"pair_id": f"{item}-{position}", "instrument": "entailment", "measure": "verdict"},
            **{"doc_id": item, "author": "item", "part": "full", "position": position},
            **{"citation": -1, "repeats": "invented"},
            "premise": f"Premise {position} of {item}. {SCRIPT}",
            "hypothesis": f"Hypothesis of {item} {SCRIPT}",
        }
        for item in ITEMS
        for position in range(2 if item == "m2" else 1)
    ]
    gold = [
        {"item": item, "subset": subset, "kind": kind, "cluster": item, "label": right}
        for item, (subset, kind, right, *_) in ITEMS.items()
    ]
    shared = {"judge": "released", "status": "ok", "recipe": "given"}
    brought = lines("item probability", ("m1", 0.3), ("m2", 0.4), **shared)
    shared = {"study": "invented", "author": "item", "part": "full", "unit": "claim:0"}
    labels = [
        {**shared, "doc_id": f"m{n}", "rater": rater, "criterion": YES, "value": float(value)}
        for rater, values in LABELLED.items()
        for n, value in enumerate(values, start=1)
    ]
    frames = {
        **{"pairs": _frame(PAIRS, pairs), "gold": _frame(GOLD, gold)},
        "judgments": _frame(JUDGMENTS, _judgments()).astype({"probability": "float64"}),
        "ratings": _frame(RATINGS, labels),
    }
    results = examine(
        *(frames[name] for name in ("pairs", "judgments", "gold", "ratings")),
        _frame(GIVEN_VERDICTS, brought),
        MetaOptions(resamples=100, confidence=0.95, seed=1),
    )
    return {
        **{**frames, "verdicts": results.verdicts},
        **{"judge_cards": results.cards, "calibration": results.bins},
    }
