"""What belongs together by columns, the metric named before anybody looked, and digits."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr

import metassay
from metassay.cli.main import main
from metassay.core.errors import BadInput

FEW: dict[str, Any] = {"resamples": 20, "permutations": 200}
TEXT = ["doc_id", "system"]
OWN = ["metric", "judge", "level", "stratum"]


def study(systems: str, documents: int, name: str, seed: int, shift: float = 0.0):
    """Scores and ratings of a few systems; `shift` moves both, as another data set does."""
    rng = np.random.default_rng(seed)
    keys = pd.DataFrame(
        [(f"{name}{d}", s) for d in range(documents) for s in systems], columns=TEXT
    )
    quality = rng.normal(size=len(keys))
    scores = keys.assign(
        good=quality + rng.normal(size=len(keys)) + shift,
        noise=rng.normal(size=len(keys)) + 2 * shift,
    )
    ratings = keys.assign(grade=quality + 0.5 * rng.normal(size=len(keys)) + shift)
    return scores, ratings


@pytest.fixture(scope="module")
def two() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two data sets, of 5 systems on 14 documents and 4 others on 10, that differ as a whole."""
    each = [study("abcde", 14, "x", 1), study("fghi", 10, "y", 2, shift=3.0)]
    scores, ratings = (pd.concat(frames, ignore_index=True) for frames in zip(*each, strict=True))
    return scores, ratings.assign(dataset=ratings["doc_id"].str[0])


def strata_are_the_slices(found) -> pd.DataFrame:
    """Each stratum beside what a study of it alone says; both are of the same evaluation."""
    alone = found.certificates[found.certificates["study"] != "ratings"]
    alone = alone.assign(stratum=alone["study"].str.partition("=")[2])
    mine = found.strata[found.strata["study"] == "ratings"]
    beside = mine.merge(alone, on=OWN, suffixes=("", "_alone"))
    assert len(beside) == len(mine) == len(alone) > 0
    for number in ("value", "low", "high", "n"):
        np.testing.assert_allclose(beside[number], beside[f"{number}_alone"], atol=1e-12)
    return beside


def test_strata_are_the_studies_that_they_are_made_of(two) -> None:
    found = metassay.meta_eval(*two, strata="dataset", by="dataset", **FEW)
    beside = strata_are_the_slices(found)
    whole = found.certificates[found.certificates["study"] == "ratings"]
    weight = {"global": beside["n"], "document": beside["n"], "system": beside["n"] - 1}
    for row in whole.itertuples():
        mine = (beside["metric"] == row.metric) & (beside["level"] == row.level)
        expected = np.average(beside["value"][mine], weights=weight[row.level][mine])
        assert row.value == pytest.approx(expected, abs=1e-12)
        assert row.n_strata == 2
    # Pooled, the distance between the data sets would be a relation.
    noise = whole[(whole["metric"] == "noise") & (whole["level"] == "global")]
    assert abs(noise["value"].item()) < 0.3
    both = two[0].merge(two[1], on=TEXT)
    assert both["noise"].corr(both["grade"]) > 0.7


def test_sets_that_share_nothing_are_strata_without_being_told(two) -> None:
    scores, ratings = two
    told = metassay.meta_eval(scores, ratings, strata="dataset", **FEW)
    found = metassay.meta_eval(scores, ratings.drop(columns="dataset"), **FEW)
    numbers = ["value", "low", "high", "p", "corrected_low", "accuracy", "verdict"]
    pd.testing.assert_frame_equal(told.certificates[numbers], found.certificates[numbers])
    (said,) = [line for line in found.warnings if "share no system and no document" in line]
    assert "5 systems on 14 documents; 4 systems on 10 documents" in said
    assert not [line for line in told.warnings if "share no system" in line]
    assert set(found.strata["stratum"]) == {"a, b, c and 2 more", "f, g, h, i"}


def test_systems_are_compared_within_their_stratum(two) -> None:
    """Two sets in which a metric orders the systems as people do, and orders the sets wrongly."""
    scores, ratings = two
    of_system = {name: place for place, name in enumerate("abcdefghi")}
    place = scores["system"].map(of_system)
    scores = scores.assign(apart=place - 10.0 * (place > 4))
    ratings = ratings.assign(grade=place.astype(float))
    found = metassay.meta_eval(scores, ratings, strata="dataset", **FEW).certificates
    (row,) = found[(found["metric"] == "apart") & (found["level"] == "system")].to_dict("records")
    assert row["value"] == pytest.approx(1.0)
    assert row["accuracy"] == pytest.approx(1.0)
    assert row["n_pairs"] == 10 + 6


