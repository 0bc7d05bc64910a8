"""FRANK (Pagnoni et al. 2021): factuality of news summaries by kinds of error, and released scores.

The files have neither articles nor summaries: sources have no passages, and there are no texts.
"""

from pathlib import Path
from typing import Any

from metassay.datasets.own_data import json_number, released
from metassay.tables.names import FULL
from metassay.tabular.decoding import json_list
from metassay.tabular.rows import AGAIN, Rows, canonical, source_row
from metassay.text.patterns import read_pairs

HUMAN = "human_annotations.json"
SCORES = "baseline_factuality_metrics_outputs.json"
CORPORA = {"cnndm": "cnndm", "bbc": "xsum"}
STUDY = "frank"
RATER = "majority"  # of three people by sentence, averaged over sentences
ERRORS = read_pairs(__file__, "errors")  # columns, and kinds of error
CRITERIA = {
    "Factuality": "factuality",
    **{column: f"without_{kind}" for column, kind in ERRORS.items()},
    **{f"Flip_{column}": f"factuality_forgiving_{kind}" for column, kind in ERRORS.items()},
}
METRICS = read_pairs(__file__, "metrics")


@released
def read(folder: Path) -> Rows:
    """Read people's answers and the released scores; a document's attributes are corpus and split.

    Ratings, 0 to 1: `factuality`, the share of a summary's sentences without an error;
    `without_<kind>`, the share without an error of this kind; `factuality_forgiving_<kind>`, the
    share that would be right if errors of this kind were none. Scores that are released as null
    stay null.
    """
    rows, known = Rows(), set[str]()
    for at, value in json_list(folder / HUMAN, rows.problems, remedy=AGAIN) or ():
        doc_id, author = _place(value)
        if doc_id not in known:
            known.add(doc_id)
            about = canonical({"corpus": CORPORA[value["dataset"]], "split": value["split"]})
            rows.sources.append(source_row(at, doc_id, "other", [], attributes=about))
        by = {name: json_number(at, value[of], of, rows) for of, name in CRITERIA.items()}
        rows.rate(at, (STUDY, doc_id, author, FULL, "text", RATER), by)
    for at, value in json_list(folder / SCORES, rows.problems, remedy=AGAIN) or ():
        by = {
            name: None if value[of] is None else json_number(at, value[of], of, rows)
            for of, name in METRICS.items()
        }
        rows.score(at, (*_place(value), FULL), by)
    return rows


def _place(value: Any) -> tuple[str, str]:
    return f"frank_{value['hash']}", str(value["model_name"])
