"""Special values of key columns, and names of metrics."""

from collections.abc import Iterable, Sequence
from typing import Literal

NO_JUDGE = "none"  # scores.judge of metrics without a judge
FULL = "full"  # the part for the whole text
REFERENCE = "reference"  # the author of references
ALL_CITATIONS = -1  # pairs.citation if the question is not about a single citation
EACH_PART = "each"  # correlations.part if the parts are groups
ITEM = "item"  # pairs.author and ratings.author in a test of judges
# pairs.measure in a test of judges, and the metric of judges' cards
VERDICT = "verdict"
# Factors that make higher values better; none if no direction is better.
SIGNS = {"higher": 1.0, "lower": -1.0}
# Several test sets pooled, and the unweighted mean of the sets' values.
ALL_SUBSETS, MEAN_OF_SUBSETS = "all subsets", "mean of subsets"


# Part of a study whose texts are single statements, read with their aligned passages.
STATEMENT = "statement"
# In names of metrics, before the alignment if a benchmark has several:
# `faithfulness@rouge_gain`; `@text` for a metric that reads all statements of a text at
# once.
READS = "@"


def base_metric(metric: str) -> str:
    """Return a metric's name in docs/metrics.md, without its alignment."""
    return metric.partition(READS)[0]


def suffix_of(metric: str) -> str:
    """Return the suffix of a metric's name with its alignment; empty if there is only one."""
    return metric.removeprefix(base_metric(metric))


def aligned_suffixes(
    selected: Sequence[str] | Literal["all"], alignments: Sequence[str]
) -> dict[str, str]:
    """Return the selected alignments of a benchmark with their suffixes of metric names.

    `selected` empty: the first. Unknown names are left out. A single alignment has no
    suffix.
    """
    names = alignments if selected == "all" else selected or alignments[:1]
    mark = READS if len(alignments) > 1 else ""
    return {
        name: f"{mark}{name}" if mark else "" for name in names if name in alignments
    }


def reference_number(author: str) -> int:
    """Return 1 for `reference`, N for a further one, `reference:N`; 0 for other authors."""
    name, mark, number = author.partition(":")
    if name != REFERENCE or (mark and not (number.isascii() and number.isdigit())):
        return 0
    return int(number) if mark else 1


def is_reference(author: str) -> bool:
    """Return whether an author is a reference: `reference`, `reference:2` and so on.

    Only rubrics use further ones: nothing else measures them or compares with them.
    """
    return reference_number(author) > 0


def metric_label(metric: str, judge: str) -> str:
    """Return the label of a metric: with its judge in brackets, if it has one."""
    return metric if judge == NO_JUDGE else f"{metric} ({judge})"


def sorted_authors(authors: Iterable[str]) -> list[str]:
    """Sort authors without repeats, the reference first."""
    return sorted(set(authors), key=lambda author: (author != REFERENCE, author))
