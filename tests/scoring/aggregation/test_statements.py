"""Scores of single statements: worked out by hand, by toy models and by judges."""

import math
from types import SimpleNamespace

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
# Two texts of one document; `a` is in two sections, of which the second comes first in the text.
SAID = {
    ("a", "plan"): (0, ["Give paracetamol.", "Come back."]),
    ("a", "history"): (40, ["Fever and cough."]),
    ("b", "plan"): (0, ["A rash."]),
}
ALIGNED = {  # text, part, position -> passages, the best first
    "gain": {("a", "plan", 0): [3], ("a", "plan", 1): [], ("a", "history", 0): [1, 0]},
    "top": {("a", "plan", 0): [3, 0], ("a", "plan", 1): [2], ("a", "history", 0): [0, 1]},
}
MODEL = {"model": "none", "device": "cpu", "dtype": "float64"}


def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]:
    about = {"doc_id": "d", "task": "note", "dataset": "visits", "attributes": None}
    sources = pd.DataFrame([{**about, "passages": PASSAGES}])
    parts, units = [], []
    for (author, part), (start, said) in SAID.items():
        parts.append(("d", author, part, " ".join(said), [start], "yes", "ok"))
        units += [("d", author, part, "statement", i, text) for i, text in enumerate(said)]
    parts += [("d", author, "full", "x", [0], "no", "ok") for author in ("a", "b")]
    # The third text failed, and so has no statements.
    parts += [("d", "c", "full", None, [0], "yes", "error")]
    columns = ["doc_id", "author", "part", "text", "starts", "leaf", "status"]
    frame = pd.DataFrame(parts, columns=columns).assign(repeats=[["visits"]] * len(parts))
    unit = pd.DataFrame(units, columns=["doc_id", "author", "part", "kind", "position", "text"])
    unit = unit.assign(status="ok", citations=[[]] * len(unit), start=0, end=1)
    lost = {"doc_id": "d", "author": "c", "part": "full", "kind": "statement", "position": 0}
    unit = pd.concat([unit, pd.DataFrame([{**lost, "status": "error", "citations": []}])])
    place = ["doc_id", "author", "part", "position"]
    aligned = {
        name: unit[place].assign(
            method=name,
            passages=[of.get((a, p, i), []) for _, a, p, i in unit[place].itertuples(index=False)],
        )
        for name, of in ALIGNED.items()
    }
    return sources, frame, unit.reset_index(drop=True), aligned


def read(*names: str) -> Read:
    sources, parts, units, aligned = tables()
    return read_statements(sources, parts, units, {name: aligned[name] for name in names})


def setup(*names: str, **questions: Questions) -> Setup:
    return Setup("soap", "clauses", {name: f"kind:{name}" for name in names}, questions, "1")


def toy(*, by_text: bool = True) -> FaithfulnessMetric:
    """How many words of a case are before a statement's end; `!` in a model's name breaks it."""

    def score(cases, _, checkpoint):
        found = []
        for case in cases:
            n = sum(len(passage.split()) for passage in case.passages)
            scored = []
            for said in case.statements:
                n += len(said.split())
                broken = checkpoint.model == "!" and "Fever" in said
                scored.append(Scored(None, failed=True) if broken else Scored(float(n), unread=0.5))
            found.append(scored)
        return {"words_before": found}

    known = Description("words_before", "x", "higher", (0, 20), "never", "none", JUDGED)
    return FaithfulnessMetric(
        options=CheckpointOptions,
        score=score,
        recipe=lambda _, checkpoint: f"model:{checkpoint.model}",
        descriptions=(known,),
        by_text=by_text,
    )


def options(**more: object) -> CheckpointOptions:
    return CheckpointOptions(**{"checkpoints": {"tiny": MODEL}, **more})


