"""MoverScore: the least distance over which a text's tokens must be moved onto the reference's.

Zhao et al. 2019, as the authors' second release (moverscore_v2) computes it: vectors of
one layer, single tokens, the first token of each word, no punctuation marks. Here the
encoder is any, a text's value depends on no other text unless `idf` is set, and values
have eight decimals, which with dtype float64 are the same on every processor.
"""

import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric
from metassay.models import encoders
from metassay.models.batches import batch_by_texts
from metassay.models.encoders import Encoder, EncoderOptions
from metassay.models.matching import (
    BLOCK,
    PLACES,
    layers_of,
    recipe_parts,
    task_of,
    weighing,
)
from metassay.models.outputs import STORE, text_hash
from metassay.models.rows import Scores, compute_outputs

VERSION = 1  # raised by whoever changes results of this module's kinds

METHOD = 1  # part of the store's keys; raise it with every change of outputs
Pair = tuple[str, str]  # a candidate and its reference
# Of HiGHS: its default of 1e-7 would leave the seventh decimal open.
_TOLERANCE = 1e-10
_PUNCTUATION = set(string.punctuation)


class MoverscoreOptions(EncoderOptions):
    """An encoder, and the weights of tokens.

    `idf`: a token's weight is higher the fewer references have it, as in `bertscore`;
    else all count the same.
    """

    idf: bool


DESCRIPTIONS = (
    Description(
        "moverscore",
        "1 - the least mean distance over which the text's tokens, as vectors of length 1, are"
        " moved onto the reference's. The first token of each word counts, punctuation does not;"
        " what is past the encoder's limit is not read",
        "higher",
        (-1, 1),
        "null if both texts are empty, or if no token of one counts; 0 if one text is empty",
        "Zhao et al. 2019, equations 1 and 2, with the tokens of moverscore_v2",
        OVERLAP,
        headline=True,
    ),
)


def recipe(options: MoverscoreOptions) -> str:
    """Print every setting that can change more than a last digit, a folder by its content."""
    settings = {
        "idf": "yes" if options.idf else "no",
        "tokens": "first-of-word",
        "grams": "1",
    }
    return "|".join(recipe_parts(options, **settings))


def measure(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: MoverscoreOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[Measured]]:
    """Return MoverScore of each candidate against the reference at the same index of `evidence`.

    -1 to 1, higher is better; a text with itself has 1. Null if both texts are empty,
    or if a text has punctuation alone (with `idf`: or tokens that every reference has);
    0 if one text is empty. Weights of `idf` are of all references but empty ones, with
    repetitions, and hold for both sides; the release takes those of all candidates for
    a candidate, so that systems change each other's values. `cut`: a text was longer
    than the encoder reads. There are no statistics: a corpus value is a mean. Raises
    BadInput if the extra `models` is not installed, or the model cannot be loaded or
    has no fast tokenizer.
    """
    pairs = [(c.strip(), r.strip()) for c, r in zip(candidates, evidence, strict=True)]
    references = Counter(reference for _, reference in pairs if reference)
    outputs = iter(
        _compute(
            [pair for pair in pairs if all(pair)],
            options,
            references if options.idf else None,
            store,
        )
    )
    measured = []
    for pair in pairs:
        if all(pair):
            value, cut = next(outputs)
            measured.append(Measured(value, None, cut))
        else:
            measured.append(Measured(0.0, None) if any(pair) else UNDEFINED)
    return {"moverscore": measured}


def _compute(
    pairs: Sequence[Pair],
    options: MoverscoreOptions,
    references: Mapping[str, int] | None,
    store: Path,
) -> list[tuple[float | None, bool]]:
    """Return value and cut of pairs, none empty, from the store or by the encoder."""
    counts = sorted((text_hash(text), n) for text, n in (references or {}).items())
    idf = None if references is None else text_hash(repr(counts))
    task = task_of("moverscore", options, {"method": METHOD, "idf": idf})

    def load() -> Scores:
        layers = layers_of(options.model, options.layers)
        encoder = encoders.load_encoder(options, layers)
        return lambda here, most: _scores(
            encoder, here, options.model, references, most
        )

    rows = compute_outputs(task, pairs, load, options.batch_tokens, store=store)
    return [(value, cut) for value, cut in rows]


