"""From pairs to scores: grades by the lexical judge, and what a new measure takes: records only."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.judges import lexical
from metassay.judges.protocol import Judge, Judgment, Pair
from metassay.judges.run import judge_pairs
from metassay.llm.needs import Resources
from metassay.metrics.describe import Description
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.aggregation.leaderboard import LeaderboardOptions, leaderboard
from metassay.scoring.pairing.evidence import ALIGNED, OTHER_TEXT
from metassay.scoring.pairing.instruments import INSTRUMENTS, Grade, Instrument, Labels
from metassay.scoring.pairing.measures import DESCRIPTIONS, MEASURES
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.scoring.pairing.record import Measure, Question
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import round_trip
from metassay.tables.scores import SCORES

SOURCES = pd.DataFrame(
    {
        "doc_id": ["d"],
        "passages": [["Dull knee pain.", "No fever at all."]],
        "task": "note",
    }
).assign(dataset="visits")
PARTS = pd.DataFrame(
    [
        ("reference", "Dull knee pain. Takes aspirin 5 mg."),
        ("sys", "Knee pain. Aspirin 50 mg."),
    ],
    columns=["author", "text"],
).assign(doc_id="d", part="full", leaf="yes", status="ok", repeats=[["visits"]] * 2)
UNITS = pd.DataFrame(
    [
        ("reference", "claim", 0, "Dull knee pain."),
        ("reference", "claim", 1, "Takes aspirin 5 mg."),
        ("reference", "claim", 2, "?!"),
        ("sys", "statement", 0, "Knee pain."),
        ("sys", "statement", 1, "Aspirin 50 mg."),
    ],
    columns=["author", "kind", "position", "text"],
).assign(doc_id="d", part="full", citations=[[]] * 5, status="ok", start=None, end=None)
ALIGNMENTS = UNITS[UNITS["kind"] == "statement"].assign(
    method="top", passages=[[0], [0, 1]]
)


def scored(
    measure: str, judge: Judge, instruments: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Judgments, scores and the row of `sys`, through the tables as they are written and read."""
    options = Questions(measures=(measure,), against="full", borrow=False)
    pairs = build_pairs(SOURCES, PARTS, UNITS, {"top": ALIGNMENTS}, options)
    pairs = round_trip(PAIRS, pairs)
    judgments = round_trip(JUDGMENTS, judge_pairs(pairs, "j", judge, instruments))
    setup = Setup("whole", "clauses", {"top": "top"}, {"all": options}, "1")
    scores = round_trip(SCORES, judged_scores(PARTS, UNITS, pairs, judgments, setup))
    return judgments, scores, scores.set_index("author").loc["sys"]


def test_grades_by_the_lexical_judge() -> None:
    # dull, knee, pain: 2 of 3 are there, grade 2. Takes, aspirin, 5, mg: 5 conflicts,
    # grade 0. The third claim has no words, so it has no grade: 2 of 6 points, 2 of 9
    # at least, 5 of 9 at most.
    options = lexical.LexicalOptions(threshold=0.6, window=60)
    judge = lexical.KIND.make(options, Resources(Path()), [])
    judgments, scores, row = scored(
        "claim_recall_grade", judge, lexical.KIND.instruments
    )
    assert row[["n_expected", "n_judged", "n_failed"]].tolist() == [3, 2, 1]
    assert row[["value", "low", "high"]].tolist() == pytest.approx(
        [1 / 3, 2 / 9, 5 / 9]
    )
    assert sorted(judgments["grade"].dropna()) == [0, 2]
    assert judgments["label"].isna().all()
    drawing = LeaderboardOptions(resamples=10, confidence=0.9, seed=1)
    board = round_trip(LEADERBOARD, leaderboard(scores, DESCRIPTIONS, drawing))
    assert board["micro"].tolist() == pytest.approx([1 / 3])


class Scripted:
    """A judge that answers each hypothesis as a script says."""

    signature = "scripted"
    notes = ()

    def __init__(self, script: dict[str, Judgment]) -> None:
        self.script = script

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return [self.script[pair.hypothesis] for pair in pairs]


THREE = Instrument("nli", "which?", Labels(("entailed", "neutral", "contradicted")))
RUBRIC = Instrument("rubric", "how well?", Grade(1, 5))


@pytest.mark.parametrize(
    ("asks", "script", "expected"),
    [
        # Three-way labels.
        (
            Question("new", THREE, "text", "statement", ALIGNED, {"contradicted": 1}),
            {
                "Knee pain.": Judgment("ok", "neutral"),
                "Aspirin 50 mg.": Judgment("ok", "contradicted"),
            },
            [0.5, 0.5, 0.5],
        ),
        # Grades 4 and 1 on 1 to 5 are 3/4 and 0 of the way; the third is not there.
        (
            Question("new", RUBRIC, "reference", "claim", OTHER_TEXT, {}),
            {
                "Dull knee pain.": Judgment("ok", grade=4),
                "Takes aspirin 5 mg.": Judgment("ok", grade=1),
                "?!": Judgment("refused"),
            },
            [3 / 8, 3 / 12, 7 / 12],
        ),
    ],
)
def test_a_new_instrument_is_a_record_more(
    monkeypatch: pytest.MonkeyPatch, asks: Question, script: Any, expected: list[float]
) -> None:
    name = asks.instrument.name
    description = Description(
        "new", "m", "higher", (0, 1), "never", "nobody", "Invented"
    )
    monkeypatch.setitem(INSTRUMENTS, name, asks.instrument)
    monkeypatch.setitem(MEASURES, "new", Measure(description, asks))
    *_, row = scored("new", Scripted(script), (name,))
    assert row[["value", "low", "high"]].tolist() == pytest.approx(expected)
    assert ("|alignment:top|" in row["recipe"]) == (name == "nli")
