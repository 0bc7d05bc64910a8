"""What an NLI model's numbers mean, and the windows of a premise that it cannot read at once."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from metassay.core.errors import BadInput
from metassay.judges.protocol import Judgment
from metassay.judges.record import by_threshold
from metassay.models.digits import kept
from metassay.text.sentences import sentences
from metassay.text.spans import Span

ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"
NEUTRAL, CONTRADICTED = "neutral", "contradicted"
THREE = (ENTAILED, NEUTRAL, CONTRADICTED)

Shares = Mapping[str, float]  # probability by label

_OTHERS = re.compile(r"[^a-z]")
_MEANINGS = {
    ENTAILED: re.compile(r"entail(s|ed|ment)?"),
    NOT_ENTAILED: re.compile(r"(not?|non)entail(s|ed|ment)?"),
    NEUTRAL: re.compile(r"neutral"),
    CONTRADICTED: re.compile(r"contradict(s|ed|ion|ory)?"),
}


def meaning(name: str) -> str | None:
    """The label that a class of this name stands for; None if the name does not say.

    Case and all that is no letter count for nothing: ENTAILMENT, entails and entailed are one, so
    are not_entailment and non-entailed, neutral, and contradiction, contradicts and contradicted.
    """
    letters = _OTHERS.sub("", name.lower())
    return next((label for label, form in _MEANINGS.items() if form.fullmatch(letters)), None)


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """The labels of a model's classes, in their order; a single class is the entailed one.

    Raises BadInput if a name says nothing, two say the same, or none or all say `entailed`.
    """
    if len(names) == 1:
        return (ENTAILED,)
    found = [meaning(name) for name in names]
    known = [label for label in found if label is not None]
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
    found = dict.fromkeys(labels, 0.0)
    for label, part in zip(labels, parts.tolist(), strict=False):
        found[label] += part
    return {label: kept(share, digits) for label, share in found.items()}


def hangs(
    windows: Sequence[Shares], off: float, decide: Callable[[Sequence[Shares]], Judgment]
) -> bool:
    """Whether another status or label is decided if a label's probabilities are so much off."""
    shifted = (
        [{**window, label: window[label] + by} for window in windows]
        for label in windows[0]
        for by in (-off, off)
    )
    answers = [decide(each) for each in (windows, *shifted)]
    return len({(answer.status, answer.label) for answer in answers}) > 1


def two_way(
    windows: Sequence[Shares], threshold: float, abstain: Sequence[float] | None
) -> Judgment:
    """Entailed if some window's probability reaches the threshold.

    Abstained where the highest one lies inside of the band `abstain`.
    """
    best = max(range(len(windows)), key=lambda n: windows[n][ENTAILED])
    return by_threshold(windows[best][ENTAILED], threshold, abstain, _said(windows, best))


def three_way(windows: Sequence[Shares], abstain: Sequence[float] | None) -> Judgment:
    """The likeliest label: entailed if it is that of some window, else contradicted if that is.

    What one passage says holds for the premise, even if the others say nothing of it. So the label
    is neutral only if all windows are. The probability is the highest of `entailed`. Abstained
    where the label's own is below the upper end of the band `abstain`.
    """
    probability = max(window[ENTAILED] for window in windows)
    likeliest = [max(THREE, key=window.__getitem__) for window in windows]
    label = min(likeliest, key=(ENTAILED, CONTRADICTED, NEUTRAL).index)
    saying = [n for n, said in enumerate(likeliest) if said == label]
    best = max(saying, key=lambda n: windows[n][label])
    explanation = _said(windows, best)
    if abstain is not None and windows[best][label] < abstain[1]:
        return Judgment("abstained", probability=probability, explanation=explanation)
    return Judgment("ok", label, probability, explanation=explanation)


def written(windows: Sequence[str | None], negative: Sequence[str]) -> Judgment:
    """The label of windows whose answers were written: entailed if one is, else as follows.

    It is unparsed if some window's answer was no label (None), and else the first of `negative`
    that is among them.
    """
    if ENTAILED in windows:
        return Judgment("ok", ENTAILED)
    if None in windows:
        return Judgment("unparsed", explanation="the model wrote none of the words")
    return Judgment("ok", next((label for label in negative if label in windows), negative[-1]))


def _said(windows: Sequence[Shares], best: int) -> str:
    parts = ", ".join(f"{label} {share:.3f}" for label, share in windows[best].items())
    return parts if len(windows) == 1 else f"{parts} in window {best + 1} of {len(windows)}"


def pieces(text: str) -> list[Span]:
    """The text cut behind each sentence, so that a heading stays with what follows it.

    Every character lies in exactly one piece; a text without sentences is one piece.
    """
    ends = [span.end for span in sentences(text)][:-1]
    return [Span(start, end) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def windows(lengths: Sequence[int], most: int, stride: int) -> Iterator[range]:
    """Runs of pieces of these lengths: each as long as `most` allows, or one piece.

    The next one begins where at least `stride` (at most `most`) has been passed, but leaves no
    piece out, and is left out itself if it says nothing new; the last one ends with the last piece.
    With `stride` = `most` no two overlap.
    """
    start = told = 0
    while told < len(lengths):
        end, held = start + 1, lengths[start]
        while end < len(lengths) and held + lengths[end] <= most:
            held += lengths[end]
            end += 1
        if end > told:
            yield range(start, end)
            told = end
        passed = 0
        while start < end and passed < stride:
            passed += lengths[start]
            start += 1
