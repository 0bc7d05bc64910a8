"""Preferences of AlpacaEval, MT-bench, Arena, JudgeBench, LLMBar and tables: forms by hand."""

import csv
from pathlib import Path
from typing import Any

import pytest

from metassay.cli.main import main
from tests.imports.importing import Importer, write_json, write_lines


def table(path: Path, *rows: dict[str, Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def pair(case: str, by: str, first: str, second: str, won: str) -> dict[str, str]:
    return {
        "case": case,
        "annotator": by,
        "system_a": first,
        "system_b": second,
        "preference": won,
    }


def test_a_table_of_pairs_gives_win_rates_and_shares(
    importer: Importer, tmp_path: Path
) -> None:
    """By hand: x beats y and z for ann (2 of 2); for ben it ties with y (1/2 of 1)."""
    path = table(
        tmp_path / "pairs.csv",
        pair("c1", "ann", "x", "y", "A"),
        pair("c1", "ann", "z", "x", "B"),
        pair("c1", "ben", "y", "x", "tie"),
        pair("c2", "ben", "y", "x", ""),
    )
    done = importer("preferences", path)
    assert done.column("ratings.csv", "doc_id", "author", "rater", "value") == [
        ("c1", "x", "ann", "1"),
        ("c1", "x", "ben", "0.5"),
        ("c1", "y", "ann", "0"),
        ("c1", "y", "ben", "0.5"),
        ("c1", "z", "ann", "0"),
        ("c2", "x", "ben", ""),
        ("c2", "y", "ben", ""),
    ]
    names = ("document", "system_a", "system_b", "human_ann", "human_ben")
    assert done.column("comparisons.csv", *names) == [
        ("c1", "x", "y", "A", "tie"),
        ("c1", "x", "z", "A", ""),
        ("c2", "x", "y", "", ""),
    ]
    assert "4 preferences by 2 people, 1 missing" in done.lines
    # x won (1 + 1 + .5) of 3.
    shares = "'x' .83 of 3, 'y' .25 of 2, 'z' 0 of 1"
    assert f"won, as people see it, ties counting half: {shares}" in done.lines


@pytest.mark.parametrize(
    ("first", "second", "tie"),
    [
        ("model_a", "model_b", "tie (bothbad)"),
        ("A", "B", "Tie"),
        ("1", "2", "1.5"),
        ("1", "2", "0"),
        ("left", "right", "both equally good"),
        ("Response A", "Response B", "equal"),
        ("x", "y", "neither"),
        ("A>B", "B>A", "A=B"),
        ("A>>B", "B>>A", "draw"),
    ],
)
def test_words_for_the_better_text(importer, tmp_path, first, second, tie) -> None:
    rows = [
        {"id": n, "model_a": "x", "model_b": "y", "winner": word}
        for n, word in enumerate((first, second, tie))
    ]
    done = importer("preferences", table(tmp_path / "pairs.csv", *rows))
    assert done.column("comparisons.csv", "human") == [("A",), ("B",), ("tie",)]


def test_a_word_that_names_neither_text_is_missing_and_named(
    importer, tmp_path
) -> None:
    rows = [
        {"id": n, "method_left": "x", "method_right": "y", "choice": word}
        for n, word in enumerate(("left", "unsure", "left"))
    ]
    done = importer("preferences", table(tmp_path / "pairs.csv", *rows))
    assert done.column("comparisons.csv", "human") == [("A",), ("",), ("A",)]
    assert any("1 preference for 'unsure'" in line for line in done.lines)


# ---- AlpacaEval


def alpaca(
    instruction: str, preference: float | None, annotator: object
) -> dict[str, Any]:
    return {
        "instruction": instruction,
        "output_1": f"{instruction} old",
        "generator_1": "davinci",
        "output_2": f"{instruction} new",
        "generator_2": "turbo",
        "annotator": annotator,
        "preference": preference,
        "raw_completion": "",
    }


def test_alpaca_eval_judges_and_people_meet_by_instruction(importer, tmp_path) -> None:
    config = "weighted_alpaca_eval_gpt4_turbo"
    judged = [
        alpaca("a", 1.75, config),
        alpaca("b", 1.0, config),
        alpaca("c", None, config),
    ]
    people = [
        alpaca(instruction, preference, person)
        for instruction, preferences in (("a", (2, 2)), ("b", (2, 1)), ("c", (1, 0)))
        for person, preference in enumerate(preferences)
    ]
    done = importer(
        "preferences",
        write_json(tmp_path / "annotations.json", judged),
        write_json(tmp_path / "humans.json", people),
    )
    columns = ("system_a", "system_b", f"judge_{config}", "human_0", "human_1")
    assert sorted(done.column("comparisons.csv", *columns)) == sorted(
        [
            ("davinci", "turbo", "B", "B", "B"),
            ("davinci", "turbo", "A", "B", "A"),
            ("davinci", "turbo", "", "A", "tie"),
        ]
    )
    scores = done.column("scores.csv", "author", "metric", "value", "better")
    assert ("turbo", config, "0.75", "higher") in scores
    # AlpacaEval's own win rate of the second generator: (.75 + 0) / 2.
    assert any("'turbo' .38 of 2" in line for line in done.lines)
    texts = {row["text"] for row in done.tables["texts.csv"]}
    assert {"a old", "a new"} <= texts


# ---- MT-bench and Arena


def bench(question: int, judge: object, winner: str, turn: int = 1) -> dict[str, Any]:
    def chat(model: str) -> list[dict[str, str]]:
        return [
            {"role": "user", "content": f"Question {question}"},
            {"role": "assistant", "content": f"{model} on {question}.{turn}"},
        ]

    return {
        "question_id": question,
        "model_a": "vicuna",
        "model_b": "alpaca",
        "winner": winner,
        "judge": judge,
        "conversation_a": chat("vicuna"),
        "conversation_b": chat("alpaca"),
        "turn": turn,
    }


def test_mt_bench_experts_are_people_and_gpt4_a_judge(importer, tmp_path) -> None:
    rows = [
        bench(81, "author_0", "model_a"),
        bench(81, "expert_3", "model_b"),
        bench(81, "gpt4_pair", "model_a"),
        bench(81, "author_0", "tie", turn=2),
        bench(81, "gpt4_pair", "tie (inconsistent)", turn=2),
    ]
    done = importer("preferences", write_lines(tmp_path / "human.jsonl", rows))
    names = (
        "document",
        "system_a",
        "judge_gpt4_pair",
        "human_author_0",
        "human_expert_3",
    )
    assert done.column("comparisons.csv", *names) == [
        ("81", "alpaca", "B", "B", "A"),
        ("81#2", "alpaca", "tie", "tie", ""),
    ]


def test_fastchats_judge_in_both_orders_is_one_verdict(importer, tmp_path) -> None:
    games = [
        ("model_1", "model_1"),
        ("model_1", "model_2"),
        ("error", "model_2"),
        ("tie", "tie"),
    ]
    rows = [
        {
            "question_id": n,
            "model_1": "m1",
            "model_2": "m2",
            "g1_winner": first,
            "g2_winner": second,
            "judge": ["gpt-4", "pair-v2"],
            "turn": 1,
        }
        for n, (first, second) in enumerate(games)
    ]
    done = importer("preferences", write_lines(tmp_path / "gpt-4_pair.jsonl", rows))
    verdicts = done.column("comparisons.csv", "judge_gpt-4 pair-v2")
    assert verdicts == [("A",), ("tie",), ("B",), ("tie",)]
    assert any(
        "1 preference different in the two orders" in line for line in done.lines
    )


def test_arena_votes_of_many_people_share_columns(importer, tmp_path) -> None:
    """A column per winner, as Arena's competition has them, and one voter per conversation."""
    rows = [
        {
            "id": n,
            "model_a": "gpt-4",
            "model_b": "koala",
            "prompt": f"Prompt {n}",
            "response_a": f"long {n}",
            "response_b": f"short {n}",
            "winner_model_a": int(n % 3 == 0),
            "winner_model_b": int(n % 3 == 1),
            "winner_tie": int(n % 3 == 2),
        }
        for n in range(6)
    ]
    done = importer("preferences", write_json(tmp_path / "arena.json", rows))
    assert [word for (word,) in done.column("comparisons.csv", "human")] == [
        "A",
        "B",
        "tie",
    ] * 2
    votes = [
        {**bench(n, f"arena_user_{n}", "model_a"), "turn": 1, "question_id": f"q{n:02}"}
        for n in range(30)
    ]
    done = importer("preferences", write_lines(tmp_path / "votes.jsonl", votes))
    header = list(done.tables["comparisons.csv"][0])
    assert header == ["item", "document", "system_a", "system_b", "human_1"]
    assert len({rater for (rater,) in done.column("ratings.csv", "rater")}) == 30


# ---- JudgeBench and LLMBar: a label, and judges in both orders


def test_judge_bench_the_second_game_is_in_the_other_order(
    importer, tmp_path, capsys
) -> None:
    decisions = [("A>B", "B>A"), ("A>B", "A>B"), ("B>A", "A=B"), (None, "A>B")]
    labels = ["A>B", "A>B", "B>A", "A>B"]
    rows = [
        {
            "pair_id": f"p{n}",
            "question": f"q{n}",
            "response_model": "gpt-4o",
            "response_A": f"first {n}",
            "response_B": f"second {n}",
            "label": label,
            "judge_name": "arena_hard",
            "judgments": [
                None if word is None else {"decision": word} for word in words
            ],
        }
        for n, (words, label) in enumerate(zip(decisions, labels, strict=True))
    ]
    done = importer("preferences", write_lines(tmp_path / "judgebench.jsonl", rows))
    assert done.column("comparisons.csv", "system_a", "judge_arena_hard", "human") == [
        ("gpt-4o A", "A", "A"),
        ("gpt-4o A", "tie", "A"),
        ("gpt-4o A", "B", "B"),
        ("gpt-4o A", "B", "A"),
    ]
    (command,) = [line for line in done.lines if "judge-check" in line]
    words = command.removeprefix("next: metassay ").split()
    assert main(words) == 0
    assert "arena_hard" in capsys.readouterr().out


def test_llmbar_labels_and_an_evaluator_with_swapped_texts(importer, tmp_path) -> None:
    rows = [
        {
            "input": f"Instruction {n}",
            "output_1": f"one {n}",
            "output_2": f"two {n}",
            "label": label,
            "results": [
                {"swap = False": {"winner": first}, "swap = True": {"winner": second}},
                {"swap = False": {"winner": "9"}, "swap = True": {"winner": "9"}},
            ],
        }
        for n, (label, first, second) in enumerate(
            [(1, "1", "1"), (2, "1", "2"), (2, "2", "2")]
        )
    ]
    done = importer("preferences", write_json(tmp_path / "GPT-4" / "result.json", rows))
    verdicts = sorted(done.column("comparisons.csv", "judge_GPT-4", "human"))
    assert verdicts == [("A", "A"), ("B", "B"), ("tie", "B")]


def test_chosen_and_rejected_texts(importer, tmp_path) -> None:
    row = {"id": 1, "prompt": "q", "chosen": "good", "rejected": "bad"}
    named = {**row, "id": 2, "chosen_model": "m1", "rejected_model": "m2"}
    done = importer("preferences", write_lines(tmp_path / "pairs.jsonl", [row, named]))
    assert done.column("comparisons.csv", "system_a", "system_b", "human") == [
        ("chosen", "rejected", "A"),
        ("m1", "m2", "A"),
    ]


def test_a_record_without_two_texts_is_refused_with_its_line(
    importer, tmp_path
) -> None:
    rows = [
        bench(1, "ann", "model_a"),
        {"model_a": "x", "winner": "model_a", "model_b": ""},
    ]
    path = write_lines(tmp_path / "votes.jsonl", rows)
    (line,) = importer.refused("preferences", path)
    assert line.startswith(
        "votes.jsonl: line 2: does not name two systems or two texts"
    )
