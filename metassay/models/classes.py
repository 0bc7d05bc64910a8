"""What the classes of a model of natural language inference mean, and how probable they are."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from metassay.core.errors import BadInput
from metassay.models.digits import kept

ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"
NEUTRAL, CONTRADICTED = "neutral", "contradicted"
THREE = (ENTAILED, NEUTRAL, CONTRADICTED)

Shares = Mapping[str, float]  # probability by label

_OTHERS = re.compile(r"[^a-z]")
_MEANINGS = {
    ENTAILED: re.compile(r"entail(s|ed|ment)?|support(s|ed)?"),
    NOT_ENTAILED: re.compile(r"(not?|non)entail(s|ed|ment)?"),
    NEUTRAL: re.compile(r"neutral|notenoughinfo(rmation)?"),
    CONTRADICTED: re.compile(r"contradict(s|ed|ion|ory)?|refute(s|d)?"),
}


def meaning(name: str) -> str | None:
    """The label that a class of this name stands for; None if the name does not say.

    Case and all that is no letter count for nothing: ENTAILMENT, entails and entailed are one, so
    are not_entailment and non-entailed, neutral, and contradiction, contradicts and contradicted.
    Models of fact checking say supports, refutes and not enough info.
    """
    letters = _OTHERS.sub("", name.lower())
    return next((label for label, form in _MEANINGS.items() if form.fullmatch(letters)), None)


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """The labels of a model's classes, in their order; a single class is the entailed one.

    Raises BadInput if a name says nothing, two say the same, or none or all say `entailed`.
    """
    if len(names) == 1:
        return (ENTAILED,)
    meanings = [meaning(name) for name in names]
    known = [label for label in meanings if label is not None]
    if len(set(known)) < len(names) or ENTAILED not in known or len(names) > len(THREE):
        told = ", ".join(map(repr, names))
        raise BadInput(
            f"classes called {told} do not say what they mean; give `labels`, one for each in their"
            " order, such as [not_entailment, entailment]"
        )
    return tuple(known)


def shares(numbers: Sequence[float], labels: Sequence[str], digits: int) -> dict[str, float]:
    """Probability of each label: softmax over the numbers; of a single one the logistic function.

    `labels` has a label per number; numbers of one label (spellings of a word) are added up.
    `digits` are kept, as `digits.kept` keeps them.
    """
    if len(numbers) != len(labels):
        raise BadInput(f"the model has {len(numbers)} classes, `labels` has {len(labels)}")
    both = np.array([*numbers, 0.0] if len(numbers) == 1 else numbers)
    weights = np.exp(both - both.max())
    parts = weights / weights.sum()
    summed = dict.fromkeys(labels, 0.0)
    for label, part in zip(labels, parts.tolist(), strict=False):
        summed[label] += part
    return {label: kept(share, digits) for label, share in summed.items()}
