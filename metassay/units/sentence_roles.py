"""Facets by a trained model of sentence roles, with headings and the rules for conclusions on top.

Nobody labelled conclusions in the data that the models were trained on. A sentence is one where the
cue rules find it to be, and the model takes it for a result or for none of the other roles.
"""

import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metassay.errors import BadInput
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import Task, outputs
from metassay.models.store import STORE
from metassay.needs import PromptFile, Resources
from metassay.options import printed
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.roles import ROLES, Read, RoleOptions, divide_by_role
from metassay.units.trained import model as trained
from metassay.units.trained import vectors
from metassay.units.trained.features import shared
from metassay.units.trained.model import LABELS, VECTORS, WORDS

_CONCLUSION = "conclusion"
_BECOMES = ("result", "other")  # what conclusions count as in the training data


class SentenceRoleOptions(RoleOptions):
    """`model`: the file that stage `train_roles` wrote. `encoder`: the one it was trained with."""

    model: str
    encoder: NetworkOptions | None = None


def divide(texts: Sequence[Text], options: SentenceRoleOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The facets of each text by the model; see `roles.divide_by_role`.

    Raises BadInput if the model cannot be read, or was trained with another encoder or with none.
    """
    model = trained.load(Path(options.model))
    _check(model, options)
    return divide_by_role(
        texts, options.facets, lambda reads: classify(model, reads, options.encoder)
    )


def classify(
    model: trained.Model,
    reads: Sequence[Read],
    encoder: NetworkOptions | None,
    store: Path = STORE,
) -> list[list[str]]:
    """The role of each sentence of each text."""
    steps = model.steps
    own = _by_vector(steps, model, reads, encoder, store) if encoder else [None] * len(reads)
    found: list[list[str]] = []
    for read, by_vector in zip(reads, own, strict=True):
        if not read.said:
            found.append([])
            continue
        text = shared(read)
        guesses = {WORDS: trained.word_logits(steps[WORDS], text)}
        if by_vector is not None:
            guesses[VECTORS] = by_vector + trained.place_logits(steps[VECTORS], text)
        chosen = [ROLES[row.argmax()] for row in text.cue[:, : len(ROLES)]]
        found.append(_roles(trained.probabilities(steps, guesses, text), chosen, read.allowed))
    return found


def _roles(
    probability: Any, chosen: Sequence[str], allowed: Sequence[frozenset[str] | None]
) -> list[str]:
    """The likeliest role that is allowed; where the rules have `chosen` it, a conclusion."""
    found = []
    for row, by_cues, may_be in zip(probability, chosen, allowed, strict=True):
        likely = [LABELS[place] for place in np.argsort(-row.round(9), kind="stable")]
        if by_cues == _CONCLUSION:
            likely = [_CONCLUSION if role in _BECOMES else role for role in likely]
        left = [role for role in likely if may_be is None or role in may_be]
        found.append(left[0] if left else min(may_be or (), key=ROLES.index))
    return found


def _by_vector(
    steps: Mapping[str, Any],
    model: trained.Model,
    reads: Sequence[Read],
    encoder: NetworkOptions,
    store: Path,
) -> list[Any]:
    """What vectors add to the first guess, by text; a distinct sentence is encoded once, ever."""
    said = [(sentence,) for read in reads for sentence in read.said]
    weights = steps[VECTORS]
    settings = {
        "method": vectors.METHOD,
        "dtype": encoder.dtype,
        "weights": trained.digest(model, VECTORS),
    }
    task = Task("sentence_roles", identify(encoder), encoder.device, settings, vectors.PACKAGES)

    loaded = functools.cache(lambda: vectors.load(encoder))

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        for block in vectors.vectors(loaded(), [said[place][0] for place in missing]):
            rows = {
                place: trained.vector_logits(weights, row[None])[0] for place, row in block.items()
            }
            yield {missing[place]: np.round(row, 4).tolist() for place, row in rows.items()}

    every = iter(outputs(task, said, compute, store=store) if said else [])
    return [np.array([next(every) for _ in read.said]) for read in reads]


def _recipe(options: SentenceRoleOptions, _: object) -> str:
    """The block's settings and a hash of the trained file."""
    content = hashlib.sha256(Path(options.model).read_bytes()).hexdigest()
    settings = {"kind": "sentence_roles"} | options.model_dump(exclude_unset=True)
    return f"{printed(settings)}#{content[:8]}"


def _check(model: trained.Model, options: SentenceRoleOptions) -> None:
    where, encoder = options.model, options.encoder
    if encoder is None and model.encoder is not None:
        raise BadInput(f"{where}: was trained with an encoder; name it in the block's `encoder`")
    if encoder is not None and model.encoder is None:
        raise BadInput(f"{where}: was trained without an encoder; leave `encoder` out of the block")
    if encoder is not None and weights_digest(encoder) != model.encoder:
        raise BadInput(
            f"{where}: trained with weights {str(model.encoder)[:8]}, but {encoder.model!r} has"
            f" {weights_digest(encoder)[:8]}; take the first again, or run: dvc repro train_roles"
        )


KIND = Segmentation(
    options=SentenceRoleOptions,
    divide=divide,
    facets=lambda options: tuple(options.facets),
    files=lambda options: (PromptFile(Path(options.model), None),),
    recipe=_recipe,
)
