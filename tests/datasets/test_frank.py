"""FRANK: invented files, their faults, and the real ones."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.scored_texts import FRANK_CRITERIA as CRITERIA
from metassay.datasets.scored_texts import FRANK_HUMAN as HUMAN
from metassay.datasets.scored_texts import FRANK_METRICS as METRICS
from metassay.datasets.scored_texts import FRANK_SCORES as SCORES
from metassay.scoring.catalogue import descriptions
from tests.support.frank_files import put, records

ROOT = Path(__file__).parents[2]


def read(folder: Path) -> Tables:
    return ingest("frank", folder, load(ROOT).benchmarks["frank"].criteria, dataset="d")


def test_ratings_and_scores_of_one_summary(tmp_path: Path) -> None:
    human, scores = records(articles=1)
    human, scores = human[-1:], scores[-1:]
    human[0] |= {"Factuality": 0.5, "RelE": 0.75, "Flip_RelE": 0.625}
    scores[0] |= {"FEQA": None, "Bleu": 12.5}
    made = read(put(tmp_path, human, scores))
    assert not made.warnings
    assert made.texts.empty
    (source,) = made.sources.to_dict("records")
    assert (source["doc_id"], source["passages"]) == ("frank_bbc0", [])
    assert source["attributes"] == '{"corpus":"xsum","split":"test"}'
    ratings = made.ratings.set_index("criterion")["value"]
    assert len(ratings) == len(CRITERIA) == 23
    assert ratings["factuality"] == 0.5
    assert ratings["without_relation"] == 0.75
    assert ratings["factuality_forgiving_relation"] == 0.625
    assert set(made.ratings["author"]) == {"BERTS2S"}
    measured = made.measurements.set_index("metric")["value"]
    assert len(measured) == len(METRICS) == 15
    assert measured["frank_bleu"] == 12.5
    assert measured.isna().sum() == 1
    assert set(measured.index) <= set(descriptions())


@pytest.mark.parametrize(
    ("file", "changes", "expected"),
    [
        (HUMAN, {"Factuality": 1.5}, "'factuality' is outside its scale of 0 to 1 (value 1.5)"),
        (HUMAN, {"RelE": "1"}, "'RelE' is not a finite number; fetch the file again"),
        (SCORES, {"QAGS": "high"}, "'QAGS' is not a finite number"),
    ],
)
def test_faults(tmp_path: Path, file: str, changes: dict[str, Any], expected: str) -> None:
    made = dict(zip((HUMAN, SCORES), records(articles=1), strict=True))
    put(tmp_path, *made.values())
    made[file][1] |= changes
    (tmp_path / file).write_text(json.dumps(made[file]), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read(tmp_path)
    (found,) = caught.value.problems
    assert expected in found


def test_as_released(mirror: Path) -> None:
    made = read(mirror / "frank")
    assert not made.warnings
    about = Counter(map(str, made.sources["attributes"]))
    assert about == {
        '{"corpus":"cnndm","split":"test"}': 175,
        '{"corpus":"cnndm","split":"valid"}': 75,
        '{"corpus":"xsum","split":"test"}': 175,
        '{"corpus":"xsum","split":"valid"}': 74,
    }
    wide = made.ratings.pivot_table(
        index=["doc_id", "author"], columns="criterion", values="value", aggfunc="first"
    )
    assert wide.shape == (2246, 23)
    assert not wide.isna().any(axis=None)
    # Forgiving an error never makes a summary worse; that of `other` is released as it was.
    flips = wide.filter(like="forgiving")
    assert flips.sub(wide["factuality"], axis=0).min(axis=None) >= 0
    assert (wide["factuality_forgiving_other"] == wide["factuality"]).all()
    missing = made.measurements[made.measurements["value"].isna()]["metric"]
    assert Counter(missing) == {"frank_dep_entail": 83, "frank_feqa": 4}
