"""CTC's consistency: how probable it is that a statement's words are no hallucinated ones."""

from collections.abc import Iterator, Sequence
from math import fsum
from pathlib import Path
from string import punctuation

from pydantic import Field

from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.options import CheckpointOptions
from metassay.metrics.faithfulness.reading import by_text
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of
from metassay.models.store import STORE
from metassay.models.word_labels import Labelled, Pieces, word_labels
from metassay.text.tokens import STOPWORDS

NAME = "ctc_consistency"
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


class CtcOptions(CheckpointOptions):
    """Classifiers of tokens, whose class 0 is a word that is not fake, and 1 one that is.

    `pieces`: a word's vector is the `mean` of its tokens', or the `sum`, as the released code
    trains and reads its own models. `stop_words`: whether these count; without them a statement of
    stop words alone has 0. `batch_tokens`: how many tokens are read at once, padding included
    (about 512 suits a processor, 16384 a GPU); it is for speed, and changes last digits at most.
    """

    pieces: Pieces = "mean"
    stop_words: bool = True
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: CtcOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """The mean probability, over a statement's words, of not being fake: 0 to 1, higher is better.

    Words stand between blanks; texts are read in lower case with straight quotes. A text is cut
    after 256 tokens, its passages where both have 512. Statements of a case are one text, joined by
    a blank, of which each has its own words. Null for a blank statement and where there is no
    passage; failed if a word and the tokens do not align, if a number is not finite, or if the
    statement is past the cut. Deng et al. 2021, section 4.1. Raises BadInput as `word_labels`.
    """

    def scores(cases: Sequence[Case]) -> list[list[Scored]]:
        texts = [[normal(text) for text in case.statements] for case in cases]
        asked = [
            (" ".join(its), normal(" ".join(case.passages)))
            for its, case in zip(texts, cases, strict=True)
        ]
        how, most = options.pieces, options.batch_tokens
        found = word_labels(asked, checkpoint, of_pieces=how, batch_tokens=most, store=store)
        return [
            list(_statements(its, labels, options.stop_words))
            for its, labels in zip(texts, found, strict=True)
        ]

    return {NAME: by_text(cases, scores, Scored(None))}


def normal(text: str) -> str:
    """A text in lower case, with straight quotes and single blanks."""
    return " ".join(text.translate(_STRAIGHT).lower().split())


def consistency(words: Sequence[str], labels: Sequence[float | None], stop_words: bool) -> Scored:
    """The value of words of which the first have labels; see `score`."""
    read = list(zip(words, labels, strict=False))
    cut = len(labels) < len(words)
    known = [label for _, label in read if label is not None]
    if not read or len(known) < len(read):
        return Scored(None, failed=True, cut=cut)
    if not stop_words:
        kept = [word.strip(punctuation) not in STOPWORDS for word, _ in read]
        known = [label for label, keep in zip(known, kept, strict=True) if keep]
    return Scored(fsum(known) / len(known) if known else 0.0, cut=cut)


def _statements(texts: Sequence[str], found: Labelled, stop_words: bool) -> Iterator[Scored]:
    labels = list(found.words)
    for text in texts:
        words = text.split(" ")
        its, labels = labels[: len(words)], labels[len(words) :]
        yield consistency(words, its, stop_words)._replace(unread=found.unread)


KIND = FaithfulnessMetric(
    options=CtcOptions,
    score=score,
    recipe=lambda options, checkpoint: recipe_of(
        checkpoint, pieces=options.pieces, stop_words="yes" if options.stop_words else "no"
    ),
    descriptions=(
        Description(
            NAME,
            "mean, over the words of the statement, of the probability that a classifier of tokens"
            " gives the word of not being fake, having read the passages beside it",
            better="higher",
            range=(0, 1),
            missing="null for a blank statement, and where no passage is aligned with it; 0 if only"
            " stop words are in it and these do not count",
            source="Deng et al. 2021, section 4.1; tanyuqian/ctc-gen-eval",
            family=JUDGED,
            headline=True,
        ),
    ),
    by_text=True,
)
