"""Scores of single statements: worked out by hand, by toy models and by judges."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.reading import CheckpointOptions
from metassay.metrics.faithfulness.record import FaithfulnessMetric, Scored
from metassay.scoring.aggregation.judged import Setup
from metassay.scoring.aggregation.statements import (
    Read,
    judged_statements,
    read_statements,
    score_statements,
)
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.parquet import write
from metassay.tables.scores import MEASUREMENTS
from metassay.tables.statement_scores import STATEMENT_SCORES

PASSAGES = ["Fever since Monday.", "Cough.", "No rash.", "Given paracetamol."]
# Two texts of one document; `a` is in two sections, of which the second comes first in
# the text.
STATED = {
    ("a", "plan"): (0, ["Give paracetamol.", "Come back."]),
    ("a", "history"): (40, ["Fever and cough."]),
    ("b", "plan"): (0, ["A rash."]),
}
ALIGNED: dict[str, dict[tuple[Any, ...], list[int]]] = {  # to passages, the best first
    "gain": {("a", "plan", 0): [3], ("a", "plan", 1): [], ("a", "history", 0): [1, 0]},
    "top": {
        ("a", "plan", 0): [3, 0],
        ("a", "plan", 1): [2],
        ("a", "history", 0): [0, 1],
    },
}
MODEL = {"model": "none", "device": "cpu", "dtype": "float64"}
BOUNDS = ["value", "n_expected", "n_failed", "low", "high"]


def tables() -> tuple[
    pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]
]:
    sources = pd.DataFrame({"doc_id": ["d"], "task": "note", "dataset": "visits"})
    rows = [(*place, start) for place, (start, _) in STATED.items()]
    rows += [("a", "full", 0), ("b", "full", 0), ("c", "full", 0)]
    parts = pd.DataFrame(rows, columns=["author", "part", "starts"]).assign(
        doc_id="d", text="x"
    )
    parts["starts"] = [[start] for start in parts["starts"]]
    # The third text failed, and so has no statements.
    parts["status"] = parts["author"].map({"a": "ok", "b": "ok", "c": "error"})
    parts["leaf"] = ["yes", "yes", "yes", "no", "no", "yes"]
    units = pd.DataFrame(
        [
            (*place, i, t, "ok")
            for place, (_, its) in STATED.items()
            for i, t in enumerate(its)
        ]
        + [("c", "full", 0, None, "error")],
        columns=["author", "part", "position", "text", "status"],
    ).assign(doc_id="d", kind="statement", start=0, end=1)
    units["citations"] = [[] for _ in units.index]
    place = ["doc_id", "author", "part", "position"]
    keys = [tuple(row) for row in units[place[1:]].itertuples(index=False)]
    aligned = {
        name: units[place].assign(
            method=name, passages=[of.get(key, []) for key in keys]
        )
        for name, of in ALIGNED.items()
    }
    parts["repeats"] = [["visits"]] * len(parts)
    return sources.assign(passages=[PASSAGES], attributes=None), parts, units, aligned


def read(*names: str) -> Read:
    sources, parts, units, aligned = tables()
    return read_statements(
        sources, parts, units, {name: aligned[name] for name in names}
    )


def setup(*names: str, **questions: Questions) -> Setup:
    return Setup(
        "soap", "clauses", {name: f"kind:{name}" for name in names}, questions, "1"
    )


def toy(*, by_text: bool = True) -> FaithfulnessMetric:
    """How many words of a case are before a statement's end; `!` as a model breaks it."""

    def score(cases: Any, _: Any, checkpoint: Any) -> dict[str, list[list[Scored]]]:
        results = []
        for case in cases:
            n = sum(len(passage.split()) for passage in case.passages)
            results.append([])
            for text in case.statements:
                n += len(text.split())
                broken = checkpoint.model == "!" and "Fever" in text
                good = Scored(float(n), unread=0.5)
                results[-1].append(Scored(None, failed=True) if broken else good)
        return {"words_before": results}

    return FaithfulnessMetric(
        options=CheckpointOptions,
        score=score,
        recipe=lambda _, checkpoint: f"model:{checkpoint.model}",
        descriptions=(
            Description(
                "words_before", "x", "higher", (0, 20), "never", "none", JUDGED
            ),
        ),
        by_text=by_text,
    )


