"""From pairs to scores: grades by the lexical judge, and what a new measure takes: records only."""

from collections.abc import Sequence
from pathlib import Path

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
from metassay.scoring.pairing.measures import DESCRIPTIONS, MEASURES, Measure, Question
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.tables import parquet
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.pairs import PAIRS
from metassay.tables.scores import SCORES
from tests.scoring.pairing.colours import Colours, judged

SOURCES = pd.DataFrame(
    {"doc_id": ["d"], "passages": [["Dull knee pain.", "No fever at all."]], "task": "note"}
).assign(dataset="visits")
TEXTS = {"reference": "Dull knee pain. Takes aspirin 5 mg.", "sys": "Knee pain. Aspirin 50 mg."}
PARTS = pd.DataFrame(
    [("d", author, "full", text, "yes", "ok") for author, text in TEXTS.items()],
    columns=["doc_id", "author", "part", "text", "leaf", "status"],
).assign(repeats=[["visits"]] * 2)
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
ALIGNMENTS = UNITS[UNITS["kind"] == "statement"].assign(method="top", passages=[[0], [0, 1]])


def scored(
    measure: str, judge: Judge, instruments: Sequence[str], folder: Path
) -> dict[str, object]:
    """The score of `sys`, through the tables as they are written and read."""
    asked = Questions(measures=(measure,), against="full", borrow=False)
    pairs = build_pairs(SOURCES, PARTS, UNITS, {"top": ALIGNMENTS}, asked)
    parquet.write(PAIRS, pairs, folder / "pairs.parquet")
    pairs = parquet.read(PAIRS, folder / "pairs.parquet")
    judgments = judge_pairs(pairs, "j", judge, instruments)
    parquet.write(JUDGMENTS, judgments, folder / "judgments.parquet")
    judgments = parquet.read(JUDGMENTS, folder / "judgments.parquet")
    scores = judged_scores(
        PARTS,
        UNITS,
        pairs,
        judgments,
        Setup("whole", "clauses", {"top": "top"}, {"all": asked}, "1"),
    )
    parquet.write(SCORES, scores, folder / "scores.parquet")
    found = parquet.read(SCORES, folder / "scores.parquet").set_index("author")
    return found.loc["sys"].to_dict()


def test_grades_by_the_lexical_judge(tmp_path: Path) -> None:
    # dull, knee, pain: 2 of 3 are there, grade 2. Takes, aspirin, 5, mg: 5 conflicts, grade 0. The
    # third claim has no words, so it has no grade: 2 of 6 points, 2 of 9 at least, 5 of 9 at most.
    options = lexical.LexicalOptions(threshold=0.6, window=60)
    kind = lexical.KIND
    found = scored(
        "claim_recall_grade", kind.make(options, Resources(Path()), []), kind.instruments, tmp_path
    )
    assert (found["n_expected"], found["n_judged"], found["n_failed"]) == (3, 2, 1)
    assert found["value"] == pytest.approx(1 / 3)
    assert found["low"] == pytest.approx(2 / 9)
    assert found["high"] == pytest.approx(5 / 9)
    read = parquet.read(JUDGMENTS, tmp_path / "judgments.parquet")
    assert sorted(read["grade"].dropna()) == [0, 2]
    assert read["label"].isna().all()
    board = leaderboard(
        parquet.read(SCORES, tmp_path / "scores.parquet"),
        DESCRIPTIONS,
        LeaderboardOptions(resamples=10, confidence=0.9, seed=1),
    )
    parquet.write(LEADERBOARD, board, tmp_path / "leaderboard.parquet")
    assert board["micro"].tolist() == pytest.approx([1 / 3])


class Scripted:
    """A judge that answers each hypothesis as it is told to."""

    signature = "scripted"

    def __init__(self, script: dict[str, Judgment]) -> None:
        self.script = script

    notes = ()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return [self.script[pair.hypothesis] for pair in pairs]


def describe(name: str, better: str = "higher") -> Description:
    return Description(name, "m", better, (0, 1), "never", "nobody", "Invented")  # type: ignore[arg-type]


def test_three_way_labels_are_one_record_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    three = Instrument("nli", "which?", Labels(("entailed", "neutral", "contradicted")))
    asks = Question("contradiction", three, "text", "statement", ALIGNED, {"contradicted": 1})
    monkeypatch.setitem(INSTRUMENTS, "nli", three)
    monkeypatch.setitem(MEASURES, "contradiction", Measure(describe("contradiction"), asks))
    judge = Scripted(
        {
            "Knee pain.": Judgment("ok", "neutral"),
            "Aspirin 50 mg.": Judgment("ok", "contradicted"),
        }
    )
    found = scored("contradiction", judge, ("nli",), tmp_path)
    assert (found["value"], found["low"], found["high"]) == (0.5, 0.5, 0.5)
    assert "|alignment:top|" in str(found["recipe"])


def test_contradictions_by_hand() -> None:
    # Of four claims one is contradicted, one entailed, one neither; one was refused. 1 of 3; with
    # the refused one 1 or 2 of 4.
    said = {"Grey.": "neutral", "Blue.": "contradicted", "Red.": "entailed"}

    def says(pair: Pair) -> Judgment:
        label = said.get(pair.hypothesis)
        return Judgment("ok", label) if label else Judgment("refused")

    only = Questions(measures=("claim_contradiction",), against="full", borrow=False)
    texts = {"d": {"reference": "Red.", "one": "Red. Blue. Grey. Green."}}
    (found,) = judged(texts, ["p"], only, Colours(says)).scores.to_dict("records")
    assert found["value"] == pytest.approx(1 / 3)
    assert (found["low"], found["high"], found["n_failed"]) == (0.25, 0.5, 1)


def test_rubric_items_on_another_scale_are_one_record_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Grades 4 and 1 on 1 to 5 are 3/4 and 0 of the way; one is not there: 3/8, from 3/12 to 7/12.
    rubric = Instrument("rubric", "how well?", Grade(1, 5))
    asks = Question("rubric", rubric, "reference", "claim", OTHER_TEXT, {})
    monkeypatch.setitem(INSTRUMENTS, "rubric", rubric)
    monkeypatch.setitem(MEASURES, "rubric", Measure(describe("rubric"), asks))
    judge = Scripted(
        {
            "Dull knee pain.": Judgment("ok", grade=4),
            "Takes aspirin 5 mg.": Judgment("ok", grade=1),
            "?!": Judgment("refused"),
        }
    )
    found = scored("rubric", judge, ("rubric",), tmp_path)
    assert found["value"] == pytest.approx(3 / 8)
    assert (found["low"], found["high"]) == pytest.approx((3 / 12, 7 / 12))
