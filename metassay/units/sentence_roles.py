"""Facets by a trained model of sentence roles, with headings and the rules for conclusions on top.

Nobody labelled conclusions in the data that the model was trained on. A sentence is one where the
cue rules find it to be, and the model takes it for a result or for none of the other roles.
"""

import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metassay.core.errors import BadInput
from metassay.core.options import printed
from metassay.llm.needs import PromptFile, Resources
from metassay.models.encoders import load_encoder
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import Task, outputs, text_hash
from metassay.models.store import STORE
from metassay.units import trained
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.roles import ROLES, Read, RoleOptions, divide_by_role
from metassay.units.trained import LABELS, VECTORS, Model

_CONCLUSION = "conclusion"
_BECOMES = ("result", "other")  # what conclusions count as in the training data
_METHOD = 1  # part of the store's keys; whoever changes what a vector is raises it
_PACKAGES = ("transformers", "tokenizers", "torch")


class SentenceRoleOptions(RoleOptions):
    """`model`: the file that stage `train_roles` wrote. `encoder`: the one it was trained with."""

    model: str
    encoder: NetworkOptions


def divide(texts: Sequence[Text], options: SentenceRoleOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The facets of each text by the model; see `roles.divide_by_role`.

    Raises BadInput if the model cannot be read, or was trained with another encoder.
    """
    model, own = trained.load(Path(options.model)), weights_digest(options.encoder)
    if own != model.encoder:
        raise BadInput(
            f"{options.model}: trained with weights {model.encoder[:8]}, but"
            f" {options.encoder.model!r} has {own[:8]}; take the first again, or run:"
            " dvc repro train_roles"
        )
    return divide_by_role(
        texts,
        options.facets,
        lambda reads: classify(model, reads, _by_vector(model, reads, options.encoder)),
    )


def classify(model: Model, reads: Sequence[Read], by_vector: Sequence[Any]) -> list[list[str]]:
    """The role of each sentence of each text; `by_vector` has each text's `vector_logits`."""
    steps = model.steps
    found: list[list[str]] = []
    for read, logits in zip(reads, by_vector, strict=True):
        if not read.said:
            found.append([])
            continue
        text = trained.shared(read)
        chosen = [ROLES[row.argmax()] for row in text.cue[:, : len(ROLES)]]
        probability = trained.probabilities(steps, text, logits)
        found.append(_roles(probability, chosen, read.allowed))
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
    model: Model, reads: Sequence[Read], encoder: NetworkOptions, store: Path = STORE
) -> list[Any]:
    """What vectors add to the first guess, by text; a distinct sentence is encoded once, ever."""
    said = [(sentence,) for read in reads for sentence in read.said]
    weights = model.steps[VECTORS]
    settings = {
        "method": _METHOD,
        "dtype": encoder.dtype,
        "weights": text_hash(model.weights[VECTORS])[:8],
    }
    task = Task("sentence_roles", identify(encoder), encoder.device, settings, _PACKAGES)
    loaded = functools.cache(lambda: load_encoder(encoder, trained.LAYERS))

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        sentences = [said[place][0] for place in missing]
        for block in trained.sentence_vectors(loaded(), sentences):
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


KIND = Segmentation(
    options=SentenceRoleOptions,
    divide=divide,
    facets=lambda options: tuple(options.facets),
    files=lambda options: (PromptFile(Path(options.model), None),),
    recipe=_recipe,
)
