"""What nobody answered is missing and counted, and what differs has columns of its own."""

from typing import Any

import pytest

from tests.imports.importing import write_json, write_lines
from tests.imports.test_corrections import HUMAN, component, log, result
from tests.imports.test_corrections import sample as inspect_sample
from tests.imports.test_tools import case, metric, score

# ---- promptfoo: a failed grader, questions, directions

FAILED = component("llm-rubric", False, 0.0) | {"metadata": {"graderError": True}}


def rubric(question: str, passed: bool, kind: str = "llm-rubric") -> dict[str, Any]:
    return component(kind, passed, float(passed), value=question)


@pytest.mark.parametrize(
    ("components", "more", "overall"),
    [
        # All must pass, so one known fail decides, and one known pass does not.
        (
            [FAILED, component("contains", False, 0.0)],
            {"success": False, "score": 0},
            "fail",
        ),
        (
            [FAILED, component("contains", True, 1.0)],
            {"success": False, "score": 0.5},
            "",
        ),
        ([FAILED, HUMAN], {}, ""),
        ([FAILED, component("contains", False, 0.0), HUMAN], {}, "fail"),
        # In a set of assertions, too.
        (
            [component("assert-set", False, 0.0) | {"componentResults": [FAILED]}],
            {"success": False, "score": 0},
            "",
        ),
        # With a threshold the mean decides, which is unknown.
        (
            [FAILED, component("contains", False, 0.0)],
            {"success": False, "score": 0, "testCase": {"threshold": 0.4}},
            "",
        ),
    ],
)
def test_promptfoo_a_failed_grader_is_missing(
    importer, tmp_path, components, more, overall
) -> None:
    rows = [
        result(0, *components, **more),
        result(1, component("llm-rubric", True, 1.0)),
    ]
    done = importer(
        "promptfoo", write_json(tmp_path / "r.json", {"results": {"results": rows}})
    )
    first = components[0]["assertion"]["type"]
    assert done.column("verdicts.csv", first, "overall")[0] == ("", overall)
    assert done.column("verdicts.csv", "llm-rubric", "overall")[1] == ("pass", "pass")
    assert any("1 assertion without a verdict" in line for line in done.lines)


def test_promptfoo_questions_have_columns_of_their_own(importer, tmp_path) -> None:
    """In other tests the same question stands at another place."""
    long = "Is every drug named? " * 9
    rows = [
        result(0, rubric("kind", True), rubric(long, False)),
        result(1, rubric(long, True), rubric("kind", False)),
        result(2, rubric("kind", True, kind="not-llm-rubric")),
    ]
    done = importer(
        "promptfoo", write_json(tmp_path / "r.json", {"results": {"results": rows}})
    )
    (column,) = [
        name for name in done.tables["verdicts.csv"][0] if "Is every drug" in name
    ]
    assert len(column) < 90
    assert done.column(
        "verdicts.csv", "llm-rubric: kind", column, "not-llm-rubric"
    ) == [
        ("pass", "fail", ""),
        ("fail", "pass", ""),
        ("", "", "pass"),
    ]


def test_promptfoo_of_passed_assertions_more_is_better(importer, tmp_path) -> None:
    rows = [
        result(0, component("cost", True, 1.0), component("latency", False, 0.0)),
        result(1, component("cost", True, 1.0), namedScores={"error rate": 0.5}),
    ]
    done = importer(
        "promptfoo", write_json(tmp_path / "r.json", {"results": {"results": rows}})
    )
    better = dict(done.column("scores.csv", "metric", "better"))
    # A score that promptfoo derives may be anything: its name says which end is better.
    assert better == {
        "cost": "higher",
        "latency": "higher",
        "overall": "higher",
        "error_rate": "lower",
    }


# ---- DeepEval: cases without metrics, directions


@pytest.mark.parametrize("nothing", [None, []])
def test_deepeval_a_case_without_metrics_is_counted(
    importer, tmp_path, nothing
) -> None:
    cases = [case("a", metric(0.75, True)), case("b") | {"metricsData": nothing}]
    done = importer(
        "deepeval", write_json(tmp_path / "test_run_1.json", {"testCases": cases})
    )
    assert done.lines[1].endswith("missing: 1")
    assert done.column("verdicts.csv", "document", "Answer Relevancy") == [
        ("a", "pass"),
        ("b", ""),
    ]
    assert any("1 case without metrics" in line for line in done.lines)


