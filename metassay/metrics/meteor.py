"""METEOR by NLTK: words of the reference that a text has too, and how scattered they are.

Lavie and Agarwal 2007, with their parameters. Words are matched as they are, then by
their stem (Porter), then by WordNet's synonyms, if the option `synonyms` says so.
"""

from collections.abc import Sequence
from typing import Any, Literal

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric

VERSION = 1  # raised by whoever changes results of this module's kinds

ALPHA = 0.9  # the weight of precision in the denominator of the mean
BETA = 3.0
GAMMA = 0.5  # the highest penalty


class MeteorOptions(Options):
    """`synonyms`: `none`, or those of `wordnet`, whose files NLTK must find.

    There is no default: values with and without synonyms are of two metrics.
    """

    synonyms: Literal["none", "wordnet"]


DESCRIPTIONS = (
    Description(
        "meteor",
        "harmonic mean of the share of the text's words and, nine times as heavy, of the"
        " reference's words that match a word of the other, times a penalty for matches that are"
        " not in one run",
        "higher",
        (0, 1),
        "null if neither text has words; 0 if one has none, or if no word matches",
        "Lavie and Agarwal 2007, section 2; values of NLTK",
        OVERLAP,
        headline=True,
    ),
)


class _NoSynonyms:
    """A WordNet without words, for NLTK."""

    def synsets(self, _word: str) -> list[Any]:
        return []


def recipe(options: MeteorOptions) -> str:
    """Print every setting that can change a value; BadInput as `measure`."""
    import nltk

    synonyms = "none"
    if options.synonyms == "wordnet":
        synonyms = f"wordnet-{_load_wordnet().get_version()}"
    return (
        f"words:wordpunct|case:lower|stemmer:porter|synonyms:{synonyms}|alpha:{ALPHA}"
        f"|beta:{BETA}|gamma:{GAMMA}|nltk:{nltk.__version__}"
    )


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MeteorOptions
) -> dict[str, list[Measured]]:
    """Return METEOR of each candidate against the reference at the same index of `evidence`.

    0 to 1, higher is better. Null if neither text has words; 0 if one has none. A text
    of m words has 1 - .5 / m ** 3 with itself: it is one run. There are no statistics:
    a corpus value is a mean. Raises BadInput if WordNet is asked for and is not there.

    Text "the president then spoke to the audience", reference "the president spoke to
    the audience": 6 matches in 2 runs, precision 6/7, recall 1, mean .983607, penalty
    .5 (2/6)**3 = .018519, METEOR .965392.
    """
    # Imported here: nltk takes seconds.
    from nltk.tokenize import wordpunct_tokenize
    from nltk.translate.meteor_score import single_meteor_score

    wordnet = _load_wordnet() if options.synonyms == "wordnet" else _NoSynonyms()
    measured = []
    for candidate, reference in zip(candidates, evidence, strict=True):
        text = wordpunct_tokenize(candidate)
        of_reference = wordpunct_tokenize(reference)
        if not text and not of_reference:
            measured.append(UNDEFINED)
            continue
        value = single_meteor_score(
            of_reference, text, wordnet=wordnet, alpha=ALPHA, beta=BETA, gamma=GAMMA
        )
        measured.append(Measured(float(value), None))
    return {"meteor": measured}


def _load_wordnet() -> Any:
    """Return NLTK's WordNet; BadInput if its files are not where NLTK looks."""
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        raise BadInput(
            "meteor: NLTK finds no WordNet for `synonyms: wordnet`; run"
            " `python -m nltk.downloader wordnet` where there is a network (NLTK_DATA names another"
            " folder than ~/nltk_data), or choose `synonyms: none`, which has other values"
        ) from None
    return wordnet


KIND = Metric(
    options=MeteorOptions,
    measure=measure,
    recipe=recipe,
    descriptions=DESCRIPTIONS,
)
