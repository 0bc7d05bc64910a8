"""Reference scores of a note from what people counted in it: facts, key phrases, errors.

Scores are None, never 0, where a count is unknown (None) or a divisor is 0. Source: Ben
Abacha et al. 2023, An investigation of evaluation metrics for automated medical note
generation, sections 3.3 and 4.2 and table 9.
"""

from collections.abc import Sequence
from typing import NamedTuple

STATUSES = ("correct", "incorrect", "hallucinated", "omitted")


class FactCounts(NamedTuple):
    """A text's facts by status, and optionally the facts of the reference (`reference`).

    The first three add up to the facts of the text; `omitted` facts are only in the
    reference.
    """

    correct: int | None
    incorrect: int | None
    hallucinated: int | None
    omitted: int | None
    reference: int | None = None


def count_facts(
    statuses: Sequence[str | None], reference: int | None = None
) -> FactCounts:
    """Count facts by status; all None if a fact has no status.

    correct, correct, omitted, hallucinated: 2 correct, 0 incorrect, 1 hallucinated, 1
    omitted.
    """
    if None in statuses:
        return FactCounts(None, None, None, None, reference)
    correct, incorrect, hallucinated, omitted = (
        statuses.count(status) for status in STATUSES
    )
    return FactCounts(correct, incorrect, hallucinated, omitted, reference)


def fact_scores(counts: FactCounts) -> dict[str, float | None]:
    """Return factual precision, recall, F1 (higher is better), hallucination and omission rate.

    Precision and hallucination rate are shares of the text's facts, recall and omission
    rate of the reference's: `reference`, or else correct + omitted. All are 0 to 1
    where counts add up (`count_contradiction`). F1 is 0 where precision and recall are.

    6 correct, 1 incorrect, 1 hallucinated, 2 omitted, 9 in the reference: precision 6 /
    8 = .75, recall 6 / 9, F1 2 x .5 / 1.416667 = .705882, hallucination 1 / 8 = .125,
    omission 2 / 9. 4 omitted and nothing else: recall 0, omission 1; precision, F1,
    hallucination undefined.
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


def count_contradiction(counts: FactCounts, system: int | None = None) -> str | None:
    """Describe how counts contradict each other or the text's total, `system`; None if they add up.

    A fact of the reference is correct in the text, incorrect, or omitted: `reference`
    lies between correct + omitted and correct + omitted + incorrect. Unknown counts
    contradict nothing.
    """
    correct, incorrect, hallucinated, omitted, reference = counts
    in_text = _sum(correct, incorrect, hallucinated)
    if None not in (in_text, system) and in_text != system:
        return "correct, incorrect and hallucinated facts are not the facts of the text in all"
    least = _sum(correct, omitted)
    most = _sum(least, incorrect)
    if reference is not None and least is not None and reference < least:
        return "the reference has fewer facts than are correct or omitted"
    if reference is not None and most is not None and reference > most:
        return "the reference has more facts than are correct, incorrect or omitted"
    return None


def phrases_per_word(phrases: int | None, words: int) -> float | None:
    """Return marked key phrases per word of a text, lower is better; None without words.

    Hallucinated phrases count per word of the text, omitted ones per word of the
    reference. A repeated phrase counts each time. 2 phrases among 8 words: .25.
    """
    return _ratio(phrases, words)


def quality(
    critical: int | None,
    non_critical: int | None,
    spelling: int | None,
    sentences: int,
    reference_sentences: int,
) -> float | None:
    """Return 1 - (critical + non-critical / 3 + spelling / 12) / sentences: higher is better.

    `sentences` is the larger number, that of the text or of its reference. At most 1;
    below 0 with more than one critical error per sentence: as in the paper, there is no
    lower limit.

    1 critical, 2 non-critical and 4 spelling errors in 5 sentences, 3 in the reference:
    1 - (1 + 2/3 + 1/3) / 5 = .6. 3 critical errors in 2 sentences, 2 in the reference:
    -.5.
    """
    if critical is None or non_critical is None or spelling is None:
        return None
    errors = 12 * critical + 4 * non_critical + spelling
    share = _ratio(errors, 12 * max(sentences, reference_sentences))
    return None if share is None else 1.0 - share


def _sum(*counts: int | None) -> int | None:
    values = [count for count in counts if count is not None]
    return sum(values) if len(values) == len(counts) else None


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None
