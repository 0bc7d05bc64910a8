"""Training the network that compares words, on pairs whose label is known.

Where it is known which words of a hypothesis are not supported, those are learnt as well. Training
adds up in single precision, so the weights differ a little between processors: the file that is
committed was made once, and its hash is in the coefficients.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.judges.semantic import head
from metassay.judges.semantic.head import Words
from metassay.models import extra
from metassay.models.batches import by_length

EPOCHS = 3
RATE = 2e-3
WARM = 100  # steps until the full rate
DECAY = 0.01
DROPPED = 0.1
FLATTEST = 0.02  # of the rate at the end
OF_WORDS = 6.0  # how much the words' mean loss counts beside the hypothesis's
_SHARPNESS = ((12.0, 0.0, 2.0), (0.0, 12.0, 2.0), (6.0, 6.0, 0.0), (3.0, 3.0, 4.0))


class Case(NamedTuple):
    """A pair to learn from: what is read of it, its label, its weight.

    `unsupported`: n times true or false; None where it is not known which words are.
    """

    words: Words
    supported: bool
    weight: float
    unsupported: Any


def train(cases: Sequence[Case], seed: int) -> dict[str, Any]:
    """The weights (torch, float32) that were learnt from the cases."""
    torch = extra.module("torch")
    generator = torch.Generator().manual_seed(seed)
    weights = _first(cases[0].words.hypothesis.shape[1] // 2, generator)
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, weight_decay=DECAY)
    rng = random.Random(seed)
    steps = EPOCHS * len(_batches(cases, rng))
    step = 0
    for _ in range(EPOCHS):
        for places in _batches(cases, rng):
            rate = RATE * min(1, (step + 1) / WARM) * max(FLATTEST, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            _loss(weights, [cases[place] for place in places], generator).backward()
            torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
            optimizer.step()
            step += 1
    return {name: values.detach() for name, values in weights.items()}


def _batches(cases: Sequence[Case], rng: random.Random) -> list[list[int]]:
    """Places of cases of about one size, in an order that is drawn."""
    found = list(
        by_length([head.size(case.words) + rng.randrange(8) for case in cases], head.TOKENS)
    )
    rng.shuffle(found)
    return found


def _first(size: int, generator: Any) -> dict[str, Any]:
    """Weights to begin with: small draws, norms of one, looks that go by similarity."""
    torch = extra.module("torch")
    found = {}
    for name, shape in head.shapes(size).items():
        if name == "sharpness":
            values = torch.tensor(_SHARPNESS)
        elif len(shape) == 1 or name == "distance":
            values = torch.full(shape, float(name.startswith("before") and "weight" in name))
        else:
            values = torch.empty(shape).uniform_(-1, 1, generator=generator) / shape[0] ** 0.5
        found[name] = values.requires_grad_()
    return found


def _loss(weights: head.Weights, cases: Sequence[Case], generator: Any) -> Any:
    torch = extra.module("torch")
    cross = torch.nn.functional.binary_cross_entropy_with_logits

    def drop(state: Any) -> Any:
        kept = torch.rand(state.shape, generator=generator) >= DROPPED
        return state * kept / (1 - DROPPED)

    batch = head.batch([case.words for case in cases], "float32")
    found = head.doubts(weights, batch, drop)
    labels = torch.tensor([float(not case.supported) for case in cases])
    weight = torch.tensor([case.weight for case in cases])
    lost = cross(head.pooled(found), labels, reduction="none")
    marked, known = torch.zeros(found.shape), torch.zeros(found.shape)
    for place, case in enumerate(cases):
        if case.unsupported is not None:
            its = torch.from_numpy(np.asarray(case.unsupported, np.float32))
            marked[place, : len(its)] = its
            known[place, : len(its)] = 1 / len(its)
    of_words = (cross(found, marked, reduction="none") * known).sum(1)
    return ((lost + OF_WORDS * of_words) * weight).sum() / weight.sum()