def test_deepeval_success_tells_which_end_is_better(importer, tmp_path) -> None:
    cases = [
        case(
            "a", metric(0.1, True, name="Drift"), metric(0.9, True, name="Error recall")
        ),
        case(
            "b",
            metric(0.8, False, name="Drift"),
            metric(0.2, False, name="Error recall"),
        ),
    ]
    done = importer(
        "deepeval", write_json(tmp_path / "test_run_1.json", {"testCases": cases})
    )
    better = dict(done.column("scores.csv", "metric", "better"))
    assert better == {"Drift": "lower", "Error_recall": "higher"}
    assert "less is better, as the tool says: 'Drift'" in done.lines


# ---- Langfuse: categories without a label


@pytest.mark.parametrize("label", [{}, {"stringValue": None}, {"stringValue": ""}])
def test_langfuse_a_category_without_its_label_is_missing(
    importer, tmp_path, label
) -> None:
    rows = [
        score("t1", "tone", "CATEGORICAL", "EVAL", value=0, **label),
        score(
            "t1",
            "tone",
            "CATEGORICAL",
            "ANNOTATION",
            value=0,
            **label,
            authorUserId="ann",
        ),
        score("t2", "tone", "CATEGORICAL", "EVAL", value=1, stringValue="pass"),
        score("t2", "tone", "CATEGORICAL", "ANNOTATION", value=0, stringValue="fail"),
    ]
    done = importer("langfuse", write_json(tmp_path / "s.json", rows))
    assert done.lines[1].endswith("missing: 1")
    assert done.column("scores.csv", "doc_id", "value") == [("t1", ""), ("t2", "1")]
    assert done.column("ratings.csv", "doc_id", "value") == [("t1", ""), ("t2", "0")]
    assert any("2 scores without the label" in line for line in done.lines)


# ---- Ragas: rejected outputs, and people in an experiment


def annotation(output: object, accepted: bool, target: object = None) -> dict[str, Any]:
    return {
        "metric_input": {
            "user_input": f"{output} {accepted} {target}",
            "response": "r",
        },
        "metric_output": output,
        "prompts": {},
        "is_accepted": accepted,
        "target": target,
    }


@pytest.mark.parametrize(
    ("outputs", "rated"),
    [
        ((1, 0), ["0", "1"]),
        ((1.0, 0.0), ["0", "1"]),
        (("pass", "fail"), ["0", "1"]),
        ((True, False), ["0", "1"]),
        # Not binary: the other label of .5 is unknown, and so is that of 1.
        ((1.0, 0.5), []),
        ((5, 1), []),
    ],
)
def test_ragas_a_rejected_output_of_a_binary_metric_is_the_other_label(
    importer, tmp_path, outputs, rated
) -> None:
    records = [annotation(output, accepted=False) for output in outputs]
    done = importer("ragas", write_json(tmp_path / "a.json", {"correct": records}))
    values = (
        [value for _, value in done.column("ratings.csv", "doc_id", "value")]
        if rated
        else []
    )
    assert sorted(values) == rated
    assert done.lines[1].startswith(f"2 texts, of which people rated {len(rated)};")
    if not rated:
        assert any(
            "2 outputs rejected without a target, of a metric" in line
            for line in done.lines
        )


def test_ragas_accepted_outputs_are_ratings_if_the_user_says_so(
    importer, tmp_path
) -> None:
    records = [annotation(1, accepted=True), annotation(0, accepted=False)]
    path = write_json(tmp_path / "a.json", {"correct": records})
    done = importer("ragas", path)
    assert done.column("verdicts.csv", "correct", "correct_human") == [
        ("1", ""),
        ("0", "1"),
    ]
    assert any("never agree with the judge" in line for line in done.lines)
    done = importer("ragas", path, "--accepted")
    assert done.column("verdicts.csv", "correct", "correct_human") == [
        ("1", "1"),
        ("0", "1"),
    ]


@pytest.mark.parametrize(
    ("column", "person"),
    [
        ("human_label", True),
        ("expert_score", True),
        ("annotation", True),
        ("target", True),
        ("judge_label", False),
        ("gpt4_verdict", False),
        ("context_precision", False),
    ],
)
def test_ragas_people_are_those_of_judge_check(
    importer, tmp_path, column, person
) -> None:
    lines = f"user_input,response,faithfulness,{column}\nq1,r1,0,1\nq2,r2,1,1\n"
    (tmp_path / "r.csv").write_text(lines, encoding="utf-8")
    done = importer("ragas", tmp_path / "r.csv")
    people = (
        {name for (name,) in done.column("ratings.csv", "criterion")}
        if person
        else set()
    )
    assert people == ({column} if person else set())
    assert done.lines[0].startswith(f"2 records, {1 if person else 2} scorer")


