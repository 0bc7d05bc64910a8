"""Files in the forms of public repositories: commands until an answer, without own code.

Each file is rebuilt from its documentation, with invented content. Every command but the first
one is printed by the command before it.
"""

import csv
import io
import json
import random
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_preferences import alpaca, bench
from tests.remedies.following import Done, Terminal

FEW = "--resamples 20 --permutations 20"
PREFERENCES = "without ties"  # the answer on a judge of preferences
RATERS = "All raters together"  # the answer on ratings alone


@dataclass(frozen=True)
class Form:
    """Files of a public form, the commands that a person types, and a part of the answer."""

    files: Callable[[random.Random], dict[str, object]]
    commands: tuple[str, ...]
    answer: str


def alpaca_eval(draw: random.Random) -> dict[str, object]:
    """AlpacaEval: `annotations.json` of a judge, and cross-annotations of four people."""
    judged = []
    people = []
    for number in range(20):
        better = draw.choice([1, 2])
        judged.append(alpaca(f"Do {number}.", float(agree(draw, better)), "gpt4"))
        for person in range(2):
            vote = float(agree(draw, better))
            people.append(alpaca(f"Do {number}.", vote, person))
    return {"annotations.json": judged, "humans.json": people}


def agree(draw: random.Random, better: int) -> int:
    """The same answer, 1 or 2, in four of five cases."""
    return better if draw.random() < 0.8 else 3 - better


def mt_bench(draw: random.Random) -> dict[str, object]:
    """MT-bench: `human_judgments`, with GPT-4's verdicts beside those of experts."""
    rows = []
    for question in range(81, 101):
        better = draw.choice([1, 2])
        for judge in ("expert_0", "author_2", "gpt4_pair"):
            winner = f"model_{'ab'[agree(draw, better) - 1]}"
            rows.append(bench(question, judge, winner))
    return {"human_judgments.jsonl": rows}


def arena(draw: random.Random) -> dict[str, object]:
    """Arena: a column per winner, and the votes of many people."""
    rows = []
    for number in range(20):
        winner = draw.choice(["winner_model_a", "winner_model_b", "winner_tie"])
        first, second = draw.sample(["gpt-4", "koala-13b", "vicuna-13b"], 2)
        row = {"id": number, "model_a": first, "model_b": second}
        row |= {"prompt": f"Say {number}.", "response_a": "Yes.", "response_b": "No."}
        names = ("winner_model_a", "winner_model_b", "winner_tie")
        rows.append(row | {name: int(name == winner) for name in names})
    return {"train.csv": table(rows)}


def judge_bench(draw: random.Random) -> dict[str, object]:
    """JudgeBench: a label, and a judge's decisions in both orders."""
    rows = []
    for number in range(20):
        better = draw.choice([1, 2])
        first = agree(draw, better)
        words = {1: "A>B", 2: "B>A"}
        rows.append(
            {
                "pair_id": f"p{number}",
                "original_id": str(number),
                "source": "mmlu-pro-health",
                "question": f"Question {number}?",
                "response_model": "gpt-4o",
                "response_A": f"One {number}.",
                "response_B": f"Two {number}.",
                "label": words[better],
                "judge_name": "arena_hard",
                "judgments": [
                    {"decision": words[first]},
                    {"decision": words[3 - first]},
                ],
            }
        )
    return {"outputs.jsonl": rows}


def llmbar(draw: random.Random) -> dict[str, object]:
    """LLMBar: a label, and an evaluator's winners with and without swapped texts."""
    rows = []
    for number in range(20):
        better = draw.choice([1, 2])
        winner = str(agree(draw, better))
        rows.append(
            {
                "input": f"Instruction {number}.",
                "output_1": f"One {number}.",
                "output_2": f"Two {number}.",
                "label": better,
                "results": [
                    {
                        "swap = False": {"winner": winner},
                        "swap = True": {"winner": winner},
                    }
                ],
            }
        )
    return {"result.json": rows}


def faithbench(draw: random.Random) -> dict[str, object]:
    """FaithBench: spans of named annotators, and detectors in the metadata."""
    samples = []
    for number in range(16):
        spans = [
            {
                "annot_id": place,
                "annotator_name": name,
                "label": [label],
                "note": "",
                "summary_span": "Summary",
                "summary_start": 0,
                "summary_end": 7,
            }
            for place, (name, label) in enumerate(
                [("ann", draw.choice(["Unwanted", "Benign"])), ("ben", "Unwanted")]
            )
        ]
        samples.append(
            {
                "sample_id": number // 2,
                "source": f"Source {number // 2}.",
                "summary": f"Summary {number}.",
                "annotations": spans,
                "metadata": {"summarizer": f"m{number % 2}", "hhem": draw.random()},
            }
        )
    return {"batch_1.json": {"samples": samples}}


def reader_study(draw: random.Random) -> dict[str, object]:
    """A reader study: a row per reader, a column per document and criterion."""
    names = [
        f"{doc} - {criterion}"
        for doc in ("report01", "report02", "report03", "report04", "report05")
        for criterion in ("Accuracy", "Readability")
    ]
    rows = [
        {"Reader": reader} | {name: draw.randint(1, 5) for name in names}
        for reader in ("R1", "R2", "R3")
    ]
    return {"readers.csv": table(rows)}


def summeval(draw: random.Random) -> dict[str, object]:
    """SummEval: lists of experts' and crowd workers' ratings, without their names."""
    criteria = ("coherence", "consistency", "fluency", "relevance")

    def people(number: int) -> list[dict[str, int]]:
        return [{name: draw.randint(1, 5) for name in criteria} for _ in range(number)]

    rows = [
        {
            "id": f"dm-test-{number}",
            "decoded": f"Summary {number} by {model}.",
            "expert_annotations": people(3),
            "turker_annotations": people(5),
            "references": ["One.", "Two."],
            "model_id": model,
        }
        for number in range(5)
        for model in ("M0", "M11")
    ]
    return {"model_annotations.aligned.jsonl": rows}


