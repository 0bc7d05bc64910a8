"""What differs between two sides: verdicts, missing answers, documents, systems."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.tables.certificates import CERTIFICATES
from metassay.tracking.comparison.differences import (
    ComparisonOptions,
    Differences,
    changed_certificates,
    compare_systems,
    differences,
)
from tests.tracking.comparison.states import row, scores, side

OPTIONS = ComparisonOptions(permutations=2000)


def compared(before: pd.DataFrame, after: pd.DataFrame, **more: Any) -> Differences:
    return differences(side(before, "old"), side(after), OPTIONS, **more)


def one(found: Differences, metric: str = "rouge1", author: str = "lead") -> pd.Series:
    changes = found.changes.set_index(["metric", "author"])
    return changes.loc[(metric, author)]


def moved(by: float, metric: str, documents: int = 26) -> pd.DataFrame:
    """Scores in which one system's metric moved by about so much, in every document."""
    made = scores(documents)
    which = (made["metric"] == metric) & (made["author"] == "lead")
    made.loc[which, ["value", "low", "high"]] += by
    return made


@pytest.mark.parametrize(
    ("metric", "by", "verdict"),
    [
        ("rouge1", -0.05, "regressed"),
        ("rouge1", 0.05, "improved"),
        ("edit_distance", 0.05, "regressed"),  # less is better
        ("edit_distance", -0.05, "improved"),
        ("words", -0.05, "changed"),
    ],
)
def test_a_verdict_knows_which_direction_is_better(metric: str, by: float, verdict: str) -> None:
    found = compared(scores(), moved(by, metric))
    assert one(found, metric)["verdict"] == verdict
    assert one(found, metric)["difference"] == pytest.approx(by)
    assert found.regressed == (verdict == "regressed")
    others = found.changes[
        (found.changes["metric"] != metric) | (found.changes["author"] != "lead")
    ]
    assert set(others["verdict"]) == {"same numbers"}
    assert others["p"].isna().all()


def test_other_answers_at_random_show_nothing() -> None:
    found = compared(scores(seed=1), scores(seed=2))
    assert set(found.changes["verdict"]) == {"no difference shown"}
    assert (found.changes["p_adjusted"] >= found.changes["p"]).all()
    assert (found.changes["low"] < found.changes["difference"]).all()


def test_few_documents_cannot_tell() -> None:
    found = one(compared(scores(5), moved(-0.3, "rouge1", 5)))
    assert found["verdict"] == "cannot tell"
    assert found["smallest_p"] == 1 / 16
    assert found["why"] == "5 of 5 documents changed; at least 6 are needed to show a difference"
    assert one(compared(scores(6), moved(-0.3, "rouge1", 6)))["verdict"] == "regressed"
    two = one(compared(scores(6), moved(-0.3, "rouge1", 6), n_benchmarks=2))  # benchmarks at once
    assert two["verdict"] == "cannot tell"
    assert two["p_adjusted"] == 2 / 32
    few = ComparisonOptions(permutations=100)
    most = side(scores()), side(moved(-0.3, "rouge1"))
    few_signs = one(differences(*most, few, n_benchmarks=17))
    assert few_signs["verdict"] == "cannot tell"
    assert few_signs["why"].endswith("permutations to 340 or more")


def test_rounding_is_no_difference() -> None:
    before = scores()
    after = before.assign(value=before["value"] * (1 + 1e-12))
    assert set(compared(before, after).changes["verdict"]) == {"same numbers"}
    before.loc[before["doc_id"] < "d010", ["value", "low", "high"]] = 0.0
    after = before.assign(value=before["value"] + 1e-17)
    assert set(compared(before, after).changes["verdict"]) == {"same numbers"}


def test_only_documents_that_both_have_are_compared_and_the_others_are_counted() -> None:
    before, after = scores(), moved(-0.05, "rouge1")
    before = before[before["doc_id"] != "d000"]
    after = after[~after["doc_id"].isin(["d001", "d002"])]
    found = one(compared(before, after))
    assert (found["n"], found["n_only_before"], found["n_only_after"]) == (23, 2, 1)
    assert found["difference"] == pytest.approx(-0.05)


def test_a_row_of_one_side_alone_is_told() -> None:
    before, after = scores(), scores()
    after = after[after["metric"] != "words"]
    found = one(compared(before, after), "words")
    assert (found["verdict"], found["why"], found["n"]) == ("cannot tell", "scored only before", 0)
    assert pd.isna(found["before"])


def test_sides_with_nothing_in_common_are_refused() -> None:
    other = scores()
    other["doc_id"] = "x" + other["doc_id"]
    with pytest.raises(BadInput, match="old and now have no document of sample in common"):
        compared(scores(), other)
    with pytest.raises(BadInput, match="no metric of sample in common"):
        compared(scores(), scores().assign(metric="m"))
    with pytest.raises(BadInput, match="no scores of whole texts"):
        compared(scores().assign(part="plan"), scores())
    found = compared(scores().assign(part="plan"), scores().assign(part="plan"), parts=True)
    assert set(found.changes["part"]) == {"plan"}


