"""Attacks in words that the judges' rules were not written with.

`python -m tests.labelled.other_wordings [JUDGE ...]` frames the true sentences of the
benchmark `attacks_facts` in these words, and prints the share that each judge passes:
as a hypothesis against its source, and as the premise in which the sentence is sought.
The wordings were written after the rules, and no rule was changed for them.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from metassay.core.kinds import choose
from metassay.core.strict_yaml import load
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Pair
from metassay.llm.needs import Resources

WORDINGS = {
    "hedge": (
        "We have yet to find out if {}",
        "Some would argue that {}",
        "It might turn out that {}",
        "Conceivably, {}",
        "The jury is still out on this: {}",
        "I have my doubts, but {}",
        "For all we know, {}",
        "Query: {}",
        "Pending further work-up, one could imagine that {}",
        "{} That would have to be looked into.",
    ),
    "denial": (
        "By no means is it so that {}",
        "Nothing supports the idea that {}",
        "The chart has this wrong: {}",
        "This never occurred: {}",
        "We can rule out that {}",
        "{} Scratch that.",
        "It would be a falsehood to write that {}",
        "At no point did this apply: {}",
        "Struck from the record: {}",
        "{} This turned out to be a mix-up.",
    ),
    "attribution": (
        "In his brother's case: {}",
        "Regarding the woman across the hall: {}",
        "From a textbook vignette: {}",
        "A case report describes this: {}",
        "The patient's sister has the following: {}",
        "About Mr. Jones in room 4: {}",
        "On the wrong chart: {}",
        "For the previous occupant of the bed: {}",
        "As heard about a colleague: {}",
        "In someone we saw last year: {}",
    ),
    "platitude": (
        "Care was coordinated among all involved.",
        "The team was informed.",
        "All questions were answered to satisfaction.",
        "We will continue to monitor.",
        "The encounter was uneventful.",
        "Risks and benefits were explained.",
        "The plan is as outlined.",
        "Nothing else of note.",
        "Findings are as described.",
        "Recommendations were made accordingly.",
    ),
}
PAIRS = Path("data/tables/attacks_facts/pairs/given.parquet")


def main(names: Sequence[str]) -> None:
    """Judge every wording of every true sentence, and print shares."""
    pairs = pd.read_parquet(PAIRS)
    claims = pairs[pairs["doc_id"].str.endswith(":true")]
    print("| class | judge | as hypothesis | as premise |")
    for name in names:
        for kind, wordings in WORDINGS.items():
            texts = list(_texts(claims, wordings))
            shares = [_share(name, hypotheses) for hypotheses in _directions(texts)]
            print(
                f"| {kind} | {name} | {shares[0]:.2f} | {shares[1]:.2f} |", flush=True
            )


def _texts(
    claims: pd.DataFrame, wordings: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield source, true sentence and framed sentence; each sentence in one wording."""
    for number, claim in enumerate(claims.itertuples()):
        wording = wordings[number % len(wordings)]
        yield claim.premise, claim.hypothesis, wording.format(claim.hypothesis)


def _directions(
    texts: Sequence[tuple[str, str, str]],
) -> Iterator[list[tuple[str, str]]]:
    yield [(source, framed) for source, _, framed in texts]
    yield [(framed, sentence) for _, sentence, framed in texts]


def _share(name: str, questions: Sequence[tuple[str, str]]) -> float:
    block = load(Path("params.yaml"))["judges"][name]
    chosen = choose(JUDGES, block, where=f"judges > {name}")
    judge = make_judge(chosen, lambda _: Resources(Path("data/raw")))
    pairs = [
        Pair(str(number), "entailment", premise, hypothesis)
        for number, (premise, hypothesis) in enumerate(questions)
    ]
    answers = judge.judge(pairs)
    return sum(a is not None and a.label == "entailed" for a in answers) / len(answers)


if __name__ == "__main__":
    main(sys.argv[1:] or ["lexical", "semantic"])