def test_ragas_columns_that_are_no_verdicts_are_named(importer, tmp_path) -> None:
    rows = [f"q{n},r{n},{n % 2},Answer {n},so,{n % 3 // 2}" for n in range(12)]
    header = "user_input,response,faithfulness,gold_answer,remark,expert"
    (tmp_path / "r.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    done = importer("ragas", tmp_path / "r.csv")
    assert {name for (name,) in done.column("ratings.csv", "criterion")} == {"expert"}
    (line,) = [line for line in done.lines if "not read" in line]
    assert "2 columns not read: 'gold_answer', 'remark'" in line
    done = importer("ragas", tmp_path / "r.csv", "--columns", "judge=remark")
    assert done.column("verdicts.csv", "remark")[0] == ("so",)


# ---- lm-eval: filters without a name


def old_line(
    doc: int, filtered: str, match: int, answer: str = "The sum is 4."
) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": "2+2?"},
        "target": "4",
        "arguments": [["2+2?", {}]],
        "resps": [[answer]],
        "filtered_resps": [filtered],
        "exact_match": match,
    }


@pytest.mark.parametrize("in_turn", [True, False])
def test_lm_eval_unnamed_filters_have_columns_of_their_own(
    importer, tmp_path, in_turn
) -> None:
    strict = [old_line(doc, "[invalid]", 0) for doc in range(3)]
    flexible = [old_line(doc, "4", 1) for doc in range(3)]
    lines = [*strict, *flexible]
    if in_turn:
        lines = [line for pair in zip(strict, flexible, strict=True) for line in pair]
    done = importer("lm-eval", write_lines(tmp_path / "m/samples_sums.jsonl", lines))
    columns = ("exact_match: filter 1", "exact_match: filter 2")
    assert done.column("verdicts.csv", *columns) == [("0", "1")] * 3
    assert "replaced" not in done.lines[1]
    assert any("2 filters without a name" in line for line in done.lines)


def test_lm_eval_two_runs_in_a_file_are_refused(importer, tmp_path) -> None:
    lines = [old_line(0, "4", 1), old_line(0, "5", 0, answer="The sum is 5.")]
    (line,) = importer.refused(
        "lm-eval", write_lines(tmp_path / "m/samples_sums.jsonl", lines)
    )
    assert "line 2: has another text than before" in line


# ---- Inspect: a grade that is none


@pytest.mark.parametrize(
    ("grades", "values"),
    [
        (["C", "C", "P", "no answer given"], ["1", "1", "0.5", ""]),
        (["C", "I", "X"], ["1", "0", ""]),
        (["C", "A", "D", "B"], None),  # answers to a question, and no grades
        (["C", "good", "bad"], None),
    ],
)
def test_inspect_letters_are_grades_where_other_words_are_odd(
    importer, tmp_path, grades, values
) -> None:
    samples = [
        inspect_sample(n, scores={"graded": {"value": grade}})
        for n, grade in enumerate(grades)
    ]
    done = importer("inspect", write_json(tmp_path / "log.json", log(*samples)))
    if values is None:
        assert (
            "words that are no numbers, in verdicts.csv alone: 'graded'" in done.lines
        )
        assert "scores.csv" not in done.tables
    else:
        assert [value for (value,) in done.column("scores.csv", "value")] == values


def test_inspect_an_odd_grade_takes_out_its_cell_alone(importer, tmp_path) -> None:
    grades = ["C", "I", "c", "Correct", "CI", "P"]
    samples = [
        inspect_sample(n, scores={"graded": {"value": grade}})
        for n, grade in enumerate(grades)
    ]
    done = importer("inspect", write_json(tmp_path / "log.json", log(*samples)))
    values = [value for (value,) in done.column("scores.csv", "value")]
    assert values == ["1", "0", "1", "", "", "0.5"]
    assert done.lines[1].endswith("missing: 2")
    assert [word for (word,) in done.column("verdicts.csv", "graded")] == grades
    assert any("'graded': 2 cells with 'Correct', 'CI'" in line for line in done.lines)