def test_frank_by_strata_is_what_its_two_data_sets_say(mirror: Path) -> None:
    folder = mirror / "frank"
    names = {"hash": "doc_id", "model_name": "system"}
    ratings = pd.DataFrame(json.loads((folder / "human_annotations.json").read_text("utf-8")))
    file = folder / "baseline_factuality_metrics_outputs.json"
    scores = pd.DataFrame(json.loads(file.read_text("utf-8"))).rename(columns=names)
    ratings = ratings.rename(columns=names)[[*TEXT, "dataset", "Factuality"]]
    metrics = ["FEQA", "BertScore P Art", "Dep Entail"]
    asked: dict[str, Any] = {"by": "dataset", "compared": "FEQA", **FEW}
    found = metassay.meta_eval(scores[[*TEXT, *metrics]], ratings, strata="dataset", **asked)
    beside = strata_are_the_slices(found)
    whole = found.certificates[found.certificates["study"] == "ratings"]
    between = whole[(whole["level"] == "system") & (whole["metric"] == "FEQA")]
    each = beside[(beside["level"] == "system") & (beside["metric"] == "FEQA")]["value"]
    assert each.min() <= between["value"].item() <= each.max()
    assert not whole[whole["level"] == "system"]["trusted"].any()
    untold = metassay.meta_eval(
        scores[[*TEXT, *metrics]], ratings.drop(columns="dataset"), compared="FEQA", **FEW
    )
    numbers = ["value", "low", "high", "p", "verdict"]
    pd.testing.assert_frame_equal(
        untold.certificates[numbers], whole[numbers].reset_index(drop=True)
    )


