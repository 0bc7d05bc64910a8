"""Memory from claims to scores: 3,000 characters against which 40 claims are read, over and over.

`python speed/judging_memory.py` builds the pairs of 1,000, 10,000 and 100,000
questions, has them judged and scored, each in a process of its own, and asserts that
every claim was judged, that a pair takes no more memory among many than among few, and
that it takes less than its premise: a text is held once however many claims are read
against it. It prints the peak, less what the process held before. `--million` prints
the seconds and the memory of a million verdicts to scores.
"""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.judges.protocol import Judgment, Pair
from metassay.judges.run import judge_pairs
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions

SIZES, CLAIMS, LENGTH, SEED = (1_000, 10_000, 100_000), 40, 3_000, 20261122
QUICK = {"SIZES": (800, 4_000, 12_000), "GROWTH": 9}
GROWTH = 1.2  # of the bytes of a pair, from the smaller step to the larger one
ASKED = Questions(
    measures=("claim_recall", "claim_precision"), against="full", borrow=False
)
SETUP = Setup("whole", "clauses", {"top": "none"}, {"all": ASKED}, "0")

Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]


class Trivial:
    """Says that every fourth claim is entailed, and keeps nothing."""

    signature = "trivial"
    notes: Sequence[str] = ()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        yes = Judgment(
            "ok", "entailed", probability=0.9, explanation="2 of 3 tokens found"
        )
        no = Judgment(
            "ok", "not_entailed", probability=0.2, explanation="1 of 3 tokens found"
        )
        return [yes if pair.pair_id[-1] in "0369" else no for pair in pairs]


def tables(documents: int) -> Tables:
    """A system's text and a reference per document, with 40 claims each: 80 pairs per document."""
    rng = np.random.default_rng(SEED)
    words = np.array([f"word{n}" for n in range(2000)])

    def said(length: int) -> str:
        return " ".join(rng.choice(words, size=length // 8).tolist())

    names = [f"doc{n:06d}" for n in range(documents)]
    sources = [(name, ["source"], "note", "invented") for name in names]
    places = [(name, author) for name in names for author in ("reference", "system")]
    parts = [
        (*place, "full", said(LENGTH), "yes", "ok", ["invented"]) for place in places
    ]
    units = [
        (*place, "full", "claim", at, said(60), "ok", [], None, None, None)
        for place in places
        for at in range(CLAIMS)
    ]
    of_unit = [
        "doc_id",
        "author",
        "part",
        "kind",
        "position",
        "text",
        "status",
        "citations",
    ]
    of_part = ["doc_id", "author", "part", "text", "leaf", "status", "repeats"]
    return (
        pd.DataFrame(sources, columns=["doc_id", "passages", "task", "dataset"]),
        pd.DataFrame(parts, columns=of_part),
        pd.DataFrame(units, columns=[*of_unit, "statement", "start", "end"]),
        pd.DataFrame(
            columns=["doc_id", "author", "part", "position", "method", "passages"]
        ),
    )


def settled() -> int:
    """Bytes that the process holds; the peak is counted from here on (as Linux does it)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """The most bytes that the process held since."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def from_claims(given: Tables) -> tuple[int, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The number of pairs, them, what is judged, and the scores."""
    sources, parts, units, aligned = given
    pairs = build_pairs(sources, parts, units, {"top": aligned}, ASKED)
    judgments = judge_pairs(pairs, "trivial", Trivial(), ("entailment",))
    return (
        len(pairs),
        pairs,
        judgments,
        judged_scores(parts, units, pairs, judgments, SETUP),
    )


def one(size: int) -> None:
    """Warm up with few, then print what so many take beyond what the process held."""
    from_claims(tables(2))
    given = tables(round(size / (2 * CLAIMS)))
    before, start = settled(), time.perf_counter()
    pairs, _, judgments, scores = from_claims(given)
    seconds, after = time.perf_counter() - start, peak()
    if not len(judgments) == pairs == scores["n_judged"].sum():
        sys.exit(
            f"{pairs} pairs, {len(judgments)} judged, {scores['n_judged'].sum()} in scores"
        )
    print(json.dumps({"pairs": pairs, "bytes": after - before, "seconds": seconds}))


def million() -> None:
    """Only from verdicts to scores."""
    given = tables(1_000_000 // (2 * CLAIMS))
    _, pairs, judgments, _ = from_claims(given)
    before, start = settled(), time.perf_counter()
    judged_scores(given[1], given[2], pairs, judgments, SETUP)
    seconds = time.perf_counter() - start
    more = (peak() - before) / 1e6
    print(f"{len(judgments):,} verdicts to scores: {seconds:.1f} s, {more:,.0f} MB")


def main() -> None:
    if "--one" in sys.argv:
        one(int(sys.argv[-1]))
        return
    if "--million" in sys.argv:
        million()
        return
    found = []
    for size in SIZES:
        command = [sys.executable, __file__, "--one", str(size)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(run.stdout))
    few, some, many = found
    steps = [
        (more["bytes"] - less["bytes"]) / (more["pairs"] - less["pairs"])
        for less, more in ((few, some), (some, many))
    ]
    if steps[1] > GROWTH * steps[0] or steps[1] > LENGTH:
        sys.exit(
            f"a pair takes {steps[0]:,.0f} bytes among few and {steps[1]:,.0f} among many"
        )
    each = [
        f"{f['pairs']:,} pairs {f['bytes'] / 1e6:,.1f} MB {f['seconds']:.1f} s"
        for f in found
    ]
    print(
        f"claims to scores, {CLAIMS} claims against {LENGTH:,} characters: {', '.join(each)};"
        f" {steps[0]:,.0f} bytes per further pair up to {some['pairs']:,}, then {steps[1]:,.0f}"
    )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
