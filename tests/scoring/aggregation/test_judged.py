"""Judgments to scores: worked examples, and brute force over what failed ones could have been."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.pairing.measures import DESCRIPTIONS, MEASURES
from metassay.scoring.pairing.questions import Questions
from metassay.tables import parquet
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tables.scores import SCORES
from metassay.tables.units import UNITS

DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")
SETUP = Setup(
    segmentation="soap",
    decomposition="clauses",
    alignments={"rouge_topk": "rouge_topk,k:5"},
    questions={
        "doclens": Questions(measures=DOCLENS, against="full", borrow=False),
        "others": Questions(
            measures=("faithfulness", "claim_recall_grade"), against="part", borrow=False
        ),
    },
    version="0.1.0",
)
COUNTS = ["n_expected", "n_judged", "n_failed"]
YES, NO = "entailed", "not_entailed"


def parts(*rows: tuple[str, str], doc_id: str = "d", failed: tuple[str, ...] = ()) -> pd.DataFrame:
    """(author, part) of one document; whoever has sections has them as leaves."""
    frame = pd.DataFrame(list(rows), columns=["author", "part"])
    sections = frame["author"].map(frame["author"].value_counts()) > 1
    leaf = np.where((frame["part"] == "full") & sections, "no", "yes")
    status = np.where(frame["author"].isin(failed), "error", "ok")
    return frame.assign(doc_id=doc_id, leaf=leaf, status=status)


class Asked:
    """Questions and their answers, each question its own pair_id."""

    def __init__(self) -> None:
        self.pairs: list[dict[str, Any]] = []
        self.judgments: list[dict[str, Any]] = []

    def ask(
        self,
        measure: str,
        answer: str | int | None,
        position: int = 0,
        citation: int = -1,
        author: str = "sys",
        part: str = "full",
        doc_id: str = "d",
    ) -> None:
        """answer: a label, a grade, a settlement, a status other than ok, or None for no row."""
        pair_id = f"q{len(self.pairs):03}"
        settled = answer if answer in ("no_evidence", "no_text", "no_claims") else None
        place = dict(doc_id=doc_id, author=author, part=part, position=position, citation=citation)
        self.pairs.append(dict(pair_id=pair_id, measure=measure, **place, settled=settled))
        if answer is None or settled:
            return
        grade = answer if isinstance(answer, int) else None
        label = answer if answer in (YES, NO) else None
        status = "ok" if grade is not None or label else answer
        said = dict(pair_id=pair_id, judge="j", status=status, label=label, grade=grade)
        self.judgments.append({**said, "recipe": "fake,1"})

    def units(self) -> pd.DataFrame:
        """The statements that the questions are about, each with its citations."""
        cited: dict[tuple[Any, ...], list[int]] = {}
        for pair in self.pairs:
            if pair["measure"].startswith("citation"):
                place = (pair["doc_id"], pair["author"], pair["part"], pair["position"])
                found = cited.setdefault(place, [])
                found += [pair["citation"]] if pair["measure"] == "citation_alone" else []
        rows = [(author, "statement", citations) for (_, author, *_), citations in cited.items()]
        return pd.DataFrame(rows, columns=["author", "kind", "citations"])

    def scores(self, part: pd.DataFrame, setup: Setup = SETUP) -> pd.DataFrame:
        columns = ["pair_id", "judge", "status", "label", "grade", "recipe"]
        judgments = pd.DataFrame(self.judgments, columns=columns)
        names = [c for c in PAIRS.columns if c not in ("instrument", "premise", "hypothesis")]
        pairs = pd.DataFrame(self.pairs, columns=names)
        return judged_scores(part, self.units(), pairs, judgments, setup)


def row(
    scores: pd.DataFrame, metric: str, author: str = "sys", part: str = "full"
) -> dict[str, Any]:
    found = scores[
        (scores["metric"] == metric) & (scores["author"] == author) & (scores["part"] == part)
    ]
    assert len(found) == 1
    return dict(found.iloc[0])


def numbers(row: dict[str, Any]) -> tuple[Any, ...]:
    """value, expected, judged, failed, low, high; None for null."""
    values = [row["value"], *(row[name] for name in COUNTS), row["low"], row["high"]]
    return tuple(None if pd.isna(value) else round(float(value), 12) for value in values)


BOTH = parts(("reference", "full"), ("sys", "full"))
NOTHING = (None, 0, 0, 0, None, None)
LOST = (None, 1, 0, 1, 0, 1)


@pytest.mark.parametrize("measure", ["claim_recall", "claim_precision", "faithfulness"])
def test_share_by_hand(measure: str) -> None:
    # Six questions: 3 yes, 1 no, 1 without evidence (a no), 1 refused. Judged 5, yes 3: 3/5.
    # Were the refused one a no: 3/6; a yes: 4/6.
    asked = Asked()
    for i, answer in enumerate([YES, NO, YES, "no_evidence", "refused", YES]):
        asked.ask(measure, answer, i)
    found = row(asked.scores(BOTH), measure)
    assert numbers(found) == (0.6, 6, 5, 1, 0.5, round(4 / 6, 12))
    assert found["statistics"] == [3.0, 5.0]


def test_a_pair_without_judgment_is_failed() -> None:
    asked = Asked()
    asked.ask("claim_recall", YES, 0)
    asked.ask("claim_recall", None, 1)
    assert numbers(row(asked.scores(BOTH), "claim_recall")) == (1, 2, 1, 1, 0.5, 1)


def test_all_failed_is_null_with_bounds() -> None:
    asked = Asked()
    asked.ask("claim_recall", "unparsed", 0)
    asked.ask("claim_recall", "truncated", 1)
    found = row(asked.scores(BOTH), "claim_recall")
    assert numbers(found) == (None, 2, 0, 2, 0, 1)
    assert found["statistics"] == [0.0, 0.0]


def test_a_text_that_failed() -> None:
    # Three reference claims cannot be looked for; claims of its own it has none to count.
    asked = Asked()
    for i in range(3):
        asked.ask("claim_recall", "no_text", i)
    asked.ask("faithfulness", YES, author="reference")  # a judge has been here
    scores = asked.scores(parts(("reference", "full"), ("sys", "full"), failed=("sys",)))
    assert numbers(row(scores, "claim_recall")) == (None, 3, 0, 3, 0, 1)
    for metric in ("claim_precision", "citation_recall", "citation_precision", "faithfulness"):
        assert numbers(row(scores, metric)) == LOST
    assert numbers(row(scores, "faithfulness", "reference")) == (1, 1, 1, 0, 1, 1)


def test_a_failed_text_has_a_row_for_every_section_of_the_reference() -> None:
    part = parts(
        ("reference", "full"), ("reference", "plan"), ("reference", "exam"), ("sys", "full")
    )
    part.loc[part["author"] == "sys", "status"] = "refused"
    asked = Asked()
    asked.ask("claim_recall", "no_text", 0, part="plan")
    asked.ask("claim_recall", "no_text", 1, part="plan")
    asked.ask("faithfulness", YES, author="reference", part="plan")
    scores = asked.scores(part)
    assert numbers(row(scores, "claim_recall", part="plan")) == (None, 2, 0, 2, 0, 1)
    assert numbers(row(scores, "claim_recall", part="exam")) == NOTHING
    assert numbers(row(scores, "claim_recall", part="full")) == (None, 2, 0, 2, 0, 1)
    for name in ("plan", "exam", "full"):
        assert numbers(row(scores, "claim_precision", part=name)) == LOST


def test_a_section_that_failed_by_itself_counts_in_the_whole() -> None:
    part = parts(("reference", "full"), ("sys", "full"), ("sys", "plan"), ("sys", "exam"))
    part.loc[part["part"] == "plan", "status"] = "refused"
    asked = Asked()
    asked.ask("claim_precision", YES, part="exam")
    scores = asked.scores(part)
    assert numbers(row(scores, "claim_precision", part="plan")) == LOST
    assert numbers(row(scores, "claim_precision", part="full")) == (1, 2, 1, 1, 0.5, 1)


def test_a_reference_that_failed() -> None:
    asked = Asked()
    asked.ask("claim_precision", "no_text")
    asked.ask("faithfulness", NO)
    scores = asked.scores(parts(("reference", "full"), ("sys", "full"), failed=("reference",)))
    assert numbers(row(scores, "claim_recall")) == LOST
    assert numbers(row(scores, "claim_precision")) == LOST
    assert numbers(row(scores, "faithfulness")) == (0, 1, 1, 0, 0, 0)


def test_without_reference_claims_have_no_score_even_if_the_text_failed() -> None:
    asked = Asked()
    asked.ask("faithfulness", YES)
    part = pd.concat([parts(("sys", "full")), parts(("lost", "full"), failed=("lost",))])
    scores = asked.scores(part)
    for metric in ("claim_recall", "claim_precision"):
        assert numbers(row(scores, metric)) == NOTHING
        assert numbers(row(scores, metric, "lost")) == NOTHING
    assert numbers(row(scores, "faithfulness", "lost")) == LOST


def test_a_text_without_claims_has_no_precision() -> None:
    asked = Asked()
    asked.ask("claim_recall", NO)
    assert numbers(row(asked.scores(BOTH), "claim_precision")) == NOTHING


def test_full_pools_the_leaf_parts_and_parts_come_from_both_texts() -> None:
    # plan 1 of 1, exam 1 of 3: pooled 2 of 4, where the mean of the two would be 2/3.
    part = parts(
        ("reference", "full"), ("reference", "plan"), ("reference", "exam"),
        ("sys", "full"), ("sys", "plan"), ("sys", "results"),
    )  # fmt: skip
    asked = Asked()
    asked.ask("claim_recall", YES, part="plan")
    for i, answer in enumerate([YES, NO, NO]):
        asked.ask("claim_recall", answer, i, part="exam")
    scores = asked.scores(part)
    assert numbers(row(scores, "claim_recall", part="plan")) == (1, 1, 1, 0, 1, 1)
    assert row(scores, "claim_recall", part="exam")["value"] == pytest.approx(1 / 3)
    assert numbers(row(scores, "claim_recall", part="results")) == NOTHING
    assert numbers(row(scores, "claim_recall", part="full")) == (0.5, 4, 4, 0, 0.5, 0.5)
    reference = scores[scores["author"] == "reference"]
    assert set(reference["part"]) == {"full", "plan", "exam"}
    assert set(reference["metric"]) == {"citation_recall", "citation_precision", "faithfulness"}


def cite(together: str | None, *single: tuple[str | None, str | None]) -> dict[str, Any]:
    """Citation precision of one statement: (alone, rest) of each citation; "-" asks no rest."""
    asked = Asked()
    asked.ask("citation_recall", together)
    for citation, (alone, rest) in enumerate(single):
        asked.ask("citation_alone", alone, 0, citation)
        if rest != "-":
            asked.ask("citation_rest", rest, 0, citation)
    asked.ask("faithfulness", YES)  # so that the judge has a row
    return row(asked.scores(BOTH), "citation_precision")


def test_three_citations_by_hand() -> None:
    # All three entail the statement. The first does so alone: of use. The second does not, but the
    # others fail without it: of use. The third does not, and the others entail it without: not.
    found = cite(YES, (YES, YES), (NO, NO), (NO, YES))
    assert numbers(found) == (round(2 / 3, 12), 3, 3, 0, round(2 / 3, 12), round(2 / 3, 12))
    assert found["statistics"] == [2.0, 3.0]


def test_no_citation_is_of_use_if_all_together_do_not_entail() -> None:
    assert numbers(cite(NO, (YES, NO), (NO, NO), (NO, YES))) == (0, 3, 3, 0, 0, 0)


def test_one_citation_is_of_use_if_it_entails() -> None:
    assert numbers(cite(YES, (YES, "-"))) == (1, 1, 1, 0, 1, 1)
    assert numbers(cite(NO, (NO, "-"))) == (0, 1, 1, 0, 0, 0)


def test_a_citation_of_no_passage_is_wrong_and_spares_the_other() -> None:
    assert numbers(cite(YES, (YES, "-"), ("no_evidence", "-"))) == (0.5, 2, 2, 0, 0.5, 0.5)


@pytest.mark.parametrize(
    ("together", "alone", "rest", "expected"),
    [
        ("error", YES, YES, "unknown"),
        ("error", NO, YES, "no"),  # (ii) fails: of no use whatever all together say
        (NO, "error", "error", "no"),  # (i) fails
        (YES, "error", NO, "yes"),  # (ii) holds without it
        (YES, "error", YES, "unknown"),
        (YES, YES, "error", "yes"),
        (YES, NO, "error", "unknown"),
        (None, None, None, "unknown"),
    ],
)
def test_failed_judgments_matter_only_where_the_outcome_depends_on_them(
    together: str | None, alone: str | None, rest: str | None, expected: str
) -> None:
    outcome = {
        "yes": (1, 1, 1, 0, 1, 1), "no": (0, 1, 1, 0, 0, 0), "unknown": (None, 1, 0, 1, 0, 1)
    }  # fmt: skip
    assert numbers(cite(together, (alone, rest))) == outcome[expected]


def test_grades_by_hand() -> None:
    # Five claims, graded 3, 2 and 0; one has no evidence, one was refused. Of three times their
    # number, the four have 3 + 2 + 0 + 0 = 5 of 12. Were the refused one 0: 5 of 15; 3: 8 of 15.
    asked = Asked()
    for i, answer in enumerate([3, 2, 0, "no_evidence", "refused"]):
        asked.ask("claim_recall_grade", answer, i)
    found = row(asked.scores(BOTH), "claim_recall_grade")
    assert numbers(found) == pytest.approx((5 / 12, 5, 4, 1, 5 / 15, 8 / 15))
    assert found["statistics"] == pytest.approx([5 / 3, 4])
    assert "|against:part|" in found["recipe"]  # the setting of its own block


@pytest.mark.parametrize("grade", [-1, 4, None])
def test_a_grade_beside_the_scale_is_bad_input(grade: int | None) -> None:
    asked = Asked()
    asked.ask("claim_recall_grade", 0)
    asked.judgments[0]["grade"] = grade
    wrong = "judge 'j' has 1 answer.* to claim_recall_grade that are not a grade from 0 to 3"
    with pytest.raises(BadInput, match=wrong):
        asked.scores(BOTH)


def test_a_label_that_the_instrument_does_not_have_is_bad_input() -> None:
    asked = Asked()
    asked.ask("claim_recall", YES)
    asked.judgments[0]["label"] = "neutral"
    with pytest.raises(BadInput, match="claim_recall that are not a label, one of entailed, not_"):
        asked.scores(BOTH)


def test_a_measure_in_two_blocks_is_bad_input() -> None:
    asked = Asked()
    asked.ask("faithfulness", YES)
    twice = SETUP.questions["others"]
    setup = dataclasses.replace(SETUP, questions={"one": twice, "two": twice})
    with pytest.raises(BadInput, match="one and two ask the same"):
        asked.scores(BOTH, setup)


def test_an_author_who_cites_nowhere_has_no_citation_scores() -> None:
    asked = Asked()
    asked.ask("citation_recall", "no_evidence", 0, author="silent")
    asked.ask("citation_recall", "no_evidence", 0, author="citing")
    asked.ask("citation_recall", YES, 0, author="citing", doc_id="e")
    asked.ask("citation_alone", YES, 0, 0, author="citing", doc_id="e")
    part = pd.concat(
        [
            parts(("silent", "full"), ("citing", "full")),
            parts(("silent", "full"), ("citing", "full"), doc_id="e", failed=("silent",)),
        ]
    )
    scores = asked.scores(part).set_index(["doc_id", "author", "metric"])
    for metric in ("citation_recall", "citation_precision"):
        for doc_id in ("d", "e"):
            assert numbers(dict(scores.loc[(doc_id, "silent", metric)])) == NOTHING
    # It cites elsewhere, so its statement without citations is unsupported; precision has nothing.
    assert numbers(dict(scores.loc[("d", "citing", "citation_recall")])) == (0, 1, 1, 0, 0, 0)
    assert numbers(dict(scores.loc[("d", "citing", "citation_precision")])) == NOTHING
    assert numbers(dict(scores.loc[("e", "citing", "citation_recall")])) == (1, 1, 1, 0, 1, 1)


def test_who_cites_is_known_where_nobody_asks_about_single_citations() -> None:
    # `wrong` cites a passage that is not there: it cites, and nothing supports what it says.
    asked = Asked()
    for author in ("wrong", "silent", "right"):
        asked.ask("citation_recall", YES if author == "right" else "no_evidence", author=author)
    units = pd.DataFrame(
        [("wrong", "statement", [99]), ("silent", "statement", []), ("right", "statement", [0])],
        columns=["author", "kind", "citations"],
    )
    only = Questions(measures=("citation_recall",), against="full", borrow=False)
    scores = judged_scores(
        parts(("wrong", "full"), ("silent", "full"), ("right", "full")),
        units,
        pd.DataFrame(asked.pairs),
        pd.DataFrame(asked.judgments),
        dataclasses.replace(SETUP, questions={"only": only}),
    )
    assert scores["metric"].unique().tolist() == ["citation_recall"]
    assert numbers(row(scores, "citation_recall", "wrong")) == (0, 1, 1, 0, 0, 0)
    assert numbers(row(scores, "citation_recall", "silent")) == NOTHING
    assert numbers(row(scores, "citation_recall", "right")) == (1, 1, 1, 0, 1, 1)


def test_recipe_has_the_settings_that_change_the_metric_and_no_others() -> None:
    asked = Asked()
    asked.ask("faithfulness", YES)
    recipes = asked.scores(BOTH).groupby("metric")["recipe"].first()
    assert recipes["claim_recall"] == (
        "claim_recall|judge:fake,1|segmentation:soap|decomposition:clauses|against:full"
        "|metassay:0.1.0"
    )
    assert "borrow:no" in recipes["citation_precision"]
    assert "alignment:rouge_topk,k:5" in recipes["faithfulness"]
    assert "against" not in recipes["faithfulness"]


def test_judges_are_scored_apart() -> None:
    asked = Asked()
    asked.ask("claim_recall", YES)
    asked.judgments.append({**asked.judgments[0], "judge": "k", "label": NO, "recipe": "fake,2"})
    scores = asked.scores(BOTH)
    values = scores[scores["metric"] == "claim_recall"].set_index("judge")["value"]
    assert values.to_dict() == {"j": 1.0, "k": 0.0}


def test_one_judge_with_two_recipes_is_bad_input() -> None:
    asked = Asked()
    asked.ask("claim_recall", YES, 0)
    asked.ask("claim_recall", YES, 1)
    asked.judgments[1]["recipe"] = "fake,2"
    with pytest.raises(BadInput, match="judge 'j' has 2 recipes"):
        asked.scores(BOTH)


def test_pairs_about_unknown_parts_are_bad_input() -> None:
    asked = Asked()
    asked.ask("claim_recall", YES, part="plan")
    with pytest.raises(BadInput, match="author='sys', part='plan' is not in parts"):
        asked.scores(BOTH)


def test_a_citation_without_its_statement_is_bad_input() -> None:
    asked = Asked()
    asked.ask("citation_alone", YES, 0, 1)
    with pytest.raises(BadInput, match="citation_alone without its citation_recall"):
        asked.scores(BOTH)


def test_no_judgments_no_scores(tmp_path: Path) -> None:
    nothing = (empty(table) for table in (UNITS, PAIRS, JUDGMENTS))
    scores = judged_scores(BOTH, *nothing, SETUP)
    parquet.write(SCORES, scores, tmp_path / "scores.parquet")


def test_descriptions() -> None:
    assert [name for name, described in DESCRIPTIONS.items() if described.name != name] == []
    assert list(DESCRIPTIONS) == list(MEASURES)
    assert {described.better for described in DESCRIPTIONS.values()} <= {"higher", "lower"}
    assert {described.range for described in DESCRIPTIONS.values()} == {(0.0, 1.0)}


ANSWERS = st.sampled_from([YES, NO, "error", None])
SHARES = ("claim_recall", "claim_precision", "faithfulness", "citation_recall")


@st.composite
def benchmarks(draw: st.DrawFn) -> tuple[pd.DataFrame, Asked]:
    """Two systems with sections and statements with 0 to 3 citations, and answers to all of it."""
    asked, part = Asked(), []
    for author in ("one", "two"):
        sections = draw(st.lists(st.sampled_from(["plan", "exam"]), unique=True))
        part += [(author, "full"), *((author, name) for name in sections)]
        for name, position in itertools.product(
            sections or ["full"], range(draw(st.integers(0, 2)))
        ):
            here = {"position": position, "author": author, "part": name}
            for measure in ("claim_recall", "claim_precision", "faithfulness"):
                settled = st.sampled_from(["no_evidence", "no_text", "no_claims"])
                asked.ask(measure, draw(ANSWERS | settled), **here)
            wrong = draw(st.lists(st.booleans(), max_size=3))
            readable = wrong.count(False)
            asked.ask("citation_recall", draw(ANSWERS) if readable else "no_evidence", **here)
            for citation, unread in enumerate(wrong):
                answer = "no_evidence" if unread else draw(ANSWERS)
                asked.ask("citation_alone", answer, citation=citation, **here)
                if not unread and readable > 1:
                    asked.ask("citation_rest", draw(ANSWERS), citation=citation, **here)
    asked.judgments.append(
        dict(pair_id="x", judge="j", status="ok", label=YES, grade=None, recipe="fake,1")
    )
    return parts(("reference", "full"), *part), asked


def known(asked: Asked) -> dict[tuple[str, ...], bool | None]:
    """Each question's answer, None where it failed; by measure and place."""
    given = {j["pair_id"]: j["label"] == YES for j in asked.judgments if j["status"] == "ok"}
    key = ("measure", "author", "part", "position", "citation")
    return {
        tuple(p[k] for k in key): (
            False if p["settled"] == "no_evidence" else given.get(p["pair_id"])
        )
        for p in asked.pairs
    }