def test_a_cluster_counts_as_one_document() -> None:
    """Three notes of a patient who are nearly one note are no more evidence than one."""
    scores, ratings = study("abcdef", 12, "p", 4)
    rng = np.random.default_rng(5)

    def thrice(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
        each = [
            frame.assign(doc_id=frame["doc_id"] + mark, patient=frame["doc_id"]) for mark in "uvw"
        ]
        whole = pd.concat(each, ignore_index=True)
        return whole.assign(**{c: whole[c] + 1e-3 * rng.normal(size=len(whole)) for c in columns})

    three = thrice(scores, ["good", "noise"]).drop(columns="patient"), thrice(ratings, ["grade"])
    once = metassay.meta_eval(scores, ratings, **FEW).certificates
    clustered = metassay.meta_eval(*three, cluster="patient", **FEW).certificates
    for number in ("value", "low", "high", "low_these_systems", "corrected_low"):
        np.testing.assert_allclose(clustered[number], once[number], atol=0.01)
    alone = metassay.meta_eval(three[0], three[1].drop(columns="patient"), **FEW).certificates
    assert (alone["low_these_systems"] > once["low_these_systems"] + 0.01).any()
    assert set(clustered["n_documents"]) == {36}
    assert set(clustered["n_clusters"]) == {12}


def test_a_family_counts_as_one_system() -> None:
    scores, ratings = study("abcdefgh", 12, "d", 6)
    scores = scores.assign(maker=scores["system"].map(lambda name: name if name < "f" else "big"))
    found = metassay.meta_eval(scores, ratings, family="maker", **FEW)
    assert set(found.certificates["n_systems"]) == {8}
    assert set(found.certificates["n_families"]) == {6}
    assert found.tables["designs"]["given"].item() == "family"
    assert "family by maker: 6 for 8 systems, 0 without one" in found.notes
    assert "maker" not in set(found.correlations["metric"])


def test_a_primary_metric_is_not_adjusted_for_the_others() -> None:
    scores, ratings = study("abcdefgh", 20, "d", 7)
    rng = np.random.default_rng(1)
    many = {f"noise{k}": rng.normal(size=len(scores)) for k in range(12)}
    rows = {}
    for name, primary in (("plain", None), ("primary", "good")):
        found = metassay.meta_eval(scores.assign(**many), ratings, primary=primary, **FEW)
        assert found.options.primary == primary
        rows[name] = found.certificates.set_index(["metric", "level"])
    plain, primary = (rows[name].loc[("good", "global")] for name in ("plain", "primary"))
    assert primary["primary"]
    assert not plain["primary"]
    assert primary["corrected"] == primary["value"] == plain["value"]
    assert primary["corrected_low"] > plain["corrected_low"]
    assert primary["p"] <= plain["p"]
    others = [name for name in rows["plain"].index if name[0] != "good"]
    kept = ["p", "corrected_low", "verdict"]
    pd.testing.assert_frame_equal(
        rows["plain"].loc[others, kept], rows["primary"].loc[others, kept]
    )


def test_what_columns_and_names_must_be(two, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    scores, ratings = two[0], two[1].copy()
    ratings.loc[3, "dataset"] = "z"
    scores.assign(maker=["one", "two"] * (len(scores) // 2)).to_csv("scores.csv", index=False)
    ratings.to_csv("ratings.csv", index=False)
    files = ["meta-eval", "scores.csv", "ratings.csv"]
    assert main([*files, "--columns", "strata=dataset", "family=maker"]) == 2
    said = capsys.readouterr().err
    assert "ratings.csv: line 5: 'dataset' differs from another row of the same document" in said
    assert "('x0'); give each document one value" in said
    assert "scores.csv: 35 lines: 'maker' differs from another row of the same system" in said
    assert main([*files, "--columns", "cluster=topic"]) == 2
    assert "--columns cluster='topic': there is no such column" in capsys.readouterr().err
    scores.to_csv("scores.csv", index=False)
    ratings.drop(columns="dataset").to_csv("ratings.csv", index=False)
    assert main([*files, "--primary", "best"]) == 2
    assert "--primary 'best': no metric or criterion has this name" in capsys.readouterr().err
    with pytest.raises(BadInput, match="digits"):
        metassay.meta_eval(*two, strata="dataset", digits=0)


def test_findings_hold_no_text_that_stands_for_a_key() -> None:
    """Equal systems and documents are named; a note in the place of a name is not shown."""
    scores, ratings = study("ab", 16, "d", 7)
    for column, place in (("system", "b"), ("doc_id", "d3")):
        secret = f"The patient {column} is from Zanzibar and has taken ten tablets of doxycycline."
        copies = [
            frame[frame[column] == place].assign(**{column: secret}) for frame in (scores, ratings)
        ]
        twice = [pd.concat(two) for two in zip((scores, ratings), copies, strict=True)]
        found = metassay.meta_eval(*twice, **FEW).designs["found"].item()
        assert "have exactly the scores of another one" in found
        assert "sha256" in found
        assert "Zanzibar" not in found


def test_what_seems_to_belong_together_can_be_said_to_stand_alone() -> None:
    """Each text is there twice, by two systems and in two documents that are called alike."""
    scores, ratings = study("abcd", 12, "d", 5)
    more = [frame.assign(system=frame["system"] + "2") for frame in (scores, ratings)]
    more[0]["good"] += 1e-3 * np.arange(len(scores)) ** 0.5
    scores, ratings = (pd.concat(two) for two in zip((scores, ratings), more, strict=True))
    plain = metassay.meta_eval(scores, ratings, **FEW)
    assert (plain.designs["n_families"] == 4).all()
    assert "say so by `family`" in plain.designs["found"].iloc[0]
    alone = metassay.meta_eval(scores, ratings, family="system", cluster="doc_id", **FEW)
    assert (alone.designs["n_families"] == 8).all()
    assert (alone.designs["n_clusters"] == 12).all()
    assert (alone.designs["found"] == "").all()
    # By the standard names as well, where the files call the columns otherwise.
    other = {"doc_id": "note", "system": "maker"}
    again = metassay.meta_eval(
        *(frame.rename(columns=other) for frame in (scores, ratings)),
        **{"doc": "note", "system": "maker", "cluster": "doc_id", "family": "system", **FEW},
    )
    pd.testing.assert_frame_equal(again.certificates, alone.certificates)
    with pytest.raises(BadInput, match="'doc_id' is a key or a number"):
        metassay.meta_eval(scores, ratings, strata="doc_id", **FEW)


def test_documents_without_a_value_are_counted(two) -> None:
    scores, ratings = two
    rows = ratings["doc_id"].isin(["x1", "x2"])
    ratings = ratings.assign(topic=ratings["doc_id"].str[-1].where(~rows))
    found = metassay.meta_eval(scores, ratings, strata="dataset", cluster="topic", **FEW)
    assert "cluster by topic: 10 for 24 documents, 2 without one" in found.notes


def test_values_are_ranked_as_they_were_written() -> None:
    """Differences in the 14th digit are an order, unless 12 digits are asked for."""
    scores, ratings = study("abcd", 15, "d", 9)
    grade = np.round(ratings["grade"])
    ratings = ratings.assign(grade=grade + 1e-14 * np.sign(scores["good"]) * grade)
    asked: dict[str, Any] = {"coefficient": "spearman", **FEW}
    found, rounded = (metassay.meta_eval(scores, ratings, digits=d, **asked) for d in (17, 12))
    for made, people in ((found, ratings["grade"]), (rounded, grade)):
        for coefficient, oracle in (("spearman", spearmanr), ("kendall", kendalltau)):
            table = made.correlations.set_index(["metric", "level", "coefficient"])["value"]
            expected = oracle(scores["good"], people).statistic
            assert table["good", "global", coefficient] == pytest.approx(expected, abs=1e-12)
    (note,) = [line for line in found.notes if "rounded to 12 digits" in line]
    assert note.startswith("grade: ")
    assert "with the option digits 12 they are rounded" in note
    assert not [line for line in rounded.notes if "rounded to 12 digits" in line]
