"""Make data/sample_claims: claims out of the sample's statements, right or with a planted fault.

    python -m tests.support.planted_claims data/sample_claims

The same files on every machine. A claim's kind in claims.csv is what was planted;
planted/rates.json has what labels and verdicts were drawn by.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.support import sample_facts
from tests.support.hospital_course import Course, Draws
from tests.support.planted_sample import (
    MATERIAL,
    SOURCES,
    ended,
    fill_in,
    slots,
    statement,
)

SEED = 20261126
MOST = 6  # claims about a document
# of those that fit
KINDS = {"number": 0.6, "side": 3.0, "negation": 0.3, "invention": 0.3}
RIGHT = {"reference_words": 0.3, "other_words": 0.5}
MISJUDGED = {"rater_a": 0.02, "rater_b": 0.05, "rater_c": 0.1}
ABSTAINED = 0.02
# How often an invented judge calls a claim wrong, by its kind.
JUDGES = {
    "figure_checker": {
        "number": 0.95,
        "side": 0.9,
        "negation": 0.85,
        "invention": 0.05,
    },
    "source_checker": {"number": 0.1, "side": 0.1, "negation": 0.2, "invention": 0.95},
}
JUDGES["figure_checker"] |= dict.fromkeys(RIGHT, 0.04)
JUDGES["source_checker"] |= {"reference_words": 0.05, "other_words": 0.15}
SURE = "figure_checker"  # the judge that gives a probability
FAILED = ("source_checker", "claim_050", "error")
SPLIT = "claim_030"  # of its raters one abstains, and the others disagree
LABELS = ("not_entailed", "entailed")


def claim(draws: Draws, line: str, tails: list[str]) -> tuple[str, str]:
    """What is claimed, and its kind."""
    wordings = statement(line).wordings
    fits = {"invention", *slots(wordings[1])} - (
        {"invention"} if wordings[1][-1] == "?" else set()
    )
    kind = draws.weighed(
        {name: of for name, of in (KINDS | RIGHT).items() if name in {*RIGHT, *fits}}
    )
    if kind in RIGHT:
        return fill_in(wordings[kind == "other_words"]), kind
    text = fill_in(wordings[1], kind, draws)
    return (ended(text, draws.choice(tails)) if kind == "invention" else text), kind


def label_of(draws: Draws, item: str, rater: str, *, right: bool) -> str:
    """What a rater says of a claim; empty is an abstention."""
    drawn, misjudges = draws.chance(ABSTAINED), draws.chance(MISJUDGED[rater])
    if item == SPLIT:
        return {"rater_a": "", "rater_b": LABELS[1]}.get(rater, LABELS[0])
    return "" if drawn else LABELS[right != misjudges]


def verdict_of(draws: Draws, judge: str, item: str, kind: str) -> dict[str, Any]:
    """What an invented judge says of a claim, and how sure it is if it says so."""
    wrong, sure = draws.chance(JUDGES[judge][kind]), draws.choice(range(5, 41)) / 100
    row = {
        "item": item,
        "judge": judge,
        "label": LABELS[not wrong],
        "probability": "",
        "status": "ok",
    }
    if judge == SURE:
        row["probability"] = f"{sure if wrong else 1 - sure:.2f}"
    return row | (
        {"label": "", "status": FAILED[2]} if (judge, item) == FAILED[:2] else {}
    )


def write(folder: Path, seed: int = SEED) -> None:
    """Write the folder's files."""
    lines, course = sample_facts.material(MATERIAL), Course(seed, 0, "", {})
    claims, labels, verdicts = [], [], []
    for source in map(json.loads, SOURCES.read_text("utf-8").splitlines()):
        doc_id, draws = source["doc_id"], Draws(course, "claims", source["doc_id"])
        passages = [
            passage["text"] if isinstance(passage, dict) else passage
            for passage in source["passages"]
        ]
        about = [line for line in lines[doc_id] if not line.startswith(">")]
        for line in draws.some(about, MOST):
            item = f"claim_{len(claims) + 1:03d}"
            text, kind = claim(draws, line, lines[f"invented {source['task']}"])
            at = statement(line).passages
            premise = " ".join(passages[max(min(at) - 1, 0) : max(at) + 2])
            row = {
                "item": item,
                "premise": premise,
                "hypothesis": text,
                "cluster": doc_id,
            }
            claims.append(row | {"subset": "invented", "kind": kind})
            for rater in MISJUDGED:
                label = label_of(draws, item, rater, right=kind in RIGHT)
                labels.append(
                    {"item": item, "rater": rater, "label": label, "comment": ""}
                )
            verdicts += [verdict_of(draws, judge, item, kind) for judge in JUDGES]
    sample_facts.write_rows(folder / "claims.csv", claims)
    sample_facts.write_rows(folder / "labels.csv", labels)
    sample_facts.write_rows(folder / "verdicts.csv", verdicts)
    rates = {
        "kinds": KINDS,
        "right": RIGHT,
        "misjudged": MISJUDGED,
        "abstained": ABSTAINED,
    }
    rates |= {"called_wrong": JUDGES}
    (folder / "planted").mkdir(parents=True, exist_ok=True)
    (folder / "planted/rates.json").write_text(
        json.dumps(rates, indent=2) + "\n", "utf-8"
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