def test_another_recipe_is_told() -> None:
    after = moved(-0.05, "rouge1")
    after.loc[after["metric"] == "rouge1", "recipe"] = "rouge1|v:2"
    found = compared(scores(), after)
    assert not one(found)["same_recipe"]
    assert one(found, "words")["same_recipe"]


def failed(of: pd.DataFrame, documents: int, high: float = 1.0) -> pd.DataFrame:
    """Scores in which one answer is missing behind each of some documents of lead's rouge1."""
    made = of.copy()
    which = (made["metric"] == "rouge1") & (made["author"] == "lead")
    which &= made["doc_id"] < f"d{documents:03}"
    made.loc[which, "n_failed"] = 1
    made.loc[which, "value"] = None
    made.loc[which, ["low", "high"]] = [0.0, high]
    return made


def test_missing_answers_may_leave_a_verdict_open() -> None:
    after = moved(-0.05, "rouge1")
    few = one(compared(scores(), failed(after, 1, high=0.5)))
    many = one(compared(scores(), failed(after, 8)))
    assert few["verdict"] == "regressed"
    assert few["why"] == "1 answer missing"
    assert few["least"] < few["difference"] < few["most"]
    assert many["verdict"] == "cannot tell"
    assert "8 answers missing; it could still be: regressed or" in many["why"]
    assert few["lacks_answers"]  # more than before
    assert many["lacks_answers"]
    assert compared(scores(), failed(after, 1)).lacking


def test_answers_that_both_sides_lack_say_nothing_of_a_change() -> None:
    before, after = failed(scores(), 3), failed(moved(-0.05, "rouge1"), 3)
    found = compared(before, after)
    assert one(found)["verdict"] == "regressed"
    assert one(found)["n"] == 23
    assert not found.lacking
    assert one(compared(before, before))["verdict"] == "same numbers"
    nothing = compared(failed(scores(), 26), failed(scores(), 26))
    assert one(nothing)["verdict"] == "cannot tell"
    assert nothing.lacking


def test_a_missing_answer_that_nothing_bounds_could_be_anything() -> None:
    """Lengths, and own metrics without a range: what is missing has no bounds."""
    few, many = failed(scores(), 1), failed(moved(-0.05, "rouge1"), 1)
    for made in (few, many):
        made.loc[made["n_failed"] > 0, ["low", "high"]] = None
    settled, open_ = one(compared(scores(), few)), one(compared(scores(), many))
    assert (settled["verdict"], settled["why"]) == ("same numbers", "1 answer missing")
    assert open_["verdict"] == "cannot tell"
    assert open_["why"].endswith("could still be: anything, since nothing bounds this metric")
    for found in (settled, open_):
        assert found["lacks_answers"]
        assert pd.isna(found["least"])
        assert pd.isna(found["most"])
    assert one(compared(few, few))["least"] == 0


def test_the_same_score_for_want_of_as_many_answers_has_not_changed() -> None:
    part = scores()
    part.loc[part["metric"] == "rouge1", ["n_failed", "low", "high"]] = [1, 0.0, 1.0]
    found = one(compared(part, part))
    assert (found["verdict"], found["least"], found["most"]) == ("same numbers", 0, 0)
    assert not found["lacks_answers"]
    fewer = part.assign(n_failed=part["n_failed"] * 2)  # the same scores of fewer answers
    others = part.assign(high=part["high"].replace(1.0, 1.5))  # and of as many, of other questions
    for other, least in ((fewer, -1), (others, -1.5)):
        found = one(compared(other, part))
        assert found["verdict"] == "cannot tell"
        assert found["why"].endswith("could still be: regressed or improved")
        assert (found["least"], found["most"]) == (least, 1)


def test_missing_answers_that_could_show_nothing_leave_nothing_open() -> None:
    """As many as before, in other documents, and too few to matter."""
    before, after = failed(scores(), 1), failed(scores(), 1)
    after["doc_id"] = after["doc_id"].replace({"d000": "d001", "d001": "d000"})
    after = after.sort_values(["author", "metric", "doc_id"])
    found = one(compared(before, after))
    assert (found["n"], found["lacks_answers"]) == (24, False)


def test_rows_that_could_show_nothing_among_so_many_say_so() -> None:
    """Six documents changed, all one way: alone that is shown, beside busier rows it is not."""
    before, after = scores(seed=1), scores(seed=1)
    worse = (after["metric"] == "rouge1") & (after["author"] == "lead") & (after["doc_id"] < "d006")
    after.loc[worse, ["value", "low", "high"]] -= 0.3
    assert one(compared(before, after))["verdict"] == "regressed"
    busy = ~((after["metric"] == "rouge1") & (after["author"] == "lead"))
    after.loc[busy, "value"] = scores(seed=2).loc[busy, "value"]
    found = one(compared(before, after))
    assert (found["verdict"], found["lacks_answers"]) == ("cannot tell", False)
    assert (
        found["why"]
        == "6 of 26 documents changed: too few for 6 rows, even if all changed in one direction"
    )


