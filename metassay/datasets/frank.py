"""FRANK (Pagnoni et al. 2021): factuality of news summaries by kinds of error, and released scores.

The files have neither articles nor summaries: sources have no passages, and there are no texts.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Key, checked, json_number
from metassay.tables.names import FULL
from metassay.tabular.decoding import json_list, read_bytes
from metassay.tabular.rows import AGAIN, Place, Rows, canonical, source_row
from metassay.text.patterns import read_pairs

HUMAN = "human_annotations.json"
SCORES = "baseline_factuality_metrics_outputs.json"
SPLITS = {"test": "test_split.txt", "valid": "validation_split.txt"}
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


class _Summary(Options, extra="ignore"):
    hash: Key
    model_name: Key
    dataset: Literal["cnndm", "bbc"]
    split: Literal["test", "valid"]


def read(folder: Path) -> Rows:
    """Read people's answers and the released scores; a document's attributes are corpus and split.

    Ratings, 0 to 1: `factuality`, the share of a summary's sentences without an error;
    `without_<kind>`, the share without an error of this kind; `factuality_forgiving_<kind>`, the
    share that would be right if errors of this kind were none. Scores that are released as null
    stay null.
    """
    rows = Rows()
    split = {name: kind for kind, file in SPLITS.items() for name in _names(folder / file, rows)}
    known: dict[str, _Summary] = {}
    for at, one, value in _summaries(folder / HUMAN, rows):
        first = known.setdefault(one.hash, one)
        if (first.dataset, first.split) != (one.dataset, one.split):
            rows.wrong(at, "the article is in two corpora or splits", f"hash {shown(one.hash)}")
        if first is one:
            if split.get(one.hash) != one.split:
                what = f"the split is not that of {SPLITS[one.split]}"
                rows.wrong(at, what, f"hash {shown(one.hash)}")
            about = canonical({"corpus": CORPORA[one.dataset], "split": one.split})
            rows.sources.append(source_row(at, _doc_id(one), "other", [], attributes=about))
        key = (_doc_id(one), one.model_name, FULL, "text", RATER)
        by = {name: json_number(at, value.get(of), of, rows) for of, name in CRITERIA.items()}
        rows.rate(at, (STUDY, *key), by)
    rated = {(rating.doc_id, rating.author) for rating in rows.ratings}
    for at, one, value in _summaries(folder / SCORES, rows):
        if (_doc_id(one), one.model_name) not in rated:
            where = f"hash {shown(one.hash)}, model_name {shown(one.model_name)}"
            rows.wrong(at, f"the summary is not in {HUMAN}", where)
        by = {name: _score(at, value, column, rows) for column, name in METRICS.items()}
        rows.score(at, (_doc_id(one), one.model_name, FULL), by)
    return rows


def _names(path: Path, rows: Rows) -> list[str]:
    data = read_bytes(path, rows.problems, remedy=AGAIN)
    return [] if data is None else data.decode("utf-8", "replace").split()


def _summaries(path: Path, rows: Rows) -> Iterator[tuple[Place, _Summary, Mapping[str, Any]]]:
    for at, value in json_list(path, rows.problems, remedy=AGAIN) or ():
        if (one := checked(_Summary, value, at, rows.problems)) is not None:
            yield at, one, value


def _doc_id(one: _Summary) -> str:
    return f"frank_{one.hash}"


def _score(at: Place, value: Mapping[str, Any], column: str, rows: Rows) -> float | None:
    released = value.get(column, "")
    return None if released is None else json_number(at, released, column, rows)
