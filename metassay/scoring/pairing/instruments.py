"""Instruments: the questions that judges answer about premise and hypothesis, and valid answers.

A new instrument is a new record here. Labels may be two (entailed or not), three
(entailed, neutral, contradicted), the outcomes of a rubric item (met, not_met) or the
choices of a preference or a minimal pair (first, second, neither). A measure has the
worth of each label. A grade is a number on a scale; a criterion of a rubric has its own
(`Level`). An index (which of several) is a label, too: its digits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Reals = NDArray[np.float64]


class Answers(NamedTuple):
    """Answers of judges as arrays of n: `labels[i]` is a place in `names`, -1 for null."""

    names: Sequence[str]
    labels: NDArray[np.int64]
    grades: Reals  # NaN for null

    @classmethod
    def read(cls, judgments: pd.DataFrame) -> "Answers":
        """Read columns `label` and `grade` of table `judgments`."""
        labels, names = pd.factorize(judgments["label"])
        return cls(
            [str(name) for name in names],
            labels,
            judgments["grade"].to_numpy(dtype=float),
        )

    def take(self, rows: NDArray[np.int64]) -> "Answers":
        """Select rows."""
        return Answers(self.names, self.labels[rows], self.grades[rows])


@dataclass(frozen=True)
class Labels:
    """The answer is one of `names`, in column `label`; `grade` is null."""

    names: tuple[str, ...]

    @property
    def expected(self) -> str:
        """The valid answers, for messages."""
        return f"a label, one of {', '.join(self.names)}, and no grade"

    def worth(self, answers: Answers, counts: Mapping[str, float]) -> Reals:
        """Return `counts` of each label, 0 if it lacks the label; NaN for invalid answers."""
        worth = [
            counts.get(name, 0.0) if name in self.names else np.nan
            for name in answers.names
        ]
        of_label = np.array([*worth, np.nan])  # place -1 is the last
        return np.where(np.isnan(answers.grades), of_label[answers.labels], np.nan)


@dataclass(frozen=True)
class Grade:
    """The answer is a number from `low` to `high`, in column `grade`; `label` is null."""

    low: float
    high: float

    @property
    def expected(self) -> str:
        """The valid answers, for messages."""
        return f"a grade from {self.low:g} to {self.high:g} and no label"

    def worth(self, answers: Answers, counts: Mapping[str, float]) -> Reals:  # noqa: ARG002 - of labels
        """Return the grade's place on the scale, 0 at `low`, 1 at `high`; NaN if invalid."""
        grades = answers.grades
        fits = (grades >= self.low) & (grades <= self.high) & (answers.labels < 0)
        return np.where(fits, (grades - self.low) / (self.high - self.low), np.nan)


@dataclass(frozen=True)
class Level:
    """The answer is a number that the criterion in the pair's context allows, in column `grade`.

    `label` is null. The criterion's reader checks the range.
    """

    @property
    def expected(self) -> str:
        """The valid answers, for messages."""
        return "a grade that the criterion allows and no label"

    def worth(self, answers: Answers, counts: Mapping[str, float]) -> Reals:  # noqa: ARG002 - of labels
        """Return the grade; NaN for invalid answers."""
        fits = np.isfinite(answers.grades) & (answers.labels < 0)
        return np.where(fits, answers.grades, np.nan)


@dataclass(frozen=True)
class Instrument:
    """A question to judges: its name in table `pairs`, its wording, and the valid answers.

    `without_context`: the instrument that replaces it if there is no context. None:
    itself.
    """

    name: str
    asks: str
    answer: Labels | Grade | Level
    without_context: "Instrument | None" = None


_ENTAILED = Labels(("entailed", "not_entailed"))
SUPPORT = Grade(0, 3)

ENTAILMENT = Instrument(
    "entailment", "does the premise entail the hypothesis?", _ENTAILED
)
ATTRIBUTION = Instrument(
    "attribution", "do the passages in the premise entail the hypothesis?", _ENTAILED
)
# The context of these two is all cited passages. If there is only one, the question is
# that about all of them.
ATTRIBUTION_ALONE = Instrument(
    name="attribution_alone",
    asks="does this passage alone entail the hypothesis?",
    answer=_ENTAILED,
    without_context=ATTRIBUTION,
)
ATTRIBUTION_REST = Instrument(
    name="attribution_rest",
    asks="do the passages cited beside one of them entail the hypothesis?",
    answer=_ENTAILED,
    without_context=ATTRIBUTION,
)
SUPPORT_GRADE = Instrument(
    "support_grade",
    "how far does the premise support the hypothesis, from 0 (not at all) to 3 (fully)?",
    SUPPORT,
)
THREE_WAY = Instrument(
    "three_way",
    "does the premise entail the hypothesis, contradict it, or neither?",
    Labels(("entailed", "neutral", "contradicted")),
)
SAME_QUESTION = Instrument(
    "same_question",
    "do premise and hypothesis ask the same?",
    Labels(("same", "different")),
)
# Premise and hypothesis are two texts of one document; the context is what both are
# about.
PREFERENCE = Instrument(
    "preference",
    "which of the two texts is better?",
    Labels(("first", "second", "neither")),
)
# The context of these two is a criterion of a rubric; the hypothesis is the text that
# it is about.
SCALE = Instrument(
    "scale", "which level of the criterion's scale does the hypothesis reach?", Level()
)
PENALTIES = Instrument(
    "penalties", "how often does the hypothesis break the criterion's rule?", Level()
)

_ALL = (
    ENTAILMENT,
    ATTRIBUTION,
    ATTRIBUTION_ALONE,
    ATTRIBUTION_REST,
    SUPPORT_GRADE,
    THREE_WAY,
    SAME_QUESTION,
    PREFERENCE,
    SCALE,
    PENALTIES,
)
INSTRUMENTS = {instrument.name: instrument for instrument in _ALL}