def test_the_documents_behind_a_row_are_those_that_moved_furthest() -> None:
    after = scores()
    for document, by in (("d003", -0.3), ("d001", 0.2), ("d007", -0.1)):
        after.loc[after["doc_id"] == document, ["value", "low", "high"]] += by
    found = differences(side(scores()), side(after), ComparisonOptions(documents=2))
    rows = found.documents[found.documents["metric"] == "words"]
    assert rows[rows["author"] == "lead"]["doc_id"].tolist() == ["d003", "d001"]
    assert rows["difference"].tolist() == pytest.approx([-0.3, 0.2] * 2)


def test_two_systems_are_compared_on_the_same_documents() -> None:
    state = side(scores(lead=0.2))
    found = compare_systems(state, "lead", "longest_turn", OPTIONS).differences.changes
    assert set(found["author"]) == {"longest_turn"}
    worse = found[found["metric"] == "rouge1"].iloc[0]
    assert worse["verdict"] == "regressed"
    assert worse["before"] > worse["after"]
    with pytest.raises(
        BadInput, match="'nobody' has no scores; choose from 'lead', 'longest_turn'"
    ):
        compare_systems(state, "lead", "nobody", OPTIONS)
    with pytest.raises(BadInput, match="both systems are 'lead'"):
        compare_systems(state, "lead", "lead", OPTIONS)


def test_certificates_with_another_verdict() -> None:
    def certificates(**verdicts: str) -> pd.DataFrame:
        key = {"study": "s", "criterion": "c", "part": "full", "judge": "none", "level": "global"}
        rows = [{**key, "metric": name, "verdict": said} for name, said in verdicts.items()]
        return pd.DataFrame(rows).reindex(columns=list(CERTIFICATES.columns))

    def state(**verdicts: str) -> Any:
        return side(scores(), certificates=certificates(**verdicts))

    before, after = (
        state(rouge1="holds", bleu="weak", old="weak"),
        state(rouge1="weak", bleu="weak"),
    )
    found = changed_certificates(before, after)
    assert found[["metric", "before", "after"]].to_numpy().tolist() == [
        ["old", "weak", ""],
        ["rouge1", "holds", "weak"],
    ]


def test_the_same_numbers_give_the_same_tables() -> None:
    first = compared(scores(seed=1), scores(seed=2))
    second = compared(scores(seed=1), scores(seed=2)[::-1])
    pd.testing.assert_frame_equal(first.changes, second.changes)
    pd.testing.assert_frame_equal(first.documents, second.documents)


def test_a_score_that_was_never_there_is_told() -> None:
    lone = pd.DataFrame([row(f"d{n:03}", "lead", "bleu", float("nan")) for n in range(3)])
    both = pd.concat([scores(), lone])
    found = one(compared(both, both), "bleu")
    assert (found["verdict"], found["why"]) == ("cannot tell", "never scored")


def test_documents_of_a_topic_count_as_one() -> None:
    """Two draws of 8 topics of 5 documents: what differs by topic alone is no difference shown."""
    topic = np.repeat(np.arange(8), 5)
    clusters = {f"d{at:03}": f"t{of}" for at, of in enumerate(topic)}
    alarms = {True: 0, False: 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        before, after = scores(40, seed=seed), scores(40, seed=seed)
        which = (after["metric"] == "rouge1") & (after["author"] == "lead")
        after.loc[which, "value"] += rng.normal(size=8)[topic] + 0.1 * rng.normal(size=40)
        for known in alarms:
            one_side = side(after, clusters=clusters if known else {})
            found = differences(side(before, "old"), one_side, OPTIONS)
            alarms[known] += found.changes["verdict"].isin(["regressed", "improved"]).any()
            row_ = one(found)
            assert (row_["n"], row_["n_changed"]) == (40, 40)
    assert alarms[True] <= 8 < alarms[False]  # at most 1 of 20, and the noise of 60


def test_what_cancels_within_topics_is_a_change_that_shows_nothing() -> None:
    clusters = {f"d{at:03}": f"t{at // 3}" for at in range(30)}
    after = scores(30)
    which = (after["metric"] == "rouge1") & (after["author"] == "lead")
    after.loc[which, "value"] += np.tile([0.1, 0.2, -0.3], 10)  # .1 + .2 - .3 is no 0 of floats
    row_ = one(differences(side(scores(30)), side(after, clusters=clusters), OPTIONS))
    assert (row_["verdict"], row_["n_changed"]) == ("no difference shown", 30)


def test_few_topics_cannot_show_a_difference() -> None:
    clusters = {f"d{at:03}": f"t{at // 10}" for at in range(40)}
    found = differences(
        side(scores(40)), side(moved(-0.2, "rouge1", 40), clusters=clusters), OPTIONS
    )
    row_ = one(found)
    assert row_["verdict"] == "cannot tell"
    assert row_["why"].startswith("4 of 4 clusters of documents changed; at least 6 are needed")
    assert np.isnan(row_["low"])