def scored(chosen: CheckpointOptions, *names: str, by_text: bool = True):
    _, parts, units, _ = tables()
    metric = Chosen("toy", toy(by_text=by_text), chosen)
    made = score_statements(read(*names), parts, units, "toy", metric, setup(*names))
    return SimpleNamespace(**dict(zip(("table", "measurements", "notes"), made, strict=True)))


def values(table: pd.DataFrame, metric: str, judge: str = "tiny") -> dict[tuple[str, int], float]:
    rows = table[(table["metric"] == metric) & (table["judge"] == judge)]
    return dict(zip(zip(rows["author"], rows["number"], strict=True), rows["value"], strict=True))


def test_statements_are_numbered_in_the_order_of_the_text_and_read_in_that_of_the_source() -> None:
    found = read("gain", "top")
    columns = found.statements[["author", "number", "text"]].itertuples(index=False, name=None)
    assert list(columns) == [
        ("a", 0, "Give paracetamol."),
        ("a", 1, "Come back."),
        ("a", 2, "Fever and cough."),
        ("b", 0, "A rash."),
    ]
    assert found.passages("@gain")[2] == ("Fever since Monday.", "Cough.")
    assert found.passages("@top")[0] == ("Fever since Monday.", "Given paracetamol.")
    assert list(read("gain").aligned) == [""]


def test_each_statement_by_itself(tmp_path) -> None:
    made = scored(options(), "gain")
    write(STATEMENT_SCORES, made.table, tmp_path / "scores.parquet")
    write(MEASUREMENTS, made.measurements, tmp_path / "measurements.parquet")
    found = values(made.table, "words_before")
    # 2 words of "Given paracetamol." and 2 of its own; 3 + 1 and 3.
    assert found[("a", 0)] == 4
    assert found[("a", 2)] == 7
    assert math.isnan(found[("a", 1)])
    assert math.isnan(found[("b", 0)])
    of_text = made.measurements.set_index(["author", "part"])
    assert of_text.loc[("a", "full"), "value"] == 5.5
    assert list(of_text.loc[("a", "plan"), ["value", "n_expected", "n_failed"]]) == [4, 1, 0]
    # Nothing is aligned with the one statement of `b`; `c` has no text.
    assert of_text.loc[("b", "full"), "n_expected"] == 0
    bounds = ["n_expected", "n_failed", "low", "high"]
    assert list(of_text.loc[("c", "full"), bounds]) == [1, 1, 0, 20]
    assert sorted(made.notes) == [
        "words_before (tiny): 2 of 4 statements are read against passages that the model did not"
        " read to their end",
        "words_before (tiny): 2 of 4 statements have no score: nothing is aligned with them, or the"
        " metric is undefined",
    ]


def test_sections_that_a_failed_text_should_have_had_are_missed_too() -> None:
    """The reference has a plan."""
    _, parts, units, _ = tables()
    parts = pd.concat([parts, parts[parts["author"] == "b"].assign(author="reference")])
    metric = Chosen("toy", toy(), options())
    _, made, _ = score_statements(read("gain"), parts, units, "toy", metric, setup("gain"))
    of_part = made.set_index(["author", "part"])[["n_expected", "n_failed", "low", "high"]]
    assert list(of_part.loc[("c", "plan")]) == [1, 1, 0, 20]


def test_all_statements_of_a_text_at_once_with_the_passages_of_all() -> None:
    made = scored(options(by="text", alignments="all"), "gain", "top")
    assert set(made.table["metric"]) == {"words_before@gain@text", "words_before@top@text"}
    # By `gain` the passages 0, 1 and 3 have 3 + 1 + 2 words, then come 2 and 3 words.
    by_gain = values(made.table, "words_before@gain@text")
    assert (by_gain[("a", 0)], by_gain[("a", 2)]) == (8, 11)
    # By `top` the passages are all four, with 8 words, then come 2, 2 and 3.
    by_top = values(made.table, "words_before@top@text")
    assert [by_top["a", number] for number in range(3)] == [10, 12, 15]
    assert {"alignment:kind:gain", "alignment:kind:top"} <= {
        step for recipe in made.table["recipe"] for step in recipe.split("|")
    }