def _scores(
    encoder: Encoder,
    pairs: Sequence[Pair],
    model: str,
    references: Mapping[str, int] | None,
    batch_tokens: int,
) -> Iterator[dict[int, tuple[float | None, bool]]]:
    """Yield value and cut of pairs by place; each text is encoded once in a block."""
    weigh = weighing(encoder, references)
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    read = dict(zip(texts, encoders.tokens(encoder, texts), strict=True))

    def length(text: str) -> int:
        return len(read[text].numbers)

    order = sorted(range(len(pairs)), key=lambda i: (length(pairs[i][1]), pairs[i]))
    for block in batch_by_texts(pairs, order, length, BLOCK):
        in_block = list(dict.fromkeys(text for place in block for text in pairs[place]))
        rows = [read[text].numbers for text in in_block]
        states = encoders.vectors(encoder, rows, batch_tokens)
        sides = {}
        for text, state in zip(in_block, states, strict=True):
            units = state / state.norm(dim=-1, keepdim=True)
            encoding = encoders.locate_tokens(encoder, text, read[text], model)
            counting = find_counted(text, encoding, len(read[text].numbers))
            weights = np.array(weigh(text, read[text])) * counting
            sides[text] = (units.double().cpu().numpy(), weights)
        scores = {}
        for place in block:
            candidate, reference = pairs[place]
            cut = any(read[text].unread > 0 for text in pairs[place])
            scores[place] = (similarity(*sides[candidate], *sides[reference]), cut)
        yield scores


def find_counted(text: str, encoding: Any, n_read: int) -> list[bool]:
    """Return for each of the first tokens whether it begins a word and is no punctuation mark."""
    counted = []
    last = None
    for word, (start, end) in zip(
        encoding.word_ids()[:n_read], encoding["offset_mapping"], strict=False
    ):
        begins = word is not None and word != last
        counted.append(begins and text[start:end].strip() not in _PUNCTUATION)
        last = word
    return counted


def similarity(candidate: Any, weights: Any, reference: Any, of_reference: Any) -> Any:
    """Return 1 - the earth mover's distance of two texts; None if one weighs nothing.

    Vectors of length 1 (tokens x dimensions) and a weight of at least 0 per token, for
    each text; weights are scaled to sum to 1, distances are Euclidean.

    Candidate (1, 0), reference (1, 0) and (0, 1) of equal weights: half is moved by 0,
    half by sqrt 2.

    >>> one = np.array([[1.0, 0.0]])
    >>> two = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> similarity(one, np.array([1.0]), two, np.array([1.0, 1.0]))
    0.29289322
    """
    here = weights > 0
    there = of_reference > 0
    if not here.any() or not there.any():
        return None
    # Imported here: it takes tenths of a second.
    from scipy.spatial.distance import cdist

    supply = weights[here] / weights[here].sum()
    demand = of_reference[there] / of_reference[there].sum()
    distances = cdist(candidate[here], reference[there])
    return round(1 - move(supply, demand, distances), PLACES)


def move(supply: Any, demand: Any, distances: Any) -> float:
    """Return the earth mover's distance: the least total of mass times distance.

    `supply` and `demand` each sum to 1; `distances` is supply x demand. Solved as a
    linear programme by HiGHS (scipy), to `_TOLERANCE`; 250 x 250 tokens take about a
    second.
    """
    # Imported here: they take tenths of a second.
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    rows, columns = distances.shape
    leaves = kron(eye_array(rows), np.ones((1, columns)))
    arrives = kron(np.ones((1, rows)), eye_array(columns))
    solved = linprog(
        distances.ravel(),
        A_eq=vstack([leaves, arrives]).tocsr(),
        b_eq=np.concatenate([supply, demand]),
        bounds=(0, None),
        method="highs",
        options={
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if not solved.success:
        raise RuntimeError(f"no earth mover's distance was found: {solved.message}")
    return float(solved.fun)


KIND = Metric(
    options=MoverscoreOptions,
    measure=measure,
    recipe=recipe,
    descriptions=DESCRIPTIONS,
    costly=True,
    whole=lambda options: options.idf,
)
