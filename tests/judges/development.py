"""How the semantic judge does on the development claims: `python -m tests.judges.development`.

Choices saw these claims (docs/judges.md), so its numbers are somewhat too good. Caught
are edited claims (not the merely unsupported ones) below the threshold that gives this
share of entailed claims as false alarms.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from metassay.core.options import parse
from metassay.core.strict_yaml import load
from metassay.judges.protocol import Pair
from metassay.judges.semantic.judge import SemanticJudge, SemanticOptions

PAIRS = Path("data/judges/pairs/development.jsonl")
UNSUPPORTED = "unsupported"


def main() -> None:
    """Judge every claim and print AUROC and shares."""
    block = load(Path("params.yaml"))["judges"]["semantic"]
    options = parse(
        SemanticOptions,
        {k: v for k, v in block.items() if k != "kind"},
        where="params.yaml",
    )
    notes = [
        json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()
    ]
    rows = [(note["note"], *claim) for note in notes for claim in note["claims"]]
    pairs = [Pair(str(n), "entailment", row[0], row[3]) for n, row in enumerate(rows)]
    with tempfile.TemporaryDirectory() as folder:
        judged = SemanticJudge(options, store=Path(folder) / "store.sqlite").judge(
            pairs
        )
    scores = np.array([j.probability for j in judged if j is not None], float)
    entailed = np.array([row[2] == "entailed" for row in rows])
    edited = ~entailed & np.array([row[1] != UNSUPPORTED for row in rows])
    print(f"{len(rows)} claims, AUROC {roc_auc_score(entailed, scores):.3f}")
    print(f"at .5: caught {(scores[edited] < 0.5).mean():.3f}, false", end=" ")
    print(f"{(scores[entailed] < 0.5).mean():.3f}")
    for share in (0.1, 0.2):
        edge = np.quantile(scores[entailed], share)
        print(
            f"at {share:.2f} false alarms: caught {(scores[edited] < edge).mean():.3f}"
        )


if __name__ == "__main__":
    main()
