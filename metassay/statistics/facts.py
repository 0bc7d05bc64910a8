"""Reference scores of a note from what people counted in it: facts, key phrases, errors.

All are undefined, None, where a count is unknown (None) or a divisor is 0: never 0 for that.
Source: Ben Abacha et al. 2023, An investigation of evaluation metrics for automated medical note
generation, sections 3.3 and 4.2 and table 9.
"""

from collections.abc import Sequence
from typing import NamedTuple

STATUSES = ("correct", "incorrect", "hallucinated", "omitted")


class FactCounts(NamedTuple):
    """How many facts of each status a text has; `reference`, of the reference, may be left out.

    The text's own facts are the first three together; `omitted` are facts of the reference alone.
    """

    correct: int | None
    incorrect: int | None
    hallucinated: int | None
    omitted: int | None
    reference: int | None = None


def count_facts(statuses: Sequence[str | None], reference: int | None = None) -> FactCounts:
    """Counts of a list of facts, a status each; all None where one fact has no status.

    correct, correct, omitted, hallucinated: 2 correct, 0 incorrect, 1 hallucinated, 1 omitted.
    """
    if None in statuses:
        return FactCounts(None, None, None, None, reference)
    correct, incorrect, hallucinated, omitted = (statuses.count(status) for status in STATUSES)
    return FactCounts(correct, incorrect, hallucinated, omitted, reference)


def fact_scores(counts: FactCounts) -> dict[str, float | None]:
    """Factual precision, recall and F1 (higher is better), hallucination and omission rate (lower).

    Precision and hallucination rate are shares of the text's facts, recall and omission rate of the
    reference's: `reference`, or else correct + omitted. All are 0 to 1 where counts add up
    (`miscounted`). F1 is 0 where precision and recall are.

    6 correct, 1 incorrect, 1 hallucinated, 2 omitted, 9 in the reference: precision 6 / 8 = .75,
    recall 6 / 9, F1 2 x .5 / 1.416667 = .705882, hallucination 1 / 8 = .125, omission 2 / 9.
    4 omitted and nothing else: recall 0, omission 1; precision, F1, hallucination undefined.
    """
    correct, incorrect, hallucinated, omitted, reference = counts
    system = _sum(correct, incorrect, hallucinated)
    expected = _sum(correct, omitted) if reference is None else reference
    precision, recall = _ratio(correct, system), _ratio(correct, expected)
    f1 = None
    if precision is not None and recall is not None:
        f1 = _ratio(2 * precision * recall, precision + recall) or 0.0
    return {
        "factual_precision": precision,
        "factual_recall": recall,
        "factual_f1": f1,
        "hallucination_rate": _ratio(hallucinated, system),
        "omission_rate": _ratio(omitted, expected),
    }


def miscounted(counts: FactCounts, system: int | None = None) -> str | None:
    """How counts contradict each other or the text's facts in all, `system`; None if they add up.

    A fact of the reference is in the text as it should be, or garbled, or omitted: `reference` lies
    between correct + omitted and correct + omitted + incorrect. An unknown contradicts nothing.
    """
    correct, incorrect, hallucinated, omitted, reference = counts
    own = _sum(correct, incorrect, hallucinated)
    if None not in (own, system) and own != system:
        return "correct, incorrect and hallucinated facts are not the facts of the text in all"
    least = _sum(correct, omitted)
    most = _sum(least, incorrect)
    if reference is not None and least is not None and reference < least:
        return "the reference has fewer facts than are correct or omitted"
    if reference is not None and most is not None and reference > most:
        return "the reference has more facts than are correct, incorrect or omitted"
    return None


def phrases_per_word(phrases: int | None, words: int) -> float | None:
    """Key phrases marked in a text per word of it, lower is better; None where it has no word.

    Hallucinated phrases count per word of the text, omitted ones per word of the reference. A
    phrase that is there twice counts twice. 2 phrases among 8 words: .25.
    """
    return _ratio(phrases, words)


def quality(
    critical: int | None,
    non_critical: int | None,
    spelling: int | None,
    sentences: int,
    reference_sentences: int,
) -> float | None:
    """1 - (critical + non-critical / 3 + spelling / 12) / sentences: higher is better, at most 1.

    `sentences` is the greater number, that of the text or that of its reference. More than one
    critical error a sentence takes it below 0; the paper has no floor, nor has this.

    1 critical, 2 non-critical and 4 spelling errors in 5 sentences, 3 in the reference:
    1 - (1 + 2/3 + 1/3) / 5 = .6. 3 critical errors in 2 sentences, 2 in the reference: -.5.
    """
    if critical is None or non_critical is None or spelling is None:
        return None
    errors = 12 * critical + 4 * non_critical + spelling
    share = _ratio(errors, 12 * max(sentences, reference_sentences))
    return None if share is None else 1.0 - share


def _sum(*counts: int | None) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(counts) else None


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None
