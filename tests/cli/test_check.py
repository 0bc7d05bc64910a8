"""`metassay check`: what files hold is found and answered, in one command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.cli.main import main

SYSTEMS = ["alpaca", "claude", "gpt-4", "llama", "vicuna"]
STRENGTH = np.array([-0.8, 0.8, 1.4, -1.4, 0.0])


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["check", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def lines(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def games(judges: tuple[str, ...], n: int = 80) -> list[dict[str, Any]]:
    """Votes in the form of MT-bench: a row per question, pair and judge or expert."""
    draw = np.random.default_rng(1)
    rows = []
    for question in range(n):
        a, b = draw.choice(len(SYSTEMS), 2, replace=False)
        for judge in judges:
            gap = STRENGTH[a] - STRENGTH[b] + draw.logistic() * 0.5
            winner = "model_a" if gap > 0 else "model_b"
            if abs(gap) < 0.3:
                winner = "tie"
            chat = [{"role": "user", "content": f"Question {question}"}]
            rows.append(
                {
                    "question_id": question,
                    "model_a": SYSTEMS[a],
                    "model_b": SYSTEMS[b],
                    "winner": winner,
                    "judge": judge,
                    "conversation_a": chat,
                    "conversation_b": chat,
                    "turn": 1,
                }
            )
    return rows


def test_mt_bench_to_an_answer(check):
    lines("human.jsonl", games(("expert_1", "author_2", "gpt4_pair")))
    code, out, _ = check("human.jsonl", "--out", "results")
    assert code == 0
    assert out.startswith("understood: preferences between two texts: preferences")
    assert "80 rows, 80 labelled by 2 raters" in out
    for words in ("without ties", "beats average", "gpt-4", "May it replace a rater?"):
        assert words in out
    card = pd.read_csv("results/card.csv").set_index("statistic")
    assert card.loc["agreement", "value"] > 0.6


def test_judgments_of_fastchat_in_both_orders_beside_votes_in_another_file(check):
    votes = games(("expert_1", "author_2"))
    pairs = {row["question_id"]: (row["model_a"], row["model_b"]) for row in votes}
    draw = np.random.default_rng(4)
    judged = []
    for question, (a, b) in pairs.items():
        # Every third game goes to what is shown first, whatever the texts say.
        first = "model_1" if draw.random() < 0.6 else "model_2"
        second = "model_2" if draw.random() < 0.33 else first
        judged.append(
            {
                "question_id": question,
                "model_1": a,
                "model_2": b,
                "g1_winner": first,
                "g2_winner": second,
                "judge": ["gpt-4", "pair-v2"],
                "turn": 1,
            }
        )
    lines("votes.jsonl", votes)
    lines("gpt-4_pair.jsonl", judged)
    code, out, _ = check("gpt-4_pair.jsonl", "votes.jsonl", "--out", "results")
    assert code == 0
    assert "it favours the text shown first" in out
    card = pd.read_csv("results/card.csv").set_index("statistic")
    flips = [row["g1_winner"] != row["g2_winner"] for row in judged]
    assert card.loc["position_bias", "value"] == pytest.approx(np.mean(flips))
    assert card.loc["consistency", "value"] == pytest.approx(1 - np.mean(flips))


def test_arena_votes_of_people_alone_rank_systems(check):
    rows = [
        {**row, "judge": f"arena_user_{n}", "question_id": f"q{n}"}
        for n, row in enumerate(games(("somebody",)))
    ]
    lines("votes.jsonl", rows)
    code, out, _ = check("votes.jsonl", "--out", "results")
    assert code == 0
    assert "No judge is here" in out
    strengths = pd.read_csv("results/strengths.csv")
    assert strengths["system"].iloc[0] == "gpt-4"


# ---- the form in which the alternative annotator test is published


def annotations(kind: str) -> tuple[dict, dict]:
    draw = np.random.default_rng(2)
    truth = draw.integers(1, 6, size=60)
    people, judges = {}, {}
    for side, names in ((people, ("7", "21", "expert")), (judges, ("gpt-4o", "llama"))):
        for name in names:
            if kind == "nominal":
                other = draw.integers(1, 6, size=60)
                values = np.where(draw.random(60) < 0.8, truth, other)
                labels = [f"topic {value}" for value in values]
            else:
                noise = draw.normal(0, 0.7, 60)
                labels = np.round(truth + noise, 0 if kind == "ordinal" else 3)
                labels = np.clip(labels, 1, 5).tolist()
            side[name] = {f"i{k}": labels[k] for k in range(60)}
    for k in range(0, 60, 7):
        people["21"].pop(f"i{k}", None)
    return people, judges


def published(judge, people, score, epsilon=0.2):
    """Winning rate and advantage as the authors define them, item by item."""
    pvalues, advantages = [], []
    for name, labels in people.items():
        leads, wins = [], []
        for item, label in labels.items():
            others = [p[item] for k, p in people.items() if k != name and item in p]
            of_judge, of_rater = score(judge[item], others), score(label, others)
            leads.append(float(of_rater >= of_judge) - float(of_judge >= of_rater))
            wins.append(of_judge >= of_rater)
        test = scipy.stats.ttest_1samp(leads, epsilon, alternative="less")
        pvalues.append(test.pvalue)
        advantages.append(np.mean(wins))
    rejected = scipy.stats.false_discovery_control(pvalues, method="by") <= 0.05
    return np.mean(rejected), np.mean(advantages)


def accuracy(label, others):
    return np.mean([label == other for other in others])


def negative_error(label, others):
    return -round(np.sqrt(np.mean([(label - other) ** 2 for other in others])), 9)


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "numbers"])
def test_annotations_as_published_give_their_authors_numbers(check, kind):
    people, judges = annotations(kind)
    Path("human_annotations.json").write_text(json.dumps(people), "utf-8")
    Path("llm_annotations.json").write_text(json.dumps(judges), "utf-8")
    prompts = {f"i{k}": {"text_id": f"t{k // 2}"} for k in range(60)}
    Path("prompts.json").write_text(json.dumps(prompts), "utf-8")
    files = ("human_annotations.json", "llm_annotations.json")
    code, out, _ = check(*files, "--out", "results")
    assert code == 0
    assert out.startswith(
        f"understood: labels by annotator and item, of people and of language models: {kind}"
    )
    assert "30 documents (document)" in " ".join(out.split())
    table = pd.read_csv("results/replacement.csv").set_index("judge")
    score = accuracy if kind == "nominal" else negative_error
    for name, judge in judges.items():
        row = table.loc[f"judge_{name}"]
        expected = published(judge, people, score)
        values = row["winning_rate_published"], row["advantage"]
        assert values == pytest.approx(expected)


def test_labels_of_people_alone_are_refused_with_the_other_file(check):
    people, judges = annotations("nominal")
    Path("human_annotations.json").write_text(json.dumps(people), "utf-8")
    Path("llm_annotations.json").write_text(json.dumps(judges), "utf-8")
    code, _, error = check("human_annotations.json")
    assert code == 2
    assert "labels by language models are missing" in error
    files = error.strip().rpartition("name both files: ")[2].split()
    assert check(*files)[0] == 0


# ---- tables


def test_a_table_of_verdicts_is_checked_as_by_judge_check(check, capsys):
    rows = [
        f"{'pass' if n % 3 else 'fail'},{'pass' if n % 4 else 'fail'}"
        for n in range(60)
    ]
    Path("v.csv").write_text("\n".join(["judge,human", *rows]), "utf-8")
    code, out, _ = check("v.csv")
    assert code == 0
    first, _, rest = out.partition("\n")
    assert first.endswith("people's labels: pass/fail")
    assert main(["judge-check", "v.csv"]) == 0
    assert capsys.readouterr().out == rest
    assert check("v.csv", "--require", "kappa=.99")[0] == 4


def test_two_tables_are_scores_and_ratings(check):
    draw = np.random.default_rng(3)
    texts = [(f"d{n}", system) for n in range(8) for system in "mno"]
    for path, column in (("scores.csv", "good"), ("ratings.csv", "fluency")):
        cells = [f"{doc},{system},{draw.integers(1, 6)}" for doc, system in texts]
        Path(path).write_text("\n".join([f"doc_id,system,{column}", *cells]), "utf-8")
    code, out, _ = check("scores.csv", "ratings.csv")
    assert code == 0
    command = "metassay meta-eval -- scores.csv ratings.csv"
    assert out.startswith(f"understood: scores and ratings: {command}")
    assert "fluency" in out
    code, _, error = check("scores.csv", "ratings.csv", "--pass", "good")
    assert code == 2
    assert "name one table to check a judge's verdicts" in error


def test_judge_check_answers_raw_preferences_too(check, capsys):
    lines("votes.jsonl", games(("expert_1", "gpt4_pair")))
    code, by_check, _ = check("votes.jsonl")
    assert main(["judge-check", "votes.jsonl"]) == code == 0
    _, _, answer = by_check.partition("\n")
    assert capsys.readouterr().out == answer


def test_places_of_texts_are_no_systems(check):
    draw = np.random.default_rng(0)
    rows = [
        {
            "pair_id": f"p{n}",
            "question": f"Question {n}",
            "response_model": "gpt-4o",
            "response_A": "One.",
            "response_B": "Two.",
            "label": draw.choice(["A>B", "B>A"]),
            "judge_name": "arena_hard",
            "judgments": [
                {"decision": str(draw.choice(["A>B", "B>A"]))},
                {"decision": str(draw.choice(["A>B", "B>A"]))},
            ],
        }
        for n in range(60)
    ]
    lines("judgebench.jsonl", rows)
    code, out, _ = check("judgebench.jsonl", "--out", "results")
    assert code == 0
    assert "no strengths of systems" in " ".join(out.split())
    assert "beats average" not in out
    assert "always one side" in out
    assert not Path("results/strengths.csv").exists()
    card = pd.read_csv("results/card.csv")
    assert "strength_correlation" not in set(card["statistic"])
