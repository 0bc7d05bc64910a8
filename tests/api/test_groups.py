"""What belongs together by columns, the metric named before anybody looked, and digits."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from scipy.stats import kendalltau, spearmanr

import metassay
from metassay.cli.main import main
from metassay.core.errors import BadInput
from tests.api.small_study import TEXT, Frames, put

FEW: dict[str, Any] = {"resamples": 20, "permutations": 200}


def study(
    systems: str, documents: int, name: str, seed: int, shift: float = 0.0
) -> Frames:
    """Scores and ratings of a few systems; `shift` moves both, as another data set does."""
    rng = np.random.default_rng(seed)
    keys = pd.DataFrame(
        product([f"{name}{d}" for d in range(documents)], systems), columns=TEXT
    )
    quality, good, noise, rated = rng.normal(size=(4, len(keys)))
    scores = keys.assign(good=quality + good + shift, noise=noise + 2 * shift)
    return scores, keys.assign(grade=quality + 0.5 * rated + shift)


def joined(*frames: Frames) -> list[pd.DataFrame]:
    return [pd.concat(each, ignore_index=True) for each in zip(*frames, strict=True)]


@pytest.fixture(scope="module")
def two() -> Frames:
    """Two data sets, of 5 systems on 14 documents and 4 others on 10, that differ as a whole."""
    scores, ratings = joined(
        study("abcde", 14, "x", 1), study("fghi", 10, "y", 2, shift=3.0)
    )
    return scores, ratings.assign(dataset=ratings["doc_id"].str[0])


def of_study(certificates: pd.DataFrame) -> pd.DataFrame:
    return certificates[certificates["study"] == "ratings"].reset_index(drop=True)


def strata_are_the_slices(results) -> pd.DataFrame:
    """Each stratum beside what a study of it alone says; both are of the same evaluation."""
    alone = results.certificates[results.certificates["study"] != "ratings"]
    alone = alone.assign(stratum=alone["study"].str.partition("=")[2])
    strata = of_study(results.strata)
    key = ["metric", "judge", "level", "stratum"]
    beside = strata.merge(alone, on=key, suffixes=("", "_alone"))
    assert len(beside) == len(strata) == len(alone) > 0
    for number in ("value", "low", "high", "n"):
        assert_allclose(beside[number], beside[f"{number}_alone"], atol=1e-12)
    return beside


def test_strata_are_the_studies_that_they_are_made_of(two) -> None:
    results = metassay.meta_eval(*two, strata="dataset", by="dataset", **FEW)
    beside, whole = strata_are_the_slices(results), of_study(results.certificates)
    weight = {"global": beside["n"], "document": beside["n"], "system": beside["n"] - 1}
    for row in whole.itertuples():
        of_row = (beside["metric"] == row.metric) & (beside["level"] == row.level)
        expected = np.average(
            beside["value"][of_row], weights=weight[row.level][of_row]
        )
        assert row.value == pytest.approx(expected, abs=1e-12)
        assert row.n_strata == 2
    # Pooled, the distance between the data sets would be a relation.
    noise = whole[(whole["metric"] == "noise") & (whole["level"] == "global")]
    assert abs(noise["value"].item()) < 0.3
    both = two[0].merge(two[1], on=TEXT)
    assert both["noise"].corr(both["grade"]) > 0.7


def test_sets_that_share_nothing_are_strata_without_being_told(two) -> None:
    scores, ratings = two
    labelled = metassay.meta_eval(scores, ratings, strata="dataset", **FEW)
    results = metassay.meta_eval(scores, ratings.drop(columns="dataset"), **FEW)
    numbers = ["value", "low", "high", "p", "corrected_low", "accuracy", "verdict"]
    assert_frame_equal(labelled.certificates[numbers], results.certificates[numbers])
    (line,) = [
        line for line in results.warnings if "share no system and no document" in line
    ]
    assert "5 systems on 14 documents; 4 systems on 10 documents" in line
    assert not [line for line in labelled.warnings if "share no system" in line]
    assert set(results.strata["stratum"]) == {"a, b, c and 2 more", "f, g, h, i"}


def test_systems_are_compared_within_their_stratum(two) -> None:
    """Two sets in which a metric orders the systems as people do, and orders the sets wrongly."""
    place = two[0]["system"].map("abcdefghi".index)
    scores = two[0].assign(apart=place - 10.0 * (place > 4))
    ratings = two[1].assign(grade=place.astype(float))
    rows = metassay.meta_eval(scores, ratings, strata="dataset", **FEW).certificates
    (row,) = rows[(rows["metric"] == "apart") & (rows["level"] == "system")].to_dict(
        "records"
    )
    assert (row["value"], row["accuracy"]) == pytest.approx((1.0, 1.0))
    assert row["n_pairs"] == 10 + 6


def test_a_cluster_counts_as_one_document() -> None:
    """Three notes of a patient who are nearly one note are no more evidence than one."""
    scores, ratings = study("abcdef", 12, "p", 4)
    rng = np.random.default_rng(5)

    def thrice(frame: pd.DataFrame) -> pd.DataFrame:
        document, numbers = frame["doc_id"], frame.columns.drop(TEXT)
        whole = pd.concat(
            [frame.assign(doc_id=document + mark, patient=document) for mark in "uvw"]
        )
        whole[numbers] += 1e-3 * rng.normal(size=(len(whole), len(numbers)))
        return whole

    three = thrice(scores).drop(columns="patient"), thrice(ratings)
    once = metassay.meta_eval(scores, ratings, **FEW).certificates
    clustered = metassay.meta_eval(*three, cluster="patient", **FEW).certificates
    for number in ("value", "low", "high", "low_these_systems", "corrected_low"):
        assert_allclose(clustered[number], once[number], atol=0.01)
    alone = metassay.meta_eval(
        three[0], three[1].drop(columns="patient"), **FEW
    ).certificates
    assert (alone["low_these_systems"] > once["low_these_systems"] + 0.01).any()
    assert set(clustered["n_documents"]) == {36}
    assert set(clustered["n_clusters"]) == {12}


def test_a_family_counts_as_one_system() -> None:
    scores, ratings = study("abcdefgh", 12, "d", 6)
    scores = scores.assign(maker=scores["system"].where(scores["system"] < "f", "big"))
    results = metassay.meta_eval(scores, ratings, family="maker", **FEW)
    assert set(results.certificates["n_systems"]) == {8}
    assert set(results.certificates["n_families"]) == {6}
    assert results.designs["given"].item() == "family"
    assert "family by maker: 6 for 8 systems, 0 without one" in results.notes
    assert "maker" not in set(results.correlations["metric"])


def test_a_primary_metric_is_not_adjusted_for_the_others() -> None:
    scores, ratings = study("abcdefgh", 20, "d", 7)
    rng = np.random.default_rng(1)
    scores = scores.assign(
        **{f"noise{k}": rng.normal(size=len(scores)) for k in range(12)}
    )
    tables = []
    for name in (None, "good"):
        results = metassay.meta_eval(scores, ratings, primary=name, **FEW)
        assert results.options.primary == name
        tables.append(results.certificates.set_index(["metric", "level"]))
    plain, primary = (table.loc[("good", "global")] for table in tables)
    assert (bool(plain["primary"]), bool(primary["primary"])) == (False, True)
    assert primary["corrected"] == primary["value"] == plain["value"]
    assert primary["corrected_low"] > plain["corrected_low"]
    assert primary["p"] <= plain["p"]
    others = [table.drop("good")[["p", "corrected_low", "verdict"]] for table in tables]
    assert_frame_equal(*others)


def test_how_metrics_and_criteria_were_chosen_is_said_by_options(here, capsys) -> None:
    scores, ratings = study("abcdefgh", 20, "d", 7)
    rng = np.random.default_rng(1)
    ratings["tone"] = rng.integers(1, 6, len(ratings))

    def row(**choices: Any) -> pd.Series:
        results = metassay.meta_eval(scores, ratings, **choices, **FEW)
        chosen = dict(results.choices)["options"]
        assert all(
            chosen[name] == (value if name != "fitted" else [value])
            for name, value in choices.items()
        )
        table = results.certificates.set_index(["metric", "criterion", "level"])
        return table.loc["good", "grade", "global"]

    plain = row()
    metrics = scores.columns.difference(["doc_id", "system", "author", "words"]).size
    assert plain["n_tried"] == 2 * metrics
    named = row(primary_criterion="grade")
    assert named["n_tried"] == metrics
    assert named["corrected_low"] > plain["corrected_low"]
    many = row(tried=40)
    assert many["n_tried"] == 40 * 2 * metrics
    assert many["p"] > plain["p"]
    assert many["corrected_low"] < plain["corrected_low"]
    fitted = row(fitted="good")
    assert (fitted["verdict"], fitted["advice"]) == (
        "fitted",
        "test it on other ratings",
    )
    assert fitted["sentence"] == (
        "Fitted: good was fitted on these ratings of grade; only others can test it."
    )
    # The answer says how many were tried.
    words = put(scores, ratings)
    assert main([*words, "--tried", "40", "--higher", "grade,tone"]) == 0
    assert f"best of {40 * 2 * metrics} tried" in " ".join(
        capsys.readouterr().out.split()
    )
    wrong = ["--primary-criterion", "fluency", "--fitted", "best", "--primary", "good"]
    assert main([*words, *wrong, "--higher", "grade,tone"]) == 2
    refused = capsys.readouterr().err
    assert (
        "--primary-criterion 'fluency': no metric or criterion has this name" in refused
    )
    assert "--fitted 'best': no metric or criterion has this name" in refused
    both = [*words, "--primary", "good", "--tried", "2", "--higher", "grade,tone"]
    assert main(both) == 2
    assert "--primary: 'good' was named before" in capsys.readouterr().err
    with pytest.raises(BadInput, match="primary_criterion='x': no metric or criterion"):
        metassay.meta_eval(scores, ratings, primary_criterion="x")


def test_what_columns_and_names_must_be(here, two, capsys) -> None:
    scores, ratings = two[0], two[1].copy()
    ratings.loc[3, "dataset"] = "z"
    words = put(scores.assign(maker=["one", "two"] * (len(scores) // 2)), ratings)
    assert main([*words, "--columns", "strata=dataset", "family=maker"]) == 2
    lines = capsys.readouterr().err
    assert (
        "ratings.csv: line 5: 'dataset' differs from another row of the same document"
        in lines
    )
    assert "('x0'); give each document one value" in lines
    assert (
        "scores.csv: 35 lines: 'maker' differs from another row of the same system"
        in lines
    )
    assert main([*words, "--columns", "cluster=topic"]) == 2
    assert "--columns cluster=topic: there is no such column" in capsys.readouterr().err
    assert (
        main([*put(scores, ratings.drop(columns="dataset")), "--primary", "best"]) == 2
    )
    assert (
        "--primary 'best': no metric or criterion has this name"
        in capsys.readouterr().err
    )
    with pytest.raises(BadInput, match="digits"):
        metassay.meta_eval(*two, strata="dataset", digits=0)


def test_findings_hold_no_text_that_stands_for_a_key() -> None:
    """Equal systems and documents are named; a note in the place of a name is not shown."""
    frames = study("ab", 16, "d", 7)
    for column, place in (("system", "b"), ("doc_id", "d3")):
        secret = f"The patient {column} is from Zanzibar and has taken ten tablets of doxycycline."
        copies = [
            frame[frame[column] == place].assign(**{column: secret}) for frame in frames
        ]
        warnings = metassay.meta_eval(*joined(frames, copies), **FEW).warnings
        (line,) = [line for line in warnings if "have exactly" in line]
        assert "have exactly the scores of another one" in line
        assert "sha256" in line
        assert "Zanzibar" not in line


def test_what_seems_to_belong_together_can_be_said_to_stand_alone() -> None:
    """Each text occurs twice, by two systems and in two documents that are called alike."""
    frames = study("abcd", 12, "d", 5)
    more = [frame.assign(system=frame["system"] + "2") for frame in frames]
    more[0]["good"] += 1e-3 * np.arange(len(more[0])) ** 0.5
    both = joined(frames, more)
    plain = metassay.meta_eval(*both, **FEW)
    assert plain.designs["n_families"].item() == 4
    assert "say so by `family`" in plain.warnings[0]
    results = metassay.meta_eval(*both, family="system", cluster="doc_id", **FEW)
    design = results.designs.iloc[0]
    assert (design["n_families"], design["n_clusters"]) == (8, 12)
    assert not (results.table("warnings")["kind"] == "groups").any()
    # By the standard names as well, where the files call the columns otherwise.
    other = [
        frame.rename(columns={"doc_id": "note", "system": "maker"}) for frame in both
    ]
    names = {"doc": "note", "system": "maker", "cluster": "doc_id", "family": "system"}
    assert_frame_equal(
        metassay.meta_eval(*other, **names, **FEW).certificates, results.certificates
    )
    with pytest.raises(BadInput, match="'doc_id' is a key or a number"):
        metassay.meta_eval(*both, strata="doc_id", **FEW)


def test_documents_without_a_value_are_counted(two) -> None:
    scores, ratings = two
    topic = ratings["doc_id"].str[-1].where(~ratings["doc_id"].isin(["x1", "x2"]))
    results = metassay.meta_eval(
        scores, ratings.assign(topic=topic), strata="dataset", cluster="topic", **FEW
    )
    assert "cluster by topic: 10 for 24 documents, 2 without one" in results.notes


def test_values_are_ranked_as_they_were_written() -> None:
    """Differences in the 14th digit are an order, unless 12 digits are asked for."""
    scores, ratings = study("abcd", 15, "d", 9)
    grade = np.round(ratings["grade"])
    written = grade + 1e-14 * np.sign(scores["good"]) * grade
    options: dict[str, Any] = {"coefficient": "spearman", **FEW}
    for digits, people in ((17, written), (12, grade)):
        rated = ratings.assign(grade=written)
        results = metassay.meta_eval(scores, rated, digits=digits, **options)
        value = results.correlations.set_index(["metric", "level", "coefficient"])[
            "value"
        ]
        for coefficient, oracle in (("spearman", spearmanr), ("kendall", kendalltau)):
            expected = oracle(scores["good"], people).statistic
            assert value["good", "global", coefficient] == pytest.approx(
                expected, abs=1e-12
            )
        notes = [line for line in results.notes if "rounded to 12 digits" in line]
        assert [note[:7] for note in notes] == ["grade: "] * (digits == 17)
        assert all(
            "with the option digits 12 they are rounded" in note for note in notes
        )
