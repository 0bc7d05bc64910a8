"""The sections of a source that a trained ranker finds most relevant to any summary of it.

Adams et al. 2023, appendix B: inputs are longer than models read, so that a small model
predicts the ROUGE recall of each section against a reference that nobody has yet. Theirs
is a bi-LSTM; this one reads a section's words without their order, which is trained in
seconds and has one best solution.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p, tanh
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from metassay.concepts.linkers import name_and_hash
from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.llm.needs import PromptFile
from metassay.metrics import rouge
from metassay.models import extra
from metassay.units.alignment.rouge import group_sections, rouge_tokens
from metassay.units.record import Aligned, Alignment, Passages, Statements, Tally

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "ranked_sections"
RECALLS = ("rouge1_recall", "rouge2_recall")
DECIMALS = 6  # of weights: the same on any machine
_UNREADABLE = (OSError, ValueError, TypeError)
_ROUGE = rouge.RougeOptions(stemmer=False, split="newline")


class RankedSectionsOptions(Options):
    """`ranker`: a file of `write_ranker`. `sections`: how many of a source are read."""

    ranker: str
    sections: int = Field(default=100, ge=1)


class Ranker(NamedTuple):
    """Weights of a section's words and length; a word counts log(1 + how often it occurs)."""

    words: Mapping[str, float]
    length: float
    bias: float


def relevance(section: str, reference: str) -> float:
    """Return the mean of ROUGE-1 and ROUGE-2 recall of a section: what a ranker learns.

    The share of the reference's words, and pairs of words, that the section has: 0 to
    1, higher is better; 0 if the reference has none.

    >>> round(relevance("no fever, no cough", "She has no fever."), 6)
    0.416667
    """
    columns = rouge.measure([section], [reference], _ROUGE)
    return sum(columns[name][0].value or 0.0 for name in RECALLS) / len(RECALLS)


def fit_ranker(
    documents: Sequence[tuple[Sequence[str], str]],
    *,
    ridge: float = 1.0,
    least: int = 2,
) -> Ranker:
    """Fit a ranker to documents, each of sections and a reference, by soft cross-entropy.

    A section's target is its `relevance`, the prediction a logistic function of its
    words. `least`: words in fewer sections are not read. Half of `ridge` times the sum
    of squared weights is a penalty. The same documents give the same ranker, in any
    order. Raises BadInput if the targets are all 0.
    """
    sections = [section for texts, _ in documents for section in texts]
    targets = [relevance(s, reference) for texts, reference in documents for s in texts]
    if not any(targets):
        raise BadInput(
            "no section shares a word with its reference, so that there is nothing to rank by;"
            " check that each document's sections and reference belong together"
        )
    counts = [Counter(rouge_tokens(section)) for section in sections]
    in_sections = Counter(word for count in counts for word in count)
    words = sorted(word for word, n in in_sections.items() if n >= least)
    rows = [
        [log1p(count[word]) for word in words] + [log1p(count.total())]
        for count in counts
    ]
    # Soft labels: each section is there with both labels, weighted by its target.
    labels = [1] * len(rows) + [0] * len(rows)
    weights = [*targets, *(1 - target for target in targets)]
    regression = extra.module("sklearn.linear_model").LogisticRegression
    fitted = regression(C=1 / ridge, solver="newton-cg", tol=1e-10, max_iter=10_000)
    fitted.fit(rows + rows, labels, sample_weight=weights)
    *of_words, length = [round(float(weight), DECIMALS) for weight in fitted.coef_[0]]
    return Ranker(
        words=dict(zip(words, of_words, strict=True)),
        length=length,
        bias=round(float(fitted.intercept_[0]), DECIMALS),
    )


def score(ranker: Ranker, section: str) -> float:
    """Return the recall that a ranker expects of a section: 0 to 1, higher is better.

    >>> score(Ranker(words={"fever": 1.0}, length=0.0, bias=0.0), "no cough")
    0.5
    """
    counts = Counter(rouge_tokens(section))
    total = ranker.bias + ranker.length * log1p(counts.total())
    for word in sorted(counts):
        total += ranker.words.get(word, 0.0) * log1p(counts[word])
    return (1 + tanh(total / 2)) / 2


def write_ranker(path: Path, ranker: Ranker) -> None:
    """Write a ranker as JSON."""
    with whole_file(path) as file:
        file.write(json.dumps(ranker._asdict(), indent=1).encode() + b"\n")


def read_ranker(path: Path) -> Ranker:
    """Read a ranker; BadInput if there is none."""
    try:
        ranker = Ranker(**json.loads(path.read_bytes()))
        words = {str(word): float(weight) for word, weight in ranker.words.items()}
        return Ranker(words, float(ranker.length), float(ranker.bias))
    except (*_UNREADABLE, AttributeError) as error:
        raise BadInput(
            f"ranker {path}: is not a ranker of sections ({type(error).__name__}); give a file of"
            " write_ranker (docs/tuning.md)"
        ) from None


def choose_sections(
    ranker: Ranker, document: Statements, most: int
) -> list[tuple[int, float]]:
    """Return the passages of the `most` best sections, in source order, each with its score.

    Ties go to the section that comes first.
    """
    sections = group_sections(document.groups)
    texts = [" ".join(document.passages[i] for i in places) for places in sections]
    scores = [score(ranker, text) for text in texts]
    best = sorted(range(len(sections)), key=lambda i: (-scores[i], i))[:most]
    return sorted((place, scores[i]) for i in best for place in sections[i])


def align(documents: Sequence[Statements], options: RankedSectionsOptions) -> Aligned:
    """Align every statement with all passages of the best sections, whatever it says.

    A passage's value is its section's score. Notes count the sections that are not
    read. Raises BadInput as `read_ranker`.
    """
    ranker = read_ranker(Path(options.ranker))
    aligned: list[Passages] = []
    total = 0
    for document in documents:
        chosen = choose_sections(ranker, document, options.sections)
        aligned.append([list(chosen) for _ in document.statements])
        total += len(group_sections(document.groups))
    read = sum(
        min(options.sections, len(group_sections(document.groups)))
        for document in documents
    )
    form = "{:,} of {:,} sections are not read, by the ranker"
    tally = Tally("", form, (total - read, total))
    return Aligned(aligned, tally.notes, tally)


KIND = Alignment(
    options=RankedSectionsOptions,
    align=align,
    files=lambda options: (PromptFile(Path(options.ranker), None),),
    recipe=lambda options, _: (
        f"{NAME},sections={options.sections},ranker={name_and_hash(Path(options.ranker))}"
    ),
)