def scored(*names: str, toys: bool = True, more: Any = None, **changes: Any) -> Any:
    """Table, measurements by judge, author and part, and notes."""
    _, parts, units, _ = tables()
    options = CheckpointOptions(**{"checkpoints": {"tiny": MODEL}} | changes)
    metric = Chosen("toy", toy(by_text=toys), options)
    if more is not None:
        parts = pd.concat([parts, more(parts)])
    table, measured, notes = score_statements(
        read(*names), parts, units, "toy", metric, setup(*names)
    )
    return table, measured.set_index(["judge", "author", "part"], drop=False), notes


def values(table: pd.DataFrame, metric: str, judge: str = "tiny") -> dict[str, Any]:
    """By author and number; null is None."""
    rows = table[(table["metric"] == metric) & (table["judge"] == judge)]
    columns = zip(rows["author"], rows["number"], rows["value"], strict=True)
    return {
        f"{author}{n}": None if pd.isna(value) else value
        for author, n, value in columns
    }


def test_statements_are_numbered_in_the_order_of_the_text_and_read_in_that_of_the_source() -> (
    None
):
    both = read("gain", "top")
    columns = both.statements[["author", "number", "text"]].itertuples(
        index=False, name=None
    )
    assert list(columns) == [
        ("a", 0, "Give paracetamol."),
        ("a", 1, "Come back."),
        ("a", 2, "Fever and cough."),
        ("b", 0, "A rash."),
    ]
    assert both.passages("@gain")[2] == ("Fever since Monday.", "Cough.")
    assert both.passages("@top")[0] == ("Fever since Monday.", "Given paracetamol.")
    assert list(read("gain").aligned) == [""]


def test_each_statement_by_itself(tmp_path: Path) -> None:
    table, measured, notes = scored("gain")
    write(STATEMENT_SCORES, table, tmp_path / "scores.parquet")
    write(MEASUREMENTS, measured, tmp_path / "measurements.parquet")
    # 2 words of "Given paracetamol." and 2 of the statement; 3 + 1 and 3.
    expected = {"a0": 4, "a1": None, "a2": 7, "b0": None}
    assert values(table, "words_before") == expected
    rows = measured.loc["tiny"]
    assert rows.loc[("a", "full"), "value"] == 5.5
    assert list(rows.loc[("a", "plan"), BOUNDS[:3]]) == [4, 1, 0]
    # Nothing is aligned with the one statement of `b`; `c` has no text.
    assert rows.loc[("b", "full"), "n_expected"] == 0
    assert list(rows.loc[("c", "full"), BOUNDS[1:]]) == [1, 1, 0, 20]
    assert sorted(notes) == [
        "words_before (tiny): 2 of 4 statements are read against passages that the model did not"
        " read to their end",
        "words_before (tiny): 2 of 4 statements have no score: nothing is aligned with them, or the"
        " metric is undefined",
    ]
    # Sections that a failed text should have had are missed, too: the reference has a
    # plan.
    of_b = lambda parts: parts[parts["author"] == "b"].assign(author="reference")  # noqa: E731
    _, measured, _ = scored("gain", more=of_b)
    assert list(measured.loc[("tiny", "c", "plan"), BOUNDS[1:]]) == [1, 1, 0, 20]


