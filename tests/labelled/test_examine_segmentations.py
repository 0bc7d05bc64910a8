"""Labels beside right ones: a small test worked by hand, failures in bounds, places, notes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from metassay.core.errors import BadInput
from metassay.labelled.segmentation_scores import Results, examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.parquet import write
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES

OPTIONS = MetaOptions(resamples=500, confidence=0.95, seed=7)
B, M, R = "background", "method", "result"
RIGHT = {"one": [B, M, R], "two": [B, B, M, M, R, R]}
SAID: Mapping[str, list[str | None]] = {"one": [B, M, M], "two": [B, M, M, "none", R, R]}


def sentences(right: Mapping[str, list[str]], sure: float | None = None) -> pd.DataFrame:
    rows = [
        (doc_id, "reference", place, 10 * place, 10 * place + 9, label, sure)
        for doc_id, labels in right.items()
        for place, label in enumerate(labels)
    ]
    names = ["doc_id", "author", "position", "start", "end", "label", "confidence"]
    return pd.DataFrame(rows, columns=names).astype({"confidence": "float64"})


def segmented(said: Mapping[str, list[str | None]], name: str = "mine") -> pd.DataFrame:
    rows = [
        (name, doc_id, "reference", place, "ok" if label else "truncated", label, "r")
        for doc_id, labels in said.items()
        for place, label in enumerate(labels)
    ]
    names = ["segmentation", "doc_id", "author", "position", "status", "label", "recipe"]
    return pd.DataFrame(rows, columns=names)


def values(found: Results, of: str = "all", name: str = "all") -> dict[str, float]:
    rows = found.scores[(found.scores["of"] == of) & (found.scores["name"] == name)]
    return dict(zip(rows["statistic"], rows["value"], strict=True))


def test_by_hand(tmp_path) -> None:
    found = examine(sentences(RIGHT), segmented(SAID), OPTIONS)
    write(SEGMENT_SCORES, found.scores, tmp_path / "scores.parquet")
    write(CONFUSIONS, found.confusions, tmp_path / "confusions.parquet")
    assert found.notes == []
    # Right of background 2 of 3, method 2 of 3, result 2 of 3; method is given 4 times.
    each = {B: (1.0, 2 / 3, 0.8), M: (0.5, 2 / 3, 4 / 7), R: (1.0, 2 / 3, 0.8)}
    for label, numbers in each.items():
        assert list(values(found, "label", label).values()) == pytest.approx(numbers)
    none = values(found, "label", "none")  # given once, nobody's label
    assert (none["precision"], none["f1"]) == (0.0, 0.0)
    assert np.isnan(none["recall"])
    whole = values(found)
    assert whole["accuracy"] == pytest.approx(6 / 9)
    assert whole["macro_f1"] == pytest.approx((0.8 + 4 / 7 + 0.8 + 0) / 4)
    assert whole["majority_guess"] == pytest.approx(1 / 3)
    assert whole["failed"] == 0
    assert whole["accuracy_at_least"] == whole["accuracy_at_most"] == whole["accuracy"]
    cells = found.confusions.set_index(["label", "given"])["n"]
    assert (cells[R, M], cells[M, "none"], cells[B, B], cells["none", M]) == (1, 1, 2, 0)
    assert cells.sum() == 9
    # Thirds of three sentences are one each, of six two each.
    thirds = [values(found, "place", f"{name} third") for name in ("first", "middle", "last")]
    assert [third["accuracy"] for third in thirds] == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert "confidence" not in set(found.scores["of"])


def test_as_scikit_learn_has_them() -> None:
    rng = np.random.default_rng(4)
    labels = np.array([B, M, R, "objective", "none"], dtype=object)
    right = {f"d{n}": list(rng.choice(labels[:4], rng.integers(2, 9))) for n in range(30)}
    said = {
        doc_id: [label if rng.random() < 0.6 else str(rng.choice(labels)) for label in mine]
        for doc_id, mine in right.items()
    }
    found = values(examine(sentences(right), segmented(said), OPTIONS))
    x = [label for mine in right.values() for label in mine]
    y = [label for mine in said.values() for label in mine]
    of = {"zero_division": 0}
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(x, y, average="macro", **of))
    assert found["weighted_f1"] == pytest.approx(metrics.f1_score(x, y, average="weighted", **of))
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(x, y))
    assert found["cohen_kappa"] == pytest.approx(metrics.cohen_kappa_score(x, y))


def test_unknown_is_not_wrong_and_bounds_say_what_it_may_be() -> None:
    said = dict(SAID) | {"one": [None, None, None]}
    found = examine(sentences(RIGHT), segmented(said), OPTIONS)
    whole = values(found)
    assert whole["accuracy"] == pytest.approx(4 / 6)
    assert whole["failed"] == pytest.approx(3 / 9)
    assert whole["accuracy_at_least"] == pytest.approx(4 / 9)
    assert whole["accuracy_at_most"] == pytest.approx(7 / 9)
    row = found.scores.query("of == 'all' and statistic == 'accuracy'").iloc[0]
    assert (row["n"], row["n_failed"], row["n_documents"]) == (6, 3, 2)
    bound = found.scores.query("statistic == 'accuracy_at_most'").iloc[0]
    assert bound["n"] == 9
    assert found.confusions["n"].sum() == 6
    (note,) = found.notes
    assert note.startswith("mine: 3 of 9 sentences have no label, because it failed")


def test_where_it_failed_everywhere_there_is_no_number() -> None:
    said = {doc_id: [None] * len(labels) for doc_id, labels in RIGHT.items()}
    found = examine(sentences(RIGHT), segmented(said), OPTIONS)
    whole = values(found)
    assert np.isnan(whole["accuracy"])
    assert (whole["failed"], whole["accuracy_at_least"], whole["accuracy_at_most"]) == (1, 0, 1)
    assert found.confusions.empty


def test_intervals_are_for_documents_and_shared_by_segmentations() -> None:
    """One document all right and nine all wrong; another segmentation with the same labels."""
    right = {f"d{n}": [B, M, R] for n in range(10)}
    said: dict[str, list[str | None]] = {name: [R, R, B] for name in right}
    said["d0"] = [B, M, R]
    both = pd.concat([segmented(said), segmented(said, "same")])
    found = examine(sentences(right), both, OPTIONS)
    rows = found.scores.query("of == 'all' and statistic == 'accuracy'")
    mine, same = rows.to_dict("records")
    assert (mine["low"], mine["high"]) == (same["low"], same["high"])
    assert mine["value"] == pytest.approx(0.1)
    assert mine["low"] == 0.0
    assert 0.2 <= mine["high"] <= 0.4  # of 30 sentences taken for independent it would be .2
    alone = examine(sentences({"d0": [B, M]}), segmented({"d0": [B, R]}), OPTIONS)
    assert alone.scores["low"].isna().all()


def test_one_above_another_is_of_the_sentences_that_both_labelled() -> None:
    """Both are wrong of the hard documents; one is right once more in every document."""
    right = {f"d{n}": [B, M, R, R] for n in range(20)}
    worse = {name: [B, M, M, M] if n % 2 else [R, R, B, M] for n, name in enumerate(right)}
    better = {name: [*labels[:3], R] for name, labels in worse.items()}
    said = pd.concat([segmented(worse, "worse"), segmented(better, "better")])
    found = examine(sentences(right), said, OPTIONS).scores
    rows = found[(found["of"] == "above") & (found["statistic"] == "accuracy")]
    up, down = (rows[rows["segmentation"] == name].iloc[0] for name in ("better", "worse"))
    assert (up["name"], up["value"], up["n"]) == ("worse", 0.25, 80)
    assert (up["low"], up["high"]) == pytest.approx((0.25, 0.25))  # whatever is drawn
    assert (down["value"], down["low"]) == pytest.approx((-0.25, -0.25))
    alone = found[(found["of"] == "all") & (found["statistic"] == "accuracy")]
    assert (alone["high"] - alone["low"]).min() > 0.1
    failing = dict(worse) | {"d0": [None] * 4}
    said = pd.concat([segmented(failing, "worse"), segmented(better, "better")])
    found = examine(sentences(right), said, OPTIONS).scores
    assert set(found.loc[found["of"] == "above", "n"]) == {76}
    assert set(found.loc[found["of"] == "above", "n_failed"]) == {4}


def test_labels_that_people_were_less_sure_of_are_by_themselves() -> None:
    frame = sentences(RIGHT, 1.0)
    frame.loc[frame["doc_id"] == "one", "confidence"] = [0.5, 0.6, 0.7]
    found = examine(frame, segmented(SAID), OPTIONS)
    assert values(found, "confidence", "lower")["accuracy"] == pytest.approx(2 / 3)
    assert values(found, "confidence", "higher")["accuracy"] == pytest.approx(4 / 6)


def test_labels_of_other_sentences_are_refused() -> None:
    with pytest.raises(BadInput, match="mine lacks 6 sentences; run it again"):
        examine(sentences(RIGHT), segmented({"one": [B, B, B]}), OPTIONS)