def ragtruth(draw: random.Random) -> dict[str, object]:
    """RAGTruth: marked spans of each response."""
    rows = []
    for number in range(16):
        span = {
            "start": 0,
            "end": 8,
            "text": "Response",
            "label_type": "Evident Conflict",
            "implicit_true": False,
            "due_to_null": False,
        }
        rows.append(
            {
                "id": str(number),
                "source_id": str(number // 2),
                "model": f"m{number % 2}",
                "temperature": 0.7,
                "labels": [span] * draw.randint(0, 2),
                "split": "train",
                "quality": "good",
                "response": f"Response {number}.",
            }
        )
    return {"response.jsonl": rows}


def health_bench(draw: random.Random) -> dict[str, object]:
    """HealthBench's meta-evaluation: two physicians' labels of each completion."""
    rows = [
        {
            "category": "cluster:hedging",
            "binary_labels": [draw.random() < 0.6, draw.random() < 0.6],
            "anonymized_physician_ids": [f"p{number % 3}", f"q{number % 2}"],
            "prompt": [{"role": "user", "content": f"Question {number}?"}],
            "completion": f"Answer {number}.",
            "rubric": "Does it hedge?",
            "completion_id": f"c{number}",
        }
        for number in range(16)
    ]
    return {"oss_meta_eval.jsonl": rows}


FORMS: dict[str, Form] = {
    "AlpacaEval": Form(
        alpaca_eval,
        ("check annotations.json humans.json",),
        PREFERENCES,
    ),
    "AlpacaEval, imported": Form(
        alpaca_eval,
        (
            "import preferences annotations.json humans.json --out imported",
            "judge-check imported/comparisons.csv",
        ),
        PREFERENCES,
    ),
    "MT-bench": Form(mt_bench, ("check human_judgments.jsonl",), PREFERENCES),
    "Arena": Form(arena, ("check train.csv",), "beats average"),
    "Arena, imported": Form(
        arena,
        (
            "meta-eval train.csv",
            "import preferences train.csv --out imported",
            "meta-eval imported/data/ratings.csv",
        ),
        "rater",
    ),
    "JudgeBench": Form(judge_bench, ("check outputs.jsonl",), "position bias"),
    "JudgeBench, by judge-check": Form(
        judge_bench, ("judge-check outputs.jsonl",), "position bias"
    ),
    "LLMBar": Form(llmbar, ("check result.json",), "position bias"),
    "FaithBench": Form(
        faithbench,
        (
            "import spans batch_1.json --columns doc=sample_id system=metadata.summarizer"
            " judge=metadata.hhem --out imported",
            "meta-eval imported/data/scores.csv imported/data/ratings.csv",
            "meta-eval imported/data/scores.csv imported/data/ratings.csv"
            " --lower Unwanted_count --higher Benign_count",
        ),
        "Unwanted_count",
    ),
    "a reader study": Form(
        reader_study,
        (
            "meta-eval readers.csv",
            "meta-eval readers.csv --columns 'ratings.wide={doc} - {criterion}'",
        ),
        RATERS,
    ),
    "SummEval": Form(
        summeval,
        (
            "meta-eval model_annotations.aligned.jsonl",
            "meta-eval model_annotations.aligned.jsonl --columns"
            " 'ratings.wide={rater}.{criterion}'",
        ),
        RATERS,
    ),
    "RAGTruth": Form(
        ragtruth,
        (
            "meta-eval response.jsonl",
            "import spans response.jsonl --out imported",
            "meta-eval imported/data/ratings.csv",
            "meta-eval imported/data/ratings.csv --lower 'Evident Conflict_count'",
        ),
        "Evident Conflict_count",
    ),
    "HealthBench": Form(
        health_bench,
        (
            "meta-eval oss_meta_eval.jsonl --columns doc=completion_id",
            "meta-eval oss_meta_eval.jsonl --columns doc=completion_id"
            " 'ratings.wide=binary_labels.{rater}'",
        ),
        RATERS,
    ),
}


def table(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write(folder: Path, name: str, content: object) -> None:
    if isinstance(content, list) and name.endswith(".jsonl"):
        content = "".join(json.dumps(row) + "\n" for row in content)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")


def was_printed(command: str, before: Done) -> bool:
    """Whether a command, or the option that it has more than the last one, was printed."""
    words = shlex.split(command)
    if any(words == printed[: len(words)] for printed in before.commands):
        return True
    more = [word for word in words if word not in before.words]
    return bool(more) and all(shlex.quote(word) in before.err for word in more)


@pytest.mark.parametrize("name", FORMS)
def test_a_public_form_is_answered_without_own_code(
    tmp_path: Path, monkeypatch: Any, capsys: Any, name: str
) -> None:
    form = FORMS[name]
    monkeypatch.chdir(tmp_path)
    for file, content in form.files(random.Random(1)).items():
        write(tmp_path, file, content)
    terminal = Terminal(capsys)
    before: Done | None = None
    for command in form.commands:
        if before is not None:
            assert was_printed(command, before), f"{command}\n{before.out}{before.err}"
        # Where the printed command names columns, these are typed, too.
        words = shlex.split(command)
        for printed in [] if before is None else before.commands:
            if printed[: len(words)] == words:
                words = printed
        before = terminal.run(words)
    assert before is not None
    assert before.code == 0, before.err
    assert form.answer in before.out