def test_all_statements_of_a_text_at_once_with_the_passages_of_all() -> None:
    table, *_ = scored("gain", "top", by="text", alignments="all")
    assert set(table["metric"]) == {"words_before@gain@text", "words_before@top@text"}
    # By `gain` the passages 0, 1 and 3 have 3 + 1 + 2 words, then come 2 and 3 words.
    gain = {"a0": 8, "a1": None, "a2": 11, "b0": None}
    assert values(table, "words_before@gain@text") == gain
    # By `top` the passages are all four, with 8 words, then come 2, 2 and 3.
    top = {"a0": 10, "a1": 12, "a2": 15, "b0": None}
    assert values(table, "words_before@top@text") == top
    steps = {step for recipe in table["recipe"] for step in recipe.split("|")}
    assert {"alignment:kind:gain", "alignment:kind:top"} <= steps
    with pytest.raises(BadInput, match="cannot read whole texts; write statement"):
        scored("top", by="text", toys=False)


def test_an_answer_that_cannot_be_used_is_missed_and_bounds_say_what_it_could_be() -> (
    None
):
    models = {"good": MODEL, "bad": {**MODEL, "model": "!"}}
    table, measured, _ = scored("top", checkpoints=models)
    # plan: 3 + 2 + 2 and 2 + 2 words; the statement of the history has no answer.
    assert list(measured.loc[("bad", "a", "full"), BOUNDS]) == [
        5.5,
        3,
        1,
        11 / 3,
        31 / 3,
    ]
    assert list(measured.loc[("good", "a", "full"), BOUNDS]) == [6, 3, 0, 6, 6]
    assert table["failed"].sum() == 1


def test_judges_score_each_statement() -> None:
    sources, parts, units, aligned = tables()
    measures, names = ("faithfulness",), ["top", "gain"]
    asks = Questions(measures=measures, against="full", borrow=False, alignments=names)
    pairs = build_pairs(sources, parts, units, aligned, asks)
    judgments = pairs[pairs["settled"].isna()].drop_duplicates("pair_id")
    answers = {
        "Give paracetamol.": ("ok", "entailed", 0.9),
        "Come back.": ("ok", "not_entailed", 0.2),
        "Fever and cough.": ("refused", None, None),
    }
    rows = [answers[text] for text in judgments["hypothesis"]]
    judgments = judgments.reindex(columns=list(JUDGMENTS.columns)).assign(
        judge="j", recipe="r"
    )
    judgments[["status", "label", "probability"]] = pd.DataFrame(
        rows, index=judgments.index, dtype=object
    )
    read_setup = read("gain", "top"), setup("gain", "top", all=asks)
    table = judged_statements(read_setup[0], pairs, judgments, read_setup[1])
    # Nothing to read: 0.
    expected = {"a0": 1, "a1": 0, "a2": None, "b0": 0}
    assert values(table, "faithfulness@top", "j") == expected
    assert values(table, "faithfulness@gain", "j")["a1"] == 0
    assert values(table, "support_probability@top", "j")["a0"] == 0.9
    failed = table[table["failed"]]
    assert set(failed["metric"]) == {"faithfulness@gain", "faithfulness@top"}
    assert set(failed["number"]) == {2}
    # "Fever and cough." beside "Fever since Monday.\nCough.": two words of three, each
    # alone.
    assert values(table, "coverage@gain", "none")["a2"] == pytest.approx(2 / 3)
    assert values(table, "density@gain", "none")["a2"] == pytest.approx(2 / 3)
    counts = {"a0": 1, "a1": 0, "a2": 2, "b0": 0}
    assert values(table, "aligned_passages@gain", "none") == counts
    assert values(table, "words", "none")["a2"] == 3
    # What a judge that failed everywhere would have answered is unknown, and counted.
    lost = judgments.assign(status="refused", label=None, probability=float("nan"))
    table = judged_statements(read_setup[0], pairs, lost, read_setup[1])
    assert set(values(table, "support_probability@gain", "j").values()) == {None}
    assert table[table["failed"]].groupby("metric").size().to_dict() == {
        "faithfulness@gain": 2,
        "faithfulness@top": 3,
        "support_probability@gain": 2,
        "support_probability@top": 3,
    }