def test_an_answer_that_cannot_be_used_is_missed_and_bounds_say_what_it_could_be() -> None:
    broken = {"good": MODEL, "bad": {**MODEL, "model": "!"}}
    made = scored(options(checkpoints=broken), "top")
    rows = made.measurements.set_index(["judge", "author", "part"])
    counts = ["value", "n_expected", "n_judged", "n_failed", "low", "high"]
    # plan: 3 + 2 + 2 and 2 + 2 words; the statement of the history has no answer.
    assert list(rows.loc[("bad", "a", "full"), counts]) == [5.5, 3, 2, 1, 11 / 3, 31 / 3]
    assert list(rows.loc[("good", "a", "full"), counts]) == [6, 3, 3, 0, 6, 6]
    assert made.table["failed"].sum() == 1


def test_a_metric_that_reads_single_statements_refuses_whole_texts() -> None:
    with pytest.raises(BadInput, match="cannot read whole texts; write statement"):
        scored(options(by="text"), "top", by_text=False)


def test_what_judges_said_of_each_statement() -> None:
    sources, parts, units, aligned = tables()
    asked = Questions(
        measures=("faithfulness",), against="full", borrow=False, alignments=["top", "gain"]
    )
    pairs = build_pairs(sources, parts, units, aligned, asked)
    open_pairs = pairs[pairs["settled"].isna()].drop_duplicates("pair_id")
    answer = {
        "Give paracetamol.": ("ok", "entailed", 0.9),
        "Come back.": ("ok", "not_entailed", 0.2),
        "Fever and cough.": ("refused", None, None),
    }
    judgments = pd.DataFrame(
        [
            {
                "pair_id": pair,
                "judge": "j",
                "status": status,
                "label": label,
                "probability": p,
                "recipe": "r",
            }
            for pair, (status, label, p) in zip(
                open_pairs["pair_id"], map(answer.get, open_pairs["hypothesis"]), strict=True
            )
        ]
    ).reindex(columns=list(JUDGMENTS.columns))
    found = judged_statements(
        read("gain", "top"), pairs, judgments, setup("gain", "top", all=asked)
    )
    by_top = values(found, "faithfulness@top", "j")
    assert (by_top["a", 0], by_top["a", 1], by_top["b", 0]) == (1, 0, 0)  # nothing to read: 0
    assert math.isnan(by_top["a", 2])
    assert values(found, "faithfulness@gain", "j")["a", 1] == 0
    assert values(found, "support_probability@top", "j")["a", 0] == 0.9
    failed = found[found["failed"]]
    assert set(failed["metric"]) == {"faithfulness@gain", "faithfulness@top"}
    assert set(failed["number"]) == {2}
    # "Fever and cough." beside "Fever since Monday.\nCough.": two words of three, each alone.
    assert values(found, "coverage@gain", "none")["a", 2] == pytest.approx(2 / 3)
    assert values(found, "density@gain", "none")["a", 2] == pytest.approx(2 / 3)
    assert values(found, "aligned_passages@gain", "none") == {
        ("a", 0): 1, ("a", 1): 0, ("a", 2): 2, ("b", 0): 0,
    }  # fmt: skip
    assert values(found, "words", "none")["a", 2] == 3
    # What a judge that failed everywhere would have said is unknown, and counted.
    lost = judgments.assign(status="refused", label=None, probability=float("nan"))
    lost = judged_statements(read("gain", "top"), pairs, lost, setup("gain", "top", all=asked))
    unknown = values(lost, "support_probability@gain", "j")
    assert all(map(math.isnan, unknown.values()))
    assert lost[lost["failed"]].groupby("metric").size().to_dict() == {
        "faithfulness@gain": 2, "faithfulness@top": 3,
        "support_probability@gain": 2, "support_probability@top": 3,
    }  # fmt: skip