def of_use(answers: dict[Any, bool | None], place: tuple[Any, ...]) -> set[bool]:
    """What a citation can turn out to be, over all that the failed answers could have been.

    Where the others are not asked about, it has to entail alone.
    """
    author, part, position, _ = place
    together = answers["citation_recall", author, part, position, -1]
    alone = answers["citation_alone", *place]
    rest = answers.get(("citation_rest", *place), True)
    cases = itertools.product(
        *({True, False} if x is None else {x} for x in (together, alone, rest))
    )
    return {t and (a or not r) for t, a, r in cases}


@settings(max_examples=30, deadline=None)
@given(benchmarks())
def test_equals_brute_force(benchmark: tuple[pd.DataFrame, Asked]) -> None:
    part, asked = benchmark
    answers = known(asked)
    scores = asked.scores(part)
    assert (scores["n_expected"] == scores["n_judged"] + scores["n_failed"]).all()
    cites = {p["author"] for p in asked.pairs if p["measure"] == "citation_alone"}
    states = {p["author"] for p in asked.pairs if p["measure"] == "citation_recall"}
    for score in scores.to_dict("records"):
        outcomes = []
        for (measure, *place), answer in answers.items():
            if place[0] != score["author"] or score["part"] not in ("full", place[1]):
                continue
            if measure == score["metric"] and measure in SHARES:
                outcomes.append({True, False} if answer is None else {answer})
            elif measure == "citation_alone" and score["metric"] == "citation_precision":
                outcomes.append(of_use(answers, tuple(place)))
        if score["metric"].startswith("citation") and score["author"] in states - cites:
            outcomes = []
        judged = [outcome for outcome in outcomes if len(outcome) == 1]
        n, yes = len(outcomes), judged.count({True})
        assert (score["n_expected"], score["n_judged"]) == (n, len(judged))
        assert score["statistics"] == [yes, len(judged)]
        expected = (
            yes / len(judged) if judged else None,
            yes / n if n else None,
            (yes + n - len(judged)) / n if n else None,
        )
        found = (None if pd.isna(score[c]) else score[c] for c in ("value", "low", "high"))
        assert tuple(found) == pytest.approx(expected)


@settings(max_examples=8, deadline=None)
@given(benchmarks(), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(benchmark: tuple[pd.DataFrame, Asked], random: Any) -> None:
    part, asked = benchmark
    straight = asked.scores(part)
    random.shuffle(asked.pairs)
    random.shuffle(asked.judgments)
    order = list(range(len(part)))
    random.shuffle(order)
    pd.testing.assert_frame_equal(straight, asked.scores(part.iloc[order]))
